// SPDX-License-Identifier: Apache-2.0

// What was on the wire and on the disks when a step had ended.

import type { Run } from './run';
import type { FileChange } from './run_data';

/// One direction of a connection, or the datagrams from one machine to one port.
export interface Flow {
  what: string;
  state: string;
  sent: number;
  arrived: number;
  lost: number;
}

/// In the order in which they began.
export function flowsAfter(run: Run, step: number): Flow[] {
  const at = run.steps[step]!.at;
  const flows = new Map<string, Flow>();
  for (const message of run.messages) {
    const isSent = message.step === undefined ? message.sent <= at : message.step <= step;
    if (!isSent || message.fate === 'duplicate') continue;
    const what =
      message.what ?? `${run.machineName(message.from)} -> ${run.machineName(message.to)}`;
    const flow = flows.get(what) ?? { what, state: '', sent: 0, arrived: 0, lost: 0 };
    flows.set(what, flow);
    const bytes = message.bytes ?? 0;
    const hasArrived = message.arrived !== undefined && message.arrived <= at;
    if (message.kind === 'data' || message.kind === 'datagram') {
      flow.sent += bytes;
      if (message.fate === 'lost' || message.fate === 'refused') flow.lost += bytes;
      else if (hasArrived) flow.arrived += bytes;
    } else if (message.kind === 'connect') {
      flow.state = message.fate === 'refused' ? 'refused' : hasArrived ? '' : 'not connected yet';
    } else {
      flow.state = message.kind === 'end' ? 'closed' : 'reset';
    }
  }
  return [...flows.values()];
}

/// The files that there were, by machine and path.
export function filesAfter(run: Run, step: number): FileChange[] {
  const files = new Map<string, FileChange>();
  for (const change of run.files) {
    if (change.step <= step + 1) files.set(JSON.stringify([change.machine, change.path]), change);
  }
  return [...files.entries()]
    .filter(([, change]) => change.seen || change.durable)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change);
}
