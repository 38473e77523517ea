"""Blocks that are written out in operators, where one operator could stand for all of them."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Function, Graph
from netloupe.explorer.patterns import Found, Operations, find_fusable, know

#: by what a block is called, the operator that stands for it, and its operator set
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
    operations = Operations(graph.nodes, know(graph))
    imported = graph.opset_imports.get("")
    for found in find_fusable(operations):
        stands = _find_operator(found)
        if stands is None or len(found.numbers) < 2:
            continue
        operator, since = stands
        what = (
            f"{found.name} is written out between its projections"
            if found.kind == "attention"
            else f"{found.name} is written out in {len(found.numbers)} operations"
        )
        yield Occurrence(
            operations.nodes[found.end].path,
            f"{what}; {operator}, since operator set {since}, could stand for it"
            + (f" ({imported} is imported)" if imported else ""),
            {"operations": len(found.numbers), "operator": operator, "opset": imported}
            | {"since": since},
            found.name,
        )


def _find_operator(found: Found) -> tuple[str, int] | None:
    if found.kind == "attention":
        # of what only has the outline of one it is not known what the scores are made of
        return None if found.name == "Attention" else _ATTENTION
    return _OPERATORS.get(found.name)


RULES = (
    Rule(
        "NL-G14",
        "written-out",
        "note",
        "A norm, activation or attention that is written out in operators",
        "One operator is one kernel and one pass over memory; runtimes recognise some of what is "
        "written out and fuse it when they load the model, others run it as it is.",
        "Export with an operator set that has the operator, or run ONNX Runtime's transformer "
        "optimizer.",
        "onnx, Changelog.md; ONNX Runtime, onnxruntime/python/tools/transformers",
        _find_written_out,
    ),
)
