"""Types: those that operators take, and those that a file states of what nodes give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.stated import find_branch_types, find_stated_shapes, find_stated_types
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.checks.uses import Case
from netloupe.explorer.notation import join_parts, write_count
from netloupe.explorer.operators import Parameter

_CONSTRAINTS = "Operators.md, Type Constraints; ONNX IR specification, Operators"
#: of a node with more operands these are looked at
_MOST_OPERANDS = 1_000
_MOST_TYPES = 8
_MOST_REASONS = 8


def _refuse_types(case: Case) -> Iterator[str]:
    """Say which operands have a type that the operator does not take."""
    for index, formal in _list_formals(case):
        if formal.types and case.operand(index).type_name not in formal.types:
            allowed = sorted(formal.types)
            shown = join_parts(allowed[:_MOST_TYPES], len(allowed))
            yield f"{case.say(index)}; {case.op_type} takes {shown} there"
    yield from _refuse_result(case)


def _refuse_result(case: Case) -> Iterator[str]:
    """Say whether an attribute asks for a type that the operator does not give."""
    formal = case.schema.output(0) if case.schema is not None else None
    fact = case.given[0] if case.given else None
    if not case.operator.has("casts", "fills", "stores_constant") or formal is None or fact is None:
        return
    if case.schema is not None and formal.variable in {p.variable for p in case.schema.inputs}:
        return  # said of the operand already
    if fact.type_name and formal.types and fact.type_name not in formal.types:
        allowed = sorted(formal.types)
        shown = join_parts(allowed[:_MOST_TYPES], len(allowed))
        yield f"gives {fact.type_name}, but {case.op_type}-{case.since} gives {shown}"


def _refuse_mixtures(case: Case) -> Iterator[str]:
    """Say which operands differ in type although one variable stands for both."""
    firsts: dict[str, int] = {}
    if case.operator.has("branches", "loops"):  # bodies decide on types in a way of their own
        return
    for index, formal in _list_formals(case):
        if not formal.variable or not formal.is_homogeneous:
            continue
        first = firsts.setdefault(formal.variable, index)
        if case.operand(index).type_name != case.operand(first).type_name:
            yield (
                f"{case.say(first)} and {case.say(index)}; both must have one type for "
                f"{case.op_type}: insert a Cast before one of them, or store it in the other's type"
            )
            return


def _list_formals(case: Case) -> Iterator[tuple[int, Parameter]]:
    """Yield the operands whose types are known, with what is declared of them."""
    for index, fact in enumerate(islice(case.operands, _MOST_OPERANDS)):
        formal = case.schema.input(index) if case.schema is not None else None
        if fact is not None and formal is not None and fact.type_name:
            yield index, formal


def _find_refused(subject: Subject) -> Iterator[Occurrence]:
    if not subject.is_onnx:
        return
    yield from subject.uses.find_all(_refuse_types)
    unknown = subject.uses.unknown.items()
    for reason, (node, count) in islice(unknown, _MOST_REASONS):
        subject.leave_out(
            f"types and shapes at {write_count(count, 'node')}: {reason} ({node.path})"
        )
    if len(unknown) > _MOST_REASONS:
        rest = len(unknown) - _MOST_REASONS
        subject.leave_out(f"types and shapes for {write_count(rest, 'further reason')}")


def _find_mixtures(subject: Subject) -> Iterator[Occurrence]:
    if subject.is_onnx:
        yield from subject.uses.find_all(_refuse_mixtures)


def _find_stated_types(subject: Subject) -> Iterator[Occurrence]:
    if subject.is_onnx:
        yield from find_stated_types(subject.contradictions)


def _find_branches(subject: Subject) -> Iterator[Occurrence]:
    if subject.is_onnx:
        yield from find_branch_types(subject.analysis, subject.graphs)


def _find_stated_shapes(subject: Subject) -> Iterator[Occurrence]:
    if subject.is_onnx:
        yield from find_stated_shapes(subject.contradictions)


RULES = (
    Rule(
        "NL-T01",
        "operand-type",
        "error",
        "An operand of a type that the operator does not take",
        "The operator's schema does not allow it; runtimes refuse the model.",
        "Insert a Cast before the operand, or store it in a type that the operator takes.",
        _CONSTRAINTS,
        _find_refused,
    ),
    Rule(
        "NL-T02",
        "mixed-types",
        "error",
        "Operands of different types where the operator takes one",
        "ONNX converts nothing by itself; runtimes refuse the model.",
        "Insert a Cast before one of them, or store the constant in the other's type.",
        _CONSTRAINTS,
        _find_mixtures,
    ),
    Rule(
        "NL-T03",
        "stated-type",
        "error",
        "A value that the file states another type of than its node gives",
        "Runtimes refuse the model.",
        "Correct the type that is stated, or insert a Cast.",
        "ONNX IR specification, Graphs: names and types of values",
        _find_stated_types,
    ),
    Rule(
        "NL-T04",
        "branch-types",
        "error",
        "Branches of If that give values of different types",
        "Both branches must give one type; runtimes refuse the model.",
        "Insert a Cast into one of the branches.",
        "Operators.md, If",
        _find_branches,
    ),
    Rule(
        "NL-T05",
        "stale-shape",
        "warning",
        "A value that the file states another shape of than its node gives",
        "onnx.checker refuses the model; runtimes warn and take the one or the other.",
        "Delete what is stated and infer it anew: `del m.graph.value_info[:]`, then "
        "`onnx.shape_inference.infer_shapes(m)`; correct inputs and outputs by hand.",
        "ONNX IR specification, Graphs: value_info; onnx/shape_inference/implementation.cc",
        _find_stated_shapes,
    ),
)
