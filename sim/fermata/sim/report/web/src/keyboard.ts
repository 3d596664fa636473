// SPDX-License-Identifier: Apache-2.0

export type Keys = Record<string, () => void>;

/// Keys are named as in KeyboardEvent::key, with "Shift+" where a letter does not say so.
export function listenToKeys(keys: Keys): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const arrow = event.key.startsWith('Arrow');
    const action = keys[arrow && event.shiftKey ? `Shift+${event.key}` : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function isTyping(target: EventTarget | null): boolean {
  const typed = target instanceof HTMLInputElement && target.type === 'search';
  return typed || !!document.querySelector('dialog[open]');
}
