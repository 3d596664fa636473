// SPDX-License-Identifier: Apache-2.0

// What is under the pointer.

import { faultAt } from './canvas/faults';
import { visibleFlights, type Flight } from './canvas/messages';
import type { Surface } from './canvas/surface';
import type { FaultSpan } from './fault_spans';
import { lowerBound, NONE } from './run';
import type { Row } from './rows';

const REACH = 4; // Pixels beside a step or a line that still count.

export type Hit =
  | { kind: 'step'; step: number }
  | { kind: 'message'; message: number }
  | { kind: 'fault'; span: FaultSpan };

export function hitAt(surface: Surface, spans: FaultSpan[], x: number, y: number): Hit | undefined {
  const row = surface.rows.all.find((each) => y >= each.top && y < each.top + each.height);
  const step = row ? stepAt(surface, row, x) : NONE;
  if (step !== NONE) return { kind: 'step', step };
  const flight = visibleFlights(surface).find(([, each]) => distance(each, x, y) <= REACH);
  if (flight) return { kind: 'message', message: flight[0] };
  const span = faultAt(surface, spans, x, y);
  return span && { kind: 'fault', span };
}

function stepAt(surface: Surface, row: Row, x: number): number {
  const { run, placement } = surface;
  const near = (step: number) =>
    x >= placement.left(step) - REACH / 2 &&
    x <= placement.left(step) + Math.max(REACH, placement.width(step));
  if (row.lane === undefined && !row.folded) return NONE;
  const lanes = row.lane === undefined ? run.lanesOf(row.machine) : [row.lane];
  for (const lane of lanes) {
    const own = run.stepsOfLane[lane]!;
    const after = lowerBound(own.length, (index) => placement.left(own[index]!) > x);
    for (const index of [after - 1, after]) {
      const step = own[index];
      if (step !== undefined && near(step)) return step;
    }
  }
  return NONE;
}

function distance({ from, to }: Flight, x: number, y: number): number {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const along = ((x - from[0]) * dx + (y - from[1]) * dy) / (dx * dx + dy * dy || 1);
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - from[0] - dx * share, y - from[1] - dy * share);
}
