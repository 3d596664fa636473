// SPDX-License-Identifier: Apache-2.0

import { element } from './dom';

const APART = 14; // Pixels from the pointer.

/// Lines of text beside the pointer; the first is the title.
export class Tooltip {
  readonly root = element('div', { class: 'tooltip', role: 'tooltip', hidden: true });

  show(event: MouseEvent, lines: string[]): void {
    this.root.replaceChildren(...lines.map((line) => element('div', {}, line)));
    this.root.hidden = false;
    const { offsetWidth, offsetHeight } = this.root;
    const x = Math.min(event.clientX + APART, innerWidth - offsetWidth - 4);
    const below = event.clientY + APART + offsetHeight < innerHeight;
    const y = below ? event.clientY + APART : event.clientY - APART - offsetHeight;
    this.root.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
  }

  hide(): void {
    this.root.hidden = true;
  }
}
