"""What differs between two models as paint: rings and signs on boxes, counts on what holds them.

Colour is never alone: what is added has a plus, what is removed a minus and dashes, what is
changed a delta.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path

from netloupe.explorer.compare import Diff, NodeState
from netloupe.explorer.compare.stated_types import find_type_aspects
from netloupe.explorer.grouping import GroupTree, build_group_tree
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.model import Function, Graph, Model, Node, Value
from netloupe.explorer.model.paths import CALL
from netloupe.explorer.progress import step
from netloupe.explorer.view.showing import MOST_TAKERS, list_constant_takers

from .paint import Paint, Paints

PAINTS_OF_STATES: dict[NodeState, Paint] = {
    "added": Paint(ring="added", mark="+"),
    "removed": Paint("removed", ring="removed", mark="−", dashed=True),
    "changed": Paint(ring="changed", mark="Δ"),
}
_MOVED = Paint(ring="changed", mark="⇄")
_EDGES: dict[NodeState, Paint] = {
    "added": Paint(ring="added"),
    "removed": Paint(ring="removed", dashed=True),
}
#: a larger number of nodes that differ is not written on a box
_MOST_COUNTED = 999
#: the body of a function occurs at each of its calls, of which so many are painted
_MOST_OCCURRENCES = 1_000


def paint_differences(found: Diff, grouping: str = "auto") -> Paints:
    """Return how the merged model of a difference is painted, by path.

    Parameters
    ----------
    found
        What differs between two models.
    grouping
        How the picture groups nodes: closed groups that hold differences have their number.
    """
    return _Painter(found, grouping).run()


def title_difference(found: Diff) -> str:
    """Return the title of a picture of a difference: both names, and how much differs."""
    old, new = (Path(model.source).name or model.source for model in (found.left, found.right))
    fit = "compatible" if found.is_compatible else "not compatible"
    ends = "same inputs and outputs" if found.has_same_interface else f"inputs and outputs {fit}"
    return f"{new} against {old}: {write_node_counts(found)} · {ends}"


def write_node_counts(found: Diff) -> str:
    """Return how many nodes are kept, changed, moved, added and removed: what a picture marks."""
    counts = found.counts
    told = [f"kept {counts.kept:,}", f"changed {counts.changed:,}"]
    if counts.reweighted:
        is_all = counts.reweighted == counts.changed
        told[-1] += " in weights alone" if is_all else f", {counts.reweighted:,} in weights alone"
    if counts.moved:
        told.append(f"moved {counts.moved:,}")
    return " · ".join([*told, f"added {counts.added:,}", f"removed {counts.removed:,}"])


def write_difference_counts(found: Diff) -> str:
    """Return how many nodes and weights are kept, and how many are not."""
    counts = found.counts
    weights = (
        ("equal", found.equal_tensors),
        ("changed", counts.weights_changed),
        ("added", counts.weights_added),
        ("removed", counts.weights_removed),
    )
    told = " · ".join(f"{what} {count:,}" for what, count in weights)
    return f"Nodes: {write_node_counts(found)}; weights: {told}"


@dataclass
class _Marked:
    """What of one graph differs: by node its state, and how many differences a node holds."""

    states: dict[Node, NodeState] = field(default_factory=dict)
    held: dict[Node, int] = field(default_factory=dict)
    #: in the order in which they were marked, as the states: pages have the same bytes each time
    moved: dict[Node, None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.moved.keys() | self.states.keys()) + sum(self.held.values())


def _count_folded(tree: GroupTree, marked: _Marked) -> dict[Node, int]:
    """Return how many nodes that differ have no box, but are a row of a node, by this one.

    Such give constants, as what dequantizes a weight. What several nodes take counts once.
    """
    found: dict[Node, int] = {}
    for node in dict.fromkeys((*marked.states, *marked.moved)):
        if tree.position_of(node) < 0:
            for taker in islice(list_constant_takers(node), MOST_TAKERS):
                if taker.graph is node.graph and tree.position_of(taker) >= 0:
                    found[taker] = found.get(taker, 0) + 1
                    break
    return found


class NodePainter:
    """Paints nodes of one model, and what holds them.

    Parameters
    ----------
    grouping
        How its picture groups nodes.
    """

    def __init__(self, model: Model, grouping: str) -> None:
        self.model, self.grouping = model, grouping
        self.paints: dict[str, Paint] = {}
        self._marked: dict[Graph, _Marked] = {}

    def mark(self, node: Node, state: NodeState) -> None:
        """Note what became of a node."""
        self._marked.setdefault(node.graph, _Marked()).states[node] = state

    def mark_moved(self, node: Node) -> None:
        """Note that a node stands elsewhere in the other model."""
        self._marked.setdefault(node.graph, _Marked()).moved[node] = None

    def paint_marked(self) -> None:
        """Paint the nodes that are marked, the groups around them and what holds their graphs."""
        self._count_held()
        for graph, marked in self._marked.items():
            tree = self._find_tree(graph)
            folded = _count_folded(tree, marked)
            paints = {
                **self._paint_nodes(marked, folded),
                **self._paint_groups(tree, marked, folded),
            }
            for prefix in self._list_occurrences(graph):
                for path, paint in paints.items():
                    self.paints[prefix + path[len(graph.path) :]] = paint

    def _count_held(self) -> None:
        """Note on nodes with graphs, and on calls, how many differences are in these."""
        counts = {graph: marked.count for graph, marked in self._marked.items()}
        pending = [*counts.items()]
        for _ in range(_MOST_OCCURRENCES):
            if not pending:
                return
            graph, count = pending.pop()
            holders = graph.calls if isinstance(graph, Function) else (graph.parent_node,)
            for holder in holders:
                if holder is None:
                    continue
                marked = self._marked.setdefault(holder.graph, _Marked())
                marked.held[holder] = marked.held.get(holder, 0) + count
                pending.append((holder.graph, count))

    def _paint_nodes(self, marked: _Marked, folded: Mapping[Node, int]) -> dict[str, Paint]:
        held = Counter(marked.held) + Counter(folded)
        paints = {node.path: paint_count(count) for node, count in held.items()}
        paints |= {node.path: _MOVED for node in marked.moved}
        paints |= {node.path: PAINTS_OF_STATES[state] for node, state in marked.states.items()}
        return paints

    def _paint_groups(
        self, tree: GroupTree, marked: _Marked, folded: Mapping[Node, int]
    ) -> dict[str, Paint]:
        """Return paints of groups: new or gone as a whole, or with the count of what differs."""
        weights = [0] * len(tree.order)
        states: list[NodeState | None] = [None] * len(tree.order)
        for node in dict.fromkeys((*marked.states, *marked.moved, *marked.held)):
            position = tree.position_of(node)
            if position >= 0:
                is_marked = node in marked.states or node in marked.moved
                weights[position] += is_marked + marked.held.get(node, 0)
                states[position] = marked.states.get(node)
        for node, count in folded.items():
            weights[tree.position_of(node)] += count
        sums = [0, *accumulate(weights)]
        whole = {
            state: [0, *accumulate(one == state for one in states)]
            for state in ("added", "removed")
        }
        paints: dict[str, Paint] = {}
        for path, group in tree.groups.items():
            count = sums[group.high] - sums[group.low]
            if not count or group is tree.root:
                continue
            paints[path] = paint_count(count)
            for state in ("added", "removed"):
                if whole[state][group.high] - whole[state][group.low] == group.high - group.low:
                    paints[path] = PAINTS_OF_STATES[state]
        return paints

    def _find_tree(self, graph: Graph) -> GroupTree:
        if self.grouping == "auto":
            return find_tree(self.model, graph)
        return build_group_tree(graph, self.grouping)

    def _list_occurrences(self, graph: Graph) -> list[str]:
        """Return what the paths of a graph's elements begin with, in each place that shows it."""
        found = [graph.path]
        pending: list[tuple[Graph, str]] = [(graph, "")]
        while pending and len(found) < _MOST_OCCURRENCES:
            inner, rest = pending.pop()
            if inner.parent_node is not None:
                outer = inner.parent_node.graph
                pending.append((outer, inner.path[len(outer.path) :] + rest))
            elif isinstance(inner, Function):
                for call in inner.calls[:_MOST_OCCURRENCES]:
                    begin = call.path[len(call.graph.path) :] + CALL + rest
                    pending.append((call.graph, begin))
                    found.append(call.graph.path + begin)
                    if begin.count(CALL) > 16:  # functions that call one another
                        return found
        return found


class _Painter(NodePainter):
    """Paints the merged model of a difference."""

    def __init__(self, found: Diff, grouping: str) -> None:
        super().__init__(found.merged, grouping)
        self.found = found

    def run(self) -> Paints:
        step("painting")
        merging = self.found.merging
        for node, state in self.found.states.items():
            made = merging.newer.get(node) or merging.older.get(node)
            if isinstance(made, Node):
                self.mark(made, state)
        for pair in self.found.moved:
            made = merging.newer.get(pair.right[0])
            if isinstance(made, Node):
                self.mark_moved(made)
        self.paint_marked()
        self._paint_values()
        self._paint_interface()
        return self.paints

    # values

    def _paint_values(self) -> None:
        """Paint the edges of what is added and removed."""
        for graph, marked in self._marked.items():
            for node, state in marked.states.items():
                paint = _EDGES.get(state)
                for value in node.outputs if paint is not None else ():
                    if value is None or paint is None or value.graph is not graph:
                        continue
                    if not value.is_output:  # whose box may be new or not, whoever computes it
                        self.paints[value.path] = paint

    def _paint_interface(self) -> None:
        """Paint the inputs and outputs that are new, gone or of another type."""
        merging, matching = self.found.merging, self.found.matching
        paired = {other: one for one, other in matching.values.items()}
        for value in self.found.right.graph.inputs:
            made, before = merging.newer.get(value), paired.get(value)
            if not isinstance(made, Value) or value.initializer is not None:
                continue
            if before is None:
                self.paints[made.path] = PAINTS_OF_STATES["added"]
            elif find_type_aspects(before.type, value.type):
                self.paints[made.path] = PAINTS_OF_STATES["changed"]
        for value in self.found.left.graph.inputs:
            made = merging.older.get(value)
            if isinstance(made, Value) and value not in matching.values:
                self.paints[made.path] = PAINTS_OF_STATES["removed"]
        self._paint_outputs(paired)

    def _paint_outputs(self, paired: dict[Value, Value]) -> None:
        """Paint the outputs, which who uses a model knows by their names."""
        merging = self.found.merging
        old, new = (
            {value.name: value for value in model.graph.outputs}
            for model in (self.found.left, self.found.right)
        )
        for name, value in new.items():
            made, before = merging.newer.get(value), old.get(name)
            if isinstance(made, Value):
                was_called = paired[value].name if value in paired else ""
                if before is None and was_called not in old:
                    self.paints[made.path] = PAINTS_OF_STATES["added"]
                elif before is None or find_type_aspects(before.type, value.type):
                    self.paints[made.path] = PAINTS_OF_STATES["changed"]
        for name, value in old.items():
            made = merging.older.get(value)
            if isinstance(made, Value) and name not in new:
                self.paints[made.path] = PAINTS_OF_STATES["removed"]


def paint_count(count: int) -> Paint:
    """Return the paint of something closed that holds so many nodes that differ."""
    text = f"{count}" if count <= _MOST_COUNTED else "1k+"
    return Paint(mark=text, mark_tone="changed")
