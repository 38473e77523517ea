"""Columns: the names, operators and operands of all nodes of a graph, read at once.

Those of 100,000 nodes are half a million small strings. Asked for message by message, most of
the time goes into the objects in between. Here the runtime parses the graph by two schemas made
for this:

- one that has a single node with lists of names, operators and operands (:mod:`.presence`). The
  encoding merges a message that is given many times: the lists then hold those of all nodes, in
  order;
- one that has the nodes as bytes, to tell where the operands of one node end. Their fields are
  walked in arrays, the first of all nodes, then the second, and so on, until as many are counted
  as the lists hold. It also tells whether every entry of ``value_info`` has a name.

Time and memory are linear in the bytes (https://protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from .grammars import DELIMITED
from .partial_schema import ALL_BYTES, REQUIRED, Schema, make_message_class
from .presence import Glance
from .wire import HEADER_BYTES, read_varint

Integers = npt.NDArray[np.int32]

#: where fewer messages than this have further fields, walking them one by one is faster
_LEAST_ROWS = 24
#: fields of a NodeProto by number, as in onnx.proto
_NODE = {1: "input", 2: "output", 3: "name", 4: "op_type", 7: "domain"}

_SPLIT: Schema = {
    "Model": (("graph", 7, "Graph"),),
    "Graph": (("node", 1, ALL_BYTES), ("value_info", 13, "Info*")),
    "Info": (("name", 1, REQUIRED),),
}


class _UnusualError(Exception):
    """The messages are written in a way that is better read by the generated classes."""


class GraphColumns(NamedTuple):
    """What the nodes of a graph are called, do, take and give.

    Parameters
    ----------
    names, op_types, domains
        Of each node; "" where it has none.
    inputs, outputs
        The operands of all nodes, one after the other.
    input_counts, output_counts
        How many of them each node has.
    info_names
        Of each entry of ``value_info``.
    """

    names: list[str]
    op_types: list[str]
    domains: list[str]
    inputs: list[str]
    input_counts: list[int]
    outputs: list[str]
    output_counts: list[int]
    info_names: list[str]


def read_columns(glance: Glance, model: bytes, count: int) -> GraphColumns | None:
    """Return the columns of the graph of a ModelProto.

    Parameters
    ----------
    glance
        A look at the bytes.
    model
        The bytes.
    count
        How many nodes the graph has.

    Returns
    -------
    GraphColumns or None
        None where a text is not UTF-8, where a field that is given once in good files is given
        twice, where nodes have fields that are not length-delimited or have numbers above 15,
        and for bytes that are no message.
    """
    try:
        columns = {n: _texts(getattr(glance.graph.node, field)) for n, field in _NODE.items()}
        info_names = _texts(glance.graph.value_info.name)
        nodes = _split_nodes(model, len(info_names))
        if len(nodes) != count:
            return None
        counts = _count(nodes, {number: len(texts) for number, texts in columns.items()})
        names, op_types, domains = (_one_each(columns.pop(n), counts[n]) for n in (3, 4, 7))
    except (DecodeError, _UnusualError):
        return None
    inputs, outputs = columns[1], columns[2]
    input_counts, output_counts = counts[1].tolist(), counts[2].tolist()
    return GraphColumns(
        names,
        _share_equal(op_types),
        _share_equal(domains),
        inputs,
        input_counts,
        outputs,
        output_counts,
        info_names,
    )


def _split_nodes(model: bytes, infos: int) -> list[bytes]:
    """Return the nodes, where so many entries of ``value_info`` have a name each."""
    graph = _split_class().FromString(model).graph
    if len(graph.value_info) != infos or not graph.IsInitialized():
        raise _UnusualError
    nodes: list[bytes] = graph.node[:]
    return nodes


@cache
def _split_class() -> Any:
    return make_message_class("split", _SPLIT, "Model")


def _texts(field: Any) -> list[str]:
    texts: list[str] = field[:]
    if not set(map(type, texts)) <= {str}:  # bytes stand for what is not UTF-8
        raise _UnusualError
    return texts


def _one_each(texts: list[str], counts: Integers) -> list[str]:
    """Return the text of each node, "" where it has none."""
    if int(counts.max(initial=0)) > 1:
        raise _UnusualError
    if len(texts) == len(counts):
        return texts
    following = iter(texts)
    return [next(following) if count else "" for count in counts.tolist()]


def _share_equal(texts: list[str]) -> list[str]:
    """Return the texts, equal ones as one object: there are few different ones."""
    known: dict[str, str] = {}
    return [*map(known.setdefault, texts, texts)]


def _count(messages: list[bytes], totals: dict[int, int]) -> dict[int, Integers]:
    """Return how often each message has some fields.

    Parameters
    ----------
    messages
        Serialized messages of one kind; the list is emptied.
    totals
        By number, how often all of them together have a field.

    Returns
    -------
    dict of int to array
        By number: shape (messages,), int32: no message has more than 2 GiB.
    """
    ends = np.fromiter(accumulate(map(len, messages)), np.int32, len(messages))
    messages.append(bytes(HEADER_BYTES))  # so that looking at a length never leads out
    data = b"".join(messages)
    messages.clear()
    array = np.frombuffer(data, np.uint8)
    counts = {number: np.zeros(len(ends), np.int32) for number in totals}
    missing = {number: total for number, total in totals.items() if total}
    rows, bounds = np.arange(len(ends), dtype=np.int32), ends
    at = np.concatenate([np.zeros(1, np.int32), ends[:-1]])[: len(ends)]
    while missing:
        left = at < bounds
        if not left.all():
            rows, at, bounds = rows[left], at[left], bounds[left]
        if len(rows) < _LEAST_ROWS:
            break
        tags = array[at]
        if ((tags & 135) != DELIMITED).any():  # numbers above 15 take two bytes
            raise _UnusualError
        at = _skip(array, at + 1)
        found = set(np.flatnonzero(np.bincount(tags >> 3)).tolist())
        for number in found & missing.keys():
            here = rows[tags == number << 3 | DELIMITED]  # each row occurs once
            counts[number][here] += 1
            missing[number] -= len(here)
            if not missing[number]:
                del missing[number]
    else:
        return counts
    for row, start in zip(rows.tolist(), at.tolist(), strict=True):
        for number in _fields(data, start, int(ends[row])):
            if number in missing:
                counts[number][row] += 1
                missing[number] -= 1
    if any(missing.values()):
        raise _UnusualError
    return counts


def _skip(data: npt.NDArray[np.uint8], at: Integers) -> Integers:
    """Return where fields end, given where their lengths are written."""
    sizes = data[at].astype(np.int32)
    at = at + 1
    shift = 0
    longer = np.flatnonzero(sizes > 127)
    while len(longer):
        shift += 7
        if shift > 28:
            raise _UnusualError
        following = data[at[longer]].astype(np.int32)
        sizes[longer] += (following - 1) << shift  # takes off the bit that says "more"
        at[longer] += 1
        longer = longer[following > 127]
    ends: Integers = at + sizes
    return ends


def _fields(data: bytes, at: int, end: int) -> Iterable[int]:
    """Yield the numbers of the remaining fields of one message."""
    while at < end:
        tag = data[at]
        if tag & 135 != DELIMITED:
            raise _UnusualError
        size, at = read_varint(data, at + 1)
        at += size
        yield tag >> 3
