// SPDX-License-Identifier: Apache-2.0

// The part of the address after '#': step=12, of another run run=2&step=12, axis=time.

import type { Run } from './run';
import { NONE } from './run';
import type { Choice, Selection } from './selection';

export function followLinks(runs: Run[], selection: Selection): void {
  selection.listen((choice) => {
    const wanted = linkOf(runs, choice);
    if (wanted !== location.hash) history.replaceState(null, '', wanted || location.pathname);
  });
  addEventListener('hashchange', () => selection.change(choiceOf(runs, location.hash)));
}

export function choiceOf(runs: Run[], link: string): Partial<Choice> {
  const asked = new URLSearchParams(link.replace(/^#/, ''));
  const choice: Partial<Choice> = {};
  const run = Number(asked.get('run') ?? 1) - 1;
  const step = Number(asked.get('step') ?? NaN);
  if (runs[run] && Number.isFinite(step)) {
    const index = runs[run].indexOf(step);
    if (index !== NONE) Object.assign(choice, { run, step: index });
  }
  const axis = asked.get('axis');
  if (axis === 'time' || axis === 'order') choice.axis = axis;
  return choice;
}

function linkOf(runs: Run[], { run, step, axis }: Choice): string {
  const parts: string[] = [];
  if (run !== 0) parts.push(`run=${run + 1}`);
  const n = runs[run]?.steps[step]?.n;
  if (n !== undefined) parts.push(`step=${n}`);
  if (axis !== 'order') parts.push(`axis=${axis}`);
  return parts.length ? `#${parts.join('&')}` : '';
}
