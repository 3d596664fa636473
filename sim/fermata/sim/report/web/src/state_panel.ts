// SPDX-License-Identifier: Apache-2.0

// The network and the disks as they were when the selected step had ended.

import { element } from './dom';
import { NONE, type Run } from './run';
import type { Contents, FileChange } from './run_data';
import type { Selection } from './selection';
import { filesAfter, type Flow, flowsAfter } from './state';
import { counted, grouped } from './words';

export class StatePanel {
  readonly root = element('div', { class: 'panel state' });

  constructor(runs: Run[], selection: Selection) {
    selection.follow(({ run, step }) => this.#show(runs[run]!, step));
  }

  #show(run: Run, step: number): void {
    const shown = step !== NONE && (run.messages.length > 0 || run.files.length > 0);
    this.root.hidden = !shown;
    if (!shown) return;
    const after = `after step ${grouped(run.steps[step]!.n)}`;
    this.root.replaceChildren(
      ...(run.messages.length ? network(flowsAfter(run, step), after) : []),
      ...(run.files.length ? disks(run, filesAfter(run, step), after) : []),
    );
  }
}

function network(flows: Flow[], after: string): HTMLElement[] {
  const rows = flows.map(({ what, state, sent, arrived, lost }) => {
    const flying = sent - arrived - lost;
    return element(
      'tr',
      { 'data-flow': what },
      element('td', {}, element('code', {}, what), state && element('small', {}, ` ${state}`)),
      ...[sent, arrived, lost, flying].map((each) => element('td', {}, grouped(each))),
    );
  });
  const heads = ['', 'sent', 'arrived', 'lost', 'in flight'];
  return table(`network ${after}, in bytes`, heads, rows, 'network');
}

function disks(run: Run, files: FileChange[], after: string): HTMLElement[] {
  const several = run.record.machines.length > 1;
  const rows = files.map((file) =>
    element(
      'tr',
      { 'data-file': file.path, 'data-differs': !file.synced },
      element('td', {}, (several ? `${run.machineName(file.machine)}: ` : '') + file.path),
      element('td', {}, ...contents(file.seen)),
      element('td', {}, ...contents(file.durable)),
      element('td', {}, file.synced ? '' : 'not durable'),
    ),
  );
  return table(`disks ${after}`, ['file', 'as seen', 'as durable', ''], rows, 'disks');
}

function contents(file: Contents | undefined): (Node | string)[] {
  if (!file) return ['no file'];
  if (file.bytes === 0) return ['empty'];
  return [element('code', {}, file.preview), ` ${counted(file.bytes, 'byte')}`];
}

function table(title: string, heads: string[], rows: HTMLElement[], name: string): HTMLElement[] {
  const head = element('tr', {}, ...heads.map((each) => element('th', { scope: 'col' }, each)));
  const body = rows.length ? rows : [element('tr', {}, element('td', {}, 'nothing'))];
  return [
    element('h3', {}, title),
    element(
      'table',
      { class: name },
      element('thead', {}, head),
      element('tbody', {}, ...body),
    ),
  ];
}
