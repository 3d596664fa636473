// SPDX-License-Identifier: Apache-2.0

// The whole of a long run in a few pixels: where its coroutines ran, its marks, and what part the
// rows below show.

import type { ScaleLinear } from 'd3-scale';
import type { Placement } from '../placement';
import type { Run } from '../run';
import type { Colours } from '../theme';
import { contextOf } from './surface';

export const OVERVIEW_HEIGHT = 40;
const TOP = 8; // Pixels for the turns.
const MOST_ROWS = 15;
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
  paintSteps(context, run, placement, colours.waits, width);
  const mark = (step: number, colour: string, wide: number, tall = OVERVIEW_HEIGHT) => {
    if (!run.steps.length) return;
    const x = placement.left(Math.min(step, run.steps.length - 1));
    context.fillStyle = colour;
    context.fillRect(x - wide / 2, 0, wide, tall);
  };
  for (const turn of run.turns) if (turn !== run.decisive) mark(turn.step, colours.turn, 1.5, 6);
  if (failing !== undefined) mark(failing, colours.fails, 2);
  if (run.decisive) mark(run.decisive.step, colours.decisive, 3);
  return canvas;
}

/// The more steps, the stronger.
function paintSteps(
  context: CanvasRenderingContext2D,
  run: Run,
  placement: Placement,
  colour: string,
  width: number,
): void {
  const lanes = Math.max(1, run.record.lanes.length);
  const rows = Math.min(lanes, MOST_ROWS);
  const tall = (OVERVIEW_HEIGHT - TOP - 3) / rows;
  const columns = Math.ceil(width);
  const counts = new Uint16Array(columns * rows);
  let most = 1;
  run.steps.forEach((step, index) => {
    const column = Math.min(columns - 1, Math.max(0, Math.floor(placement.left(index))));
    const cell = Math.floor((step.lane / lanes) * rows) * columns + column;
    most = Math.max(most, ++counts[cell]!);
  });
  context.fillStyle = colour;
  counts.forEach((count, cell) => {
    if (!count) return;
    context.globalAlpha = 0.3 + (0.7 * count) / most;
    const y = TOP + Math.floor(cell / columns) * tall;
    context.fillRect(cell % columns, y, 1, Math.max(1, tall - 0.5));
  });
  context.globalAlpha = 1;
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
