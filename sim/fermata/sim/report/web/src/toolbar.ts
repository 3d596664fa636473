// SPDX-License-Identifier: Apache-2.0

// What can be changed about the picture, and how to do so from the keyboard.

import { button, element } from './dom';
import type { Axis } from './placement';
import type { Selection } from './selection';

export interface ToolbarActions {
  zoom(factor: number): void;
  whole(): void;
  turn(by: 1 | -1): void;
  found(by: 1 | -1): void;
  help(): void;
}

export class Toolbar {
  readonly root = element('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'view' });
  readonly filter = box('filter', 'filter names  (f)', 'show only coroutines with such names');
  readonly search = box(
    'search',
    'search steps  (/)',
    'search names, reasons, places and messages',
  );
  readonly #count = element('output', { class: 'count' });

  constructor(selection: Selection, actions: ToolbarActions, hasTurns: boolean) {
    const axis = (name: Axis, text: string, title: string) =>
      button(text, { 'data-axis': name, title }, () => selection.change({ axis: name }));
    const axes = [
      axis('order', 'step order', 'every step as wide as any other (a)'),
      axis(
        'time',
        'virtual time',
        'as far apart as in virtual time, which stands still in a step (a)',
      ),
    ];
    const press = () => {
      for (const each of axes) {
        each.setAttribute('aria-pressed', String(each.dataset['axis'] === selection.choice.axis));
      }
    };
    press();
    selection.listen(press);
    this.root.append(
      element('div', { class: 'group segmented', role: 'group', 'aria-label': 'axis' }, ...axes),
      element(
        'div',
        { class: 'group' },
        button('−', { title: 'zoom out (-)', 'aria-label': 'zoom out' }, () => actions.zoom(1 / 2)),
        button('+', { title: 'zoom in (+, or Ctrl and wheel)', 'aria-label': 'zoom in' }, () =>
          actions.zoom(2),
        ),
        button('whole run', { title: 'show the whole run (0)' }, () => actions.whole()),
      ),
    );
    if (hasTurns) {
      this.root.append(
        element(
          'div',
          { class: 'group' },
          button('‹ turn', { title: 'previous turn (N)' }, () => actions.turn(-1)),
          button('turn ›', { title: 'next turn (n)' }, () => actions.turn(1)),
        ),
      );
    }
    const inSight = element('input', { type: 'checkbox', name: 'in-sight' });
    const title = 'show only coroutines that run or are woken in what is in sight (s)';
    inSight.checked = selection.choice.inSight;
    inSight.addEventListener('change', () => selection.change({ inSight: inSight.checked }));
    selection.listen((choice) => (inSight.checked = choice.inSight));
    this.root.append(
      element('label', { title }, inSight, ' only those in sight'),
      this.filter,
      this.search,
      this.#count,
      button('?', { class: 'help-button', title: 'keys and signs (?)', 'aria-label': 'help' }, () =>
        actions.help(),
      ),
    );
    this.filter.addEventListener('input', () => selection.change({ filter: this.filter.value }));
    this.search.addEventListener('input', () => selection.change({ search: this.search.value }));
    this.search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') actions.found(event.shiftKey ? -1 : 1);
    });
    for (const each of [this.filter, this.search]) {
      each.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') each.blur();
      });
    }
  }

  set count(text: string) {
    this.#count.textContent = text;
  }
}

function box(name: string, placeholder: string, title: string): HTMLInputElement {
  const attributes = {
    type: 'search',
    name,
    placeholder,
    title,
    'aria-label': title,
    spellcheck: 'false',
  };
  return element('input', attributes);
}
