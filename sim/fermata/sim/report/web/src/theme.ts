// SPDX-License-Identifier: Apache-2.0

// The colours of the style sheet, for what is drawn on canvas.

const NAMES = [
  'ink',
  'muted',
  'faint',
  'rule',
  'plot',
  'band',
  'shared',
  'waits',
  'waits-tint',
  'yields',
  'yields-tint',
  'ends',
  'ends-tint',
  'fails',
  'fails-tint',
  'runs',
  'runs-tint',
  'ready',
  'wake',
  'spawn',
  'message',
  'lost',
  'fault',
  'decisive',
  'turn',
  'difference',
  'focus',
  'found',
] as const;

export type Colour = (typeof NAMES)[number];
export type Colours = Record<Colour, string>;

let present: Colours | undefined;

export function colours(): Colours {
  if (!present) {
    const style = getComputedStyle(document.documentElement);
    const pairs = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
    present = Object.fromEntries(pairs) as Colours;
  }
  return present;
}

export function onThemeChange(listener: () => void): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    present = undefined;
    listener();
  });
}
