"""What flows in a file, read without netloupe: nodes of the main graph and of called functions.

Calls of functions are written out, so that what a body returns is followed to what it takes.
Loops and branches are one node each, which takes what their bodies capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import onnx

#: calls within calls, and nodes altogether, beyond which a file is not followed
_MOST_DEPTH = 12
_MOST_NODES = 60_000
#: what gives another result each time, though nothing is taken
_RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial")
_RANDOM += ("Bernoulli",)

#: outputs of the calls around something, the outermost first, and the name of its own first output
Key = tuple[str, ...]


@dataclass(slots=True, eq=False)
class RawNode:
    """A node as it stands in the file, at one place where its graph is called."""

    key: Key
    proto: onnx.NodeProto
    #: those that give what it takes; inputs of the model are not among them
    before: list[RawNode] = field(default_factory=list)
    after: list[RawNode] = field(default_factory=list)
    #: names of what it takes, those of initializers in the main graph
    taken: list[str] = field(default_factory=list)
    #: whether nothing that enters the model changes what it gives
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class _Input:
    """An input of the model."""

    name: str


#: what gives each value where a graph is called; a name is that of an initializer
_Origins = dict[str, "RawNode | str | _Input | None"]


class RawGraph:
    """The nodes of a file, and what gives what they take.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        model = onnx.load(path, load_external_data=False)
        self.model = model
        self.functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self.stored = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
        self.stored |= {
            each.values.name: tuple(each.dims) for each in model.graph.sparse_initializer
        }
        self.nodes: dict[Key, RawNode] = {}
        #: what gives each value, by the calls around it and its name
        self.origins: dict[tuple[Key, str], RawNode | str | _Input | None] = {}
        #: what takes each input of the model
        self.users: dict[str, list[RawNode]] = {}
        values: _Origins = {name: name for name in self.stored}
        for entry in model.graph.input:
            values.setdefault(entry.name, _Input(entry.name))
        self._write_out(model.graph.node, (), values)

    def is_learned(self, node: RawNode) -> bool:
        """Return whether what a node gives is made of a stored matrix."""
        pending, seen = [node], {node}
        for one in pending:
            if any(sum(dim > 1 for dim in self.stored.get(name, ())) > 1 for name in one.taken):
                return True
            more = [other for other in one.before if other not in seen]
            seen.update(more)
            pending += more
        return False

    def _write_out(self, nodes: Sequence[onnx.NodeProto], chain: Key, values: _Origins) -> None:
        for proto in _sort(nodes):
            key = (*chain, next(filter(None, proto.output), ""))
            function = self.functions.get((proto.domain, proto.op_type, proto.overload))
            if function is not None and len(chain) < _MOST_DEPTH:
                inner: _Origins = {}
                for index, inside in enumerate(function.input):
                    outside = proto.input[index] if index < len(proto.input) else ""
                    inner[inside] = values.get(outside)
                self._write_out(function.node, key, inner)
                for inside, outside in zip(function.output, proto.output, strict=False):
                    values[outside] = inner.get(inside)
            else:
                if len(self.nodes) > _MOST_NODES:
                    raise ValueError("too many nodes")
                self._add(RawNode(key, proto), values)
            for name in filter(None, proto.output):
                self.origins[chain, name] = values[name]

    def _add(self, node: RawNode, values: _Origins) -> None:
        node.is_constant = node.proto.op_type not in _RANDOM
        for name in [*node.proto.input, *_list_captured(node.proto)]:
            origin = values.get(name)
            if isinstance(origin, _Input):
                node.is_constant = False
                self.users.setdefault(origin.name, []).append(node)
            elif isinstance(origin, RawNode):
                node.is_constant &= origin.is_constant
                node.before.append(origin)
                origin.after.append(node)
            elif origin:
                node.taken.append(origin)
        self.nodes[node.key] = node
        for name in filter(None, node.proto.output):
            values[name] = node


def _sort(nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return nodes in an order in which each comes behind what it takes."""
    givers = {name: n for n, node in enumerate(nodes) for name in node.output if name}
    taken = [
        {givers[x] for x in (*node.input, *_list_captured(node)) if x in givers} for node in nodes
    ]
    if all(max(each, default=-1) < n for n, each in enumerate(taken)):
        return [*nodes]
    takers: dict[int, list[int]] = {}
    for number, each in enumerate(taken):
        for giver in each:
            takers.setdefault(giver, []).append(number)
    left = [len(each) for each in taken]
    order = [n for n, count in enumerate(left) if not count]
    for number in order:
        for taker in takers.get(number, ()):
            left[taker] -= 1
            if not left[taker]:
                order.append(taker)
    return [nodes[number] for number in order]


def _list_captured(proto: onnx.NodeProto) -> Iterator[str]:
    """Yield what bodies of a node take from around it."""
    for attribute in proto.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            own = {entry.name for entry in graph.input} | {t.name for t in graph.initializer}
            for node in graph.node:
                own.update(node.output)
            for node in graph.node:
                for name in [*node.input, *_list_captured(node)]:
                    if name not in own:
                        yield name
            yield from (entry.name for entry in graph.output if entry.name not in own)
