// SPDX-License-Identifier: Apache-2.0

import { button, element } from './dom';

const KEYS: [string, string][] = [
  ['← →', 'previous, next step of the run'],
  ['Shift ← →', 'previous, next step of the coroutine'],
  ['k j', 'the coroutine above, below'],
  ['N n', 'previous, next turn'],
  ['d', 'the turn that decides'],
  ['e', 'where the run fails'],
  ['p', 'the other run'],
  ['/', 'search; Enter and Shift Enter walk through what is found'],
  ['f', 'show only some coroutines'],
  ['s', 'show only coroutines in sight, or all'],
  ['a', 'step order or virtual time'],
  ['+ - 0', 'zoom in, out, the whole run; also Ctrl and wheel'],
  ['?', 'this'],
];

const SIGNS: [string, string][] = [
  ['waits', 'the step ended in a wait'],
  ['yields', 'it let others run'],
  ['ends', 'the coroutine ended'],
  ['fails', 'it ended in an error'],
  ['runs', 'it was running when the run ended'],
  ['line waiting', 'waits'],
  ['line ready', 'is ready, somebody else runs'],
  ['arrow wake', 'wakes'],
  ['arrow spawn', 'spawns'],
];

const MESSAGE_SIGNS: [string, string][] = [
  ['arrow message', 'a message, by its machine’s row'],
  ['arrow lost', 'lost (a cross) or refused (a bar)'],
];

/// The signs of the picture, those of messages only where there are some.
export function legend(hasMessages: boolean, hasFaults: boolean): HTMLElement {
  const signs = [...SIGNS, ...(hasMessages ? MESSAGE_SIGNS : [])];
  if (hasFaults) signs.push(['hatched', 'a fault lasts']);
  return element(
    'ul',
    { class: 'legend', 'aria-label': 'signs' },
    ...signs.map(([name, text]) =>
      element('li', {}, element('i', { class: `sign ${name}`, 'aria-hidden': 'true' }), text),
    ),
  );
}

export function helpDialog(): HTMLDialogElement {
  const rows = KEYS.map(([key, text]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, ...key.split(' ').map((each) => element('kbd', {}, each))),
      element('td', {}, text),
    ),
  );
  const dialog = element(
    'dialog',
    { class: 'help', 'aria-label': 'keys' },
    element('h2', {}, 'Keys'),
    element('table', {}, element('tbody', {}, ...rows)),
    element(
      'p',
      {},
      'Time stands still inside a step: coroutines share one thread, and give way only where ' +
        'they wait or yield. ' +
        'A turn is where the run did not do what production does on an idle machine.',
    ),
    button('close', {}, () => dialog.close()),
  );
  return dialog;
}
