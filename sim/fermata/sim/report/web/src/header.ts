// SPDX-License-Identifier: Apache-2.0

// What failed, why, and how to get there again: the first ten seconds.

import { button, element } from './dom';
import type { Party, Report } from './run_data';
import { duration } from './words';

export function header(report: Report): HTMLElement {
  const { failure } = report;
  const verdict = failure?.class ?? 'passes';
  return element(
    'header',
    { 'data-verdict': verdict },
    element(
      'div',
      { class: 'title' },
      element(
        'span',
        { class: failure ? 'badge fails' : 'badge passes' },
        `${failure ? '✕' : '✓'} ${verdict}`,
      ),
      element('h1', {}, report.test),
      element('span', { class: 'origin' }, originOf(report)),
    ),
    failure && element('p', { class: 'message' }, failure.message),
    report.reproduce !== undefined && reproduceLine(report.reproduce),
  );
}

/// Why it fails: absent when nothing is known of that.
export function why(report: Report): HTMLElement | undefined {
  const { shrink, verdict, pair } = report;
  if (!shrink && !verdict && !pair?.length) return undefined;
  return element(
    'section',
    { class: 'why', 'aria-label': 'why' },
    !!shrink && said('shrunk', shrink, 'shrink'),
    !!verdict && said('decides', verdict, 'verdict'),
    !!pair?.length && element('div', { class: 'pair' }, ...pair.map(partyCard)),
  );
}

function originOf({ seed, strategy, failure, program, fermata }: Report): string {
  return [
    failure?.step !== undefined && `step ${failure.step}`,
    failure?.at !== undefined && `at ${duration(failure.at)}`,
    seed && `seed ${seed}`,
    strategy && `strategy ${strategy}`,
    program,
    fermata && `Fermata ${fermata}`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/// What the text itself begins with is not said twice.
function said(title: string, text: string, name: string): HTMLElement {
  const rest = text.startsWith(`${title}: `) ? text.slice(title.length + 2) : text;
  return element(
    'div',
    { class: `said ${name}` },
    element('h2', {}, title),
    element('p', {}, rest.trimEnd()),
  );
}

function partyCard(party: Party, index: number): HTMLElement {
  const begun = party.begun !== false;
  const stack = party.stack ?? [];
  return element(
    'div',
    { class: 'party', 'data-party': index },
    element(
      'h3',
      {},
      index === 0 ? 'ran' : 'would have run',
      ' ',
      element('b', { class: 'name' }, party.coroutine),
    ),
    !!party.place &&
      element(
        'p',
        {},
        begun ? 'suspended at ' : 'not begun; spawned at ',
        element('code', {}, party.place),
      ),
    stack.length > 0 &&
      element('ol', { class: 'stack' }, ...stack.map((name) => element('li', {}, name))),
  );
}

function reproduceLine(command: string): HTMLElement {
  const line = element('code', { class: 'command' }, command);
  const copy = button('copy', { class: 'copy', 'aria-label': 'copy the command' }, () => {
    copyText(command, line).then(
      () => (copy.textContent = 'copied'),
      () => (copy.textContent = 'press Ctrl+C'),
    );
    setTimeout(() => (copy.textContent = 'copy'), 2000);
  });
  return element('div', { class: 'reproduce' }, element('span', {}, 'reproduce'), line, copy);
}

/// A page opened from a file may not have a clipboard; then the text is selected.
async function copyText(text: string, shown: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    getSelection()?.selectAllChildren(shown);
    if (!document.execCommand('copy')) throw new Error('not copied');
  }
}
