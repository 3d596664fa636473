// SPDX-License-Identifier: Apache-2.0

// The whole page, put together for one report.

import { choiceOf, followLinks } from './deep_link';
import { Details } from './details';
import { firstDifference } from './difference';
import { element } from './dom';
import { header, why } from './header';
import { helpDialog, legend } from './help';
import { listenToKeys } from './keyboard';
import { LogList } from './log_list';
import { domainOf } from './placement';
import { orderOf } from './rows';
import { NONE, Run } from './run';
import type { Report } from './run_data';
import { RunView } from './run_view';
import { search } from './search';
import { Selection } from './selection';
import { StatePanel } from './state_panel';
import { onThemeChange } from './theme';
import { Toolbar } from './toolbar';
import { Tooltip } from './tooltip';
import { TurnList } from './turn_list';
import { Viewport } from './viewport';
import { waitGraph } from './wait_graph';
import { alongLane, beginning, beside, inRowBeside, nextOf, stepsOfTurns } from './walk';
import { counted } from './words';

const STEPS_AT_FIRST = 60; // Of a long run, around the step it opens with.
const LONG_RUN = 120;
const MANY_LANES = 60; // With more of them only those in sight are shown at first.

export class Page {
  readonly #report: Report;
  readonly #runs: Run[];
  readonly #selection = new Selection();
  readonly #viewport = new Viewport();
  readonly #views: RunView[];
  readonly #toolbar: Toolbar;
  readonly #failing: number | undefined;
  readonly #help = helpDialog();
  #found: number[] = [];

  constructor(report: Report) {
    this.#report = report;
    this.#runs = report.runs.map((record) => new Run(record));
    this.#failing = this.#failingStep();
    const [main, other] = this.#runs;
    const difference = other && firstDifference(main!, other);
    const order = orderOf(main!);
    const tooltip = new Tooltip();
    this.#views = this.#runs.map(
      (run, index) =>
        new RunView({
          run,
          index,
          viewport: this.#viewport,
          selection: this.#selection,
          tooltip,
          difference,
          failing: index === 0 ? this.#failing : undefined,
          order: index === 0 ? undefined : order,
        }),
    );
    this.#toolbar = new Toolbar(
      this.#selection,
      {
        zoom: (factor) => this.#viewport.zoomBy(factor),
        whole: () => this.#viewport.zoomBy(0),
        turn: (by) => this.#walkTurns(by),
        found: (by) => this.#walkFound(by),
        help: () => this.#help.showModal(),
      },
      this.#runs.some((run) => run.turns.length > 0),
    );
    document.body.append(...this.#parts(), tooltip.root, this.#help);
    document.title = `${report.failure ? `${report.failure.class}: ` : ''}${report.test}`;
  }

  /// Draws, opens where the address says, and from now on does what the reader wants.
  open(): void {
    this.#fit();
    const start = beginning(this.#runs[0]!, this.#failing);
    const asked = choiceOf(this.#runs, location.hash);
    this.#selection.change({ run: 0, ...asked });
    if (asked.axis) this.#fit();
    const { run, step } = this.#selection.choice;
    const around = step === NONE ? start : step;
    this.#openAround(run, around);
    if (step === NONE && this.#report.failure) this.#selection.change({ step: start });
    const many = this.#runs.some((each) => each.record.lanes.length > MANY_LANES);
    if (many) this.#selection.change({ inSight: true });
    for (const view of this.#views) view.drawNow(); // As tall as it has to be to scroll.
    this.#views[run]!.reveal(around);
    for (const view of this.#views) view.drawNow();
    this.#listen();
  }

  get runs(): Run[] {
    return this.#runs;
  }

  get views(): RunView[] {
    return this.#views;
  }

  #parts(): HTMLElement[] {
    const report = this.#report;
    const reasons = why(report);
    const graph = report.waits?.coroutines.length
      ? waitGraph(report.waits, (name) => this.#chooseCoroutine(name))
      : undefined;
    const causes = element('div', { class: 'causes' }, reasons, graph);
    const some = (has: (run: Run) => number | undefined) => this.#runs.some((run) => !!has(run));
    return [
      header(report),
      ...(causes.childElementCount ? [causes] : []),
      element(
        'main',
        { class: this.#views.length > 1 ? 'stage two' : 'stage' },
        this.#toolbar.root,
        element('div', { class: 'runs' }, ...this.#views.map((view) => view.root)),
        element(
          'aside',
          {},
          new Details(this.#runs, this.#selection).root,
          new TurnList(this.#runs, this.#selection).root,
        ),
        element(
          'div',
          { class: 'below' },
          new LogList(this.#runs, this.#selection).root,
          new StatePanel(this.#runs, this.#selection).root,
        ),
        legend(
          some((run) => run.messages.length),
          some((run) => run.record.faults?.length),
        ),
      ),
    ];
  }

  #failingStep(): number | undefined {
    const { failure } = this.#report;
    const index = failure?.step === undefined ? NONE : this.#runs[0]!.indexOf(failure.step);
    return index === NONE ? undefined : index;
  }

  #fit(): void {
    const width = Math.min(...this.#views.map((view) => view.width));
    this.#viewport.reset(domainOf(this.#runs, this.#selection.choice.axis, width), width);
    for (const view of this.#views) view.repaint();
  }

  #openAround(index: number, step: number): void {
    const run = this.#runs[index]!;
    if (run.steps.length <= LONG_RUN) return;
    const first = Math.max(0, step - STEPS_AT_FIRST * 0.4);
    this.#showSteps(run, first, Math.min(run.steps.length, first + STEPS_AT_FIRST));
  }

  #showSteps(run: Run, first: number, past: number): void {
    if (this.#selection.choice.axis === 'order') {
      this.#viewport.show(run.first + first, run.first + past);
      return;
    }
    const from = run.steps[Math.floor(first)]!.at;
    const next = run.steps[Math.min(run.steps.length - 1, Math.ceil(past))]!.at;
    this.#viewport.show(from, Math.max(next, from + 1));
  }

  #listen(): void {
    this.#selection.listen((choice, before) => {
      if (choice.axis !== before.axis) this.#changeAxis();
      if (choice.search !== before.search || choice.run !== before.run) this.#search();
      if (choice.step !== before.step || choice.run !== before.run) {
        if (choice.step !== NONE) this.#views[choice.run]!.reveal(choice.step);
      }
    });
    followLinks(this.#runs, this.#selection);
    new ResizeObserver(() => {
      const width = Math.min(...this.#views.map((view) => view.width));
      if (width !== this.#viewport.width) this.#keepingPlace(() => this.#fit());
    }).observe(document.body);
    onThemeChange(() => this.#views.forEach((view) => view.repaint()));
    this.#listenToKeys();
  }

  /// What was in sight stays there on the other axis.
  #changeAxis(): void {
    const wasWhole = this.#viewport.isWhole;
    this.#fit();
    const { run, step } = this.#selection.choice;
    if (!wasWhole && step !== NONE) this.#openAround(run, step);
    if (step !== NONE) this.#views[run]!.reveal(step);
  }

  #keepingPlace(change: () => void): void {
    const { scale, width, isWhole } = this.#viewport;
    const [from, to] = [scale.invert(0), scale.invert(width)];
    change();
    if (!isWhole) this.#viewport.show(from, to);
  }

  #listenToKeys(): void {
    const walk = (to: (run: Run, step: number) => number) => () => {
      const { run, step } = this.#selection.choice;
      const from = step === NONE ? -1 : step;
      this.#select(to(this.#runs[run]!, from));
    };
    const rows = () => this.#views[this.#selection.choice.run]!.rows;
    listenToKeys({
      ArrowRight: walk((run, step) => beside(run, step, 1)),
      ArrowLeft: walk((run, step) => beside(run, step, -1)),
      'Shift+ArrowRight': walk((run, step) => alongLane(run, step, 1)),
      'Shift+ArrowLeft': walk((run, step) => alongLane(run, step, -1)),
      j: walk((run, step) => inRowBeside(run, rows(), step, 1)),
      k: walk((run, step) => inRowBeside(run, rows(), step, -1)),
      n: () => this.#walkTurns(1),
      N: () => this.#walkTurns(-1),
      d: walk((run, step) => run.decisive?.step ?? step),
      e: () =>
        this.#failing !== undefined && this.#selection.change({ run: 0, step: this.#failing }),
      p: () => this.#otherRun(),
      s: () => this.#selection.change({ inSight: !this.#selection.choice.inSight }),
      a: () =>
        this.#selection.change({
          axis: this.#selection.choice.axis === 'order' ? 'time' : 'order',
        }),
      '+': () => this.#viewport.zoomBy(2),
      '=': () => this.#viewport.zoomBy(2),
      '-': () => this.#viewport.zoomBy(1 / 2),
      '0': () => this.#viewport.zoomBy(0),
      '/': () => this.#toolbar.search.focus(),
      f: () => this.#toolbar.filter.focus(),
      '?': () => this.#help.showModal(),
    });
  }

  #select(step: number): void {
    const { run } = this.#selection.choice;
    const last = this.#runs[run]!.steps.length - 1;
    if (last >= 0) this.#selection.change({ step: Math.min(last, Math.max(0, step)) });
  }

  #walkTurns(by: 1 | -1): void {
    const { run, step } = this.#selection.choice;
    this.#select(nextOf(stepsOfTurns(this.#runs[run]!), step, by));
  }

  #walkFound(by: 1 | -1): void {
    if (this.#found.length) this.#select(nextOf(this.#found, this.#selection.choice.step, by));
  }

  #otherRun(): void {
    if (this.#runs.length < 2) return;
    const { run, step } = this.#selection.choice;
    const next = 1 - run;
    const last = this.#runs[next]!.steps.length - 1;
    this.#selection.change({ run: next, step: Math.min(last, Math.max(0, step)) });
  }

  #chooseCoroutine(name: string): void {
    const run = this.#runs[0]!;
    const lane = run.record.lanes.findIndex(
      (each, index) => each.name === name || run.fullName(index) === name,
    );
    const own = run.stepsOfLane[lane];
    if (own?.length) this.#selection.change({ run: 0, step: own[own.length - 1]! });
  }

  #search(): void {
    const { run, search: text } = this.#selection.choice;
    this.#found = search(this.#runs[run]!, text);
    this.#toolbar.count = text.trim() ? counted(this.#found.length, 'step') : '';
    this.#views.forEach(
      (view, index) => (view.found = index === run ? new Set(this.#found) : new Set()),
    );
  }
}
