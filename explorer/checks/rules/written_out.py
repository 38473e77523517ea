"""Blocks that are written out in operators, where one operator could stand for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Function, Graph, Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import (
    FoundBlock,
    Operations,
    find_fusable,
    find_graph_context,
)

#: by what a block is called, the operator that stands for it, and its operator set: names to show
_OPERATORS = {
    "GELU": ("Gelu", 20),
    "GELU (tanh)": ("Gelu", 20),
    "GroupNorm": ("GroupNormalization", 21),
    "HardSwish": ("HardSwish", 14),
    "LayerNorm": ("LayerNormalization", 17),
    "Mish": ("Mish", 18),
    "RMSNorm": ("RMSNormalization", 23),
}
_ATTENTION = ("Attention", 23)
#: so many values are looked at between a Softmax and the product before it
_MOST_BETWEEN = 64
#: graphs of more nodes are not looked through
_MOST_NODES = 200_000


def _find_written_out(subject: Subject) -> Iterator[Occurrence]:
    for graph in subject.graphs if subject.is_onnx else ():
        if len(graph.nodes) > _MOST_NODES:
            subject.leave_out(
                f"{graph.path} has {len(graph.nodes):,} nodes; up to {_MOST_NODES:,} are looked "
                "through"
            )
        elif graph.nodes and not _is_whole_function(graph):
            yield from _find_in_graph(graph)


def _is_whole_function(graph: Graph) -> bool:
    """Return whether a graph is the body of a function, whose call stands for it already."""
    return isinstance(graph, Function)


def _find_in_graph(graph: Graph) -> Iterator[Occurrence]:
    operations = Operations(graph.nodes, find_graph_context(graph))
    imported = graph.opset_imports.get("")
    for found in find_fusable(operations):
        stands = _find_operator(found, [operations.nodes[number] for number in found.numbers])
        if stands is None or len(found.numbers) < 2:
            continue
        operator, since = stands
        if imported is None or imported < since:
            continue  # it could not stand there
        what = (
            f"{found.name} is written out between its projections"
            if found.kind == "attention"
            else f"{found.name} is written out in {write_count(len(found.numbers), 'operation')}"
        )
        yield Occurrence(
            operations.nodes[found.end].path,
            f"{what}; {operator} of the imported operator set {imported} could stand for it",
            {"operations": len(found.numbers), "operator": operator, "opset": imported}
            | {"since": since},
            found.name,
        )


def _find_operator(found: FoundBlock, nodes: Sequence[Node]) -> tuple[str, int] | None:
    """Return the operator that could stand for a block, and its operator set; None for none."""
    if found.kind != "attention":
        return _OPERATORS.get(found.name)
    # of what only has the outline of one it is not known what the scores are made of
    if found.name == "Attention" or any(node.operator.has("attends") for node in nodes):
        return None
    softmaxes = [node for node in nodes if node.operator.form == "Softmax"]
    return None if any(map(_takes_negated_scores, softmaxes)) else _ATTENTION


def _takes_negated_scores(softmax: Node) -> bool:
    """Return whether a Softmax takes the negative of a product, which no attention does.

    So does channel attention, as ``softmax(max(s) - s)`` (J. Fu and others, Dual Attention Network
    for Scene Segmentation, 2019, 3.3; the reference implementation).
    """
    waiting = [(softmax.input(0), False)]
    for value, is_negative in waiting:  # the nearest product counts
        node = value.producer if value is not None else None
        if node is None or len(waiting) > _MOST_BETWEEN:
            continue
        if node.operator.has("multiplies"):
            return is_negative
        for place, operand in enumerate(node.inputs):
            subtracts = node.operator.has("subtracts") and place == 1
            turns = subtracts or node.operator.has("negates")
            waiting.append((operand, is_negative ^ turns))
    return False


RULES = (
    Rule(
        "NL-G14",
        "written-out",
        "note",
        "A norm, activation or attention that is written out in operators",
        "One operator is one kernel and one pass over memory; runtimes recognise some of what is "
        "written out and fuse it when they load the model, others run it as it is.",
        "Use the operator, which the imported operator set has, or run ONNX Runtime's transformer "
        "optimizer.",
        "onnx, Changelog.md; ONNX Runtime, onnxruntime/python/tools/transformers",
        _find_written_out,
    ),
)
