// SPDX-License-Identifier: Apache-2.0

// Where a step stands from left to right. In order each step is as wide as any other. In virtual
// time, which stands still inside a step and between the steps of one instant, those of one
// instant are fanned out behind it, at most as far as the next instant.

import type { ScaleLinear } from 'd3-scale';
import { lowerBound, type Run } from './run';

export type Axis = 'order' | 'time';

const FAN_SLOT = 16; // Pixels; at most, of one step in virtual time.
const FAN_SHARE = 0.85; // Of the way to the next instant.
const WIDEST_STEP = 150; // Pixels, unless zoomed.

export interface Placement {
  left(step: number): number;
  width(step: number): number;
  /// Of something that happened at a time and in no step.
  ofTime(nanoseconds: number): number;
}

export function right(placement: Placement, step: number): number {
  return placement.left(step) + placement.width(step);
}

/// What the whole width shows before it is zoomed.
export function domainOf(runs: Run[], axis: Axis, width: number): [number, number] {
  if (axis === 'order') {
    const first = Math.min(...runs.map((run) => run.first));
    const last = Math.max(...runs.map((run) => run.first + run.steps.length));
    return [first, Math.max(last, first + Math.ceil(width / WIDEST_STEP))];
  }
  const first = Math.min(...runs.map((run) => run.steps[0]?.at ?? 0));
  const last = Math.max(...runs.map((run) => run.record.end));
  const span = last - first;
  return [first, span === 0 ? first + 1 : last + span * 0.06];
}

export function placementOf(run: Run, axis: Axis, scale: ScaleLinear<number, number>): Placement {
  return axis === 'order' ? orderPlacement(run, scale) : timePlacement(run, scale);
}

/// The steps whose places touch [from, to].
export function stepsBetween(
  run: Run,
  placement: Placement,
  from: number,
  to: number,
): [number, number] {
  const count = run.steps.length;
  return [
    lowerBound(count, (index) => right(placement, index) >= from),
    lowerBound(count, (index) => placement.left(index) > to),
  ];
}

function orderPlacement(run: Run, scale: ScaleLinear<number, number>): Placement {
  const width = scale(1) - scale(0);
  const left = (step: number) => scale(run.first + step);
  return { left, width: () => width, ofTime: (time) => left(run.firstAt(time)) };
}

function timePlacement(run: Run, scale: ScaleLinear<number, number>): Placement {
  const { instants, instantOf } = run;
  const end = scale.domain()[1]! >= run.record.end ? scale.range()[1]! : scale(run.record.end);
  const widest = instants.length === 1 ? WIDEST_STEP : FAN_SLOT;
  const slot = (index: number) => {
    const { at, count } = instants[index]!;
    const next = instants[index + 1];
    const gap = (next ? scale(next.at) : Math.max(end, scale(run.record.end))) - scale(at);
    return Math.min(widest, Math.max(0, (FAN_SHARE * gap) / count));
  };
  return {
    left(step) {
      const index = instantOf[step]!;
      const { at, first } = instants[index]!;
      return scale(at) + (step - first) * slot(index);
    },
    width: (step) => slot(instantOf[step]!),
    ofTime: (time) => scale(time),
  };
}
