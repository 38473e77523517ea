"""Nodes and bytes that could be left out without changing a result."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import KNOWN_DOMAINS, list_own_nodes
from netloupe.explorer.checks.rule import Occurrence, Rule, Severity
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.costs.ties import find_ties
from netloupe.explorer.costs.totals import count_bytes
from netloupe.explorer.dataflow import find_leading_nodes, list_edges
from netloupe.explorer.model import Graph, Node, Tensor, find_nodes_where
from netloupe.explorer.notation import join_parts, write_bytes, write_count

#: a constant in a node is worth an initializer from so many bytes on
_LARGE_CONSTANT = 1_000
#: copies are told from so many bytes on
_LARGE_COPY = 1_000
_PASSES = "onnxoptimizer"
_MOST_SHOWN = 5


def _find_dead(subject: Subject) -> Iterator[Occurrence]:
    """Yield, for each graph, the nodes from which no way leads to what it gives.

    Nodes of domains that ONNX does not define may do something beside their results; they, and
    what leads to them, count as used.
    """
    for graph in subject.graphs if subject.is_onnx else ():
        dead = _list_dead(graph)
        if dead:
            names = [node.label[:60] for node in dead[:5]]
            yield Occurrence(
                dead[0].path,
                f"{write_count(len(dead), 'node')} of {graph.path} "
                f"{'leads' if len(dead) == 1 else 'lead'} to no output: "
                f"{join_parts(names, len(dead))}",
                {"nodes": len(dead), "graph": graph.path},
                graph.path,
                places=len(dead),
            )


def _list_dead(graph: Graph) -> list[Node]:
    needed = np.array([not node.outputs for node in graph.nodes], np.bool_)
    needed[find_nodes_where(graph, lambda operator: operator.domain not in KNOWN_DOMAINS)] = True
    # what holds a body takes what that captures; graphs for training share names with the main one
    values = [*graph.outputs]
    if graph.model.training:
        values += [
            value
            for value in graph.values.values()
            if any(
                user.graph is not graph and user.graph.kind != "subgraph" for user in value.users
            )
        ]
    for value in values:
        if value.producer is not None and value.producer.graph is graph:
            needed[graph.index_of(value.producer)] = True
    live = find_leading_nodes(needed, *list_edges(graph))
    return [graph.nodes[index] for index in np.flatnonzero(~live).tolist()]


def _find_unused_initializers(subject: Subject) -> Iterator[Occurrence]:
    model = subject.model
    named = {
        name
        for graph in subject.graphs
        for annotation in graph.annotations
        for _, name in annotation.entries
    }
    bound = {
        name
        for training in model.training
        for pair in (*training.initialization_binding, *training.update_binding)
        for name in pair
    }
    for graph in subject.graphs:
        if not graph.nodes:
            continue  # a file of tensors
        for tensor in graph.initializers:
            value = graph.values.get(tensor.name)
            if value is None or value.initializer is not tensor or value.is_used:
                continue
            if value.is_output or tensor.name in named or tensor.name in bound:
                continue
            size = count_bytes(tensor) or 0
            told = f": {write_bytes(size)} for nothing" if size else ""
            yield Occurrence(
                tensor.path,
                f"no node uses it{told}",
                {"dtype": tensor.dtype.name, "dims": list(tensor.dims[:16])},
                amounts={"bytes": size},
            )


def _find_copies(subject: Subject) -> Iterator[Occurrence]:
    told = {id(copy) for copy, _ in find_ties(subject.model).copies}
    firsts: dict[tuple[bytes, str], Tensor] = {}
    for tensor, facts in subject.numbers.facts.items():
        size = tensor.nbytes or 0
        if not facts.digest or size < _LARGE_COPY or not tensor.stored_bytes:
            continue
        first = firsts.setdefault((facts.digest, tensor.dtype.name), tensor)
        if first is tensor or id(tensor) in told or _is_same_place(first, tensor):
            continue
        yield Occurrence(
            tensor.path,
            f"holds the same bytes as {first.path}: {write_bytes(size)} more",
            {"same_as": first.path, "dims": list(tensor.dims)},
            amounts={"bytes": size},
        )


def _is_same_place(one: Tensor, two: Tensor) -> bool:
    a, b = one.external, two.external
    return a is not None and b is not None and (a.location, a.offset) == (b.location, b.offset)


def _find_large_constants(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Constant") if subject.is_onnx else ():
        constant = node.details.constant
        if isinstance(constant, Tensor) and (constant.nbytes or 0) > _LARGE_CONSTANT:
            size = constant.nbytes or 0
            yield Occurrence(
                node.path,
                f"holds {write_bytes(size)} in an attribute",
                {"dims": list(constant.dims[:16])},
                amounts={"bytes": size},
            )


def _find_unused_imports(subject: Subject) -> Iterator[Occurrence]:
    model = subject.model
    if not subject.is_onnx or not any(graph.nodes for graph in subject.graphs):
        return
    used = {node.domain for graph in subject.graphs for node in graph.nodes}
    used |= {function.domain for function in model.functions} | {""}
    unused = [domain for domain in model.opset_imports if domain not in used]
    if unused:
        shown = join_parts([domain[:100] for domain in unused[:_MOST_SHOWN]], len(unused))
        what = "the operator set" if len(unused) == 1 else f"{len(unused):,} operator sets:"
        verb = "is imported, but no node is of it" if len(unused) == 1 else "imported for no node"
        yield Occurrence(
            model.path,
            f"{what} {shown} {verb}" if len(unused) == 1 else f"{what} {shown}; {verb}",
            {"domains": [domain[:200] for domain in unused[:100]]},
            places=len(unused),
        )


def _find_unused_functions(subject: Subject) -> Iterator[Occurrence]:
    for function in subject.model.functions if subject.is_onnx else ():
        known = subject.model.function(function.domain, function.name, function.overload)
        if not function.calls and known is function:  # else it is a second one of its name
            yield Occurrence(function.path, "no node calls it", {"nodes": len(function.nodes)})


def _rule(number: int, name: str, severity: Severity, *texts: object, values: bool = False) -> Rule:
    title, why, remedy, source, find = texts
    return Rule(f"NL-G{number:02}", name, severity, title, why, remedy, source, find, values)  # type: ignore[arg-type]


RULES = (
    _rule(
        1,
        "dead-node",
        "warning",
        "Nodes that lead to no output",
        "They cost time where the runtime does not remove them, and hide what the model does.",
        "Remove them: onnxoptimizer, eliminate_deadend.",
        f"{_PASSES}, eliminate_deadend",
        _find_dead,
    ),
    _rule(
        2,
        "unused-initializer",
        "warning",
        "An initializer that no node uses",
        "It is downloaded, and often loaded, for nothing.",
        "Remove it: onnxoptimizer, eliminate_unused_initializer.",
        f"{_PASSES}, eliminate_unused_initializer",
        _find_unused_initializers,
    ),
    _rule(
        3,
        "copied-initializer",
        "note",
        "Stored tensors with the same bytes",
        "One would do.",
        "Let all nodes take one: onnxoptimizer, eliminate_duplicate_initializer.",
        f"{_PASSES}, eliminate_duplicate_initializer",
        _find_copies,
        values=True,
    ),
    _rule(
        16,
        "large-constant",
        "note",
        "A large tensor in the attribute of a Constant",
        "It cannot be external data, be shared, or be mapped into memory.",
        "Make it an initializer: onnxoptimizer, extract_constant_to_initializer.",
        f"{_PASSES}, extract_constant_to_initializer",
        _find_large_constants,
    ),
    _rule(
        17,
        "unused-import",
        "note",
        "An operator set that no node is of",
        "Runtimes that do not have it may refuse the model.",
        "Remove it from opset_import.",
        "onnx-doctor SIM001",
        _find_unused_imports,
    ),
    _rule(
        18,
        "unused-function",
        "note",
        "A function that nothing calls",
        "It is read and checked for nothing.",
        "Remove it.",
        "onnx-doctor SIM001",
        _find_unused_functions,
    ),
)
