// SPDX-License-Identifier: Apache-2.0

// What the reader has chosen to see. Whoever shows any of it listens.

import type { Axis } from './placement';
import { NONE } from './run';

export interface Choice {
  run: number;
  /// An index into the steps of `run`; NONE when nothing is selected.
  step: number;
  axis: Axis;
  filter: string;
  folded: ReadonlySet<string>;
  search: string;
  /// Only those who run in what is in sight.
  inSight: boolean;
}

type Listener = (choice: Choice, before: Choice) => void;

export class Selection {
  #choice: Choice = {
    run: 0,
    step: NONE,
    axis: 'order',
    filter: '',
    folded: new Set(),
    search: '',
    inSight: false,
  };
  readonly #listeners: Listener[] = [];

  get choice(): Choice {
    return this.#choice;
  }

  change(changes: Partial<Choice>): void {
    const before = this.#choice;
    this.#choice = { ...before, ...changes };
    for (const listener of this.#listeners) listener(this.#choice, before);
  }

  fold(machine: string): void {
    const folded = new Set(this.#choice.folded);
    if (!folded.delete(machine)) folded.add(machine);
    this.change({ folded });
  }

  listen(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /// Calls `show` now, and whenever another run or step is selected.
  follow(show: (choice: Choice) => void): void {
    this.listen((choice, before) => {
      if (choice.step !== before.step || choice.run !== before.run) show(choice);
    });
    show(this.#choice);
  }
}
