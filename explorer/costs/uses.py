"""One use of an operator: what is known of its results, and how much work it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Attribute, Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_own_tensor
from netloupe.explorer.operators import OperatorSchema, find_schema

from .element_types import add_types
from .facts import UNKNOWN, Fact, Use
from .polynomial import Amount, TooLargeError
from .rules import CostRule, find_cost_rule
from .work import Gap, Work

_MOST_SCALES = 8

TOO_LARGE = "sizes are beyond all sense"
_NO_RULE = "no rule counts this operator"

Attributes = Mapping[str, Attribute | None]


class Kind(NamedTuple):
    """What is asked of an operator once.

    Parameters
    ----------
    number
        Tells kinds apart.
    rule
        How its cost is told; None where it may have MACs that no rule counts, and for functions.
    label
        Its name, with the domain before it where that is not the format's own.
    has_attributes
        Whether attributes change results or work.
    is_plain
        Whether it neither stores a constant nor calls a function.
    schema
        What its set declares; None where that is not known, and for functions.
    """

    number: int
    rule: CostRule | None
    label: str
    has_attributes: bool
    is_plain: bool
    schema: OperatorSchema | None = None


def make_kind(number: int, node: Node) -> Kind:
    """Return what is known of the operator of a node."""
    dialect = node.graph.dialect
    is_call = node.function is not None
    rule = None if is_call else find_cost_rule(node.domain, node.op_type)
    schema = None if is_call else find_schema(node.domain, node.op_type, node.opset_version)
    has_none = dialect.has_opsets and schema is not None and not schema.attributes
    return Kind(
        number,
        rule,
        dialect.name_operator(node.domain, node.op_type),
        rule is not None and rule.has_attributes and not has_none,
        not is_call and not node.operator.has("stores_constant"),
        schema,
    )


class Seen(NamedTuple):
    """What came of a look at a use.

    Parameters
    ----------
    facts
        What is known of the results.
    work
        Each time the node runs.
    is_whole
        Whether shapes and types of all results are known.
    """

    facts: list[Fact]
    work: Work
    is_whole: bool


def look_at_use(
    kind: Kind,
    node: Node,
    operands: Sequence[Fact | None],
    attributes: Mapping[str, Attribute | None],
    stated: Sequence[Fact] | None,
) -> Seen:
    """Return what follows from operands, and from what the file says of results.

    Parameters
    ----------
    kind
        Of the operator.
    node
        A node that uses it so.
    operands
        What is known of the operands.
    attributes
        Those of the node, with those of a call in place of references to them.
    stated
        What the file says of the results; None where that was not looked for.
    """
    operator = node.operator
    if operator.has("resamples"):  # by small lists of real numbers
        pairs = zip(operands, node.inputs, strict=True)
        operands = [_add_numbers(fact, value) for fact, value in pairs]
    use = Use(
        operator,
        operands,
        attributes,
        len(node.outputs),
        node.opset_version,
        node.graph.dialect.element_types,
    )
    results: Sequence[Fact | None] = []
    macs: Amount | None = 0
    rule = kind.rule
    if rule is not None and rule.find is not None:
        try:
            results, macs = rule.find(use, stated or ())
        except TooLargeError:
            results, macs = [], None
    elif rule is not None and rule.multiplies:
        macs = None
    if kind.schema is not None:
        results = add_types(kind.schema, operands, results, len(node.outputs))
    facts = merge_facts(results, stated, len(node.outputs))
    taken = [fact for fact in operands if fact is not None]
    if taken and all(fact.is_constant for fact in taken) and not operator.has("random"):
        constants = {id(fact): fact._replace(is_constant=True) for fact in facts}
        facts = [constants[id(fact)] for fact in facts]
    given = [fact for fact, value in zip(facts, node.outputs, strict=True) if value is not None]
    is_whole = all(
        fact.dtype is not None and fact.dims is not None and None not in fact.dims
        for fact, _ in _count_alike(given)
    )
    return Seen(facts, _weigh(kind, taken, given, macs), is_whole)


def merge_facts(
    results: Sequence[Fact | None], stated: Sequence[Fact] | None, count: int
) -> list[Fact]:
    """Return what rules and the file know of so many results together; rules come first."""
    if stated is None:
        known = [fact or UNKNOWN for fact in results[:count]]
        return known + [UNKNOWN] * (count - len(known))
    found: list[Fact] = []
    for index in range(count):
        fact = (results[index] if index < len(results) else None) or UNKNOWN
        other = stated[index]
        dims = other.dims if fact.dims is None else fact.dims
        if fact.dims is not None and other.dims is not None and len(fact.dims) == len(other.dims):
            pairs = zip(fact.dims, other.dims, strict=True)
            dims = tuple(two if one is None else one for one, two in pairs)
        dtype = fact.dtype or (None if fact.kind else other.dtype)
        found.append(
            fact._replace(dims=dims, dtype=dtype, kind=fact.kind or ("" if dtype else other.kind))
        )
    return found


def measure_activation(fact: Fact) -> Amount | None:
    """Return the bytes that a value takes while it is alive; None where they are not known."""
    try:
        return 0 if fact.is_constant else fact.bytes
    except TooLargeError:
        return None


def _add_numbers(fact: Fact | None, value: Value | None) -> Fact | None:
    """Return a fact with the real numbers of a small constant list."""
    tensor = None if value is None else find_own_tensor(value)
    if fact is None or not isinstance(tensor, Tensor) or not tensor.dtype.is_float:
        return fact
    if len(tensor.dims) != 1 or tensor.size > _MOST_SCALES:
        return fact
    try:
        return fact._replace(numbers=tuple(tensor.numpy().astype(float).tolist()))
    except NetloupeError:
        return fact


def _weigh(kind: Kind, taken: Sequence[Fact], given: Sequence[Fact], macs: Amount | None) -> Work:
    """Return the work of one use of an operator, from what is known of operands and results."""
    gaps: dict[Gap, int] = {}
    rule = kind.rule
    if rule is None:
        gaps[Gap(kind.label, _NO_RULE)] = 1
    elif macs is None:
        is_counted = rule.find is not None and rule.tells_macs
        reason = "shapes of its operands are not known" if is_counted else _NO_RULE
        gaps[Gap(kind.label, reason)] = 1
    try:
        activations: Amount = 0
        for fact, count in _count_alike(given):
            size = 0 if fact.is_constant else fact.bytes
            if size is None:
                gaps[Gap(kind.label, "the size of a result is not known", "bytes")] = 1
            else:
                activations += size * count
        moved: Amount = 0
        others: Amount = 0
        if not given or not all(fact.is_constant for fact in given):  # else it is done beforehand
            moved = activations
            for fact, count in _count_alike(taken):
                moved += (fact.bytes or 0) * count
            if rule is not None and rule.per_element and given:
                others += (given[0].size or 0) * rule.per_element
            if rule is not None and rule.per_operand and taken:
                others += (taken[0].size or 0) * rule.per_operand
    except TooLargeError:
        return Work(gaps={Gap(kind.label, TOO_LARGE): 1})
    operators = {kind.label: macs} if macs else {}
    return Work(macs or 0, macs or 0, others, activations, moved, gaps, operators)


#: so few operands are not worth to be counted
_FEW = 8


def _count_alike(facts: Sequence[Fact]) -> list[tuple[Fact, int]]:
    """Return facts with how often each is there: a node may take or give a million values."""
    if len(facts) <= _FEW:
        return [(fact, 1) for fact in facts]
    found = {id(fact): fact for fact in facts}
    return [(found[key], count) for key, count in Counter(map(id, facts)).items()]
