"""Layers and circles of any graph of uses. Knows nothing of languages."""

from typing import NamedTuple


class Use(NamedTuple):
    """One part's use of another, with the place or the symbol that shows it."""

    user: str
    used: str
    proof: str


def unknown_layers(order, uses, layer_of):
    """Layers that the order does not have."""
    return sorted({layer_of(part) for use in uses for part in (use.user, use.used)} - set(order))


def back_edges(order, uses, layer_of):
    """Uses that lead from a layer to one above it. `order` begins at the top."""
    rank = {layer: number for number, layer in enumerate(order)}
    known = [use for use in uses if layer_of(use.user) in rank and layer_of(use.used) in rank]
    return sorted(use for use in known if rank[layer_of(use.used)] < rank[layer_of(use.user)])


def circles(uses):
    """Sets of parts that all lead to each other, each sorted. Linear in the uses (Tarjan's strongly connected
    components, without recursion)."""
    below: dict[str, set[str]] = {}
    for use in uses:
        below.setdefault(use.user, set()).add(use.used)
        below.setdefault(use.used, set())
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path, on_path, found = [], set(), []
    for root in sorted(below):
        if root in number:
            continue
        work = [(root, iter(sorted(below[root])))]
        number[root] = lowest[root] = len(number)
        path.append(root)
        on_path.add(root)
        while work:
            part, rest = work[-1]
            for next_part in rest:
                if next_part not in number:
                    number[next_part] = lowest[next_part] = len(number)
                    path.append(next_part)
                    on_path.add(next_part)
                    work.append((next_part, iter(sorted(below[next_part]))))
                    break
                if next_part in on_path:
                    lowest[part] = min(lowest[part], number[next_part])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[part])
                if lowest[part] == number[part]:
                    circle = set()
                    while part not in circle:
                        circle.add(path[-1])
                        on_path.discard(path.pop())
                    if len(circle) > 1:
                        found.append(sorted(circle))
    return sorted(found)


def diagram(order, uses, layer_of):
    """A line a layer, from the top, with the layers that it uses."""
    used: dict[str, set[str]] = {layer: set() for layer in order}
    for use in uses:
        used.get(layer_of(use.user), set()).add(layer_of(use.used))
    width = max(len(layer) for layer in order)
    lines = []
    for layer in order:
        below = [other for other in order if other in used[layer] and other != layer]
        lines.append(f"{layer:{width}}  → {' '.join(below)}" if below else layer)
    return "\n".join(lines)
