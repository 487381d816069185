"""The structure of V8's heap snapshots, as the Memory panel of Chrome's DevTools reads them."""

NODE_FIELDS = ["type", "name", "id", "self_size", "edge_count", "trace_node_id", "detachedness"]
EDGE_FIELDS = ["type", "name_or_index", "to_node"]
# DevTools looks for the parts one after the other.
PARTS = [
    "snapshot",
    "nodes",
    "edges",
    "trace_function_infos",
    "trace_tree",
    "samples",
    "locations",
    "strings",
]
INDEXED = {"element", "hidden"}


def problems(document):
    if list(document) != PARTS:
        yield f"the parts are {list(document)}"
        return
    header, nodes, edges, strings = (document[part] for part in ("snapshot", "nodes", "edges", "strings"))
    meta = header["meta"]
    if meta["node_fields"] != NODE_FIELDS or meta["edge_fields"] != EDGE_FIELDS:
        yield "fields that DevTools does not know"
        return
    if len(nodes) != header["node_count"] * len(NODE_FIELDS) or len(edges) != header["edge_count"] * len(EDGE_FIELDS):
        yield "not as many nodes or edges as the header says"
        return
    if header["trace_function_count"] != 0:
        yield "functions of a trace that is not there"
    if any(type(number) is not int or not 0 <= number < 2**53 for number in nodes + edges):
        yield "a number that is none to JavaScript"
        return
    if any(type(text) is not str for text in strings) or len(set(strings)) != len(strings):
        yield "strings that are none, or stand twice"
    rows = [nodes[at : at + len(NODE_FIELDS)] for at in range(0, len(nodes), len(NODE_FIELDS))]
    node_types, edge_types = meta["node_types"][0], meta["edge_types"][0]
    if any(row[0] >= len(node_types) or row[1] >= len(strings) for row in rows):
        yield "a node of no type, or without a name"
        return
    if len({row[2] for row in rows}) != len(rows):
        yield "a node's number stands twice"
    if sum(row[4] for row in rows) != header["edge_count"]:
        yield "the nodes do not have all edges"
    if not rows or node_types[rows[0][0]] != "synthetic":
        yield "the first node is no root"
        return
    for at in range(0, len(edges), len(EDGE_FIELDS)):
        kind, name, target = edges[at : at + len(EDGE_FIELDS)]
        if kind >= len(edge_types) or target >= len(nodes) or target % len(NODE_FIELDS):
            yield f"edge {at // len(EDGE_FIELDS)} leads nowhere"
            return
        if edge_types[kind] not in INDEXED and name >= len(strings):
            yield f"edge {at // len(EDGE_FIELDS)} has no name"
            return
    yield from unreached(rows, edges, edge_types)


def unreached(rows, edges, edge_types):
    """DevTools wants every node to be reached without weak edges: those that are not have no retained size."""
    first = [0]
    for row in rows:
        first.append(first[-1] + row[4])
    seen, work = {0}, [0]
    while work:
        node = work.pop()
        for edge in range(first[node], first[node + 1]):
            kind, _, target = edges[edge * len(EDGE_FIELDS) : (edge + 1) * len(EDGE_FIELDS)]
            target //= len(NODE_FIELDS)
            if edge_types[kind] != "weak" and target not in seen:
                seen.add(target)
                work.append(target)
    if len(seen) != len(rows):
        yield f"{len(rows) - len(seen)} nodes are not reached from the root"
