# SPDX-License-Identifier: Apache-2.0
"""Cycles and layers of a graph, a mapping of each node to the set of nodes it needs."""


def cycles(graph):
    """The strongly connected components of more than one node, each sorted, in Tarjan's manner."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(root):
        work = [(root, iter(sorted(graph[root])))]
        numbers[root] = lowest[root] = len(numbers)
        stack.append(root)
        while work:
            node, rest = work[-1]
            needed = next(rest, None)
            if needed is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    close(node)
            elif needed not in numbers:
                numbers[needed] = lowest[needed] = len(numbers)
                stack.append(needed)
                work.append((needed, iter(sorted(graph[needed]))))
            elif needed in stack:
                lowest[node] = min(lowest[node], numbers[needed])

    def close(node):
        component = stack[stack.index(node) :]
        del stack[stack.index(node) :]
        if len(component) > 1:
            found.append(sorted(component))

    for node in sorted(graph):
        if node not in numbers:
            visit(node)
    return found


def layers(graph, order):
    """The nodes of `order`, each in the first layer above all it needs that stand before it."""
    depth = {}
    for node in order:
        below = [depth[needed] for needed in graph[node] if needed in depth]
        depth[node] = 1 + max(below, default=0)
    return [
        [node for node in order if depth[node] == layer]
        for layer in range(1, 1 + max(depth.values(), default=0))
    ]
