"""What exporters leave behind: one run's sizes, training, weights that were one in the program."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from netloupe.explorer.checks.operands import (
    is_operator,
    list_own_nodes,
    list_own_nodes_with,
    read_constant,
    take_attribute,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.costs.polynomial import Amount, list_symbols, list_terms, write_expression
from netloupe.explorer.costs.ties import find_ties
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Tensor, find_nodes_where
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_dims


def _find_training(subject: Subject) -> Iterator[Occurrence]:
    graphs = [graph for graph in subject.graphs if graph.kind != "training"]
    for node in list_own_nodes_with(graphs, "differs_in_training") if subject.is_onnx else ():
        reason = _judge_training(node)
        if reason:
            yield Occurrence(
                node.path,
                f"{node.op_type} runs as in training: {reason}",
                {"op_type": node.op_type, "opset": node.opset_version},
                f"{node.op_type} {reason}",
            )


def _judge_training(node: Node) -> str:
    """Return why a node runs as in training; "" where it does not, or where nothing tells it."""
    version = node.opset_version
    if version is None:
        return ""
    if version < 7:
        return "" if take_attribute(node, "is_test", 0) else "is_test is not 1"
    if node.operator.has("drops_out"):
        mode = read_constant(node.input(2)) if version >= 12 else None
        ratio = read_constant(node.input(1))
        is_on = mode is not None and mode.size == 1 and bool(mode.reshape(-1)[0])
        drops = ratio is None or not ratio.size or bool(np.any(ratio != 0))
        return "its training_mode is true" if is_on and drops else ""
    if version >= 14:
        return "training_mode is 1" if take_attribute(node, "training_mode", 0) == 1 else ""
    given = sum(value is not None for value in node.outputs)
    return "it gives new statistics" if given > 1 else ""


def _find_constant_conditions(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "If") if subject.is_onnx else ():
        condition = node.input(0)
        if condition is None:
            continue
        stored = read_constant(condition)
        if stored is not None and stored.size == 1:
            truth = bool(stored.reshape(-1)[0])
            never = "else_branch" if truth else "then_branch"
            message = f"its condition is always {str(truth).lower()}: its {never} never runs"
            yield Occurrence(node.path, message, {"condition": truth}, str(truth))
        elif condition.producer is not None and is_input_independent(condition):
            message = "its condition depends on no input: the same branch runs each time"
            yield Occurrence(node.path, message, {"condition": condition.path})


def _find_traced_sizes(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    for node in list_own_nodes(subject.graphs, "Reshape"):
        target = read_constant(node.input(1), 64)
        if target is None or target.dtype.kind not in "iu" or not target.size:
            continue
        sizes = [int(size) for size in target.reshape(-1)]
        if min(sizes) <= 0:  # taken from the operand, or what is left
            continue
        amount = subject.fact(node.input(0)).size
        if amount is None or isinstance(amount, int):
            continue
        product = 1
        for size in sizes:
            product *= size
        fits = _solve(amount, product)
        yield Occurrence(
            node.path,
            f"makes {write_expression(amount)[:200]} elements into {write_dims(sizes)}: that is "
            + (f"right for {fits} alone" if fits else f"{product:,} elements, whatever is given"),
            {"elements": write_expression(amount)[:200], "target": sizes, "fits": fits or None},
            ", ".join(list_symbols(amount))[:100],
        )


def _solve(amount: Amount, product: int) -> str:
    """Return the size of the only symbol with which an amount is a number: ``batch = 1``."""
    terms = list_terms(amount)
    if len(terms) != 1 or len(terms[0][0]) != 1:
        return ""
    ((atom, power),), factor = terms[0]
    if power != 1 or atom.is_quotient or product % factor:
        return ""
    return f"{atom.text[:100]} = {product // factor:,}"


def _find_copies(subject: Subject) -> Iterator[Occurrence]:
    copies = find_ties(subject.model).copies
    tables = {*_list_tables(subject)} if copies else set()
    for copy, first in copies:
        turned = ", transposed" if copy.dims != first.dims else ""
        # one parameter of the program, as far as one can know; others may be copies of a layer
        # that was not trained yet
        is_tied = (copy in tables) != (first in tables)
        yield Occurrence(
            copy.path,
            f"holds the same {copy.size:,} numbers as {first.path}{turned}"
            + ("" if is_tied else ": perhaps one parameter, or a layer that was copied"),
            {"same_as": first.path, "dims": list(copy.dims), "is_transposed": bool(turned)},
            first.path,
            {"bytes": copy.nbytes or 0},
            severity=None if is_tied else "note",
        )


def _list_tables(subject: Subject) -> Iterator[Tensor]:
    """Yield what rows are taken from, as from the embedding that an output layer shares."""
    for graph in subject.graphs:
        lookups = find_nodes_where(graph, lambda operator: operator.weight_kind == "embedding")
        for index in lookups.tolist():
            node = graph.nodes[index]
            for place in node.operator.weight_places:
                table = node.input(place)
                tensor = find_stored_tensor(table) if table is not None else None
                if tensor is not None:
                    yield tensor


def _find_double_softmax(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes_with(subject.graphs, "distributes"):
        before = value.producer if (value := node.input(0)) is not None else None
        if is_operator(before, "Softmax"):
            yield Occurrence(
                node.path,
                f"{node.op_type} of what {before.label[:100]} has made probabilities of",
                {"first": before.path},
                node.op_type,
            )


def _find_chance(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    graphs = [graph for graph in subject.graphs if graph.kind != "training"]
    for node in list_own_nodes_with(graphs, "random"):
        if subject.attribute(node, "seed") is None and any(
            value is not None and (value.is_used or value.is_output) for value in node.outputs
        ):
            evidence = {"op_type": node.op_type}
            yield Occurrence(node.path, f"{node.op_type} has no seed", evidence, node.op_type)


def _find_traced_expansions(subject: Subject) -> Iterator[Occurrence]:
    """Yield Expand to a stored size along an axis of the operand that may have another."""
    for node in list_own_nodes(subject.graphs, "Expand") if subject.is_onnx else ():
        target = read_constant(node.input(1), 64)
        dims = subject.fact(node.input(0)).dims
        if target is None or target.dtype.kind not in "iu" or dims is None:
            continue
        sizes = [int(size) for size in target.reshape(-1)]
        for back, (dim, size) in enumerate(zip(reversed(dims), reversed(sizes), strict=False), 1):
            if size > 1 and dim is not None and not isinstance(dim, int):
                shown = write_expression(dim)[:200]
                yield Occurrence(
                    node.path,
                    f"spreads axis {len(dims) - back}, of size {shown}, to {size:,}: that is right "
                    f"where it is 1 or {size:,} alone",
                    {"axis": len(dims) - back, "size": shown, "target": size},
                    shown[:100],
                )
                break


RULES = (
    Rule(
        "NL-X01",
        "training-mode",
        "error",
        "BatchNormalization or Dropout that runs as in training",
        "Results depend on the batch or on chance, and differ from those of the program.",
        "Export in evaluation mode: `model.eval()` before `torch.onnx.export(…)`.",
        "Operators.md, BatchNormalization and Dropout; pytorch #52758",
        _find_training,
    ),
    Rule(
        "NL-X02",
        "constant-condition",
        "warning",
        "An If whose condition never changes",
        "The other branch is weight and code for nothing; compilers may refuse control flow.",
        "Put the branch that runs in its place: onnxoptimizer, eliminate_if_with_const_cond.",
        "onnxoptimizer, eliminate_if_with_const_cond",
        _find_constant_conditions,
    ),
    Rule(
        "NL-X03",
        "traced-size",
        "error",
        "A Reshape to the sizes of the run that was traced",
        "An input has an axis that may have any size, but the model runs with one only.",
        "Use x.shape[0] or -1 instead of a number, and export again.",
        "ONNX Runtime #10463; pytorch #99613",
        _find_traced_sizes,
    ),
    Rule(
        "NL-X04",
        "broken-tying",
        "warning",
        "A weight that is stored twice",
        "It takes twice the room, in file and memory. Of an embedding and the layer that has "
        "the same numbers it is known that they are one parameter; of others, a note, it may be.",
        "Let both nodes take one initializer; for a transposed copy, add a Transpose.",
        "optimum #1326; ONNX Runtime #15365",
        _find_copies,
        reads_values=True,
    ),
    Rule(
        "NL-X05",
        "softmax-twice",
        "warning",
        "Softmax of what are probabilities already",
        "All results come close to each other: the loss, which has a softmax of its own, was "
        "exported with the model, or the program has one too many.",
        "Remove the second one, and compare the results with those of training.",
        "practice: cross-entropy losses take logits",
        _find_double_softmax,
    ),
    Rule(
        "NL-X06",
        "chance",
        "note",
        "An operator whose results depend on chance",
        "Two runs on the same input differ; tests of the exported model fail now and then.",
        "Give the noise as an input, or set the attribute seed where it may be the same.",
        "Operators.md, RandomNormal: seed",
        _find_chance,
    ),
    Rule(
        "NL-X07",
        "traced-expansion",
        "error",
        "An Expand to the size of the run that was traced",
        "An input has an axis that may have any size, but the model runs with one only.",
        "Use x.shape[0] or -1 instead of a number, and export again.",
        "Operators.md, Expand; rf-detr #949",
        _find_traced_expansions,
    ),
)
