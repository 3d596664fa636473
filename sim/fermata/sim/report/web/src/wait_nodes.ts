// SPDX-License-Identifier: Apache-2.0

// A wait-for graph as nodes and edges: a coroutine leads to what it waits for, that to in whose
// hands it is.

import type { Deed, Finding, WaitGraph } from './run_data';

export interface WaitNode {
  id: string;
  kind: 'coroutine' | 'object' | 'culprit';
  title: string;
  detail: string;
  /// Is part of what is wrong.
  found: boolean;
}

export interface WaitEdge {
  from: string;
  to: string;
  text: string;
  found: boolean;
  /// Not known for certain, or done with.
  faint: boolean;
}

export interface WaitPicture {
  nodes: WaitNode[];
  edges: WaitEdge[];
}

export function pictureOf(graph: WaitGraph): WaitPicture {
  const names = namesOf(graph);
  const coroutine = new Map(names.map((name, index) => [name, `c${index}`]));
  graph.coroutines.forEach(({ name }, index) => {
    if (!coroutine.has(name)) coroutine.set(name, `c${index}`);
  });
  const ring = ringOf(graph.findings);
  const troubled = new Set(graph.findings.flatMap((finding) => involved(finding)));
  const used = new Set(graph.coroutines.flatMap(({ waits }) => waits.map((wait) => wait.object)));
  const picture: WaitPicture = { nodes: [], edges: [] };
  graph.coroutines.forEach((each, index) => {
    const found = troubled.has(each.name) || troubled.has(names[index]!);
    const detail = each.suspended ?? each.spawned ?? '';
    picture.nodes.push({ id: `c${index}`, kind: 'coroutine', title: names[index]!, detail, found });
    for (const { object, wants, only_ends: onlyEnds } of each.waits) {
      const title = graph.objects[object]?.title ?? '';
      const edge = {
        from: `c${index}`,
        to: `o${object}`,
        text: wants ?? 'waits',
        faint: !!onlyEnds,
      };
      const inRing = ring.has(`${each.name}\n${title}`) || ring.has(`${names[index]}\n${title}`);
      picture.edges.push({ ...edge, found: inRing });
    }
  });
  graph.objects.forEach((each, index) => {
    if (!used.has(index)) return;
    const found = graph.findings.some((finding) => aboutObject(finding, each.title));
    const detail = each.state ?? '';
    picture.nodes.push({ id: `o${index}`, kind: 'object', title: each.title, detail, found });
    for (const hand of each.hands ?? []) {
      const to = coroutine.get(hand.coroutine);
      if (to === undefined) continue;
      const inRing = ring.has(`${each.title}\n${hand.coroutine}`);
      const faint = hand.certainty === 'possible';
      picture.edges.push({ from: `o${index}`, to, text: hand.how, found: inRing, faint });
    }
    for (const { object, culprit } of graph.findings) {
      if (culprit && object === each.title) addCulprit(picture, `o${index}`, culprit);
    }
  });
  return picture;
}

/// Without those that wait for good reason; all when nothing is found.
export function essentials(picture: WaitPicture): WaitPicture {
  const kept = new Set(picture.nodes.filter((node) => node.found).map((node) => node.id));
  if (!kept.size) return picture;
  return {
    nodes: picture.nodes.filter((node) => kept.has(node.id)),
    edges: picture.edges.filter((edge) => kept.has(edge.from) && kept.has(edge.to)),
  };
}

/// As the findings name them: with the machine in front when there are several.
function namesOf(graph: WaitGraph): string[] {
  const several = new Set(graph.coroutines.map(({ node }) => node)).size > 1;
  return graph.coroutines.map(({ name, node }) =>
    several && node && !name.startsWith(`${node}/`) ? `${node}/${name}` : name,
  );
}

/// Each edge of a ring as two names.
function ringOf(findings: Finding[]): Set<string> {
  const edges = new Set<string>();
  for (const { cycle, waiters, object } of findings) {
    for (const step of cycle ?? []) {
      for (const title of step.waits_for ?? []) {
        edges.add(`${step.coroutine}\n${title}`).add(`${title}\n${step.by}`);
      }
    }
    for (const waiter of waiters ?? []) if (object) edges.add(`${waiter}\n${object}`);
  }
  return edges;
}

function involved({ waiters, cycle }: Finding): string[] {
  return [...(waiters ?? []), ...(cycle ?? []).flatMap((step) => [step.coroutine, step.by])];
}

function aboutObject({ object, cycle }: Finding, title: string): boolean {
  return object === title || !!cycle?.some((step) => step.waits_for?.includes(title));
}

function addCulprit(picture: WaitPicture, object: string, deed: Deed): void {
  const id = `x${picture.nodes.length}`;
  const detail = [deed.did, deed.at && `at ${deed.at}`].filter(Boolean).join(' ');
  picture.nodes.push({ id, kind: 'culprit', title: deed.who, detail, found: true });
  picture.edges.push({ from: object, to: id, text: 'last touched by', found: true, faint: true });
}
