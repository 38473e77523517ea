"""What a file states of values, against what follows for them from the nodes that give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from netloupe.explorer.costs.analysis import Analysis
from netloupe.explorer.costs.fact_table import name_type
from netloupe.explorer.costs.facts import Dims, Fact
from netloupe.explorer.model import (
    Graph,
    Node,
    SparseTensorType,
    TensorType,
    Value,
    ValueType,
    find_nodes_with,
)
from netloupe.explorer.model.value import list_each_type, may_have_type

from .rule import Occurrence
from .uses import write_dimensions, write_fact

#: a value, what the file states of it, and what follows
Contradiction = tuple[Value, ValueType, Fact]

_MOST_CONTRADICTIONS = 100_000


def find_stated_types(found: Iterable[Contradiction]) -> Iterator[Occurrence]:
    """Yield the values that are stated with another type than their node gives."""
    for value, stated, fact in found:
        name, given = name_type(stated), fact.type_name
        if name and given and name != given and not name.startswith(("undefined", "sparse")):
            message = f"{_name_role(value)} is stated as {name}, but {_name_source(value)} {given}"
            yield Occurrence(value.path, message, {"stated": name, "given": given}, "type")


def find_stated_shapes(found: Iterable[Contradiction]) -> Iterator[Occurrence]:
    """Yield the values that are stated with another shape than their node gives."""
    for value, stated, fact in found:
        dims = _read_dims(stated)
        if dims is None or fact.dims is None or not _contradict(dims, fact.dims):
            continue
        given = write_dimensions(fact.dims)
        message = (
            f"{_name_role(value)} is stated as {write_fact(Fact(dims, fact.dtype))}, but "
            f"{_name_source(value)} {given or 'a scalar'}"
        )
        evidence = {"stated": write_dimensions(dims), "given": given}
        yield Occurrence(value.path, message, evidence, "shape")


def find_branch_types(analysis: Analysis, graphs: Iterable[Graph]) -> Iterator[Occurrence]:
    """Yield the nodes of If whose branches give different types."""
    for graph in graphs:
        for index in find_nodes_with(graph, "branches").tolist():
            yield from _compare_branches(analysis, graph.nodes[index])


def _compare_branches(analysis: Analysis, node: Node) -> Iterator[Occurrence]:
    frames = [analysis.frames_of(branch) for branch in node.subgraphs]
    if len(frames) != 2 or not all(frames):
        return
    for index, value in enumerate(node.outputs):
        facts: list[Fact] = []
        for branch, (frame, *_) in zip(node.subgraphs, frames, strict=True):
            if index < len(branch.outputs):
                facts.append(analysis.facts.of(frame.facts[branch.outputs[index]]))
        names = [fact.type_name for fact in facts]
        if len(names) == 2 and all(names) and names[0] != names[1]:
            told = [
                f"{branch.parent_attribute} gives {write_fact(fact)}"
                for branch, fact in zip(node.subgraphs, facts, strict=True)
            ]
            shown = "" if value is None else f" for {value.name[:60]}"
            message = f"its {told[0]}{shown}, its {told[1]}; both must give one type"
            yield Occurrence(node.path, message, {"types": names}, str(index))


def list_contradictions(analysis: Analysis, graphs: Iterable[Graph]) -> list[Contradiction]:
    """Return the values of which the file states something else than follows, so many at most."""
    return [*islice(_list_contradictions(analysis, graphs), _MOST_CONTRADICTIONS)]


def _list_contradictions(analysis: Analysis, graphs: Iterable[Graph]) -> Iterator[Contradiction]:
    judged: dict[tuple[ValueType, int], bool] = {}
    for graph in graphs:
        stated = _list_stated(graph)
        # what is stated holds for every call of a function, and so for the first
        for frame in analysis.frames_of(graph)[:1] if stated else ():
            for value, said in stated:
                number = frame.facts[value]
                differs = judged.get((said, number))
                if differs is None:
                    differs = judged[said, number] = _differs(said, analysis.facts.of(number))
                if differs:
                    yield value, said, analysis.facts.of(number)


def _list_stated(graph: Graph) -> list[tuple[Value, ValueType]]:
    """Return the values that nodes give and of which the file states a type."""
    given = [
        value
        for value in graph.values.values()
        # without a place the file says nothing of a value, as of most
        if value.producer is not None and may_have_type(value)
    ]
    pairs = zip(given, list_each_type(graph, given), strict=True)
    return [(value, said) for value, said in pairs if said is not None]


def _differs(stated: ValueType, fact: Fact) -> bool:
    name, given = name_type(stated), fact.type_name
    if name and given and name != given:
        return True
    dims = _read_dims(stated)
    return dims is not None and fact.dims is not None and _contradict(dims, fact.dims)


def _read_dims(stated: ValueType) -> Dims | None:
    if not isinstance(stated, TensorType | SparseTensorType) or stated.shape is None:
        return None
    return tuple(dim.value if isinstance(dim.value, int) else None for dim in stated.shape)


def _contradict(stated: Dims, given: Dims) -> bool:
    if len(stated) != len(given):
        return True
    return any(
        isinstance(one, int) and isinstance(two, int) and one != two and one >= 0
        for one, two in zip(stated, given, strict=True)
    )


def _name_role(value: Value) -> str:
    return "the output" if value.is_output else "the value"


def _name_source(value: Value) -> str:
    producer = value.producer
    return "its graph gives" if producer is None else f"{producer.op_type} gives"
