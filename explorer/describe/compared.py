"""What is said of elements of a model that was made of two: what of them differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from netloupe.explorer.compare import Diff
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model, Node, Tensor, Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.render.differences import write_difference_counts
from netloupe.explorer.view import nodes_inside

from .description import Row, Section, make_section
from .difference_summary import write_compatibility, write_verdict
from .difference_words import write_change, write_numbers
from .differences import list_told
from .file_text import write_line
from .joined_projections import write_compared_weights, write_joined, write_order

#: below so much confidence a pair rests on its neighbours alone (see Pair.confidence)
_CERTAIN = 0.5
_MOST_LINES = 40
_TITLE = "Difference"


def name_sides(found: Diff) -> tuple[str, str]:
    """Return the names of the older and of the newer model's files."""
    older, newer = (
        write_line(Path(model.source).name or model.source) for model in (found.left, found.right)
    )
    return older, newer


def list_model_differences(found: Diff) -> list[Section]:
    """Return what is said of two models as a whole: the verdict, and all that differs."""
    verdict = f"{write_verdict(found)} {write_compatibility(found)}"
    sections = [Section(_TITLE, (), f"{verdict}\n{write_difference_counts(found)}")]
    for part in list_told(found):
        lines = part.entries[:_MOST_LINES]
        if len(part.entries) > _MOST_LINES:
            lines = [*lines, f"… {len(part.entries) - _MOST_LINES:,} more"]
        sections.append(Section(f"{part.title}: {len(part.entries):,}", (), "\n".join(lines)))
    return sections


def describe_node_difference(node: Node) -> Section | None:
    """Return what has become of a node; None in a model that was not made of two."""
    found = node.graph.model.comparison
    return None if found is None else make_section(_TITLE, _list_node_rows(found, node))


def _list_node_rows(found: Diff, node: Node) -> Iterator[Row]:
    older, newer = name_sides(found)
    origin = found.merging.origins.get(node)
    if not isinstance(origin, Node):
        return
    state = found.states.get(origin)
    if state in ("added", "removed"):
        yield Row("", f"{state}: only in {newer if state == 'added' else older}")
        return
    pair = found.find_pair(origin)
    if pair is None:
        return
    yield Row("", "changed" if state == "changed" else "the same in both")
    if len(pair.left) > 1 or len(pair.right) > 1:
        for name, nodes in ((older, pair.left), (newer, pair.right)):
            yield Row(name, " + ".join(write_line(one.op_type) for one in nodes))
    joint = found.matching.joined.get(pair)
    if joint is not None:
        yield Row("", f"{write_joined(joint)}; the parts are {write_order(joint)}")
    if pair in found.moved:
        yield Row("", f"moved: in {older} it is {write_line(pair.left[0].path)}")
    for change in found.list_changes(origin):
        yield Row("", write_change(change))
    for value in origin.inputs:
        if value is not None and isinstance(value.initializer, Tensor):
            yield from _list_tensor_rows(found, value.initializer, write_line(value.name))
    for value in found.merging.former.get(node, ()):
        yield Row("took before", write_line(value.name), path=value.path)
    before = pair.left[0].path
    if before != node.path:
        yield Row(_name_place(older), write_line(before))
    is_certain = pair.confidence >= _CERTAIN
    note = "" if is_certain else "alone: no name or weight tells it from others like it"
    yield Row("paired by", pair.key, note)


def name_older_place(model: Model) -> str:
    """Return what the row says ahead of the path that a node has in the older of two models.

    It is "" where the model was not made of two.
    """
    found = model.comparison
    return "" if found is None else _name_place(name_sides(found)[0])


def _name_place(older: str) -> str:
    return f"in {older}"


def list_awaited(node: Node) -> tuple[Value, ...]:
    """Return the values that a node only waits for, without those that it took before."""
    former = node.graph.model.list_former(node)
    return tuple(value for value in node.control_inputs if value not in former)


def _list_tensor_rows(found: Diff, tensor: Tensor, name: str) -> Iterator[Row]:
    for one in found.list_tensor_differences(tensor):
        told = [write_change(change) for change in one.changes if change.aspect != "names"]
        if one.numbers is not None:
            told.append(write_numbers(one.numbers))
        if one.are_unread:
            told.append("its numbers could not be compared")
        begin = "" if one.part is None else f"{write_compared_weights(one)}: "
        for line in told:
            yield Row(name, begin + line)


def describe_value_difference(value: Value) -> Section | None:
    """Return how far a weight is from what it was; None where nothing differs."""
    found = value.graph.model.comparison
    tensor = value.initializer
    if found is None or not isinstance(tensor, Tensor):
        return None
    return make_section(_TITLE, _list_tensor_rows(found, tensor, ""))


def describe_group_difference(group: Group) -> Section | None:
    """Return how many nodes of a group differ; None in a model that was not made of two."""
    found = group.graph.model.comparison
    if found is None:
        return None
    origins, states = found.merging.origins, found.states
    nodes = (origins.get(node) for node in nodes_inside(group))
    counts = Counter(states.get(node, "kept") for node in nodes if isinstance(node, Node))
    kinds = ("kept", "changed", "added", "removed")
    return make_section(
        _TITLE, [Row(kind, write_count(counts[kind], "node")) for kind in kinds if counts[kind]]
    )


def leave_out_removed(nodes: list[Node]) -> list[Node]:
    """Return nodes without those that only an older model has; all where there are no others."""
    found = nodes[0].graph.model.comparison if nodes else None
    if found is None:
        return nodes
    origins, states = found.merging.origins, found.states
    kept = []
    for node in nodes:
        origin = origins.get(node)
        if not isinstance(origin, Node) or states.get(origin) != "removed":
            kept.append(node)
    return kept or nodes


def name_compared(model: Model) -> str:
    """Return what a model of two is called; "" for any other."""
    found = model.comparison
    if found is None:
        return ""
    older, newer = name_sides(found)
    return f"{newer} against {older}"
