// SPDX-License-Identifier: Apache-2.0

import type { Run } from './run';

/// Where two runs part: the index of the first step that is not the same in both. Undefined when
/// they can not be laid beside each other, or never part.
export function firstDifference(left: Run, right: Run): number | undefined {
  if (left.first !== right.first) return undefined;
  const both = Math.min(left.steps.length, right.steps.length);
  for (let index = 0; index < both; ++index) {
    if (!same(left, right, index)) return index;
  }
  return left.steps.length === right.steps.length ? undefined : both;
}

function same(left: Run, right: Run, index: number): boolean {
  const one = left.steps[index]!;
  const other = right.steps[index]!;
  return (
    one.end === other.end &&
    one.at === other.at &&
    one.why === other.why &&
    one.place === other.place &&
    left.fullName(one.lane) === right.fullName(other.lane)
  );
}
