// SPDX-License-Identifier: Apache-2.0

// Who made whom ready: from the step that did it straight to the row of the other coroutine.

import { right } from '../placement';
import { middle } from '../rows';
import { NONE } from '../run';
import type { WakeCause } from '../run_data';
import { arrowHead, line, type Surface } from './surface';

const MOST_DRAWN = 1500; // Steps; among more of them arrows are only noise.
const NARROWEST = 5; // Pixels a step.

export function drawWakes(surface: Surface): void {
  const [first, past] = surface.steps;
  if (past - first <= MOST_DRAWN) {
    for (let step = first; step < past; ++step) {
      if (surface.placement.width(step) >= NARROWEST) drawWakesOf(surface, step, 1.25);
    }
  }
  if (surface.selected !== NONE) {
    drawWakesOf(surface, surface.selected, 2.5);
    const waker = surface.run.wokenBy[surface.selected]!;
    const lane = surface.run.steps[surface.selected]!.lane;
    if (waker !== NONE) drawWakesOf(surface, waker, 2.5, lane);
  }
}

function drawWakesOf(surface: Surface, step: number, width: number, only?: number): void {
  const { run, rows, placement, context, colours } = surface;
  const from = rows.ofLane[run.steps[step]!.lane];
  if (!from) return;
  const x = Math.round(right(placement, step)) - 0.5;
  if (x < 0 || x > surface.width) return;
  for (const [lane, cause] of run.steps[step]!.wakes ?? []) {
    const to = rows.ofLane[lane];
    if (!to || to === from || (only !== undefined && lane !== only)) continue;
    const down = to.top > from.top;
    const start = middle(from) + (down ? 9 : -9);
    const tip = middle(to) + (down ? -3 : 3);
    const colour = colourOf(cause, colours);
    line(context, { colour, width, dashes: isTrouble(cause) ? [4, 3] : [] }, [x, start], [x, tip]);
    if (cause === 'spawn') {
      context.beginPath();
      context.arc(x, middle(to), 4, 0, 2 * Math.PI);
      context.fillStyle = colour;
      context.fill();
    } else {
      arrowHead(context, colour, x, tip + (down ? 2 : -2), down ? Math.PI / 2 : -Math.PI / 2, 7);
    }
  }
}

function isTrouble(cause: WakeCause): boolean {
  return cause !== 'spawn' && cause !== 'event' && cause !== 'yield';
}

function colourOf(cause: WakeCause, colours: Surface['colours']): string {
  if (cause === 'spawn') return colours.spawn;
  return isTrouble(cause) ? colours.fails : colours.wake;
}
