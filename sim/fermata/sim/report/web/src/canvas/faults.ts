// SPDX-License-Identifier: Apache-2.0

// Faults: hatched over the rows of their machine while they last, a flag in its row where they
// begin.

import type { FaultSpan } from '../fault_spans';
import type { Row } from '../rows';
import { BOLD, FONT, fitted, polygon, type Surface } from './surface';

const FLAG = 7;

export function drawFaultBands(surface: Surface, spans: FaultSpan[]): void {
  for (const span of spans) {
    if (!span.lasting) continue;
    const [from, to] = extent(surface, span);
    if (to < 0 || from > surface.width) continue;
    for (const machine of machinesOf(span)) {
      const rows = surface.rows.all.filter((row) => row.machine === machine);
      if (rows.length) hatch(surface, from, to, rows[0]!, rows[rows.length - 1]!);
    }
  }
}

export function drawFaultFlags(surface: Surface, spans: FaultSpan[]): void {
  const { context, colours } = surface;
  const ends: number[] = [];
  for (const span of spans) {
    const x = extent(surface, span)[0];
    if (x < -200 || x > surface.width) continue;
    for (const machine of machinesOf(span)) {
      const row = surface.rows.ofMachine[machine];
      if (!row) continue;
      const y = row.top + 3;
      polygon(context, colours.fault, [x, y], [x + FLAG, y + 4], [x, y + 8]);
      context.fillStyle = colours.fault;
      context.fillRect(x, y, 1.5, row.height - 6);
      if (x < (ends[machine] ?? -1)) continue;
      context.font = BOLD;
      const text = fitted(context, span.fault.kind, 120);
      context.fillText(text, x + FLAG + 3, y + 6);
      ends[machine] = x + FLAG + context.measureText(text).width + 8;
      context.font = FONT;
    }
  }
}

/// The fault whose flag is at (x, y), or under whose band in the machine's own row that is.
export function faultAt(
  surface: Surface,
  spans: FaultSpan[],
  x: number,
  y: number,
): FaultSpan | undefined {
  return spans.find((span) => {
    const [from, to] = extent(surface, span);
    if (x < from - 3 || x > Math.max(to, from + 50)) return false;
    return machinesOf(span).some((machine) => {
      const row = surface.rows.ofMachine[machine];
      return row && y >= row.top && y <= row.top + row.height;
    });
  });
}

function machinesOf({ fault }: FaultSpan): number[] {
  return [fault.machine, fault.other].filter((each): each is number => each !== undefined);
}

function extent(surface: Surface, span: FaultSpan): [number, number] {
  const from = surface.placement.ofTime(span.fault.at);
  if (!span.lasting) return [from, from];
  return [from, surface.placement.ofTime(span.until ?? surface.run.record.end + 1)];
}

function hatch(surface: Surface, from: number, to: number, first: Row, last: Row): void {
  const { context, colours } = surface;
  const x0 = Math.max(0, from);
  const x1 = Math.min(surface.width, to);
  const y0 = Math.max(surface.top, first.top);
  const y1 = Math.min(surface.bottom, last.top + last.height);
  if (x1 <= x0 || y1 <= y0) return;
  context.save();
  context.beginPath();
  context.rect(x0, y0, x1 - x0, y1 - y0);
  context.clip();
  context.globalAlpha = 0.1;
  context.fillStyle = colours.fault;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.globalAlpha = 0.35;
  context.strokeStyle = colours.fault;
  context.lineWidth = 1;
  context.beginPath();
  const tall = y1 - y0;
  for (let x = x0 - tall - (x0 % 9); x < x1; x += 9) {
    context.moveTo(x, y1);
    context.lineTo(x + tall, y0);
  }
  context.stroke();
  context.restore();
}
