"""Real numbers that are stored and are no weights, told by what uses them; reads elements of few.

Exporters store what a program computes from sizes alone, and registers as buffers, like weights:
masks, frequencies of positions, windows, grids of a detector. Nothing marks them in a file, but
some uses only such numbers have. Each rule below names one; what no rule knows counts as a weight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from netloupe.explorer.dataflow import list_users
from netloupe.explorer.model import Function, Graph, Node, Value, find_nodes_where
from netloupe.explorer.operators import (
    ARITHMETIC_TRAITS,
    PASSING_TRAITS,
    Operator,
    kept_with_catalogue,
)
from netloupe.explorer.progress import step

from .folded_tables import find_folded_tables
from .masks import is_zero
from .noise import find_weight_factors
from .position_constants import find_angles, find_rotary_tables, list_score_terms
from .stored_uses import ConstantKind, ConstantUse, is_stored_value, list_nodes, trace

#: roles of operands that no weight is: limits, sizes, initial states, windows, rotary tables
_GIVEN = (
    *("bound", "boxes", "cos", "element_weight", "fill", "initial_cell", "initial_state"),
    *("region", "scales", "scores", "sin"),
)
#: functions that keep a learned number in bounds; what is written is written in bounds. Only what
#: looks for written numbers asks
_BOUNDING = frozenset({"Exp", "Sigmoid", "Softplus", "Tanh"})
#: the name of a parameter of a module: ``model.layers.0.alpha``
_MODULE_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)+")

_STEP = 1_000
_MOST_STEPS = 12
#: so many nodes are looked at behind the last weights
_MOST_BEHIND = 2_000
#: so many uses of one number are looked at
_MOST_USES = 50


def find_constant_uses(graph: Graph) -> Iterator[ConstantUse]:
    """Yield uses of stored numbers in a graph that only numbers have that are no weights.

    * Operands of operators that take no weights there: limits, thresholds, initial states, and what
      a scatter writes its updates into.
    * Zeros that a convolution takes as its data: the state in which a recurrence begins.
    * Summands of the scores of attention: what is added to a product of two computed values on its
      way to Softmax. Also tables of relative positions that are written out for all pairs and
      multiplied with queries to be such a summand.
    * Angles of which both sine and cosine are taken, and frequencies that are multiplied with
      positions to be such angles.
    * Tables of which the same positions choose factors in pairs: cosines and sines.
    * Tables that are activated with a bias and no data: products that an exporter computed; zeros
      along several axes that are factors, or are put beside data.
    * Masks that multiply stored weights, and noise that multiplies stored deviations.
    * Scale and bias of an InstanceNormalization whose result has others: so exporters write
      GroupNormalization, with ones and zeros.
    * What is subtracted from an input of the model, or divides it: means and deviations of pixels.
    * Behind the last weights, numbers that do not follow a weight, as a bias does, or a
      normalization: grids and strides of a detector.
    """
    yield from _find_operands(graph, _list_given, "other")
    yield from _find_zero_states(graph)
    yield from _find_operands(graph, _list_score_terms, "attention bias")
    for node in list_nodes(graph, lambda operator: operator.form == "Softmax"):
        yield from list_score_terms(node)
    yield from find_angles(graph)
    yield from find_rotary_tables(graph)
    yield from find_folded_tables(graph)
    yield from find_weight_factors(graph)
    for node in list_nodes(graph, _normalizes_instances):
        if is_scaled_again(node):
            yield from (ConstantUse(node, place, "other") for place in (1, 2))
    yield from _find_at_inputs(graph)
    yield from _find_behind(graph)


def _normalizes_instances(operator: Operator) -> bool:
    return operator.form == "InstanceNormalization"


def list_written_numbers(values: Iterable[Value]) -> Iterator[Value]:
    """Yield the single numbers that are factors, epsilons or the like that a program wrote.

    A learned one stands at the weight operand of an operator, passes a function that keeps it in
    bounds, or has the name of a module's parameter.
    """
    takers: dict[Node, bool] = {}  # one node may take a million
    for value in values:
        users = value.users
        takes_learned = takers.get(users[0]) if len(users) == 1 else None
        if takes_learned is None:
            if _is_written_number(value, takers):
                yield value
        elif not takes_learned and not is_module_name(value.name):
            yield value


def _is_written_number(value: Value, takers: dict[Node, bool]) -> bool:
    """As :func:`list_written_numbers`; ``takers`` gets which nodes take learned numbers."""
    pending = [value]
    looked = 0
    while pending:
        one = pending.pop()
        for user in one.users:
            looked += 1
            if looked > _MOST_USES:
                return not is_module_name(value.name)
            operator = user.operator
            if operator.has(*PASSING_TRAITS):
                if one is user.input(0):
                    pending += [given for given in user.outputs if given is not None]
                continue
            if operator.has("chooses"):
                continue
            takes_learned = takers.get(user)
            if takes_learned is None:
                takes_learned = takers[user] = _takes_learned(user)
            if takes_learned or is_module_name(value.name):
                return False
    return True


def is_module_name(name: str) -> bool:
    """Return whether a name is that of a module's parameter, such as ``layer.0.weight``."""
    return "." in name and _MODULE_NAME.fullmatch(name) is not None


def _takes_learned(node: Node) -> bool:
    """Return whether single numbers that a node takes may be learned, whatever their names."""
    operator = node.operator
    return (
        _has_weights(operator)
        or operator.form in _BOUNDING
        or (node.domain != node.graph.dialect.domain and not operator.has(*ARITHMETIC_TRAITS))
        or node.function is not None
    )


def _has_weights(operator: Operator) -> bool:
    """Return whether an operator has weights, and not only rows of them."""
    has_slope = operator.operands.find("slope") is not None
    return has_slope or operator.weight_kind not in ("", "embedding")


def is_scaled_again(node: Node) -> bool:
    """Return whether what an InstanceNormalization gives gets other factors than its own."""
    value: Value | None = node.output(0)
    for _ in range(_MOST_STEPS):
        users = [u for u in value.users if not u.operator.has("reads_shape")] if value else []
        if len(users) != 1 or value is None or value.is_output:
            return False
        user = users[0]
        if user.operator.has("multiplies_elements"):
            return any(map(is_stored_value, user.inputs))
        if not user.operator.has(*PASSING_TRAITS):
            return False
        value = user.output(0)
    return False


@kept_with_catalogue(maxsize=1 << 12)
def _list_given(operator: Operator) -> Sequence[int]:
    """Return the operands of an operator that are limits, sizes, initial states and the like."""
    if operator.has("compares", "counts"):
        return range(len(operator.operands.names))
    given = operator.operands.list_of(*_GIVEN)
    return (*given, 0) if operator.has("scatters") else given


def _list_score_terms(operator: Operator) -> Sequence[int]:
    """Return the operands of an attention that are added to its scores."""
    return operator.operands.list_of("mask", "addend") if operator.has("attends") else ()


def _find_operands(
    graph: Graph, list_places: Callable[[Operator], Sequence[int]], kind: ConstantKind
) -> Iterator[ConstantUse]:
    found = find_nodes_where(graph, lambda operator: bool(list_places(operator)))
    if not len(found):
        return
    wiring = graph.wiring
    # only nodes that take what no node gives are looked at: there may be a million of others
    is_root = np.append(wiring.producers < 0, False)[wiring.used]
    counts = np.concatenate([[0], np.cumsum(is_root)])
    takes_roots = counts[wiring.bounds[found + 1]] > counts[wiring.bounds[found]]
    for number, index in enumerate(found[takes_roots].tolist()):
        if not number % _STEP:
            step()
        node = graph.nodes[index]
        for place in list_places(node.operator):
            value = node.input(place)
            if value is not None and value.initializer is not None:
                yield ConstantUse(node, place, kind)


def _find_zero_states(graph: Graph) -> Iterator[ConstantUse]:
    for use in _find_operands(graph, _list_convolved, "other"):
        value = use.node.input(use.place)
        if value is not None and value.initializer is not None and is_zero(value.initializer):
            for user in value.users:
                places = [place for place, taken in enumerate(user.inputs) if taken is value]
                yield from (ConstantUse(user, place, "other") for place in places)


def _list_convolved(operator: Operator) -> Sequence[int]:
    return (0,) if operator.has("convolves") else ()


def _find_at_inputs(graph: Graph) -> Iterator[ConstantUse]:
    if isinstance(graph, Function) or graph.parent_node is not None:
        return
    pending = [value for value in graph.inputs if value.initializer is None]
    if len(pending) > _MOST_USES:
        return
    looked = 0
    while pending:
        value = pending.pop()
        for user in value.users:
            looked += 1
            if looked > _MOST_USES:
                return
            if value not in user.inputs[:1]:
                continue
            if user.operator.has("subtracts", "divides") and len(user.inputs) == 2:
                traced = trace(user, 1)
                if traced is not None:
                    yield traced.use_as("other")
                pending += [given for given in user.outputs if given is not None]
            elif user.operator.has(*PASSING_TRAITS):
                pending += [given for given in user.outputs if given is not None]


def _find_behind(graph: Graph) -> Iterator[ConstantUse]:
    """Yield what arithmetic takes behind the last weights, and what follows neither of them."""
    behind, ends = _list_behind(graph)
    after: set[Node] = set()
    pending = [user for node in ends for user in list_users(node)]
    while pending:
        node = pending.pop()
        if node in behind and node not in after:
            after.add(node)
            pending += list_users(node)
    for node in sorted(after, key=graph.index_of):
        if node.operator.has(*ARITHMETIC_TRAITS) and len(node.inputs) == 2:
            traced = [(place, one) for place in (0, 1) if (one := trace(node, place)) is not None]
            if len(traced) == 1 and not _follows_weight(node, 1 - traced[0][0]):
                yield traced[0][1].use_as("other")


def _list_behind(graph: Graph) -> tuple[set[Node], set[Node]]:
    """Return the nodes that no weight follows, and the last ones that may have weights."""
    found: set[Node] = set()
    ends: set[Node] = set()
    pending = [value.producer for value in graph.outputs]
    while pending:
        node = pending.pop()
        if node is None or node.graph is not graph or node in found or node in ends:
            continue
        if _may_have_weights(node):
            ends.add(node)
            continue
        found.add(node)
        if len(found) > _MOST_BEHIND:
            return set(), set()
        pending += [value.producer for value in node.inputs if value is not None]
    return found, ends


def _may_have_weights(node: Node) -> bool:
    return (
        _has_weights(node.operator)
        or node.domain != node.graph.dialect.domain
        or node.function is not None
        or bool(node.subgraphs)
    )


def _follows_weight(node: Node, place: int) -> bool:
    """Return whether what a node takes comes from weights, or is normalized."""
    for _ in range(_MOST_STEPS):
        value = node.input(place)
        producer = None if value is None else value.producer
        if producer is None:
            return False
        if _may_have_weights(producer):
            return True
        operator = producer.operator
        if operator.has(*PASSING_TRAITS):
            node, place = producer, 0
            continue
        if not operator.has(*ARITHMETIC_TRAITS) or len(producer.inputs) != 2:
            return False
        fixed = [index for index in (0, 1) if is_stored_value(producer.inputs[index])]
        if len(fixed) != 1:
            return operator.has("divides", "multiplies_elements")
        traced = trace(producer, fixed[0])
        if traced is None or sum(dim != 1 for dim in traced.tensor.dims) != 1:
            return False
        node, place = producer, 1 - fixed[0]
    return False
