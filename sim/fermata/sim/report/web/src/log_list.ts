// SPDX-License-Identifier: Apache-2.0

// What the program has printed and logged, as a list to click.

import { button, element } from './dom';
import { NONE, type Run } from './run';
import type { LogLine } from './run_data';
import type { Selection } from './selection';
import { counted, duration, grouped } from './words';

const MOST_LISTED = 400;

/// Of the run that is selected, around the selected step; empty when nothing was printed.
export class LogList {
  readonly root = element('div', { class: 'panel log' });
  readonly #selection: Selection;

  constructor(runs: Run[], selection: Selection) {
    this.#selection = selection;
    selection.follow(({ run, step }) => this.#show(runs[run]!, step));
  }

  #show(run: Run, step: number): void {
    const { lines } = run;
    this.root.hidden = lines.length === 0;
    const next = lines.findIndex((line) => line.step > step);
    const middle = next === -1 || step === NONE ? lines.length : next;
    const first = Math.max(0, Math.min(lines.length, middle + MOST_LISTED / 2) - MOST_LISTED);
    const items = lines
      .slice(first, first + MOST_LISTED)
      .map((line) => this.#item(run, line, step));
    if (first > 0) items.unshift(element('li', {}, `${grouped(first)} before`));
    const more = lines.length - first - MOST_LISTED;
    if (more > 0) items.push(element('li', {}, `${grouped(more)} more`));
    this.root.replaceChildren(
      element('h3', {}, `${counted(lines.length, 'line')} of the program's log`),
      element('ol', {}, ...items),
    );
    this.#keepInSight();
  }

  #item(run: Run, line: LogLine, step: number): HTMLElement {
    const target = Math.min(line.step, run.steps.length - 1);
    return element(
      'li',
      { 'aria-current': line.lane !== undefined && line.step === step ? 'step' : undefined },
      element('small', {}, `${duration(line.at)} ${run.printerOf(line)}`),
      button(line.text || ' ', { class: 'link' }, () => this.#selection.change({ step: target })),
    );
  }

  /// The list scrolls by itself, and the page does not.
  #keepInSight(): void {
    const current = this.root.querySelector<HTMLElement>('[aria-current]');
    if (current) this.root.scrollTop = current.offsetTop - this.root.offsetTop - 60;
  }
}
