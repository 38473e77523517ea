"""Scopes: where in the modules of its author's program a node comes from.

Exporters leave this in node metadata (torch's newer exporter) or in node names with slashes
(torch's older exporter, TensorFlow converters). Facts about what they write are listed in the
project's notes on formats; none of it is specified by ONNX.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from netloupe.explorer.model import (
    Graph,
    Node,
    Value,
    find_constant_nodes,
    find_nodes_with,
    is_constant,
)

from .calls import tell_calls_apart
from .fused_scopes import name_by_weights
from .module_input_nodes import find_module_input_nodes
from .quantizer_scopes import find_quantizer_scopes

Scope = tuple[str, ...]

_NAME_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASS_HIERARCHY = "pkg.torch.onnx.class_hierarchy"
_NAMESPACE = "namespace"

#: scope names that exporters put in by accident
_ARTEFACTS = frozenset({"_empty_nn_module_stack_from_metadata_hook"})
_MAX_DEPTH = 64
_MAX_METADATA = 20_000
_SHARE_NEEDED = 0.3
#: weights of so many modules tell in which one a call of a function is
_LEAST_NAMED = 2
#: as exporters write lists of names: nothing in them that a Python literal would have to escape
_PLAIN_LIST = re.compile(r"\['[^'\\\n\r\0\ud800-\udfff]*'(?:, '[^'\\\n\r\0\ud800-\udfff]*')*\]")
#: share of a net's operators that may write to blobs of others before names mean nothing
_MOST_OVERWRITTEN = 0.2

#: a result that torch's older exporter has called after its node
_RESULT = re.compile(r"(/[^\n]*/[^/\n]+)_output_\d+(?=_|$)")
#: a blob's first words that name a part of a net: ``res2_0`` of ``res2_0_branch2a_bn``
_NUMBERED = re.compile(r"[^_/]*\d(?:_\d+)*(?=_|$)")


@dataclass(slots=True)
class Scopes:
    """The scope of every node of a graph.

    Parameters
    ----------
    of_node
        By node index; None for a node that says nothing (it joins its neighbours).
    type_names
        The class of a module, where the exporter gives it.
    operator_scopes
        Scopes that stand for one operation of the author's program, not for a module.
    """

    of_node: list[Scope | None]
    type_names: dict[Scope, str] = field(default_factory=dict)
    operator_scopes: set[Scope] = field(default_factory=set)


def find_scopes(graph: Graph, grouping: str) -> Scopes | None:
    """Return the scopes of a graph's nodes; None where there are too few to be of use.

    Parameters
    ----------
    graph
        The graph.
    grouping
        ``modules`` (metadata only), ``names`` (names only), or ``auto`` (the better of both).
    """
    scopes = read_module_scopes(graph) if grouping in ("auto", "modules") else None
    if scopes is None and grouping in ("auto", "names"):
        scopes = read_name_scopes(graph) or read_blob_scopes(graph)
    if scopes is not None:
        for index, scope in find_module_input_nodes(graph, scopes.of_node).items():
            scopes.of_node[index] = scope
        for index, scope in find_quantizer_scopes(graph, scopes.of_node).items():
            scopes.of_node[index] = scope
    return scopes


def read_module_scopes(graph: Graph) -> Scopes | None:
    """Read the scopes from node metadata; None where too few nodes have any."""
    scopes = Scopes([None] * len(graph.nodes))
    known = 0
    sample = graph.nodes[:: max(1, len(graph.nodes) // 64)]
    if not any(_has_module(node.metadata) for node in sample):
        return None
    for node in graph.nodes:
        levels = _read_levels(node.metadata)
        if levels is None:
            continue
        known += 1
        names, classes = levels
        scope = _relative_names(names)
        kept: list[str] = []
        for position, (name, type_name) in enumerate(zip(scope, classes, strict=False)):
            if not name or name in _ARTEFACTS:
                continue
            kept.append(name)
            key = tuple(kept)
            if position == len(scope) - 1 and _is_operator(type_name):
                scopes.operator_scopes.add(key)
            else:
                scopes.type_names[key] = type_name.rsplit(".", 1)[-1]
        scopes.of_node[graph.index_of(node)] = tuple(kept[:_MAX_DEPTH])
    if known < _SHARE_NEEDED * _count_authored(graph):
        return None
    from .uses import tell_uses_apart

    name_by_weights(graph, scopes.of_node, scopes.operator_scopes, scopes.type_names)
    for new, old in tell_uses_apart(graph, scopes.of_node).items():
        if old in scopes.operator_scopes:
            scopes.operator_scopes.add(new)
        elif old in scopes.type_names:
            scopes.type_names[new] = scopes.type_names[old]
    return scopes


def list_classes(node: Node) -> list[str]:
    """Return the classes of the modules that a node's metadata name, outermost first."""
    return _read_classes(node.metadata.get(_CLASS_HIERARCHY, ""), node.metadata.get(_NAMESPACE, ""))


def read_module_path(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the names of the modules that a node is in, outermost first, each with its class.

    Each name is one word of the author's: ``layers`` and ``0`` for ``layers.0``. A class that is
    not known is "". Nothing where neither metadata nor the node's name tell.
    """
    hierarchy = node.metadata.get(_NAME_SCOPES, ""), node.metadata.get(_CLASS_HIERARCHY, "")
    return _read_path(*hierarchy, node.metadata.get(_NAMESPACE, ""), node.name.rpartition("/")[0])


@lru_cache(maxsize=4096)
def _read_path(
    scopes: str, classes: str, namespace: str, outer: str
) -> tuple[tuple[str, str], ...]:
    levels = _read_levels({_NAME_SCOPES: scopes, _CLASS_HIERARCHY: classes, _NAMESPACE: namespace})
    if levels is None:
        names = [name for name in outer.split("/") if name]
        pairs = [(name, "") for name in _relative_names(names)]
    else:
        told = zip(*levels, strict=False)
        known = [(name, kind) for name, kind in told if name and not _is_operator(kind)]
        names = _relative_names([name for name, _ in known])
        pairs = [(name, kind) for name, (_, kind) in zip(names, known, strict=True)]
    path: list[tuple[str, str]] = []
    for name, kind in pairs[:_MAX_DEPTH]:
        *first, last = name.split(".")
        path += [(one, "") for one in first]
        path.append((last, kind.rsplit(".", 1)[-1]))
    return tuple(path)


@lru_cache(maxsize=4096)  # of many nodes, and repeats have the same
def _read_classes(hierarchy: str, namespace: str) -> list[str]:
    classes = _read_list(hierarchy)
    if classes is None:
        _, classes = _read_levels({_NAMESPACE: namespace}) or ([], [])
    return [name.rsplit(".", 1)[-1] for name in classes if not _is_operator(name)]


def _count_authored(graph: Graph) -> int:
    """Return how many nodes an author's program accounts for.

    Constants, and what a quantizer puts in later, never have a scope.
    """
    quantizers = find_nodes_with(graph, "dequantizes", "quantizes").tolist()
    return len(graph.nodes) - len({*quantizers, *find_constant_nodes(graph)})


def _has_module(metadata: dict[str, str]) -> bool:
    return _NAME_SCOPES in metadata or _NAMESPACE in metadata


def _read_levels(metadata: dict[str, str]) -> tuple[list[str], list[str]] | None:
    """Return the names and classes of a node's scope levels, outermost first."""
    names = _read_list(metadata.get(_NAME_SCOPES, ""))
    classes = _read_list(metadata.get(_CLASS_HIERARCHY, ""))
    if names is not None:
        padding = [""] * (len(names) - len(classes or ()))
        return names, (classes or []) + padding
    namespace = metadata.get(_NAMESPACE, "")
    if not namespace or len(namespace) > _MAX_METADATA:
        return None
    pairs = [level.partition(": ") for level in namespace.split("/")]
    return [name for name, _, _ in pairs], [type_name for _, _, type_name in pairs]


def _read_list(text: str) -> list[str] | None:
    """Read a Python list literal of strings; None where it is anything else."""
    if not text.startswith("[") or len(text) > _MAX_METADATA:
        return None
    if _PLAIN_LIST.fullmatch(text):  # a tenth of the time, for every node of a graph
        return text[2:-2].split("', '")
    try:
        entries = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return entries if all(isinstance(entry, str) for entry in entries) else None


def _relative_names(names: Sequence[str]) -> list[str]:
    """Cut from each dotted name what its parent says already: ``a.b`` under ``a`` is ``b``."""
    relative = []
    outer = ""
    for name in names:
        relative.append(name[len(outer) + 1 :] if outer and name.startswith(outer + ".") else name)
        outer = name or outer
    return relative


def _is_operator(type_name: str) -> bool:
    """Return whether a class stands for one operation: ``aten.linear.default``."""
    return not type_name or type_name.split(".", 1)[0] in ("aten", "prims", "_operator", "math")


def read_name_scopes(graph: Graph) -> Scopes | None:
    """Read the scopes from slashes in node names; None where too few names have one."""
    names = [node.name for node in graph.nodes]
    if "" in names and any(value.name.startswith("/") for value in graph.values.values()):
        names = [name or _name_by_result(graph.nodes[index]) for index, name in enumerate(names)]
    if not any(names):
        return None
    outers = [name.rpartition("/")[0] for name in names]
    if "/\n" in "\n".join((*names, "")):
        outers = [name.rstrip("/").rpartition("/")[0] for name in names]
    read: dict[str, Scope] = {"": ()}  # many nodes share one scope
    distinct = dict.fromkeys(outers)
    for text in distinct:
        outer, _, name = text.rpartition("/")
        around = read.get(outer)
        if around is None or not name or name in _ARTEFACTS or text.count("/") >= _MAX_DEPTH:
            _split_scope(text, read)
        else:
            read[text] = (*around, name)
    of_node: list[Scope | None] = [*map(read.__getitem__, outers)]
    if "" in outers:
        for index, outer in enumerate(outers):
            if not outer and "/" not in names[index]:
                of_node[index] = None
    if graph.model.functions:
        _cut_scopes_of_calls(graph, of_node)
    known = len(of_node) - of_node.count(None)
    # the count is at most that of all nodes, which mostly answers the question already
    enough = known >= _SHARE_NEEDED * len(of_node)
    if known and (enough or known >= _SHARE_NEEDED * _count_authored(graph)):
        tell_calls_apart(graph, of_node, map(read.__getitem__, distinct))
        return Scopes(of_node)
    return None


def _cut_scopes_of_calls(graph: Graph, of_node: list[Scope | None]) -> None:
    """Put calls of functions into the module in which all weights are that they take.

    torch's older exporter writes a module as a function and names the call after the last module
    inside: ``/layers.0/gate/Layer`` for all of ``layers.0``. Weights still have their names.
    """
    for index, node in enumerate(graph.nodes):
        scope = of_node[index]
        if not scope or node.function is None:
            continue
        named = [
            tuple(value.name.split(".")[:-1])
            for value in node.inputs
            if value is not None and value.initializer is not None
            if "." in value.name and "::" not in value.name
        ]
        if len({*named}) < _LEAST_NAMED:
            continue
        common = _common_scope(named)
        while scope and _read_parts(scope) != common[: len(_read_parts(scope))]:
            scope = scope[:-1]
        if scope or not common:
            of_node[index] = scope


def _read_parts(scope: Scope) -> Scope:
    """Return the names of attributes that lead to a module: ``a``, ``b``, 0 for ``a / b / b.0``."""
    parts: list[str] = []
    for outer, inner in zip(("", *scope), scope, strict=False):
        parts += (inner.removeprefix(f"{outer}.") if outer else inner).split(".")
    return tuple(parts)


def _name_by_result(node: Node) -> str:
    """Return what a node without a name would be called, as its result tells; "" where it does not.

    torch's older exporter calls results after nodes. So what a function was put in place of, by
    ONNX Runtime's quantizer for instance, still has its place: ``/act/HardSwish_output_0``.
    """
    output = node.output(0)
    match = _RESULT.match(output.name) if output is not None else None
    return match[1] if match is not None else ""


def _split_scope(text: str, read: dict[str, Scope]) -> None:
    """Read a scope, and those around it that are not known yet, by their texts."""
    known = text
    if text.count("/") >= _MAX_DEPTH:  # the outermost levels are enough
        known = "/".join(text.split("/", _MAX_DEPTH)[:_MAX_DEPTH])
    pending = []
    outer = known
    while outer not in read:
        pending.append(outer)
        outer = outer.rpartition("/")[0]
    for inner in reversed(pending):
        outer, _, name = inner.rpartition("/")
        read[inner] = (*read[outer], name) if name and name not in _ARTEFACTS else read[outer]
    read[text] = read[known]


def read_blob_scopes(graph: Graph) -> Scopes | None:
    """Read the scopes from the names of results; None where they say too little.

    Operators of Caffe2 rarely have names, but the blobs that they write do:
    ``inception_3a/3x3_reduce`` is in ``inception_3a``, ``res2_0_branch2a_bn`` in ``res2`` and
    ``res2_0``. Where a scope would hold less than two operators on average, they are no scopes;
    nor where blobs are written again and again by unrelated operators, to save memory.
    """
    dialect = graph.dialect
    if not dialect.names_tell_scopes:
        return None
    of_node: list[Scope | None] = []
    for node in graph.nodes:
        output = node.output(0) if node.outputs and node.domain == dialect.domain else None
        of_node.append(_split_blob(output.name) if output is not None else None)
    found = [scope for scope in of_node if scope]
    wanted = _SHARE_NEEDED * _count_authored(graph)
    if not found or len(found) < wanted or 2 * len(set(found)) > len(found):
        return None
    if _count_overwritten(graph) > _MOST_OVERWRITTEN * len(graph.nodes):
        return None
    for node in graph.nodes:
        # what joins the branches of a block ends it: it belongs where its last operand does
        producer = node.inputs[-1].producer if node.inputs and node.inputs[-1] else None
        if (
            of_node[graph.index_of(node)] is None
            and producer is not None
            and producer.graph is graph
        ):
            scope = of_node[graph.index_of(producer)]
            of_node[graph.index_of(node)] = scope[:1] if scope else None
    return Scopes(of_node)


def _count_overwritten(graph: Graph) -> int:
    """Return how many nodes write to a blob that was written before and that they do not read."""
    written: set[str] = set()
    count = 0
    for node in graph.nodes:
        read = {value.name for value in node.inputs if value is not None}
        names = {value.name for value in node.outputs if value is not None}
        count += bool((names & written) - read)
        written |= names
    return count


def _split_blob(name: str) -> Scope | None:
    *levels, leaf = [part for part in name.split("/", _MAX_DEPTH) if part] or [""]
    match = _NUMBERED.match(leaf)
    if match is not None:
        words = match[0].split("_")
        levels += ["_".join(words[: count + 1]) for count in range(min(len(words), _MAX_DEPTH))]
    return tuple(levels) or None


def join_unscoped(graph: Graph, scopes: list[Scope | None]) -> list[Scope]:
    """Give nodes without a scope that of their neighbours.

    A node joins the innermost scope that holds all its consumers, or one inside that gives to it
    and takes from it; where there is none but the root, that of its first producer. A norm into
    which the sum of a residual was fused ends what it sums: of the scopes around what gives to it,
    it joins the innermost that holds its other operand or a consumer, too. What gives a constant,
    which exporters store once for all that take it, is none where another operand is computed.
    Nodes are visited once from the last to the first and once the other way, so chains of such
    nodes are followed in either direction.
    """
    result: list[Scope | None] = list(scopes)
    lost = []
    if None in result:
        lost = [node for node, scope in zip(graph.nodes, scopes, strict=True) if scope is None]
        for node in lost:
            if node.operator.has("normalizes") and node.operator.operands.list_of("addend"):
                result[graph.index_of(node)] = _find_summing(node, graph, result)
        lost = [node for node in lost if result[graph.index_of(node)] is None]
    for node in reversed(lost):
        users = _consumer_scopes(node, graph, result)
        found = max(_common_scope(users), _find_between(node, users, result), key=len)
        result[graph.index_of(node)] = found or None
    for node in lost:
        if result[graph.index_of(node)] is None:
            result[graph.index_of(node)] = next(
                (
                    scope
                    for value in _list_telling(node)
                    if value.producer is not None and value.graph is graph
                    if (scope := result[graph.index_of(value.producer)])
                ),
                (),
            )
    return [scope or () for scope in result]


def _find_between(node: Node, users: Sequence[Scope], scopes: Sequence[Scope | None]) -> Scope:
    """Return the innermost scope that both gives to a node and takes from it.

    Out of it the node would lie on a way that leaves the scope and comes back.
    """
    graph = node.graph
    givers = [
        scope
        for value in _list_telling(node)
        if value.producer is not None and value.graph is graph
        if (scope := scopes[graph.index_of(value.producer)])
    ]
    common = [_common_scope([giver, user]) for giver in {*givers} for user in {*users}]
    return max(common, key=len, default=())


def _find_summing(node: Node, graph: Graph, scopes: list[Scope | None]) -> Scope | None:
    """Return the scope of a norm into which a sum was fused; None where nothing tells it."""
    givers = [
        scope
        for value in _list_telling(node)
        if value.producer is not None and value.graph is graph
        if (scope := scopes[graph.index_of(value.producer)])
    ]
    if not givers:
        return None
    near = max(givers, key=len)
    users = [scope for scope in _consumer_scopes(node, graph, scopes) if scope]
    others = [scope for scope in givers if scope is not near] + users
    return max((_common_scope([near, other]) for other in others), key=len, default=()) or None


def _list_telling(node: Node) -> list[Value]:
    """Return the operands whose producers tell where a node belongs: the computed ones, if any."""
    taken = [value for value in node.inputs if value is not None]
    return [value for value in taken if not is_constant(value)] or taken


def _consumer_scopes(node: Node, graph: Graph, scopes: list[Scope | None]) -> list[Scope]:
    """Return the scopes of what takes a node's results; who only asks for a shape counts last."""
    found: list[Scope] = []
    asking: list[Scope] = []
    for value in node.outputs:
        if value is None:
            continue
        for consumer in value.users:
            inner = consumer
            while inner.graph is not graph and inner.graph.parent_node is not None:
                inner = inner.graph.parent_node
            if inner.graph is graph:
                # of a node that joins none it is only known that it is somewhere else
                scope = scopes[graph.index_of(inner)] or ()
                (asking if consumer.operator.has("reads_shape") else found).append(scope)
    return found or asking


def _common_scope(scopes: list[Scope]) -> Scope:
    if not scopes:
        return ()
    low, high = min(scopes), max(scopes)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]
