// SPDX-License-Identifier: Apache-2.0

// What part of the runs is seen from left to right: one for all of them, so that they stay aligned.

import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomTransform } from 'd3-zoom';

export const MARGIN = 10; // Pixels on both sides.
const WIDEST_UNIT = 240; // Pixels: of one step or one nanosecond.

export class Viewport {
  #width = 1;
  #domain: [number, number] = [0, 1];
  #transform: ZoomTransform = zoomIdentity;
  readonly #zoom = zoom<HTMLElement, unknown>();
  readonly #elements: HTMLElement[] = [];
  readonly #listeners: (() => void)[] = [];

  constructor() {
    // A bare wheel scrolls the page, as everywhere.
    this.#zoom.filter((event: MouseEvent) =>
      event.type === 'wheel' ? event.ctrlKey || event.metaKey : !event.button,
    );
    this.#zoom.on('zoom', (event: D3ZoomEvent<HTMLElement, unknown>) => {
      if (event.sourceEvent) this.#apply(event.transform);
    });
  }

  get width(): number {
    return this.#width;
  }

  get scale(): ScaleLinear<number, number> {
    return this.#transform.rescaleX(this.whole);
  }

  /// Nothing zoomed.
  get whole(): ScaleLinear<number, number> {
    return scaleLinear(this.#domain, [MARGIN, this.#width - MARGIN]);
  }

  get isWhole(): boolean {
    return this.#transform.k === 1;
  }

  /// Wheel and drag on `element` move it.
  attach(element: HTMLElement): void {
    this.#elements.push(element);
    select(element).call(this.#zoom).on('dblclick.zoom', null);
    element.addEventListener('wheel', (event) => this.#pan(event), { passive: false });
  }

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /// Shows the whole domain.
  reset(domain: [number, number], width: number): void {
    this.#domain = domain;
    this.#width = width;
    const unit = (width - 2 * MARGIN) / (domain[1] - domain[0]);
    this.#zoom
      .extent([
        [0, 0],
        [width, 1],
      ])
      .translateExtent([
        [0, -Infinity],
        [width, Infinity],
      ])
      .scaleExtent([1, Math.max(4, WIDEST_UNIT / unit)]);
    this.#apply(zoomIdentity);
  }

  /// Makes [from, to] of the domain fill the width.
  show(from: number, to: number): void {
    const whole = this.whole;
    const [, most] = this.#zoom.scaleExtent();
    const wanted = (this.#width - 2 * MARGIN) / (whole(to) - whole(from));
    const factor = Math.min(most, Math.max(1, wanted));
    const centre = whole((from + to) / 2);
    this.#moveTo(factor, this.#width / 2 - centre * factor);
  }

  zoomBy(factor: number): void {
    const [least, most] = this.#zoom.scaleExtent();
    const next = Math.min(most, Math.max(least, this.#transform.k * factor));
    const centre = this.#width / 2;
    this.#moveTo(next, centre - ((centre - this.#transform.x) / this.#transform.k) * next);
  }

  panBy(pixels: number): void {
    this.#moveTo(this.#transform.k, this.#transform.x - pixels);
  }

  #moveTo(k: number, x: number): void {
    const kept = Math.min(0, Math.max(this.#width * (1 - k), x));
    this.#apply(zoomIdentity.translate(kept, 0).scale(k));
  }

  #apply(transform: ZoomTransform): void {
    this.#transform = transform;
    for (const element of this.#elements) select(element).property('__zoom', transform);
    for (const listener of this.#listeners) listener();
  }

  #pan(event: WheelEvent): void {
    if (event.ctrlKey || event.metaKey) return;
    const pixels = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (!pixels || Math.abs(event.deltaY) > Math.abs(pixels)) return;
    event.preventDefault();
    this.panBy(pixels);
  }
}
