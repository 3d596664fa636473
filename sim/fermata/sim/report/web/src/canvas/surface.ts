// SPDX-License-Identifier: Apache-2.0

// What every part of the picture draws on, and the strokes they share.

import type { Placement } from '../placement';
import type { Rows } from '../rows';
import type { Run } from '../run';
import type { Colours } from '../theme';

export interface Surface {
  context: CanvasRenderingContext2D;
  colours: Colours;
  run: Run;
  rows: Rows;
  placement: Placement;
  width: number;
  /// Of the rows, what can be seen.
  top: number;
  bottom: number;
  /// The steps that can be seen: [first, past the last).
  steps: [number, number];
  selected: number;
  hovered: number;
  found: ReadonlySet<number>;
  /// Where the runs part.
  difference?: number | undefined;
}

export const FONT = '11px ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
export const BOLD = `600 ${FONT}`;

/// The context of a canvas of `width` x `height` CSS pixels, cleared.
export function contextOf(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D {
  const density = window.devicePixelRatio || 1;
  const columns = Math.round(width * density);
  const rows = Math.round(height * density);
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d')!;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = 'middle';
  return context;
}

export interface Stroke {
  colour: string;
  width?: number;
  dashes?: number[];
}

export function line(
  context: CanvasRenderingContext2D,
  stroke: Stroke,
  ...points: [number, number][]
): void {
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.strokeStyle = stroke.colour;
  context.lineWidth = stroke.width ?? 1;
  context.setLineDash(stroke.dashes ?? []);
  context.stroke();
  context.setLineDash([]);
}

export function polygon(
  context: CanvasRenderingContext2D,
  colour: string,
  ...points: [number, number][]
): void {
  context.beginPath();
  points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.fillStyle = colour;
  context.fill();
}

/// A triangle whose tip is at (x, y), looking along `angle`.
export function arrowHead(
  context: CanvasRenderingContext2D,
  colour: string,
  x: number,
  y: number,
  angle: number,
  size = 6,
): void {
  const corner = (turn: number): [number, number] => [
    x - size * Math.cos(angle + turn),
    y - size * Math.sin(angle + turn),
  ];
  polygon(context, colour, [x, y], corner(0.45), corner(-0.45));
}

/// Cut to `room` pixels, with an ellipsis instead of its end, or of its beginning; empty when not
/// even that fits.
export function fitted(
  context: CanvasRenderingContext2D,
  text: string,
  room: number,
  keep: 'beginning' | 'end' = 'beginning',
): string {
  if (room < 12) return '';
  const characters = Math.min(text.length, Math.ceil(room / 3)); // Hardly a letter is narrower.
  if (characters === text.length && context.measureText(text).width <= room) return text;
  const cut = (length: number) =>
    keep === 'end' ? '…' + text.slice(text.length - length) : text.slice(0, length) + '…';
  let low = 0;
  let high = characters;
  while (low < high) {
    const half = (low + high + 1) >> 1;
    if (context.measureText(cut(half)).width <= room) low = half;
    else high = half - 1;
  }
  return low ? cut(low) : '';
}
