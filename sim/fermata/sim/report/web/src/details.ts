// SPDX-License-Identifier: Apache-2.0

// All that is known of the selected step, with links to what it has to do with.

import { button, element } from './dom';
import { NONE, type Run } from './run';
import type { Message } from './run_data';
import type { Selection } from './selection';
import { duration, ending, grouped, messageTitle } from './words';

const MOST_LISTED = 50;

export class Details {
  readonly root = element('div', { class: 'details', 'aria-live': 'polite' });
  readonly #selection: Selection;

  constructor(runs: Run[], selection: Selection) {
    this.#selection = selection;
    selection.follow(({ run, step }) => this.#show(runs[run]!, step));
  }

  #show(run: Run, step: number): void {
    if (step === NONE) {
      delete this.root.dataset['step'];
      this.root.replaceChildren(
        element('p', { class: 'hint' }, 'Click a step, or press → to walk through the run.'),
      );
      return;
    }
    const wakes = (run.steps[step]!.wakes ?? []).map((each) => this.#wake(run, step, ...each));
    const calls = (run.steps[step]!.calls ?? []).map((text) => element('li', {}, text));
    const sent = run.messagesSentIn(step).map((each) => run.messages[each]!);
    const messages = sent.map((message) => messageItem(run, message));
    const printed = run.linesPrintedIn(step).map((text) => element('li', {}, text || ' '));
    this.root.dataset['step'] = String(run.steps[step]!.n);
    this.root.replaceChildren(
      element(
        'h2',
        {},
        `Step ${grouped(run.steps[step]!.n)}`,
        element('small', {}, run.record.title),
      ),
      ...this.#turns(run, step),
      ...this.#leftOut(run, step),
      this.#facts(run, step),
      ...list('prints', printed),
      ...list('asks for', calls),
      ...list('wakes', wakes),
      ...list('messages', messages),
    );
  }

  #turns(run: Run, step: number): HTMLElement[] {
    return run.turnsAt(step).map((index) => {
      const turn = run.turns[index]!;
      const decides = turn === run.decisive;
      return element(
        'p',
        { class: decides ? 'turn decisive' : 'turn' },
        element('b', {}, decides ? 'This decides: ' : 'Not calm: '),
        turn.text,
      );
    });
  }

  #leftOut(run: Run, step: number): HTMLElement[] {
    const gap = run.record.left_out?.find((each) => each.before === step);
    if (gap === undefined) return [];
    return [element('p', { class: 'hint' }, `${grouped(gap.steps)} steps before it are left out.`)];
  }

  #facts(run: Run, index: number): HTMLElement {
    const step = run.steps[index]!;
    const lane = run.record.lanes[step.lane]!;
    const waker = run.wokenBy[index]!;
    const previous = run.previousInLane[index]!;
    const next = run.nextInLane[index]!;
    const list = element('dl');
    const fact = (name: string, ...value: (Node | string)[]) =>
      list.append(element('dt', {}, name), element('dd', {}, ...value));
    fact('coroutine', element('b', { class: 'name' }, lane.name));
    if (run.record.machines.length > 1) fact('machine', run.machineName(lane.machine));
    fact('virtual time', duration(step.at));
    fact('then', ending(run, index));
    if (step.place) fact('at', element('code', {}, step.place));
    if (waker !== NONE) {
      fact('woken by', this.#link(run, waker), ` (${run.causes[index] ?? 'event'})`);
    } else if (previous !== NONE && run.steps[previous]!.end === 'waits') {
      fact('woken by', 'a timer or the world outside');
    }
    if (previous !== NONE)
      fact('before', this.#link(run, previous, false), ` ${ending(run, previous)}`);
    if (next !== NONE) fact('after', this.#link(run, next, false), ` ${ending(run, next)}`);
    if (lane.spawned) {
      const by = lane.parent === undefined ? '' : `by ${run.laneName(lane.parent)} `;
      fact('spawned', by, element('code', {}, lane.spawned));
    }
    return list;
  }

  #wake(run: Run, step: number, lane: number, cause: string): HTMLElement {
    const own = run.stepsOfLane[lane]!;
    const next = own.find((each) => each > step);
    const verb = cause === 'spawn' ? 'spawns ' : 'wakes ';
    const how = cause === 'spawn' || cause === 'event' ? '' : ` (${cause})`;
    const name = element('b', { class: 'name' }, run.fullName(lane));
    const then =
      next === undefined
        ? ', which never runs'
        : element('span', {}, ', runs in ', this.#link(run, next, false));
    return element('li', {}, verb, name, how, then);
  }

  #link(run: Run, step: number, named = true): HTMLElement {
    const { n, lane } = run.steps[step]!;
    const text = named ? `step ${grouped(n)}, ${run.fullName(lane)}` : `step ${grouped(n)}`;
    return button(text, { class: 'link' }, () => this.#selection.change({ step }));
  }
}

function list(name: string, items: HTMLElement[]): HTMLElement[] {
  if (!items.length) return [];
  const more = items.length - MOST_LISTED;
  const shown = items.slice(0, MOST_LISTED);
  if (more > 0) shown.push(element('li', {}, `and ${grouped(more)} more`));
  return [element('h3', {}, name), element('ul', { class: name }, ...shown)];
}

function messageItem(run: Run, message: Message): HTMLElement {
  const took = message.arrived === undefined ? undefined : message.arrived - message.sent;
  return element(
    'li',
    { 'data-fate': message.fate },
    element('b', {}, messageTitle(message)),
    ` to ${run.machineName(message.to)}`,
    took === undefined ? '' : ` after ${duration(took)}`,
    message.what ? element('div', {}, element('code', {}, message.what)) : '',
    message.preview ? element('pre', {}, message.preview) : '',
  );
}
