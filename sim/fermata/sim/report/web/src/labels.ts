// SPDX-License-Identifier: Apache-2.0

// The names left of the rows. Only those near what is seen are elements.

import { button, element } from './dom';
import type { Row, Rows } from './rows';
import type { Run } from './run';
import type { Selection } from './selection';
import { counted } from './words';

const ALL_AT_ONCE = 400; // Rows.
const BEYOND = 300; // Pixels above and below.

export class Labels {
  readonly root = element('div', { class: 'labels' });
  readonly #run: Run;
  readonly #selection: Selection;
  readonly #choose: (lane: number) => void;
  #rows: Rows | undefined;
  #range = '';

  constructor(run: Run, selection: Selection, choose: (lane: number) => void) {
    this.#run = run;
    this.#selection = selection;
    this.#choose = choose;
  }

  show(rows: Rows, top: number, bottom: number, lane: number): void {
    const few = rows.all.length <= ALL_AT_ONCE;
    const near = (row: Row) => row.top + row.height > top - BEYOND && row.top < bottom + BEYOND;
    const wanted = few ? rows.all : rows.all.filter(near);
    const range = `${wanted[0]?.top}-${wanted.length}-${lane}`;
    if (rows === this.#rows && range === this.#range) return;
    this.#rows = rows;
    this.#range = range;
    this.root.replaceChildren(
      ...wanted.map((row) =>
        row.lane === undefined ? this.#machine(row) : this.#lane(row, row.lane, lane),
      ),
    );
  }

  #machine(row: Row): HTMLElement {
    const name = this.#run.machineName(row.machine);
    const count = this.#run.lanesOf(row.machine).length;
    return button(
      '',
      {
        class: 'label machine',
        style: place(row),
        'data-machine': row.machine,
        'aria-expanded': String(!row.folded),
        title: `${name}: ${counted(count, 'coroutine')}`,
      },
      () => this.#selection.fold(name),
    ).appendChild(element('span', {}, `${row.folded ? '▸' : '▾'} ${name}`)).parentElement!;
  }

  #lane(row: Row, lane: number, selected: number): HTMLElement {
    const { name, spawned, parent } = this.#run.record.lanes[lane]!;
    const by = parent === undefined ? '' : ` by '${this.#run.laneName(parent)}'`;
    const origin = spawned ? `\nspawned${by} at ${spawned}` : '';
    const steps = counted(this.#run.stepsOfLane[lane]!.length, 'step');
    return button(
      name,
      {
        class: lane === selected ? 'label lane selected' : 'label lane',
        style: place(row),
        'data-lane': lane,
        title: `${this.#run.fullName(lane)}, ${steps}${origin}`,
      },
      () => this.#choose(lane),
    );
  }
}

function place(row: Row): string {
  return `top:${row.top}px;height:${row.height}px`;
}
