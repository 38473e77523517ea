"""What an open Loop or Scan carries from one turn of its graph to the next: its states.

The operator specifications of ONNX (Loop, Scan) tell which: behind the number of the turn and the
condition the graph takes a state for each operand, and gives it behind the next condition; of a
Scan the operands before those that are scanned are states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from netloupe.explorer.model import Graph, Node, Value

from .carried_names import ANY_STATE, find_output_name, name_handed
from .item import NOTHING_CARRIED, Carried
from .repetitions import Handed


class TurnState(NamedTuple):
    """One of the values that each turn takes from the one before.

    Parameters
    ----------
    start, result
        What the node takes as its first value, and gives as its last; None where it does not.
    taken, given
        The input and the output of the graph inside.
    """

    start: Value | None
    result: Value | None
    taken: Value
    given: Value


def list_turn_states(node: Node, graph: Graph) -> list[TurnState]:
    """Return the states of a node that runs a graph again and again; nothing of any other."""
    operator = node.operator
    if not operator.has("loops") or operator.body is None:
        return []
    binding = graph.dialect.body_binding(operator)
    first = binding.first_operand + binding.first_output
    last = len(node.inputs)
    if not first:
        stated = node.attributes.get("num_scan_inputs")
        scanned = stated.value if stated is not None else None
        last = last - scanned if isinstance(scanned, int) and 0 < scanned <= last else 0
    outputs = graph.outputs[binding.first_output :]
    return [
        TurnState(start, result, taken, given)
        for start, taken, given, result in zip(
            node.inputs[first:last],
            graph.inputs[first:],
            outputs,
            [*node.outputs, *[None] * len(outputs)],
            strict=False,
        )
    ]


def gather_states(
    node: Node, graph: Graph, entering: Iterable[Value], leaving: Iterable[Value]
) -> Carried:
    """Return what a node carries from each turn of its graph to the next.

    Parameters
    ----------
    node, graph
        The node, and what it runs.
    entering, leaving
        The values that have a port at the border of the node.
    """
    states = list_turn_states(node, graph)
    if not states:
        return NOTHING_CARRIED
    told = name_handed([Handed((n, 0), one.taken, one.given) for n, one in enumerate(states)])
    names = [
        name or (find_output_name(one.result) if one.result is not None else "") or ANY_STATE
        for name, one in zip(told, states, strict=True)
    ]
    known, wanted = {*entering}, {*leaving}
    starts = [one.start for one in states if one.start is not None and one.start in known]
    ends = [one.result for one in states if one.result is not None and one.result in wanted]
    return Carried(
        names={one.given: name for one, name in zip(states, names, strict=True)},
        loop=tuple(dict.fromkeys(names)),
        start=next(iter(starts), None),
        end=next(iter(ends), None),
        starts=frozenset(starts),
        ends=frozenset(ends),
    )
