// SPDX-License-Identifier: Apache-2.0

// Who stands in which row: the coroutines of a machine below its name, those of a folded machine
// all in its own row, those that the filter leaves out nowhere.

import type { Run } from './run';

export const LANE_HEIGHT = 26;
export const MACHINE_HEIGHT = 26;

export interface Row {
  machine: number;
  /// Of a row of one coroutine.
  lane?: number;
  folded: boolean;
  top: number;
  height: number;
}

export interface Rows {
  all: Row[];
  height: number;
  /// Of each lane and of each machine; undefined when it is not shown.
  ofLane: (Row | undefined)[];
  ofMachine: (Row | undefined)[];
  lanesShown: number;
}

export interface RowChoice {
  filter: string;
  folded: ReadonlySet<string>;
  /// When given, no other lane is shown.
  only?: ReadonlySet<number> | undefined;
  /// Names in the order wanted, so that two runs show theirs alike.
  order?: ReadonlyMap<string, number>;
}

export function middle(row: Row): number {
  return row.top + row.height / 2;
}

export function rowsOf(run: Run, choice: RowChoice): Rows {
  const { machines, lanes, messages, faults } = run.record;
  const named = machines.length > 1 || !!messages?.length || !!faults?.length;
  const members: number[][] = machines.map(() => []);
  lanes.forEach((lane, index) => {
    if (choice.only && !choice.only.has(index)) return;
    if (matches(run, index, choice.filter)) members[lane.machine]?.push(index);
  });
  const rows: Rows = { all: [], height: 0, ofLane: [], ofMachine: [], lanesShown: 0 };
  const add = (row: Omit<Row, 'top'>): Row => {
    const placed = { ...row, top: rows.height };
    rows.all.push(placed);
    rows.height += row.height;
    return placed;
  };
  const keys = choice.order ? laneKeys(run) : [];
  for (const machine of sorted(machines.keys(), (index) => machines[index]!, choice.order)) {
    const own = sorted(members[machine]!, (lane) => keys[lane]!, choice.order);
    if (!own.length && choice.filter && !has(machines[machine]!, choice.filter)) continue;
    rows.lanesShown += own.length;
    const folded = named && choice.folded.has(machines[machine]!);
    if (named) {
      rows.ofMachine[machine] = add({ machine, folded, height: MACHINE_HEIGHT });
    }
    for (const lane of own) {
      rows.ofLane[lane] = folded
        ? rows.ofMachine[machine]
        : add({ machine, lane, folded: false, height: LANE_HEIGHT });
    }
  }
  return rows;
}

/// Of every lane and machine, as `order` wants it.
export function orderOf(run: Run): Map<string, number> {
  const names = [...run.record.machines, ...laneKeys(run)];
  return new Map(names.map((name, index) => [name, index]));
}

/// Coroutines that share a name are told apart by who came first.
function laneKeys(run: Run): string[] {
  const seen = new Map<string, number>();
  return run.record.lanes.map((_, lane) => {
    const name = run.fullName(lane);
    const earlier = seen.get(name) ?? 0;
    seen.set(name, earlier + 1);
    return `${name}\n${earlier}`;
  });
}

function matches(run: Run, lane: number, filter: string): boolean {
  const { name, machine } = run.record.lanes[lane]!;
  return has(`${run.machineName(machine)}/${name}`, filter);
}

/// Words apart by spaces are alternatives.
function has(text: string, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return !words.length || words.some((word) => text.toLowerCase().includes(word));
}

function sorted(
  indices: Iterable<number>,
  name: (index: number) => string,
  order?: ReadonlyMap<string, number>,
): number[] {
  const all = [...indices];
  if (!order) return all;
  const rank = new Map(all.map((index) => [index, order.get(name(index)) ?? Infinity]));
  const before = (one: number, other: number) => rank.get(one)! - rank.get(other)!;
  return all.sort((one, other) => before(one, other) || one - other);
}
