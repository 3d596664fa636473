// SPDX-License-Identifier: Apache-2.0

// Messages between machines: from the step that sent one to the row of the machine it went to.
// What was lost ends in a cross half way, what was refused in a bar, what is still on its way has
// no head, a duplicate has two strokes.

import { middle } from '../rows';
import type { Message } from '../run_data';
import { arrowHead, line, type Surface } from './surface';

const MOST_DRAWN = 1500;

export interface Flight {
  from: [number, number];
  to: [number, number];
}

/// Undefined when one of its ends is not shown.
export function flightOf(surface: Surface, message: Message): Flight | undefined {
  const { run, rows, placement } = surface;
  const step = message.step === undefined ? undefined : run.steps[message.step];
  const source = (step && rows.ofLane[step.lane]) ?? rows.ofMachine[message.from];
  const target = rows.ofMachine[message.to];
  if (!source || !target) return undefined;
  const start = step
    ? placement.left(message.step!) + placement.width(message.step!) / 2
    : placement.ofTime(message.sent);
  const after = Math.max(start + 8, placement.ofTime(message.arrived ?? message.sent));
  const end = message.arrived === undefined ? start + 36 : after;
  const down = target.top > source.top;
  const edge = step ? (down ? 9 : -9) : 0;
  const own = source === target;
  return { from: [start, middle(source) + edge], to: [end, middle(target) + (own ? -8 : 0)] };
}

export function visibleFlights(surface: Surface): [number, Flight][] {
  const found: [number, Flight][] = [];
  surface.run.messages.forEach((message, index) => {
    const flight = flightOf(surface, message);
    if (flight && flight.to[0] >= 0 && flight.from[0] <= surface.width) found.push([index, flight]);
  });
  return found;
}

export function drawMessages(surface: Surface, highlighted: number): void {
  const flights = visibleFlights(surface);
  const own = new Set(surface.run.messagesSentIn(surface.selected));
  if (flights.length > MOST_DRAWN) {
    for (const [index, { to }] of flights) drawTick(surface, surface.run.messages[index]!, to);
    return;
  }
  for (const [index, flight] of flights) {
    const strong = index === highlighted || own.has(index);
    drawFlight(surface, surface.run.messages[index]!, flight, strong ? 3 : 1.5);
  }
}

function colourOf(surface: Surface, message: Message): string {
  const went = message.fate === 'delivered' || message.fate === 'duplicate';
  if (message.kind === 'reset') return surface.colours.lost;
  return went || message.fate === 'in flight' ? surface.colours.message : surface.colours.lost;
}

function drawTick(surface: Surface, message: Message, [x, y]: [number, number]): void {
  surface.context.fillStyle = colourOf(surface, message);
  surface.context.fillRect(x, y - 5, 1, 10);
}

function drawFlight(surface: Surface, message: Message, flight: Flight, width: number): void {
  const { context } = surface;
  const colour = colourOf(surface, message);
  const [x0, y0] = flight.from;
  const lost = message.fate === 'lost';
  const share = lost ? 0.55 : 1;
  const x1 = x0 + (flight.to[0] - x0) * share;
  const y1 = y0 + (flight.to[1] - y0) * share;
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const dashes = lost ? [5, 3] : message.fate === 'in flight' ? [2, 3] : [];
  line(context, { colour, width, dashes }, [x0, y0], [x1, y1]);
  context.beginPath();
  context.arc(x0, y0, 2.5, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  switch (message.fate) {
    case 'lost':
      line(context, { colour, width: 2.5 }, [x1 - 4, y1 - 4], [x1 + 4, y1 + 4]);
      line(context, { colour, width: 2.5 }, [x1 + 4, y1 - 4], [x1 - 4, y1 + 4]);
      break;
    case 'refused':
      line(context, { colour, width: 3 }, across(x1, y1, angle, 6), across(x1, y1, angle, -6));
      break;
    case 'duplicate':
      line(context, { colour, width }, across(x0, y0, angle, 3), across(x1, y1, angle, 3));
      arrowHead(context, colour, x1, y1, angle, 8);
      break;
    case 'delivered':
      arrowHead(context, colour, x1, y1, angle, 8);
      break;
  }
}

/// A point beside (x, y), at a right angle to the way.
function across(x: number, y: number, angle: number, distance: number): [number, number] {
  return [x - Math.sin(angle) * distance, y + Math.cos(angle) * distance];
}
