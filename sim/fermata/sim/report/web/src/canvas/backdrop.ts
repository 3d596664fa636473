// SPDX-License-Identifier: Apache-2.0

// What lies behind the steps: bands of machines, instants of virtual time, the part that two runs
// share, and upright lines where something was decided or went wrong.

import { middle } from '../rows';
import { BOLD, FONT, fitted, line, type Surface } from './surface';

export function drawBackdrop(surface: Surface): void {
  const { context, colours, rows, width } = surface;
  for (const row of rows.all) {
    if (row.top > surface.bottom || row.top + row.height < surface.top) continue;
    if (row.lane === undefined) {
      context.fillStyle = colours.band;
      context.fillRect(0, row.top, width, row.height);
    } else {
      const y = row.top + row.height - 0.5;
      line(context, { colour: colours.rule }, [0, y], [width, y]);
    }
  }
}

/// Steps of one instant belong together, however far they are fanned out.
export function drawInstants(surface: Surface): void {
  const { context, colours, run, placement } = surface;
  const [first, past] = surface.steps;
  if (past - first > 3000) return;
  context.fillStyle = colours.shared;
  for (let step = first; step < past;) {
    const instant = run.instants[run.instantOf[step]!]!;
    const last = instant.first + instant.count - 1;
    const x = placement.left(instant.first);
    const wide = placement.left(last) + placement.width(last) - x;
    if (wide > 4) context.fillRect(x - 1, surface.top, wide + 2, surface.bottom - surface.top);
    step = last + 1;
  }
}

/// Until where both runs are the same.
export function drawSharedPart(surface: Surface): void {
  if (surface.difference === undefined) return;
  const x = edgeOf(surface, surface.difference);
  if (x <= 0) return;
  surface.context.fillStyle = surface.colours.shared;
  surface.context.fillRect(0, surface.top, x, surface.bottom - surface.top);
}

export function drawTurnLines(surface: Surface): void {
  const { run, colours } = surface;
  const near = run.turns.length < 400 || surface.steps[1] - surface.steps[0] < 1500;
  for (const turn of run.turns) {
    if (turn === run.decisive || !near) continue;
    upright(surface, edgeOf(surface, turn.step), { colour: colours.turn, dashes: [2, 3] });
  }
  if (surface.difference !== undefined) {
    const x = edgeOf(surface, surface.difference);
    upright(surface, x, { colour: colours.difference, width: 2, dashes: [6, 4] });
  }
  if (run.decisive) drawDecisive(surface, run.decisive.step);
}

/// Before which a turn was taken.
export function edgeOf(surface: Surface, step: number): number {
  const count = surface.run.steps.length;
  if (!count) return 0;
  if (step < count) return surface.placement.left(step);
  return surface.placement.left(count - 1) + surface.placement.width(count - 1);
}

/// With the place where another coroutine would have run.
function drawDecisive(surface: Surface, step: number): void {
  const { context, run, rows, placement, colours } = surface;
  const x = edgeOf(surface, step);
  upright(surface, x, { colour: colours.decisive, width: 2.5 });
  const passed = run.decisive?.passed;
  const row = passed === undefined ? undefined : rows.ofLane[passed];
  if (!row || step >= run.steps.length) return;
  const width = Math.max(8, placement.width(step) - 1);
  context.setLineDash([3, 3]);
  context.strokeStyle = colours.decisive;
  context.lineWidth = 1.5;
  context.fillStyle = colours.plot;
  context.fillRect(x + 2, middle(row) - 9, width - 2, 18);
  context.strokeRect(x + 2, middle(row) - 9, width - 2, 18);
  context.setLineDash([]);
  context.fillStyle = colours.decisive;
  context.font = BOLD;
  context.fillText(fitted(context, 'would have run', width - 10), x + 7, middle(row) + 0.5);
  context.font = FONT;
}

function upright(surface: Surface, x: number, stroke: Parameters<typeof line>[1]): void {
  if (x < -2 || x > surface.width + 2) return;
  const crisp = Math.round(x);
  line(surface.context, stroke, [crisp, surface.top], [crisp, surface.bottom]);
}
