// SPDX-License-Identifier: Apache-2.0

// One run: its overview when it is long, the strip with the axis and the turns, and its rows.

import { drawBackdrop, drawInstants, drawSharedPart, drawTurnLines } from './canvas/backdrop';
import { drawFaultBands, drawFaultFlags } from './canvas/faults';
import { drawLanes } from './canvas/lanes';
import { drawMessages, flightOf } from './canvas/messages';
import { drawOverview, LONG_RUN, paintOverview } from './canvas/overview';
import { drawStrip, marksOf, STRIP_HEIGHT, type Mark } from './canvas/strip';
import { contextOf, type Surface } from './canvas/surface';
import { drawWakes } from './canvas/wakes';
import { element } from './dom';
import { faultSpans, type FaultSpan } from './fault_spans';
import { hitAt, type Hit } from './hit';
import { Labels } from './labels';
import { placementOf, right, stepsBetween, type Placement } from './placement';
import { middle, rowsOf, type Rows } from './rows';
import { NONE, type Run } from './run';
import type { Selection } from './selection';
import { colours } from './theme';
import type { Tooltip } from './tooltip';
import { tipOf, tipOfMark } from './tips';
import type { Viewport } from './viewport';
import { counted, duration } from './words';

const AT_REST = 150; // Milliseconds without a move.

export interface RunViewOptions {
  run: Run;
  index: number;
  viewport: Viewport;
  selection: Selection;
  tooltip: Tooltip;
  /// Where it parts from the other run.
  difference?: number | undefined;
  /// The step it fails in.
  failing?: number | undefined;
  order?: ReadonlyMap<string, number> | undefined;
}

export class RunView {
  readonly root: HTMLElement;
  readonly #options: RunViewOptions;
  readonly #spans: FaultSpan[];
  readonly #labels: Labels;
  readonly #overview = element('canvas', { class: 'overview', 'aria-hidden': 'true' });
  readonly #strip = element('canvas', { class: 'strip' });
  readonly #plot = element('canvas', { class: 'plot', role: 'img' });
  readonly #spacer = element('div', { class: 'spacer' });
  readonly #scroller = element('div', { class: 'scroller' });
  readonly #nothing = element(
    'p',
    { class: 'nothing', hidden: true },
    'No coroutine has such a name.',
  );
  #rows: Rows;
  #painted: HTMLCanvasElement | undefined;
  #marks: Mark[] = [];
  #hovered: Hit | undefined;
  #found: ReadonlySet<number> = new Set();
  #asked = 0;
  #resting = 0;

  constructor(options: RunViewOptions) {
    const { run, index, selection } = options;
    this.#options = options;
    this.#spans = faultSpans(run.record);
    this.#rows = this.#layOut();
    this.#labels = new Labels(run, selection, (lane) => this.#chooseLane(lane));
    this.#spacer.append(this.#labels.root, this.#plot);
    this.#scroller.append(this.#spacer);
    const long = run.steps.length > LONG_RUN;
    const axis = element('span', { class: 'axis-name' });
    this.root = element(
      'section',
      {
        class: 'run',
        'data-run': index,
        'data-lanes': run.record.lanes.length,
        'data-steps': run.steps.length,
        'aria-label': run.record.title,
      },
      element('h2', {}, run.record.title, element('small', {}, summaryOf(run))),
      long && element('div', { class: 'beside' }, element('span', {}, 'overview'), this.#overview),
      element('div', { class: 'beside' }, axis, this.#strip),
      this.#scroller,
      this.#nothing,
    );
    this.#plot.setAttribute('aria-label', `${run.record.title}: ${summaryOf(run)}`);
    this.#listen(axis);
  }

  /// After a change of width, axis or theme.
  repaint(): void {
    this.#painted = undefined;
    this.draw();
  }

  /// After a change of which rows are shown. The selected one stays where it is on the screen.
  layOut(): void {
    const { run, selection } = this.#options;
    const lane = run.steps[selection.choice.step]?.lane ?? NONE;
    const before = this.#rows.ofLane[lane]?.top;
    this.#rows = this.#layOut();
    this.#spacer.style.height = `${this.#rows.height}px`;
    const after = this.#rows.ofLane[lane]?.top;
    if (before !== undefined && after !== undefined) this.#scroller.scrollTop += after - before;
    this.draw();
  }

  set found(found: ReadonlySet<number>) {
    this.#found = found;
    this.draw();
  }

  /// The width there is for steps.
  get width(): number {
    const gutter = parseFloat(getComputedStyle(this.root).getPropertyValue('--gutter'));
    return Math.max(100, this.#scroller.clientWidth - gutter);
  }

  get rows(): Rows {
    return this.#rows;
  }

  /// With the next frame.
  draw(): void {
    if (!this.#asked) this.#asked = requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    const { viewport, selection, failing } = this.#options;
    this.#spacer.style.height = `${this.#rows.height}px`;
    this.#nothing.hidden = this.#rows.all.length > 0;
    const surface = this.#surface();
    const { width } = viewport;
    const tall = surface.bottom - surface.top;
    surface.context = contextOf(this.#plot, width, Math.max(1, tall));
    surface.context.translate(0, -surface.top);
    this.#drawRows(surface);
    const lane = this.#options.run.steps[surface.selected]?.lane ?? NONE;
    this.#labels.show(this.#rows, surface.top, surface.bottom, lane);

    this.#marks = marksOf(surface, failing);
    surface.context = contextOf(this.#strip, width, STRIP_HEIGHT);
    drawStrip(surface, selection.choice.axis, viewport.scale, this.#marks);
    if (this.#overview.isConnected) this.#drawOverview();
  }

  /// Scrolls and pans until `step` can be seen.
  reveal(step: number): void {
    const { run, viewport } = this.#options;
    const row = this.#rows.ofLane[run.steps[step]?.lane ?? NONE];
    if (row) {
      const { scrollTop, clientHeight } = this.#scroller;
      if (row.top < scrollTop) this.#scroller.scrollTop = row.top - row.height;
      else if (row.top + row.height > scrollTop + clientHeight) {
        this.#scroller.scrollTop = row.top + 2 * row.height - clientHeight;
      }
    }
    const placement = this.#placement();
    const [from, to] = [placement.left(step), right(placement, step)];
    if (from < 0 || to > viewport.width) viewport.panBy((from + to) / 2 - viewport.width / 2);
  }

  /// The middle of a step or a message in the window; undefined while it is not shown.
  where(what: { step: number } | { message: number }): { x: number; y: number } | undefined {
    const { run } = this.#options;
    const surface = this.#surface();
    const box = this.#plot.getBoundingClientRect();
    const at = (x: number, y: number) => ({ x: box.left + x, y: box.top + y - surface.top });
    if ('message' in what) {
      const flight = flightOf(surface, run.messages[what.message]!);
      return flight && at((flight.from[0] + flight.to[0]) / 2, (flight.from[1] + flight.to[1]) / 2);
    }
    const row = this.#rows.ofLane[run.steps[what.step]?.lane ?? NONE];
    const { placement } = surface;
    return row && at((placement.left(what.step) + right(placement, what.step)) / 2, middle(row));
  }

  #layOut(): Rows {
    const { run, selection, order } = this.#options;
    const { filter, folded } = selection.choice;
    return rowsOf(run, { filter, folded, only: this.#inSight(), ...(order && { order }) });
  }

  /// Those who run, or are woken, in sight; undefined when all are wanted.
  #inSight(): Set<number> | undefined {
    const { run, viewport, selection } = this.#options;
    if (!selection.choice.inSight) return undefined;
    const [first, past] = stepsBetween(run, this.#placement(), 0, viewport.width);
    const lanes = new Set<number>();
    for (const step of run.steps.slice(first, past)) {
      lanes.add(step.lane);
      for (const [lane] of step.wakes ?? []) lanes.add(lane);
    }
    return lanes;
  }

  /// When the view comes to rest, so that rows do not jump below the pointer.
  #lookAgain(): void {
    if (!this.#options.selection.choice.inSight) return;
    clearTimeout(this.#resting);
    this.#resting = window.setTimeout(() => this.layOut(), AT_REST);
  }

  #placement(): Placement {
    const { run, viewport, selection } = this.#options;
    return placementOf(run, selection.choice.axis, viewport.scale);
  }

  #surface(): Surface {
    const { run, index, viewport, selection, difference } = this.#options;
    const { choice } = selection;
    const placement = this.#placement();
    const top = this.#scroller.scrollTop;
    const past = Math.min(this.#rows.height, top + this.#scroller.clientHeight);
    return {
      context: this.#plot.getContext('2d')!,
      colours: colours(),
      run,
      rows: this.#rows,
      placement,
      width: viewport.width,
      top,
      bottom: Math.max(top, past),
      steps: stepsBetween(run, placement, 0, viewport.width),
      selected: choice.run === index ? choice.step : NONE,
      hovered: this.#hovered?.kind === 'step' ? this.#hovered.step : NONE,
      found: this.#found,
      difference,
    };
  }

  #drawRows(surface: Surface): void {
    const { choice } = this.#options.selection;
    drawBackdrop(surface);
    if (choice.axis === 'order') drawSharedPart(surface);
    else drawInstants(surface);
    drawFaultBands(surface, this.#spans);
    drawLanes(surface);
    drawTurnLines(surface);
    drawWakes(surface);
    drawMessages(surface, this.#hovered?.kind === 'message' ? this.#hovered.message : NONE);
    drawFaultFlags(surface, this.#spans);
  }

  #drawOverview(): void {
    const { run, viewport, selection, failing } = this.#options;
    const { whole, scale, width } = viewport;
    const placement = placementOf(run, selection.choice.axis, whole);
    this.#painted ??= paintOverview(run, placement, colours(), width, failing);
    drawOverview(this.#overview, this.#painted, colours(), whole, scale, width);
  }

  #chooseLane(lane: number): void {
    const { run, index, selection } = this.#options;
    const own = run.stepsOfLane[lane]!;
    if (!own.length) return;
    const { step } = selection.choice;
    const nearest = own.reduce((best, each) =>
      Math.abs(each - step) < Math.abs(best - step) ? each : best,
    );
    selection.change({ run: index, step: nearest });
  }

  #listen(axis: HTMLElement): void {
    const { selection, viewport, tooltip, run, index } = this.#options;
    const name = () =>
      (axis.textContent = selection.choice.axis === 'order' ? 'step' : 'virtual time');
    name();
    selection.listen((choice, before) => {
      name();
      const rows = ['folded', 'filter', 'inSight'] as const;
      if (rows.some((each) => choice[each] !== before[each])) this.layOut();
      else this.draw();
    });
    viewport.attach(this.#plot);
    viewport.attach(this.#strip);
    viewport.listen(() => {
      this.draw();
      this.#lookAgain();
    });
    this.#scroller.addEventListener('scroll', () => this.draw());
    this.#plot.addEventListener('mousemove', (event) => this.#hover(event));
    this.#plot.addEventListener('mouseleave', () => this.#leave());
    this.#plot.addEventListener('click', (event) => {
      const hit = this.#hitAt(event);
      if (hit?.kind === 'step') selection.change({ run: index, step: hit.step });
      if (hit?.kind === 'message') {
        const { step } = run.messages[hit.message]!;
        if (step !== undefined) selection.change({ run: index, step });
      }
    });
    this.#strip.addEventListener('mousemove', (event) => {
      const mark = this.#markAt(event);
      this.#strip.style.cursor = mark ? 'pointer' : '';
      if (mark) tooltip.show(event, tipOfMark(mark));
      else tooltip.hide();
    });
    this.#strip.addEventListener('mouseleave', () => tooltip.hide());
    this.#strip.addEventListener('click', (event) => {
      const mark = this.#markAt(event);
      const last = run.steps.length - 1;
      if (mark) selection.change({ run: index, step: Math.min(mark.step, last) });
    });
    this.#overview.addEventListener('pointerdown', (event) => this.#dragOverview(event));
  }

  #hitAt(event: MouseEvent): Hit | undefined {
    const surface = this.#surface();
    return hitAt(surface, this.#spans, event.offsetX, event.offsetY + surface.top);
  }

  #markAt(event: MouseEvent): Mark | undefined {
    const near = (mark: Mark) => Math.abs(mark.x - event.offsetX);
    const sorted = [...this.#marks].sort((one, other) => near(one) - near(other));
    return sorted[0] && near(sorted[0]) <= 8 ? sorted[0] : undefined;
  }

  #hover(event: MouseEvent): void {
    const { run, tooltip } = this.#options;
    this.#hovered = this.#hitAt(event);
    this.#plot.style.cursor = this.#hovered ? 'pointer' : '';
    if (this.#hovered) tooltip.show(event, tipOf(run, this.#hovered));
    else tooltip.hide();
    this.draw();
  }

  #leave(): void {
    this.#hovered = undefined;
    this.#options.tooltip.hide();
    this.draw();
  }

  #dragOverview(event: PointerEvent): void {
    const { viewport } = this.#options;
    const centre = (x: number) => {
      const { scale, whole, width } = viewport;
      viewport.panBy(scale(whole.invert(x)) - width / 2);
    };
    centre(event.offsetX);
    this.#overview.setPointerCapture(event.pointerId);
    this.#overview.onpointermove = (moved) => centre(moved.offsetX);
    this.#overview.onpointerup = () => (this.#overview.onpointermove = null);
  }
}

function summaryOf(run: Run): string {
  const { record } = run;
  const parts = [
    counted(run.steps.length + run.first, 'step'),
    counted(record.lanes.length, 'coroutine'),
    record.machines.length > 1 ? counted(record.machines.length, 'machine') : '',
    run.messages.length ? counted(run.messages.length, 'message') : '',
    `virtual time ${duration(record.end)}`,
    record.hash ? `hash ${record.hash}` : '',
    run.first ? `the first ${counted(run.first, 'step is', 'steps are')} not kept` : '',
  ];
  return parts.filter(Boolean).join(' · ');
}
