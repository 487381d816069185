"""The figures of a heap graph in a Perfetto trace, read with Perfetto's own messages.

Usage: perfetto_trace.py FILE

Reads what the trace processor reads, by its rules, and fails where it would count an error. Prints a JSON object:
`types` has blocks and bytes by type, `lost` the bytes that the object above what no root keeps dominates, `instances`
blocks and dominated bytes by type of the objects that it alone dominates, `roots` the objects of each kind of root,
`packets` their number.
"""

import json
import sys
from collections import defaultdict

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

LOST = "(no root leads here)"


class Malformed(SystemExit):
    def __init__(self, problem):
        super().__init__(f"perfetto-trace: {problem}")


class HeapGraph:
    """The objects of a trace's only heap graph, by number."""

    def __init__(self, trace):
        self.size: dict[int, int] = {}
        self.type: dict[int, int] = {}
        self.references: dict[int, list[tuple[int, int]]] = {}
        self.roots: dict[str, list[int]] = defaultdict(list)
        self.type_names: dict[int, str] = {}
        self.field_names: dict[int, str] = {}
        packets = [packet for packet in trace.packet if packet.HasField("heap_graph")]
        for index, packet in enumerate(packets):
            graph = packet.heap_graph
            if graph.index != index or graph.continued != (index + 1 < len(packets)):
                raise Malformed(f"packet {index} is out of its order")
            if (packet.timestamp, graph.pid) != (packets[0].timestamp, packets[0].heap_graph.pid):
                raise Malformed(f"packet {index} is of another graph")
            if not packet.trusted_packet_sequence_id:
                raise Malformed(f"packet {index} is of no sequence")
            self._add(graph)
        self.packets = len(packets)
        self._check()

    def _add(self, graph):
        last = 0
        for entry in graph.objects:
            last = last + entry.id_delta if entry.HasField("id_delta") else entry.id
            if last == 0 or last in self.size:
                raise Malformed(f"object {last} has no number of its own")
            if len(entry.reference_field_id) != len(entry.reference_object_id):
                raise Malformed(f"object {last} has references without fields")
            self.size[last], self.type[last] = entry.self_size, entry.type_id
            self.references[last] = [
                (field, target + entry.reference_field_id_base)
                for field, target in zip(entry.reference_field_id, entry.reference_object_id, strict=True)
                if target
            ]
        for root in graph.roots:
            kind = perfetto_trace_pb2.HeapGraphRoot.Type.Name(root.root_type)
            self.roots[kind] += root.object_ids
        self.type_names.update((entry.id, entry.class_name) for entry in graph.types)
        # As the trace processor does, which takes the first word for the field's type.
        for entry in graph.field_names:
            name = entry.str.decode()
            self.field_names[entry.iid] = name.split(" ", 1)[-1]

    def _check(self):
        for number, type_number in self.type.items():
            if type_number not in self.type_names:
                raise Malformed(f"object {number} has no type")
            for field, target in self.references[number]:
                if field not in self.field_names or target not in self.size:
                    raise Malformed(f"object {number} has a reference to nothing")
        if any(number not in self.size for numbers in self.roots.values() for number in numbers):
            raise Malformed("a root is no object")

    def name(self, number):
        return self.type_names[self.type[number]]

    def dominators(self):
        """The immediate dominator of each object that a root leads to; 0 stands above all roots.

        After K. D. Cooper, T. J. Harvey and K. Kennedy, "A simple, fast dominance algorithm" (2001).
        """
        targets = {number: [target for _, target in found] for number, found in self.references.items()}
        targets[0] = sorted({number for numbers in self.roots.values() for number in numbers})
        order: list[int] = []
        seen = {0}
        work = [(0, iter(targets[0]))]
        while work:
            node, rest = work[-1]
            following = next((target for target in rest if target not in seen), None)
            if following is None:
                order.append(node)
                work.pop()
            else:
                seen.add(following)
                work.append((following, iter(targets[following])))
        place = {node: index for index, node in enumerate(order)}
        sources = defaultdict(list)
        for node in order:
            for target in targets[node]:
                sources[target].append(node)
        above = {0: 0}
        changed = True
        while changed:
            changed = False
            for node in reversed(order[:-1]):
                known = [source for source in sources[node] if source in above]
                found = known[0]
                for other in known[1:]:
                    while found != other:
                        if place[found] < place[other]:
                            found = above[found]
                        else:
                            other = above[other]
                if above.get(node) != found:
                    above[node] = found
                    changed = True
        return above, order

    def retained(self):
        """The immediate dominators, and the bytes that each object dominates, its own among them."""
        above, order = self.dominators()
        sizes = {node: self.size.get(node, 0) for node in order}
        # Each comes before its dominator.
        for node in order[:-1]:
            sizes[above[node]] += sizes[node]
        return above, sizes


def main(path):
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    graph = HeapGraph(trace)
    above, sizes = graph.retained()
    unreached = [number for number in graph.size if number not in sizes]
    if unreached:
        raise Malformed(f"no root leads to {len(unreached)} objects")
    rooted = {number for numbers in graph.roots.values() for number in numbers}
    lost = next(number for number in rooted if graph.name(number) == LOST)
    types: dict[str, dict[str, int]] = defaultdict(lambda: {"blocks": 0, "bytes": 0})
    instances: dict[str, dict[str, int]] = defaultdict(lambda: {"blocks": 0, "bytes": 0})
    for number, size in graph.size.items():
        if number in rooted:
            continue
        tables = [(types, size)] + ([(instances, sizes[number])] if above[number] == lost else [])
        for table, amount in tables:
            table[graph.name(number)]["blocks"] += 1
            table[graph.name(number)]["bytes"] += amount
    print(
        json.dumps(
            {
                "types": types,
                "instances": instances,
                "lost": sizes[lost],
                "roots": {kind: len(numbers) for kind, numbers in graph.roots.items()},
                "fields": sorted(graph.field_names.values()),
                "packets": graph.packets,
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
