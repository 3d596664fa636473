// SPDX-License-Identifier: Apache-2.0

// How times, counts and steps are said.

import type { Run } from './run';
import type { Ending, Message } from './run_data';

const UNITS: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/// Exact: "1.25 ms", "814.769978 ms", "0".
export function duration(nanoseconds: number): string {
  if (nanoseconds === 0) return '0';
  const [unit, name] = UNITS.find(([each]) => Math.abs(nanoseconds) >= each) ?? UNITS[3]!;
  const value = nanoseconds / unit;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 9 })} ${name}`;
}

/// With as many places as `step`, a distance between two such times, needs.
export function timeTick(nanoseconds: number, step: number): string {
  const [unit, name] = UNITS.find(([each]) => step >= each) ?? UNITS[3]!;
  return `${grouped(Math.round((nanoseconds / unit) * 1000) / 1000)} ${name}`;
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

const ENDINGS: Record<Ending, string> = {
  waits: 'waits',
  yields: 'yields',
  ends: 'ends',
  fails: 'fails',
  runs: 'is running',
};

/// Why a step ended: "waits for mutex 'm'".
export function ending(run: Run, index: number): string {
  const step = run.steps[index]!;
  if (!step.why) return ENDINGS[step.end] ?? step.end;
  return step.end === 'waits' ? `waits for ${step.why}` : `${ENDINGS[step.end]}: ${step.why}`;
}

export function messageTitle(message: Message): string {
  const size = message.bytes === undefined ? '' : `, ${counted(message.bytes, 'byte')}`;
  return `${message.kind} ${message.fate}${size}`;
}
