// SPDX-License-Identifier: Apache-2.0

// Who waits for what in whose hands, drawn; what is wrong stands out.

import dagre from '@dagrejs/dagre';
import { curveBasis, line } from 'd3-shape';
import { button, element, svg } from './dom';
import type { WaitGraph } from './run_data';
import {
  essentials,
  pictureOf,
  type WaitEdge,
  type WaitNode,
  type WaitPicture,
} from './wait_nodes';
import { counted } from './words';

const LINE = 16; // Pixels.
const SMALLEST = 0.75; // Of its size; a wider graph scrolls.
const LONGEST = 34; // Characters of a line; the rest is in the title.

export function waitGraph(graph: WaitGraph, choose: (coroutine: string) => void): HTMLElement {
  const whole = pictureOf(graph);
  const core = essentials(whole);
  const hidden = whole.nodes.length - core.nodes.length;
  const box = element('div', { class: 'graph' }, draw(core, choose));
  const toggle = button(
    `show all ${counted(whole.nodes.length, 'node')}`,
    { class: 'link' },
    () => {
      const all = box.dataset['all'] !== 'true';
      box.dataset['all'] = String(all);
      box.replaceChildren(draw(all ? whole : core, choose));
      toggle.textContent = all
        ? 'show only what is wrong'
        : `show all ${counted(whole.nodes.length, 'node')}`;
    },
  );
  const texts = graph.findings.map(({ class: kind, text, cycle }) =>
    element(
      'p',
      { class: 'finding', 'data-finding': kind },
      element('b', {}, kind),
      ' ',
      text ?? ringText(cycle),
    ),
  );
  return element(
    'section',
    { class: 'wait-graph', 'data-wait-graph': graph.class, 'aria-label': 'who waits for whom' },
    element('h2', {}, 'who waits for whom', hidden > 0 && toggle),
    box,
    ...texts,
  );
}

function ringText(cycle: WaitGraph['findings'][number]['cycle']): string {
  if (!cycle?.length) return '';
  const parts = cycle.map((step) => {
    const since = step.since ? `, since ${step.since}` : '';
    const object = step.waits_for?.join(', ') ?? '?';
    return `'${step.coroutine}' waits for ${object}, ${step.how} '${step.by}'${since}`;
  });
  return parts.join('; ');
}

function draw(picture: WaitPicture, choose: (coroutine: string) => void): SVGElement {
  const layout = new dagre.graphlib.Graph({ multigraph: true });
  layout.setGraph({ rankdir: 'LR', nodesep: 22, ranksep: 28, marginx: 8, marginy: 8 });
  layout.setDefaultEdgeLabel(() => ({}));
  for (const node of picture.nodes) layout.setNode(node.id, sizeOf(node));
  picture.edges.forEach((edge, index) => {
    const width = textWidth(edge.text) + 6;
    layout.setEdge(edge.from, edge.to, { width, height: LINE, labelpos: 'c' }, String(index));
  });
  dagre.layout(layout);
  const { width = 0, height = 0 } = layout.graph();
  const style = `width:${width}px;min-width:${width * SMALLEST}px`;
  const image = svg(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, style, role: 'img' },
    heads(),
    ...picture.edges.map((edge, index) => {
      const placed = layout.edge(edge.from, edge.to, String(index)) as unknown as PlacedEdge;
      return drawEdge(edge, placed);
    }),
    ...picture.nodes.map((node) =>
      drawNode(node, layout.node(node.id) as unknown as PlacedNode, choose),
    ),
  );
  return image;
}

interface PlacedNode {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface PlacedEdge {
  points: { x: number; y: number }[];
  x: number;
  y: number;
}

function heads(): SVGElement {
  const head = (id: string, name: string) =>
    svg(
      'marker',
      { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' },
      svg('path', { d: 'M0 0L8 4L0 8z', class: name }),
    );
  return svg('defs', {}, head('head', 'head'), head('head-found', 'head found'));
}

function drawEdge(edge: WaitEdge, placed: PlacedEdge): SVGElement {
  const path = line<{ x: number; y: number }>(
    ({ x }) => x,
    ({ y }) => y,
  ).curve(curveBasis)(placed.points);
  const classes = ['edge', edge.found && 'found', edge.faint && 'faint'].filter(Boolean).join(' ');
  return svg(
    'g',
    { class: classes, 'data-edge': `${edge.from}-${edge.to}`, 'data-found': edge.found },
    svg('path', { d: path ?? '', 'marker-end': `url(#${edge.found ? 'head-found' : 'head'})` }),
    svg('text', { x: placed.x, y: placed.y }, edge.text),
  );
}

function drawNode(node: WaitNode, placed: PlacedNode, choose: (name: string) => void): SVGElement {
  const { x, y, width, height } = placed;
  const round = node.kind === 'object' ? 2 : 12;
  const classes = ['node', node.kind, node.found && 'found'].filter(Boolean).join(' ');
  const group = svg(
    'g',
    {
      class: classes,
      'data-node': node.title,
      'data-found': node.found,
      transform: `translate(${x - width / 2} ${y - height / 2})`,
    },
    svg('title', {}, `${node.title}\n${node.detail}`),
    svg('rect', { width, height, rx: round }),
    svg('text', { x: width / 2, y: node.detail ? 18 : height / 2 + 4 }, cut(node.title)),
    node.detail
      ? svg('text', { x: width / 2, y: 34, class: 'detail' }, cut(node.detail))
      : undefined,
  );
  if (node.kind === 'coroutine') group.addEventListener('click', () => choose(node.title));
  return group;
}

function sizeOf(node: WaitNode): { width: number; height: number } {
  const widest = Math.max(textWidth(cut(node.title)) * 1.1, textWidth(cut(node.detail)));
  return { width: Math.max(70, widest + 24), height: node.detail ? 44 : 30 };
}

let measure: CanvasRenderingContext2D | undefined;

function textWidth(text: string): number {
  measure ??= document.createElement('canvas').getContext('2d')!;
  measure.font = '12px system-ui, sans-serif';
  return measure.measureText(text).width;
}

/// Of a place, the file and the line.
function cut(text: string): string {
  const characters = [...(/:\d+$/.test(text) ? text.replace(/^.*\//, '') : text)];
  if (characters.length <= LONGEST) return characters.join('');
  return characters.slice(0, LONGEST - 1).join('') + '…';
}
