// SPDX-License-Identifier: Apache-2.0

// The whole of a long run in a few pixels: where its coroutines ran, its marks, and what part the
// rows below show.

import type { ScaleLinear } from 'd3-scale';
import type { Placement } from '../placement';
import type { Run } from '../run';
import type { Colours } from '../theme';
import { contextOf } from './surface';

export const OVERVIEW_HEIGHT = 40;
export const LONG_RUN = 80; // Steps; what is shorter is seen whole.

/// Drawn once for a width, an axis and a theme, then copied.
export function paintOverview(
  run: Run,
  placement: Placement,
  colours: Colours,
  width: number,
  failing: number | undefined,
): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const context = contextOf(canvas, width, OVERVIEW_HEIGHT);
  context.fillStyle = colours.plot;
  context.fillRect(0, 0, width, OVERVIEW_HEIGHT);
  const lanes = Math.max(1, run.record.lanes.length);
  const tall = Math.max(1, Math.min(4, (OVERVIEW_HEIGHT - 8) / lanes));
  const painted = new Set<number>();
  context.fillStyle = colours.waits;
  run.steps.forEach((step, index) => {
    const x = Math.floor(placement.left(index));
    const y = 4 + Math.floor((step.lane / lanes) * (OVERVIEW_HEIGHT - 8));
    const key = x * OVERVIEW_HEIGHT + y;
    if (painted.has(key)) return;
    painted.add(key);
    context.fillRect(x, y, 1, tall);
  });
  const mark = (step: number, colour: string, wide: number) => {
    if (!run.steps.length) return;
    const x = placement.left(Math.min(step, run.steps.length - 1));
    context.fillStyle = colour;
    context.fillRect(x - wide / 2, 0, wide, OVERVIEW_HEIGHT);
  };
  for (const turn of run.turns) if (turn !== run.decisive) mark(turn.step, colours.turn, 1);
  if (failing !== undefined) mark(failing, colours.fails, 2);
  if (run.decisive) mark(run.decisive.step, colours.decisive, 3);
  return canvas;
}

export function drawOverview(
  canvas: HTMLCanvasElement,
  painted: HTMLCanvasElement,
  colours: Colours,
  whole: ScaleLinear<number, number>,
  seen: ScaleLinear<number, number>,
  width: number,
): void {
  const context = contextOf(canvas, width, OVERVIEW_HEIGHT);
  context.drawImage(painted, 0, 0, width, OVERVIEW_HEIGHT);
  const from = Math.max(0, whole(seen.invert(0)));
  const to = Math.min(width, Math.max(from + 3, whole(seen.invert(width))));
  context.globalAlpha = 0.6;
  context.fillStyle = colours.band;
  context.fillRect(0, 0, from, OVERVIEW_HEIGHT);
  context.fillRect(to, 0, width - to, OVERVIEW_HEIGHT);
  context.globalAlpha = 1;
  context.strokeStyle = colours.focus;
  context.lineWidth = 1.5;
  context.strokeRect(from + 0.75, 0.75, Math.max(2, to - from - 1.5), OVERVIEW_HEIGHT - 1.5);
}
