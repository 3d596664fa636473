// SPDX-License-Identifier: Apache-2.0

// What the pointer tells: the short form of what the details say.

import type { Mark } from './canvas/strip';
import type { Hit } from './hit';
import type { Run } from './run';
import { duration, ending, grouped, messageTitle } from './words';

const MOST_LINES = 3;

export function tipOf(run: Run, hit: Hit): string[] {
  if (hit.kind === 'message') return tipOfMessage(run, hit.message);
  if (hit.kind === 'fault') {
    const { fault, until } = hit.span;
    return [
      fault.text,
      `at ${duration(fault.at)}${until === undefined ? '' : ` until ${duration(until)}`}`,
    ];
  }
  const step = run.steps[hit.step]!;
  const lines = [
    `step ${grouped(step.n)} · ${run.fullName(step.lane)}`,
    `${ending(run, hit.step)}${step.place ? ` at ${step.place}` : ''}`,
    `virtual time ${duration(step.at)}`,
  ];
  for (const text of run.linesPrintedIn(hit.step).slice(0, MOST_LINES)) lines.push(`| ${text}`);
  for (const turn of run.turnsAt(hit.step)) lines.push(`▼ ${run.turns[turn]!.text}`);
  return lines;
}

export function tipOfMark(mark: Mark): string[] {
  if (mark.kind === 'decisive') return ['this decides', mark.text];
  if (mark.kind === 'turn') return ['the run was not calm here', mark.text];
  return [mark.text];
}

function tipOfMessage(run: Run, index: number): string[] {
  const message = run.messages[index]!;
  const took = message.arrived === undefined ? '' : `, arrived at ${duration(message.arrived)}`;
  return [
    messageTitle(message),
    message.what ?? `${run.machineName(message.from)} → ${run.machineName(message.to)}`,
    `sent at ${duration(message.sent)}${took}`,
    message.preview ?? '',
  ].filter(Boolean);
}
