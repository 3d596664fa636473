// SPDX-License-Identifier: Apache-2.0

import type { Run } from './run';
import { ending } from './words';

/// The steps of `run` in which `text` occurs: their coroutine, reason, place, turns and messages,
/// and what was printed.
export function search(run: Run, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const has = (value: string | undefined) => !!value && value.toLowerCase().includes(wanted);
  const names = run.record.lanes.map((_, lane) => has(run.fullName(lane)));
  const found: number[] = [];
  run.steps.forEach((step, index) => {
    const hit =
      names[step.lane] ||
      has(step.place) ||
      has(ending(run, index)) ||
      run.turnsAt(index).some((turn) => has(run.turns[turn]!.text)) ||
      run.linesPrintedIn(index).some(has) ||
      run.messagesSentIn(index).some((each) => {
        const { what, preview, kind, fate } = run.messages[each]!;
        return has(what) || has(preview) || has(`${kind} ${fate}`);
      });
    if (hit) found.push(index);
  });
  return found;
}
