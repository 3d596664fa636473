// SPDX-License-Identifier: Apache-2.0

// Elements from code. Strings only ever become text.

type Child = Node | string | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children);
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

export function button(
  text: string,
  attributes: Attributes,
  press: (event: MouseEvent) => void,
): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', press);
  return made;
}

function filled<Made extends Element>(made: Made, attributes: Attributes, children: Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.filter((child): child is Node | string => !!child));
  return made;
}
