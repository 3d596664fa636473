// SPDX-License-Identifier: Apache-2.0

// A run with what is asked of it again and again while it is drawn: who ran when, who woke whom.

import type {
  FileChange,
  LogLine,
  Message,
  RunRecord,
  Step,
  Turn,
  WakeCause,
} from './run_data';

export const NONE = -1;

export class Run {
  readonly record: RunRecord;
  readonly steps: Step[];
  readonly turns: Turn[];
  readonly messages: Message[];
  readonly lines: LogLine[];
  readonly files: FileChange[];
  /// The position of the first step among all of the run.
  readonly first: number;
  readonly stepsOfLane: Int32Array[];
  /// Of each step.
  readonly nextInLane: Int32Array;
  readonly previousInLane: Int32Array;
  /// The step that made its coroutine ready; NONE when that was not seen, as of a timer.
  readonly wokenBy: Int32Array;
  readonly causes: (WakeCause | undefined)[];
  /// Virtual time stands still while the steps of one instant run.
  readonly instantOf: Int32Array;
  readonly instants: { at: number; first: number; count: number }[] = [];
  readonly #turnsOfStep = new Map<number, number[]>();
  readonly #messagesOfStep = new Map<number, number[]>();
  readonly #linesOfStep = new Map<number, number[]>();

  constructor(record: RunRecord) {
    this.record = record;
    this.steps = record.steps;
    this.turns = record.turns ?? [];
    this.messages = record.messages ?? [];
    this.lines = record.lines ?? [];
    this.files = record.files ?? [];
    this.first = record.forgotten ?? 0;
    const count = this.steps.length;
    this.nextInLane = new Int32Array(count).fill(NONE);
    this.previousInLane = new Int32Array(count).fill(NONE);
    this.wokenBy = new Int32Array(count).fill(NONE);
    this.causes = new Array(count);
    this.instantOf = new Int32Array(count);
    this.stepsOfLane = this.#followSteps();
    this.turns.forEach((turn, index) => add(this.#turnsOfStep, turn.step, index));
    this.messages.forEach((message, index) => {
      if (message.step !== undefined) add(this.#messagesOfStep, message.step, index);
    });
    this.lines.forEach((line, index) => {
      if (line.lane !== undefined) add(this.#linesOfStep, line.step, index);
    });
  }

  get decisive(): Turn | undefined {
    return this.record.decisive === undefined ? undefined : this.turns[this.record.decisive];
  }

  turnsAt(step: number): number[] {
    return this.#turnsOfStep.get(step) ?? [];
  }

  messagesSentIn(step: number): number[] {
    return this.#messagesOfStep.get(step) ?? [];
  }

  /// What its coroutine has printed in it.
  linesPrintedIn(step: number): string[] {
    return (this.#linesOfStep.get(step) ?? []).map((index) => this.lines[index]!.text);
  }

  /// Who has printed a line, for people.
  printerOf(line: LogLine): string {
    if (line.lane !== undefined) return this.fullName(line.lane);
    return line.machine === undefined ? '' : this.machineName(line.machine);
  }

  laneName(lane: number): string {
    return this.record.lanes[lane]?.name || 'without a name';
  }

  machineName(machine: number): string {
    return this.record.machines[machine] ?? '?';
  }

  lanesOf(machine: number): number[] {
    const { lanes } = this.record;
    return [...lanes.keys()].filter((lane) => lanes[lane]!.machine === machine);
  }

  /// With the machine in front when there are several.
  fullName(lane: number): string {
    const several = this.record.machines.length > 1;
    const machine = this.record.lanes[lane]?.machine ?? 0;
    return (several ? `${this.machineName(machine)}/` : '') + this.laneName(lane);
  }

  /// The index of the step with the number `n`, or of the last one before it; NONE before all.
  indexOf(n: number): number {
    return lowerBound(this.steps.length, (index) => this.steps[index]!.n > n) - 1;
  }

  /// The first step at `time` or later; one past the last when there is none.
  firstAt(time: number): number {
    return lowerBound(this.steps.length, (index) => this.steps[index]!.at >= time);
  }

  #followSteps(): Int32Array[] {
    const lanes: number[][] = this.record.lanes.map(() => []);
    const waker = new Int32Array(lanes.length).fill(NONE);
    const cause: (WakeCause | undefined)[] = new Array(lanes.length);
    this.steps.forEach((step, index) => {
      const own = lanes[step.lane]!;
      const previous = own.length ? own[own.length - 1]! : NONE;
      this.previousInLane[index] = previous;
      if (previous !== NONE) this.nextInLane[previous] = index;
      own.push(index);
      this.wokenBy[index] = waker[step.lane]!;
      this.causes[index] = cause[step.lane];
      waker[step.lane] = NONE;
      cause[step.lane] = undefined;
      for (const [lane, why] of step.wakes ?? []) {
        waker[lane] = index;
        cause[lane] = why;
      }
      const last = this.instants[this.instants.length - 1];
      if (last?.at === step.at) {
        last.count++;
      } else {
        this.instants.push({ at: step.at, first: index, count: 1 });
      }
      this.instantOf[index] = this.instants.length - 1;
    });
    return lanes.map((own) => Int32Array.from(own));
  }
}

function add(map: Map<number, number[]>, key: number, value: number): void {
  const present = map.get(key);
  if (present) present.push(value);
  else map.set(key, [value]);
}

/// The first of 0..count for which `holds`, which holds for all after it too; `count` without one.
export function lowerBound(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
