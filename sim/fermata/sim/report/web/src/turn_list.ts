// SPDX-License-Identifier: Apache-2.0

// Where the runs were not calm, as a list to click.

import { button, element } from './dom';
import type { Run } from './run';
import type { Selection } from './selection';
import { counted, grouped } from './words';

const MOST_LISTED = 200;

/// Of the run that is selected; empty when it was calm throughout.
export class TurnList {
  readonly root = element('div', { class: 'turns' });
  readonly #selection: Selection;

  constructor(runs: Run[], selection: Selection) {
    this.#selection = selection;
    selection.follow(({ run, step }) => this.#show(runs[run]!, step));
  }

  #show(run: Run, step: number): void {
    this.root.hidden = run.turns.length === 0;
    const items = run.turns.slice(0, MOST_LISTED).map((turn) => {
      const decides = turn === run.decisive;
      const target = Math.min(turn.step, run.steps.length - 1);
      const n = run.steps[target]?.n;
      return element(
        'li',
        {
          class: decides ? 'decisive' : undefined,
          'aria-current': target === step ? 'step' : undefined,
        },
        button(`${n === undefined ? '' : `${grouped(n)} · `}${turn.text}`, { class: 'link' }, () =>
          this.#selection.change({ step: target }),
        ),
        decides && element('b', {}, ' decides'),
      );
    });
    const more = run.turns.length - items.length;
    if (more > 0) items.push(element('li', {}, `and ${grouped(more)} more`));
    this.root.replaceChildren(
      element('h3', {}, `${counted(run.turns.length, 'turn')} where the run was not calm`),
      element('ol', {}, ...items),
    );
  }
}
