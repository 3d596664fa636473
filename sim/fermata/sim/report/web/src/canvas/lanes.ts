// SPDX-License-Identifier: Apache-2.0

// The steps, and between those of one coroutine what it did meanwhile: it waited, or it was ready
// and somebody else ran.

import { right } from '../placement';
import { middle, type Row } from '../rows';
import { lowerBound, NONE, type Run } from '../run';
import type { Ending, Step } from '../run_data';
import { fitted, line, type Surface } from './surface';

const STEP_HEIGHT = 18;
const GAP = 1; // Pixels between two steps, when there is room.
const ROOM_FOR_SIGN = 13;
const ROOM_FOR_TEXT = 46;

// Where several steps share a pixel the one that says most is shown.
const WEIGHT: Record<Ending, number> = { yields: 1, waits: 2, ends: 3, runs: 4, fails: 5 };

export function drawLanes(surface: Surface): void {
  for (const row of surface.rows.all) {
    if (row.top > surface.bottom || row.top + row.height < surface.top) continue;
    const lanes = lanesIn(surface.run, row);
    if (row.lane !== undefined) drawLife(surface, row, row.lane);
    for (const lane of lanes) drawSteps(surface, row, surface.run.stepsOfLane[lane]!);
  }
}

function lanesIn(run: Run, row: Row): number[] {
  if (row.lane !== undefined) return [row.lane];
  if (!row.folded) return [];
  return run.lanesOf(row.machine);
}

/// The part of `own` that can be seen, with one more on each side.
function seen(surface: Surface, own: Int32Array): [number, number] {
  const [first, past] = surface.steps;
  return [
    Math.max(0, lowerBound(own.length, (index) => own[index]! >= first) - 1),
    Math.min(own.length, lowerBound(own.length, (index) => own[index]! >= past) + 1),
  ];
}

function drawLife(surface: Surface, row: Row, lane: number): void {
  const { context, run, placement, colours } = surface;
  const own = run.stepsOfLane[lane]!;
  const [from, to] = seen(surface, own);
  const y = middle(row);
  const end = run.steps.length ? right(placement, run.steps.length - 1) : 0;
  const stretch = (start: number, stop: number, ready: boolean) => {
    const x0 = Math.max(-2, start);
    const x1 = Math.min(surface.width + 2, stop);
    if (x1 - x0 < 2) return;
    const stroke = ready
      ? { colour: colours.ready, width: 4 }
      : { colour: colours.waits, width: 1.5, dashes: [1.5, 3.5] };
    line(context, stroke, [x0, y], [x1, y]);
  };
  for (let index = from; index < to; ++index) {
    const step = own[index]!;
    const begins = placement.left(step);
    const waker = run.wokenBy[step]!;
    const ready = waker === NONE ? begins : right(placement, waker);
    const previous = run.previousInLane[step]!;
    if (previous !== NONE)
      stretch(right(placement, previous), Math.max(ready, 0), waiting(run.steps[previous]!));
    if (waker !== NONE) stretch(ready, begins, true);
  }
  const last = own.length ? own[own.length - 1]! : NONE;
  if (to === own.length && last !== NONE && !isOver(run.steps[last]!)) {
    stretch(right(placement, last), end, waiting(run.steps[last]!));
  }
}

/// As the last argument of `stretch`: who yields is ready, who waits is not.
function waiting(step: Step): boolean {
  return step.end === 'yields';
}

function isOver(step: Step): boolean {
  return step.end === 'ends' || step.end === 'fails' || step.end === 'runs';
}

function drawSteps(surface: Surface, row: Row, own: Int32Array): void {
  const { run, placement } = surface;
  const [from, to] = seen(surface, own);
  let pixel = -1;
  let shown: Ending | undefined;
  for (let index = from; index < to; ++index) {
    const step = own[index]!;
    const x = placement.left(step);
    const width = placement.width(step);
    if (width >= 3) {
      drawStep(surface, row, step, x, width - GAP);
      continue;
    }
    const end = run.steps[step]!.end;
    const column = Math.floor(x);
    if (column === pixel && shown && WEIGHT[end] <= WEIGHT[shown]) continue;
    pixel = column;
    shown = end;
    drawBar(surface, row, end, column, Math.max(1, width));
    if (step === surface.selected || surface.found.has(step)) {
      drawRing(surface, row, step, x, Math.max(3, width));
    }
  }
}

function drawBar(surface: Surface, row: Row, end: Ending, x: number, width: number): void {
  surface.context.fillStyle = surface.colours[end];
  surface.context.fillRect(x, middle(row) - STEP_HEIGHT / 2, width, STEP_HEIGHT);
}

function drawStep(surface: Surface, row: Row, index: number, x: number, width: number): void {
  const { context, colours, run } = surface;
  const step = run.steps[index]!;
  const top = middle(row) - STEP_HEIGHT / 2;
  if (width < ROOM_FOR_SIGN) {
    drawBar(surface, row, step.end, x, width);
  } else {
    context.fillStyle = colours[`${step.end}-tint`];
    context.fillRect(x, top, width, STEP_HEIGHT);
    context.fillStyle = colours[step.end];
    context.fillRect(x, top, 3, STEP_HEIGHT);
    drawSign(context, step.end, x + 8.5, middle(row));
  }
  if (width >= ROOM_FOR_TEXT) {
    context.fillStyle = colours.ink;
    const keep = step.end === 'yields' ? 'end' : 'beginning'; // Of a place, the line.
    context.fillText(fitted(context, brief(step), width - 18, keep), x + 15, middle(row) + 0.5);
  }
  const marked = index === surface.selected || index === surface.hovered;
  if (marked || surface.found.has(index)) drawRing(surface, row, index, x, width);
}

function drawRing(surface: Surface, row: Row, index: number, x: number, width: number): void {
  const { context, colours } = surface;
  const isSelected = index === surface.selected;
  context.strokeStyle = surface.found.has(index) && !isSelected ? colours.found : colours.focus;
  context.lineWidth = isSelected ? 2.5 : 1.5;
  context.strokeRect(x - 1, middle(row) - STEP_HEIGHT / 2 - 1, width + 2, STEP_HEIGHT + 2);
}

function brief(step: Step): string {
  if (step.end === 'waits' || step.end === 'fails') return step.why ?? step.end;
  if (step.end === 'yields') return step.place?.replace(/.*\//, '') ?? 'yields';
  return step.end === 'runs' ? 'is running' : step.why ? `ends: ${step.why}` : 'ends';
}

/// How the step ended, for those who do not see its colour.
function drawSign(context: CanvasRenderingContext2D, end: Ending, x: number, y: number): void {
  switch (end) {
    case 'waits':
      context.fillRect(x - 2.5, y - 3, 2, 6);
      context.fillRect(x + 0.5, y - 3, 2, 6);
      return;
    case 'ends':
      context.fillRect(x - 2.5, y - 2.5, 5, 5);
      return;
    case 'runs':
      for (const dot of [-3, 0, 3]) context.fillRect(x + dot - 0.75, y - 0.75, 1.5, 1.5);
      return;
  }
  context.strokeStyle = context.fillStyle;
  context.lineWidth = 1.5;
  context.beginPath();
  if (end === 'yields') {
    context.moveTo(x - 1.5, y - 3);
    context.lineTo(x + 1.5, y);
    context.lineTo(x - 1.5, y + 3);
  } else {
    context.moveTo(x - 3, y - 3);
    context.lineTo(x + 3, y + 3);
    context.moveTo(x + 3, y - 3);
    context.lineTo(x - 3, y + 3);
  }
  context.stroke();
}
