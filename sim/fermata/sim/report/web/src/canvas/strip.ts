// SPDX-License-Identifier: Apache-2.0

// Above the rows: the axis, and the turns of the run with the one that decides.

import type { ScaleLinear } from 'd3-scale';
import type { Axis } from '../placement';
import { grouped, timeTick } from '../words';
import { edgeOf } from './backdrop';
import { BOLD, FONT, fitted, line, polygon, type Surface } from './surface';

export const STRIP_HEIGHT = 40;
const MARKS_TOP = 22;
const BESIDE = 9; // Pixels between a sign and its words.

export interface Mark {
  x: number;
  kind: 'decisive' | 'turn' | 'difference' | 'fails';
  text: string;
  step: number;
  turn?: number;
}

/// The step the run fails in, when this is the run that does.
export function marksOf(surface: Surface, failing: number | undefined): Mark[] {
  const { run, difference } = surface;
  const marks: Mark[] = run.turns.map((turn, index) => ({
    x: edgeOf(surface, turn.step),
    kind: turn === run.decisive ? 'decisive' : 'turn',
    text: turn.text,
    step: turn.step,
    turn: index,
  }));
  if (difference !== undefined && run.decisive?.step !== difference) {
    const text = 'first difference';
    marks.push({ x: edgeOf(surface, difference), kind: 'difference', text, step: difference });
  }
  if (failing !== undefined) {
    const x = surface.placement.left(failing) + surface.placement.width(failing) / 2;
    marks.push({ x, kind: 'fails', text: 'fails here', step: failing });
  }
  return marks.filter((mark) => mark.x >= -1 && mark.x <= surface.width + 1);
}

export function drawStrip(
  surface: Surface,
  axis: Axis,
  scale: ScaleLinear<number, number>,
  marks: Mark[],
): void {
  drawTicks(surface, axis, scale);
  drawMarks(surface, marks);
  const y = STRIP_HEIGHT - 0.5;
  line(surface.context, { colour: surface.colours.rule }, [0, y], [surface.width, y]);
}

function drawTicks(surface: Surface, axis: Axis, scale: ScaleLinear<number, number>): void {
  const { context, colours, run, width } = surface;
  // Steps are numbered as everywhere else, and not by their positions.
  const offset = axis === 'order' ? (run.steps[0]?.n ?? 0) - run.first : 0;
  const shifted = scale.copy().domain(scale.domain().map((each) => each + offset));
  const ticks = shifted.ticks(Math.max(2, Math.floor(width / 110)));
  const apart = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  context.fillStyle = colours.muted;
  context.textAlign = 'center';
  for (const tick of ticks) {
    let label = timeTick(tick, apart);
    let x = shifted(tick);
    if (axis === 'order') {
      const index = tick - offset - run.first;
      const step = run.steps[index];
      if (!step) continue;
      label = grouped(step.n);
      x += surface.placement.width(index) / 2;
    }
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.min(width - half - 1, Math.max(half + 1, x)), 9);
    line(context, { colour: colours.rule }, [Math.round(x) + 0.5, 16], [Math.round(x) + 0.5, 20]);
  }
  context.textAlign = 'left';
}

const ORDER = ['decisive', 'fails', 'difference', 'turn'];

/// What matters most gets room for its words first.
function drawMarks(surface: Surface, marks: Mark[]): void {
  const { context, width } = surface;
  const taken: [number, number][] = [];
  const free = (from: number, to: number) => taken.every(([a, b]) => to < a || from > b);
  const byWeight = [...marks].sort(
    (one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind),
  );
  const xs = marks.map((mark) => mark.x).sort((one, other) => one - other);
  for (const mark of byWeight) drawSign(surface, mark);
  for (const mark of byWeight) {
    const next = xs.find((x) => x > mark.x + 1) ?? width;
    const previous = xs.findLast((x) => x < mark.x - 1) ?? 0;
    context.font = mark.kind === 'turn' ? FONT : BOLD;
    const words = mark.kind === 'decisive' ? `decides: ${mark.text}` : mark.text;
    let text = fitted(context, words, Math.min(420, next - mark.x - 2 * BESIDE));
    let from = mark.x + BESIDE;
    if (text !== words && mark.x - previous > next - mark.x) {
      text = fitted(context, words, Math.min(420, mark.x - previous - 2 * BESIDE));
      from = mark.x - BESIDE - context.measureText(text).width;
    }
    const to = from + context.measureText(text).width;
    if (!text || !free(from - BESIDE, to + BESIDE)) continue;
    taken.push([from, to]);
    context.fillStyle = mark.kind === 'turn' ? surface.colours.muted : colourOf(surface, mark);
    context.fillText(text, from, MARKS_TOP + 8);
  }
  context.font = FONT;
}

function colourOf({ colours }: Surface, mark: Mark): string {
  return colours[mark.kind];
}

function drawSign(surface: Surface, mark: Mark): void {
  const { context } = surface;
  const colour = colourOf(surface, mark);
  const { x } = mark;
  const top = MARKS_TOP + 2;
  switch (mark.kind) {
    case 'decisive':
      return polygon(context, colour, [x - 7, top], [x + 7, top], [x, top + 14]);
    case 'turn':
      return polygon(context, colour, [x - 4, top + 4], [x + 4, top + 4], [x, top + 12]);
    case 'difference':
      return polygon(
        context,
        colour,
        [x - 5, top + 7],
        [x, top + 1],
        [x + 5, top + 7],
        [x, top + 13],
      );
    case 'fails':
      line(context, { colour, width: 2.5 }, [x - 5, top + 2], [x + 5, top + 12]);
      line(context, { colour, width: 2.5 }, [x + 5, top + 2], [x - 5, top + 12]);
  }
}
