// SPDX-License-Identifier: Apache-2.0

import type { Fault, RunRecord } from './run_data';

export interface FaultSpan {
  fault: Fault;
  /// When it was over; absent for what has no length or lasted to the end.
  until?: number;
  lasting: boolean;
}

const ENDED_BY: Record<string, string> = { crash: 'restart', pause: 'resume', partition: 'heal' };

/// Each fault with its end; the ends are not spans of their own.
export function faultSpans(run: RunRecord): FaultSpan[] {
  const faults = run.faults ?? [];
  const ends = new Set<Fault>();
  const spans = faults.map((fault, index): FaultSpan => {
    const ender = ENDED_BY[fault.kind];
    const end = faults.slice(index + 1).find((each) => each.kind === ender && same(each, fault));
    if (end) ends.add(end);
    const until = fault.until ?? end?.at;
    return {
      fault,
      lasting: !!ender || until !== undefined,
      ...(until !== undefined && { until }),
    };
  });
  return spans.filter((span) => !ends.has(span.fault));
}

function same(one: Fault, other: Fault): boolean {
  return one.machine === other.machine && one.other === other.other;
}
