"""Nodes that do nothing, again, or what could be done once and for all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import (
    KNOWN_DOMAINS,
    find_dtype_of,
    find_only_user,
    is_operator,
    list_own_nodes,
    list_own_nodes_with,
    read_constant,
    take_attribute,
)
from netloupe.explorer.checks.rule import Occurrence, Rule, Severity
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.dataflow import find_input_independence
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.node_keys import key_whole_attributes
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import LAYOUT_TRAITS

#: results differ though operands are the same
_BY_CHANCE = ("drops_out", "random")
_PASSES = "onnxoptimizer"


def _find_nothing_done(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for node in list_own_nodes_with(subject.graphs, *LAYOUT_TRAITS, "drops_out", "joins", "pads"):
        reason = _judge_nothing_done(subject, node)
        if reason:
            yield Occurrence(
                node.path,
                f"{node.op_type} changes nothing: {reason}",
                {"op_type": node.op_type},
                f"{node.op_type} {reason.partition(' [')[0]}",  # whatever the shape
            )


def _judge_nothing_done(subject: Subject, node: Node) -> str:
    """Return why a node only passes on what it takes; "" where it does not, or is needed."""
    taken, given = node.input(0), node.output(0)
    if taken is None or given is None or _is_needed(node, taken, given):
        return ""
    operator = node.operator
    if operator.has("copies"):
        return "it is a copy" if is_operator(node, "Identity") else ""  # else to another device
    if operator.has("casts"):
        dtype = find_dtype_of(taken) or subject.fact(taken).dtype
        number = subject.integer(node, "to")
        wanted = node.graph.dialect.element_types.get(number) if number else None
        return f"what it takes is {dtype}" if dtype is not None and dtype == wanted else ""
    if operator.has("permutes"):
        order = subject.integers(node, "perm")
        return "the axes stay in order" if order and list(order) == [*range(len(order))] else ""
    if operator.has("reshapes"):
        before, after = subject.fact(taken).dims, subject.fact(given).dims
        is_known = before is not None and None not in before
        return f"the shape stays {_write_shape(before)}" if is_known and before == after else ""
    if operator.has("joins"):
        return "it joins one value" if len(node.inputs) == 1 else ""
    if operator.has("drops_out"):
        is_plain = (node.opset_version or 0) >= 7 and len(node.inputs) < 3
        second = node.output(1)
        return "it does so when not training" if is_plain and second is None else ""
    place = operator.operands.find("pads")
    pads = read_constant(node.input(place)) if place is not None else None
    if pads is None and (stated := take_attribute(node, "pads")) is not None:
        pads = np.array(stated)
    return "it adds nothing" if pads is not None and pads.size and not pads.any() else ""


def _write_shape(dims: tuple[object, ...] | None) -> str:
    return f"[{', '.join(str(dim)[:40] for dim in (dims or ())[:8])}]"


def _is_needed(node: Node, taken: Value, given: Value) -> bool:
    """Return whether the graph's own output has to be made from what is no node's result here."""
    return given.is_output and (taken.producer is None or taken.graph is not node.graph)


def _find_turned_back(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Transpose") if subject.is_onnx else ():
        value = node.input(0)
        before = value.producer if value is not None else None
        if not is_operator(before, "Transpose") or find_only_user(value) is not node:
            continue
        first, then = subject.integers(before, "perm"), subject.integers(node, "perm")
        if not first or not then or sorted(first) != sorted(then):
            continue
        if sorted(first) != [*range(len(first))]:
            continue
        both = [first[axis] for axis in then]
        is_undone = both == [*range(len(both))]
        yield Occurrence(
            node.path,
            f"turns the axes {'back ' if is_undone else 'again '}that "
            f"{before.label[:100]} has just turned",
            {"first": list(first), "then": list(then), "together": both},
            str(is_undone),
        )


#: bits of mantissa and of exponent: what is kept of a number
_FLOATS = {
    "float64": (53, 11),
    "float32": (24, 8),
    "float16": (11, 5),
    "bfloat16": (8, 8),
}


def _find_casts_back(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Cast") if subject.is_onnx else ():
        value = node.input(0)
        before = value.producer if value is not None else None
        if not is_operator(before, "Cast"):
            continue
        source = before.input(0)
        dtype = find_dtype_of(source) or subject.fact(source).dtype
        types = node.graph.dialect.element_types
        between = types.get(subject.integer(before, "to") or 0, "")
        last = types.get(subject.integer(node, "to") or 0, "")
        if dtype is None or dtype.name != last or between == last:
            continue
        severity: Severity = "note"
        loss = ""
        if dtype.name in _FLOATS and between in _FLOATS:
            one, two = _FLOATS[dtype.name], _FLOATS[between]
            if one[0] > two[0] or one[1] > two[1]:
                severity, loss = "warning", f": only what {between} keeps is left"
        yield Occurrence(
            node.path,
            f"casts {dtype} to {between} and back{loss}",
            {"types": [dtype.name, between, last]},
            f"{dtype} {between}",
            severity=severity,
        )


def _find_repeated(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs if subject.is_onnx else ():
        if not graph.nodes:
            continue
        operators = graph.wiring.operators.tolist()
        known: dict[tuple[object, ...], Node] = {}
        for node, number in zip(graph.nodes, operators, strict=True):
            if not node.inputs or node.subgraphs or node.operator.has(*_BY_CHANCE):
                continue
            if node.domain not in KNOWN_DOMAINS:
                continue
            key = (number, len(node.outputs), key_whole_attributes(node), *map(id, node.inputs))
            first = known.setdefault(key, node)
            if first is not node:
                yield Occurrence(
                    node.path,
                    f"{node.op_type} computes again what {first.label[:100]} has computed",
                    {"same_as": first.path},
                    node.op_type,
                )


def _find_foldable(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs if subject.is_onnx else ():
        if not graph.nodes or graph.kind == "training":
            continue
        fixed = find_input_independence(graph).nodes
        count = 0
        first: Node | None = None
        for node in graph.nodes:
            if not fixed[graph.index_of(node)] or not node.inputs:
                continue
            if not node.operator.has(*_BY_CHANCE, "dequantizes", "fills"):
                count += 1
                first = first or node
        if first is not None:
            yield Occurrence(
                first.path,
                f"{write_count(count, 'node')} of {graph.path} "
                f"{'computes' if count == 1 else 'compute'} from constants alone",
                {"nodes": count, "graph": graph.path},
                graph.path,
                places=count,
            )


def _find_unfused_norms(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "BatchNormalization") if subject.is_onnx else ():
        value = node.input(0)
        before = value.producer if value is not None else None
        if before is None or before.domain or not before.operator.has("convolves"):
            continue
        weight = before.input(1)
        constants = [weight, *node.inputs[1:5]]
        if find_only_user(value) is node and all(
            each is not None and each.initializer is not None for each in constants
        ):
            message = f"could be multiplied into {before.label[:100]}, which alone it follows"
            yield Occurrence(node.path, message, {"convolution": before.path}, before.op_type)


def _find_done_twice(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes_with(subject.graphs, "idempotent"):
        value = node.input(0)
        before = value.producer if value is not None else None
        if before is not None and before.op_type == node.op_type and not before.domain:
            message = f"{node.op_type} of what is {node.op_type} already"
            yield Occurrence(node.path, message, {"op_type": node.op_type}, node.op_type)


def _rule(number: int, name: str, severity: Severity, *texts: object, values: bool = False) -> Rule:
    title, why, remedy, source, find = texts
    return Rule(f"NL-G{number:02}", name, severity, title, why, remedy, source, find, values)  # type: ignore[arg-type]


RULES = (
    _rule(
        4,
        "nothing-done",
        "note",
        "A node that passes on what it takes",
        "It may cost a copy, and stands in the way of fusions.",
        "Remove it: onnxoptimizer, eliminate_nop_* and eliminate_identity.",
        f"{_PASSES}, eliminate_nop_*",
        _find_nothing_done,
    ),
    _rule(
        5,
        "transposed-again",
        "note",
        "Two transpositions in a row",
        "Each moves all the bytes; one, or none, would do.",
        "Join them: onnxoptimizer, fuse_consecutive_transposes.",
        f"{_PASSES}, fuse_consecutive_transposes",
        _find_turned_back,
    ),
    _rule(
        6,
        "cast-back",
        "note",
        "A cast to another type and back",
        "It costs two passes; through a narrower type precision is lost on the way.",
        "Remove the pair, unless the loss is meant.",
        "ONNX Runtime #20346; onnxconverter-common #271",
        _find_casts_back,
    ),
    _rule(
        7,
        "computed-again",
        "note",
        "A node that computes what another has computed",
        "Same operator, attributes and operands give the same result.",
        "Join them: onnxoptimizer, eliminate_common_subexpression.",
        f"{_PASSES}, eliminate_common_subexpression",
        _find_repeated,
    ),
    _rule(
        8,
        "foldable",
        "note",
        "Nodes that compute from constants alone",
        "Their results could be stored; runtimes fold them at each start.",
        "Fold them, with an eye on the size: onnxsim, OnnxSlim, or torch's do_constant_folding.",
        "onnxsim; OnnxSlim",
        _find_foldable,
    ),
    _rule(
        10,
        "unfused-norm",
        "note",
        "A BatchNormalization behind a convolution",
        "Folded into the weights it costs nothing; it has to be before quantizing.",
        "Fold it: onnxoptimizer, fuse_bn_into_conv, or export in evaluation mode.",
        "ONNX Runtime, quantization.md: pre-processing",
        _find_unfused_norms,
    ),
    _rule(
        15,
        "done-twice",
        "note",
        "An operator on what it gave already",
        "The second time nothing changes.",
        "Remove one: onnxoptimizer, eliminate_consecutive_idempotent_ops.",
        f"{_PASSES}, eliminate_consecutive_idempotent_ops",
        _find_done_twice,
    ),
)
