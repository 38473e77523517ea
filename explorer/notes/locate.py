"""Where the elements that notes are about are now, in a model that may have changed since.

As the matcher of :mod:`netloupe.explorer.compare` does, clues are tried from strong to weak, and
only what is unique in both versions tells for certain. What is left has candidates at best: a note
is never attached to something of which nobody knows whether it is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.grouping import Group, GroupTree, ModelGroup, find_tree, group_model
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.paths import CALL, MODEL, find_element, find_holder

from .clues import CLUES, ClueIndex
from .event import Anchor
from .note import Anchored, State

#: so many candidates are named
_MOST_CANDIDATES = 5
#: of the nodes that tell a group so many must be found, as a share
_ENOUGH = 0.5
#: a group that is so much larger or smaller is another one
_FACTOR = 1.5
_DEEPEST = 6
#: a path of a note is no longer, and leads into no more calls in calls
_LONGEST_PATH, _MOST_CALLS = 4_000, 12

#: clues that are made of weights
_BY_WEIGHTS = frozenset({"weights", "near", "before", "behind"})
_SURROUNDINGS = frozenset({"near", "around", "close"})
#: what tells for certain where a node is, in words
_REASONS = {
    "weights": "its weights are there",
    "name": "its name and more are the same",
    "origin": "the exporter says so, and more is the same",
    "near": "the weights around it are there",
    "around": "nothing else has these surroundings",
    "close": "nothing else has these neighbours",
}


class Locator:
    """Finds elements of a model by their anchors.

    Parameters
    ----------
    index
        The clues of the model's nodes.
    """

    def __init__(self, index: ClueIndex) -> None:
        self._index = index
        self._model = index.model
        #: whether the model has other weights than when the element was noted that is looked for
        self._is_retrained = False

    def locate(self, anchor: Anchor) -> Anchored:
        """Return where an element is now, whatever the anchor holds."""
        path = str(anchor["path"])
        if _is_excessive(path):
            return Anchored(path[:_LONGEST_PATH], "orphaned", reason="no element has such a path")
        try:
            if path == MODEL:
                return Anchored(path, "exact", path, reason="it is the model")
            self._is_retrained = not any(
                self._index.find(op_type, domain, "weights", digest)
                for op_type, domain, digest in anchor.get("witnesses", ())
            )
            is_same = anchor.get("structure") == self._index.structure
            if is_same and self._leads_anywhere(path) and not self._changed_places(anchor):
                return Anchored(path, "exact", path, reason="names and wiring are as they were")
            found = self._find(anchor, _DEEPEST)
        except (KeyError, TypeError, ValueError, AttributeError):  # of an anchor made by others
            found = self._guess(path, "what the note says of it cannot be used")
        return found

    def _changed_places(self, anchor: Mapping[str, Any]) -> bool:
        """Return whether the weights of a noted node are at other nodes now, and not at its path.

        So it is where layers of a model were exchanged whose names stayed.
        """
        for _ in range(_DEEPEST):
            if not isinstance(anchor.get("of"), Mapping):
                break
            anchor = anchor["of"]
        told = anchor["clues"].get("weights") if anchor.get("kind") == "node" else None
        if not told:
            return False
        there = find_element(self._model, str(anchor["path"]))
        found = self._index.find(str(anchor["op"]), str(anchor["domain"]), "weights", told)
        return bool(found) and there not in found

    def _find(self, anchor: Mapping[str, Any], depth: int) -> Anchored:
        path = str(anchor["path"])
        if _is_excessive(path):
            raise ValueError("no element has such a path")
        kind = anchor.get("kind") if depth else None
        if kind == "node":
            return self._find_node(anchor)
        if kind == "inside":
            return self._find_inside(anchor, depth)
        if kind == "group":
            return self._find_group(anchor)
        if kind == "value" and "place" in anchor:
            return self._find_value(anchor, depth)
        if kind in ("tensor", "graph") and "of" in anchor:
            holder = self._find(anchor["of"], depth - 1)
            return self._follow(path, holder, lambda found: found + str(anchor["suffix"]))
        if kind == "graph" and path in self._model.graphs_by_path:
            return Anchored(path, "exact", path, reason="its name is the same")
        return self._guess(path, "nothing but its path is known of it")

    def _leads_anywhere(self, path: str) -> bool:
        if path.endswith("/"):
            return self._find_group_at(path) is not None
        return (
            find_element(self._model, path) is not None
            or find_holder(self._model, path) is not None
        )

    def _guess(self, path: str, reason: str) -> Anchored:
        if self._leads_anywhere(path):
            return Anchored(path, "uncertain", "", (path,), reason)
        return Anchored(path, "orphaned", reason=reason)

    # nodes

    def _find_node(self, anchor: Mapping[str, Any]) -> Anchored:
        path, kind = str(anchor["path"]), (str(anchor["op"]), str(anchor["domain"]))
        clues: Mapping[str, str] = anchor["clues"]
        alike: Mapping[str, int] = anchor.get("alike", {})
        doubtful: Counter[Node] = Counter()
        for strength, clue in enumerate(CLUES):
            told = clues.get(clue)
            if not told:
                continue
            found = self._index.find(*kind, clue, told)
            if len(found) == 1 and alike.get(clue, 1) == 1:
                if self._confirms(found[0], clue, clues, alike):
                    now = self._write_path(path, found[0])
                    state: State = "exact" if now == path else "moved"
                    return Anchored(path, state, now, reason=_REASONS[clue])
                doubtful[found[0]] += 2 * (len(CLUES) - strength)
            for node in found[: 2 * _MOST_CANDIDATES]:
                doubtful[node] += len(CLUES) - strength
        there = find_element(self._model, path)
        if isinstance(there, Node) and (there.op_type, there.domain) == kind:
            doubtful[there] += 1
        if not doubtful:
            return Anchored(path, "orphaned", reason="nothing is like it")
        best = [self._write_path(path, node) for node, _ in doubtful.most_common()]
        reason = "several are like it" if len(best) > 1 else "too little of it is as it was"
        return Anchored(path, "uncertain", "", tuple(best[:_MOST_CANDIDATES]), reason)

    def _confirms(
        self, node: Node, clue: str, clues: Mapping[str, str], alike: Mapping[str, int]
    ) -> bool:
        """Return whether a clue that is unique tells that a node is the one.

        Weights do, and outweigh all else: with others a node may be another one, unless all
        weights of the model are others. A name may have been given to another node, as where a
        block of a numbered stack was left out: more has to agree. Of a node without weights, or
        with such as others take as well, these are the weights before and behind it; without any
        of these something that nothing else has. And weights that were at or around the noted one
        must not be elsewhere now. What stood between two weights must have the same neighbours
        still.
        Surroundings alone tell something only where weights do not say otherwise, which they
        cannot where all of them are others.
        """
        if clue == "weights":
            return True
        told = {other: digest for other, digest in clues.items() if digest and other != clue}
        agreeing = {other for other in told if self._index.tell(node, other) == told[other]}
        if not self._is_retrained:
            needed = {"weights"} & told.keys()
            is_own = bool(needed) and alike.get("weights", 1) == 1
            if not is_own and clue in ("name", "origin"):
                needed |= told.keys() & {"before", "behind"}
            elif not is_own:  # what it is computed from tells more than what comes of it
                needed |= told.keys() & {"before"} or told.keys() & {"behind"}
            if needed - agreeing:
                return False
            if not needed - {"weights"} and not is_own and clue in ("name", "origin"):
                return any(alike.get(other, 1) == 1 for other in agreeing & _SURROUNDINGS)
        if clue == "near":
            return "close" not in told or "close" in agreeing
        numbers = told.keys() & _BY_WEIGHTS
        is_denied = bool(numbers) and not numbers & agreeing
        if is_denied and (not self._is_retrained or self._is_elsewhere(node, told)):
            return False
        if clue in ("name", "origin"):
            return bool(agreeing) or not told
        return clue == "around" or not told.keys() & {"weights", "near"} - agreeing

    def _is_elsewhere(self, node: Node, told: Mapping[str, str]) -> bool:
        kind = node.op_type, node.domain
        return any(
            self._index.find(*kind, clue, told[clue])
            for clue in ("weights", "near")
            if clue in told
        )

    def _write_path(self, noted: str, node: Node) -> str:
        """Return the path of a node; the one it was noted under where that leads to it."""
        return noted if find_element(self._model, noted) is node else node.path

    # what is told by nodes

    def _find_inside(self, anchor: Mapping[str, Any], depth: int) -> Anchored:
        path = str(anchor["path"])
        call = self._find(anchor["call"], depth - 1)
        inner = self._find(anchor["inner"], depth - 1)
        caller = find_element(self._model, call.path) if call.path else None
        function = caller.function if isinstance(caller, Node) else None
        if function is not None and inner.path.startswith(f"{function.path}/"):
            now = f"{call.path}{CALL}{inner.path[len(function.path) :]}"
            state: State = "exact" if now == path else "moved"
            return Anchored(path, state, now, reason=f"call: {call.reason}; inside: {inner.reason}")
        return self._guess(path, "the call or the function has changed")

    def _find_value(self, anchor: Mapping[str, Any], depth: int) -> Anchored:
        path, role, place = str(anchor["path"]), anchor["role"], int(anchor["place"])
        there = find_element(self._model, path)
        if role == "graph input":
            if isinstance(there, Value) and there in there.graph.inputs:
                return Anchored(path, "exact", path, reason="an input of that name is there")
            inputs = self._model.graph.inputs
            near = (inputs[place].path,) if 0 <= place < len(inputs) else ()
            state: State = "uncertain" if near else "orphaned"
            return Anchored(path, state, "", near, "no input has that name")

        def read_value(found: str) -> str:
            node = find_element(self._model, found)
            if not isinstance(node, Node):
                return ""
            values = node.outputs if role == "output" else node.inputs
            value = values[place] if 0 <= place < len(values) else None
            return "" if value is None else value.path

        return self._follow(path, self._find(anchor["of"], depth - 1), read_value)

    def _follow(self, path: str, holder: Anchored, read: Any) -> Anchored:
        """Return where something is that is told by another element."""
        if holder.path:
            now = read(holder.path)
            if now and self._leads_anywhere(now):
                state: State = "exact" if now == path else "moved"
                return Anchored(path, state, now, reason=f"of its node: {holder.reason}")
            return self._guess(path, "its node has changed")
        near = [read(each) for each in holder.candidates]
        if self._leads_anywhere(path):
            near.insert(0, path)
        near = [each for each in dict.fromkeys(near) if each]
        if near:
            reason = f"of its node: {holder.reason}"
            return Anchored(path, "uncertain", "", tuple(near[:_MOST_CANDIDATES]), reason)
        return Anchored(path, "orphaned", reason="its node is gone")

    # groups

    def _find_group_at(self, path: str) -> ModelGroup | None:
        try:
            return group_model(self._model, path)
        except NotFoundError:
            return None

    def _find_group(self, anchor: Mapping[str, Any]) -> Anchored:
        path, count = str(anchor["path"]), int(anchor["nodes"])
        members: list[Mapping[str, Any]] = list(anchor["members"])
        placed = (self._find_node(member).path for member in members)
        nodes = [
            node
            for node in (find_element(self._model, found) for found in placed if found)
            if isinstance(node, Node)
        ]
        there = self._find_group_at(path)
        group = self.find_common(nodes, there, count)
        told = f"{len(nodes)} of {len(members)} of its nodes"
        candidates = [each.path for each in (there, group) if each is not None]
        if group is not None and len(nodes) >= _ENOUGH * len(members):
            size = len(group.nodes)
            if count / _FACTOR <= size <= count * _FACTOR:
                state: State = "exact" if group.path == path else "moved"
                return Anchored(path, state, group.path, reason=f"{told} are there")
        if candidates:
            near = tuple(dict.fromkeys(candidates))
            return Anchored(path, "uncertain", "", near, f"{told} are found, and its size differs")
        return Anchored(path, "orphaned", reason=f"{told} are found")

    def find_common(
        self, nodes: list[Node], there: ModelGroup | None, size: int = 0
    ) -> ModelGroup | None:
        """Return the group that holds most of some nodes; that at the path if it does.

        Of several it is the one whose size is nearest to one that is given, and the smallest.
        """
        graphs = Counter(node.graph for node in nodes)
        if not graphs:
            return None
        graph = graphs.most_common(1)[0][0]
        nodes = [node for node in nodes if node.graph is graph]
        tree = find_tree(self._model, graph)
        if there is not None and there.graph is graph:
            known = tree.groups.get(there.path)
            if known is not None and _count_held(tree, known, nodes) > _ENOUGH * len(nodes):
                return there
        best: Group | None = None
        for node in nodes:
            group = tree.group_of(node)
            while group is not None:
                if _count_held(tree, group, nodes) > _ENOUGH * len(nodes):
                    if best is None or _differ(group, size) < _differ(best, size):
                        best = group
                    if group.node_count >= size:
                        break
                group = group.parent
        return None if best is None else ModelGroup(best)


def _differ(group: Group, size: int) -> tuple[int, int]:
    return abs(group.node_count - size), group.node_count


def _is_excessive(path: str) -> bool:
    return len(path) > _LONGEST_PATH or path.count(CALL) > _MOST_CALLS


def _count_held(tree: GroupTree, group: Group, nodes: Iterable[Node]) -> int:
    return sum(tree.holds(group, node) for node in nodes)
