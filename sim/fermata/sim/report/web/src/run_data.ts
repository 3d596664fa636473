// SPDX-License-Identifier: Apache-2.0

// What the program writes into the page. Times are virtual nanoseconds; numbers that refer to
// something are indices into the array of that name. An optional member is absent when it says
// nothing; members that are not named here are ignored.

export const FORMAT = 1;

export type Ending = 'waits' | 'yields' | 'ends' | 'fails' | 'runs';
export type WakeCause = 'spawn' | 'yield' | 'event' | 'error' | 'cancel' | 'deadlock' | 'shutdown';
export type Fate = 'delivered' | 'lost' | 'refused' | 'duplicate' | 'in flight';

export interface Lane {
  machine: number;
  name: string;
  spawned?: string;
  parent?: number;
}

export interface Step {
  n: number; // As the failure's step and every other report count.
  lane: number;
  at: number;
  end: Ending;
  why?: string;
  place?: string;
  calls?: string[]; // What it asked of its machine.
  wakes?: [number, WakeCause][];
}

export interface Turn {
  step: number; // Of the first step that begins with or after it; may be one past the last.
  text: string;
  chosen?: number; // Lanes, for picks.
  passed?: number;
  pick?: boolean;
}

export interface LogLine {
  text: string;
  at: number;
  step: number; // In which it was printed; without a lane, which begins with or after it.
  lane?: number;
  machine?: number;
}

export interface Contents {
  bytes: number;
  preview: string;
}

export interface FileChange {
  machine: number;
  path: string;
  at: number;
  step: number; // How many steps had begun by then.
  seen?: Contents; // Absent: programs see no such file.
  durable?: Contents; // Absent: a crash may leave no such file.
  synced?: boolean; // Both are the same.
}

export interface Message {
  kind: string;
  from: number; // Machines.
  to: number;
  sent: number;
  arrived?: number;
  fate: Fate;
  bytes?: number;
  step?: number; // In which it was sent.
  what?: string;
  preview?: string;
}

export interface Fault {
  at: number;
  kind: string;
  machine?: number;
  other?: number;
  until?: number;
  text: string;
}

export interface RunRecord {
  title: string;
  hash?: string;
  end: number;
  forgotten?: number;
  left_out?: { before: number; steps: number }[];
  decisive?: number; // Index into turns.
  machines: string[];
  lanes: Lane[];
  steps: Step[];
  turns?: Turn[];
  lines?: LogLine[];
  files?: FileChange[];
  messages?: Message[];
  faults?: Fault[];
}

export interface Party {
  coroutine: string;
  place?: string;
  begun?: boolean;
  stack?: string[];
}

export interface RingEdge {
  coroutine: string;
  waits_for?: string[];
  how: string;
  by: string;
  since?: string;
  certainty?: string;
}

export interface Deed {
  who: string;
  did: string;
  at?: string;
  woke?: string;
  step?: number;
}

export interface Finding {
  class: string;
  cycle?: RingEdge[];
  object?: string;
  waiters?: string[];
  culprit?: Deed;
  text?: string;
}

export interface Waiter {
  name: string;
  node?: string;
  state?: string;
  spawned?: string;
  suspended?: string;
  waits: { object: number; wants?: string; only_ends?: boolean }[];
}

export interface Awaited {
  title: string;
  state?: string;
  hands?: { coroutine: string; how: string; certainty?: string; since?: string }[];
}

export interface WaitGraph {
  class: string;
  findings: Finding[];
  coroutines: Waiter[];
  objects: Awaited[];
}

export interface Report {
  format: number;
  fermata?: string;
  test: string;
  program?: string;
  seed?: string;
  strategy?: string;
  reproduce?: string;
  failure?: { class: string; message: string; signature?: string; step?: number; at?: number };
  shrink?: string;
  verdict?: string;
  pair?: Party[];
  waits?: WaitGraph;
  runs: RunRecord[];
}

/// Throws an Error that says what is wrong with it.
export function parseReport(text: string): Report {
  if (text.trim() === '') throw new Error('This page holds no run: it is the empty template.');
  const report = JSON.parse(text) as Report;
  if (report.format !== FORMAT) {
    throw new Error(`This page shows format ${FORMAT}; its data has format ${report.format}.`);
  }
  if (!report.runs?.length) throw new Error('The data of this page holds no run.');
  return report;
}
