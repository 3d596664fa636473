// SPDX-License-Identifier: Apache-2.0

import { element } from './dom';
import { Page } from './page';
import { parseReport } from './run_data';

/// For tests, and for scripts of readers: where on the screen something is shown.
interface Surface {
  whereIsStep(run: number, n: number): { x: number; y: number } | undefined;
  whereIsMessage(run: number, message: number): { x: number; y: number } | undefined;
}

declare global {
  interface Window {
    fermataReport?: Surface;
  }
}

function open(): void {
  const page = new Page(parseReport(document.getElementById('run-data')?.textContent ?? ''));
  page.open();
  window.fermataReport = {
    whereIsStep: (run, n) => page.views[run]?.where({ step: page.runs[run]!.indexOf(n) }),
    whereIsMessage: (run, message) => page.views[run]?.where({ message }),
  };
}

try {
  open();
  document.documentElement.dataset['opened'] = String(Math.round(performance.now()));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  document.body.append(element('p', { class: 'refusal', role: 'alert' }, text));
  document.documentElement.dataset['refused'] = 'true';
}
