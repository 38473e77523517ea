"""How much of a model a page holds.

Of all that a page can show everything is laid out and described beforehand. That of a hundred
thousand nodes fits a file; of a million, or of what multiplies without end, only a part does.
"""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.model import Model

#: of nodes, inputs, outputs and initializers together, or of values; a larger model is told in part
_MANY = 300_000
#: of graphs inside nodes, each of which is laid out by itself
_MANY_GRAPHS = 3_000
#: of operators, since what is told of many nodes is written once for those that are alike
_MANY_OPERATORS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is in a page at most.

    Parameters
    ----------
    levels, boxes
        Insides of groups, each repetition by itself, and what is in them.
    listed
        Inputs, outputs and constants in boxes that stand for many of them, all together; and
        values that one group, call or node takes and gives.
    elements
        What is described.
    findable
        What a search looks at.
    depth
        So many groups inside one another; None for all.
    """

    levels: int
    boxes: int
    listed: int
    elements: int
    findable: int
    depth: int | None = None


USUAL = Limits(60_000, 400_000, 10_000, 400_000, 1_000_000)
OF_THE_LARGEST = Limits(1_000, 20_000, 2_000, 5_000, 50_000)


def choose_limits(model: Model) -> Limits:
    """Return how much of a model its page holds."""
    graph = model.graph
    count = model.node_count + len(graph.inputs) + len(graph.outputs) + len(graph.initializers)
    nested = sum(each.parent_node is not None for each in model.graphs)
    is_usual = (
        max(count, len(graph.values)) <= _MANY
        and nested <= _MANY_GRAPHS
        and int(graph.wiring.operators.max(initial=-1)) < _MANY_OPERATORS
    )
    return USUAL if is_usual else OF_THE_LARGEST
