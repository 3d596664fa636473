// SPDX-License-Identifier: Apache-2.0

// From one step to another.

import { lowerBound, NONE, type Run } from './run';
import type { Rows } from './rows';

/// Where a reader begins: at what decides, else where it fails, else at the first step.
export function beginning(run: Run, failing: number | undefined): number {
  const last = run.steps.length - 1;
  if (run.decisive) return Math.min(run.decisive.step, last);
  return Math.min(failing ?? 0, last);
}

export function beside(run: Run, step: number, by: 1 | -1): number {
  return Math.min(run.steps.length - 1, Math.max(0, step + by));
}

/// In the row below or above, the step nearest in the order of the run.
export function inRowBeside(run: Run, rows: Rows, step: number, by: 1 | -1): number {
  const lanes = rows.all.flatMap((row) => (row.lane === undefined ? [] : [row.lane]));
  const position = lanes.indexOf(run.steps[step]?.lane ?? NONE);
  for (let next = position + by; next >= 0 && next < lanes.length; next += by) {
    const own = run.stepsOfLane[lanes[next]!]!;
    if (!own.length) continue;
    const after = lowerBound(own.length, (index) => own[index]! >= step);
    const [left, right] = [own[after - 1], own[after]];
    if (left === undefined || right === undefined) return (left ?? right)!;
    return step - left <= right - step ? left : right;
  }
  return step;
}

/// The next step of the same coroutine.
export function alongLane(run: Run, step: number, by: 1 | -1): number {
  const next = by === 1 ? run.nextInLane[step] : run.previousInLane[step];
  return next === undefined || next === NONE ? step : next;
}

/// The next of `sorted` after `step`, from its other end when there is none; `step` when empty.
export function nextOf(sorted: number[], step: number, by: 1 | -1): number {
  if (!sorted.length) return step;
  if (by === 1) return sorted.find((each) => each > step) ?? sorted[0]!;
  return [...sorted].reverse().find((each) => each < step) ?? sorted[sorted.length - 1]!;
}

export function stepsOfTurns(run: Run): number[] {
  const last = run.steps.length - 1;
  return [...new Set(run.turns.map((turn) => Math.min(turn.step, last)))].sort((a, b) => a - b);
}
