"""Learned queries to which is added what attention gives for them: the start of a stream."""

from __future__ import annotations

from collections import deque

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import find_source
from netloupe.explorer.model import Node, Value

from .added_positions import HANDING, find_stored_table, is_of_attention, read_places
from .readings import read_numbers

#: so many nodes before a sum are looked at for the attention whose queries it takes
_MOST_BEFORE = 60
#: of larger tables it is not read whether they hold anything
_MOST_READ = 1 << 20


def read_added_queries(node: Node) -> tuple[int, ...]:
    """Return the sizes of the learned queries that a residual sum begins with; () for other sums.

    Latents that attend to what comes in are the stream themselves, and so the first sum adds
    to what is stored (A. Jaegle and others, Perceiver, 2021, section 3.1; J.-B. Alayrac and others,
    Flamingo, 2022, figure 5). Zeros are what a stream begins with that has no queries yet.
    """
    if not node.operator.has("adds") or len(node.inputs) != 2:
        return ()
    for place, queries in enumerate(node.inputs):
        stream = node.input(1 - place)
        table = find_stored_table(queries)
        if table is None or queries is None or stream is None or not is_of_attention(stream):
            continue
        facts = find_value_facts(node.graph.model)
        dims = read_places(facts.find_dims(queries) or table.dims, facts.find_dims(stream))
        if dims is None or not any(read_numbers(table, _MOST_READ)):
            return ()
        source = find_source(queries, *HANDING)
        return dims if source is not None and _leads_to_shares(source, node, stream) else ()
    return ()


def _leads_to_shares(source: Value, end: Node, stream: Value) -> bool:
    """Return whether the shares of the attention that gives a stream are computed of a value."""
    shares = _find_shares(stream)
    if shares is None:
        return False
    pending, seen = deque([shares]), {shares, end}
    while pending and len(seen) < _MOST_BEFORE:
        node = pending.popleft()
        for value in node.inputs:
            if value is None:
                continue
            if find_source(value, *HANDING) is source:
                return True
            if value.producer is not None and value.producer not in seen:
                seen.add(value.producer)
                pending.append(value.producer)
    return False


def _find_shares(stream: Value) -> Node | None:
    """Return what gives the shares of the nearest attention before a value."""
    pending, seen = deque([stream.producer]), set[Node]()
    while pending and len(seen) < _MOST_BEFORE:
        node = pending.popleft()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.operator.has("attends", "distributes"):
            return node
        pending.extend(value.producer for value in node.inputs if value is not None)
    return None
