"""How much of a model a page holds.

Of all that a page can show everything is laid out and described beforehand. That of a hundred
thousand nodes fits a file; of a million, or of what multiplies without end, only a part does.
"""

from __future__ import annotations

from dataclasses import dataclass

from netloupe.explorer.model import Function, Graph, Model

#: of nodes, inputs, outputs and initializers together, or of values; a larger model is told in part
_MANY = 300_000
#: of graphs inside nodes, each of which is laid out by itself
_MANY_GRAPHS = 3_000
#: calls of functions around calls open so many times as many nodes as the file has, and more than
#: so many: then what can be opened is made up
_MULTIPLE, _MANY_OPENED = 20, 8_000
#: of operators, since what is told of many nodes is written once for those that are alike
_MANY_OPERATORS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is in a page at most.

    Parameters
    ----------
    levels, boxes
        Insides of groups, each repetition by itself, and what is in them.
    repetitions
        Those of one repeat; one that has more stays closed.
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
    repetitions: int
    listed: int
    elements: int
    findable: int
    depth: int | None = None

    def divide(self, models: int) -> Limits:
        """Return the share that each of so many models has of these limits."""
        if models == 1:
            return self
        return Limits(
            self.levels // models,
            self.boxes // models,
            self.repetitions // models,
            self.listed // models,
            self.elements // models,
            self.findable // models,
            self.depth,
        )


USUAL = Limits(60_000, 400_000, 4_000, 10_000, 400_000, 1_000_000)
OF_THE_LARGEST = Limits(1_000, 20_000, 1_000, 2_000, 5_000, 50_000)
#: of a few nodes that open without end nothing more is learned further in
OF_WHAT_MULTIPLIES = Limits(300, 6_000, 300, 1_000, 2_000, 20_000)


def choose_limits(model: Model, models: int = 1) -> Limits:
    """Return how much of a model its page holds.

    Parameters
    ----------
    model
        The model.
    models
        How many models are in the page: of those that are told in part each gets its share.
    """
    graph = model.graph
    count = model.node_count + len(graph.inputs) + len(graph.outputs) + len(graph.initializers)
    nested = sum(each.parent_node is not None for each in model.graphs)
    is_usual = (
        max(count, len(graph.values)) <= _MANY
        and nested <= _MANY_GRAPHS
        and int(graph.wiring.operators.max(initial=-1)) < _MANY_OPERATORS
    )
    if count_opened(model) > max(_MULTIPLE * model.node_count, _MANY_OPENED):
        return OF_WHAT_MULTIPLIES.divide(models)
    return USUAL if is_usual else OF_THE_LARGEST.divide(models)


def count_opened(model: Model) -> int:
    """Return how many nodes there are where every call of a function is open; reads no elements.

    A function that calls itself is opened once. Numbers are exact, however large.
    """
    inside: dict[Function, int] = {}
    pending: list[Function] = [*model.functions]
    opened: set[Function] = set()
    while pending:
        function = pending[-1]
        if function in opened:
            pending.pop()
            inside.setdefault(function, _count(function, inside))
            continue
        opened.add(function)
        called = {node.function for graph in _list_within(function) for node in graph.nodes}
        pending += [each for each in called if each is not None and each not in opened]
    return _count(model.graph, inside)


def _count(graph: Graph, inside: dict[Function, int]) -> int:
    nodes = [node for each in _list_within(graph) for node in each.nodes]
    functions = (node.function for node in nodes) if inside else ()
    return len(nodes) + sum(inside.get(each, 0) for each in functions if each is not None)


def _list_within(graph: Graph) -> list[Graph]:
    return [graph, *graph.subgraphs]
