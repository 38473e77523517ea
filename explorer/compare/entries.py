"""What differs between two models as a list in which each thing is told once.

Every node and every weight that differs is in exactly one entry, alike places in the same; so what
is counted of entries, in a picture, a list, a sentence or a report, is the same number. Blocks come
before operators, these before single nodes, these before weights; what is equal by calculation,
other versions, and what is only written otherwise come last.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.progress import step

from .alike import differs_in_type, fold, is_version, key_node, key_weight, list_nodes_alone, mask
from .changes import IGNORABLE, Change
from .entry import DifferenceEntry, EntryLevel
from .exchanged import find_exchanged_blocks, find_exchanged_weights
from .operator_names import name_both_operators, name_quantized
from .pair import Pair
from .whole_blocks import find_whole_blocks

if TYPE_CHECKING:
    from .difference import Diff


def list_difference_entries(found: Diff) -> list[DifferenceEntry]:
    """Return what differs, the most important first; see :attr:`Diff.entries`."""
    step("telling what differs")
    return [*_Account(found).list()]


class _Account:
    def __init__(self, found: Diff) -> None:
        self._found = found
        #: nodes and weights that an entry has told
        self._nodes: set[Node] = set()
        self._tensors: set[Tensor] = set()
        self._alone = {*found.left_alone, *found.right_alone}
        self._real = [one for one in found.nodes if any(not c.aspect for c in one.changes)]

    def list(self) -> Iterator[DifferenceEntry]:
        yield from self._list_blocks()
        yield from self._list_exchanges()
        yield from self._list_interface()
        yield from self._list_of_model()
        equal = [pair for pair in self._found.fused if self._is_equal(pair)]
        yield from self._list_operators()
        yield from self._list_replaced()
        yield from self._list_changed()
        yield from self._list_alone()
        yield from self._list_weights()
        yield from self._list_lone_weights()
        yield from self._list_changed(are_types=True)
        yield from self._list_moved()
        yield from self._list_fused(equal, "equal")
        yield from self._list_unread()
        yield from self._list_versions()
        yield from self._list_aspects()

    # blocks

    def _list_blocks(self) -> Iterator[DifferenceEntry]:
        found = self._found
        sides = found.matching.list_left_alone(), found.matching.list_right_alone()
        replaced = {node for one in found.replaced for side in one for node in side}
        blocks = [
            [*find_whole_blocks(model, [node for node in side if node not in replaced])]
            for model, side in zip((found.left, found.right), sides, strict=True)
        ]
        alone = ({*found.left_alone}, {*found.right_alone})
        named = {group.path: group for group in blocks[1]}
        rewritten = [(group, named[group.path]) for group in blocks[0] if group.path in named]
        for pairs in fold(rewritten, lambda pair: mask(pair[0].path)):
            lefts, rights = (
                tuple(node for pair in pairs for node in list_nodes_alone(pair[side], alone[side]))
                for side in (0, 1)
            )
            groups = tuple(pair[1] for pair in pairs)
            yield self._tell_alone("block", "changed", len(pairs), lefts, rights, groups=groups)
        known = {group for pair in rewritten for group in pair}
        levels: tuple[EntryLevel, EntryLevel] = ("removed", "added")
        for side, level in enumerate(levels):
            left = [group for group in blocks[side] if group not in known]
            for whole in fold(left, lambda group: (mask(group.path), group.node_count)):
                nodes = tuple(n for group in whole for n in list_nodes_alone(group, alone[side]))
                gone, new = (nodes, ()) if side == 0 else ((), nodes)
                yield self._tell_alone("block", level, len(whole), gone, new, (*whole,))

    def _tell_alone(
        self,
        topic: Any,
        level: EntryLevel,
        count: int,
        lefts: tuple[Node, ...],
        rights: tuple[Node, ...],
        groups: tuple[Group, ...] = (),
        operators: tuple[str, str] = ("", ""),
        **given: Any,
    ) -> DifferenceEntry:
        """Return an entry of nodes without a partner, and of the weights that they alone take."""
        self._nodes.update((*lefts, *rights))
        found = self._found
        weights = (
            self._take_weights(lefts, found.left_tensors),
            self._take_weights(rights, found.right_tensors),
        )
        return DifferenceEntry(
            topic,
            level,
            count,
            groups,
            left_nodes=lefts,
            right_nodes=rights,
            left_tensors=weights[0],
            right_tensors=weights[1],
            operators=operators,
            **given,
        )

    def _take_weights(self, nodes: Sequence[Node], tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        if not nodes or not tensors:
            return ()
        wanted = {*tensors}
        taken: dict[Tensor, None] = {}
        for node in nodes:
            for value in node.inputs:
                tensor = None if value is None else value.initializer
                if not isinstance(tensor, Tensor) or tensor not in wanted or value is None:
                    continue
                if tensor not in self._tensors and self._alone.issuperset(value.users):
                    taken[tensor] = None
        self._tensors.update(taken)
        return (*taken,)

    def _list_exchanges(self) -> Iterator[DifferenceEntry]:
        found = self._found
        for one in find_exchanged_blocks(found, self._real):
            pairs = tuple(each.pair for each in one.nodes)
            self._nodes.update(pair.right[0] for pair in pairs)
            changes = tuple(c for c in one.nodes[0].changes if not c.aspect)
            yield DifferenceEntry(
                "exchange",
                "changed",
                len(one.groups),
                one.groups,
                pairs,
                changes=changes,
                is_whole=True,
            )
        for many in find_exchanged_weights(found):
            self._tensors.update(each.right for each in many.tensors)
            count = len(many.groups) or len(many.tensors)
            yield DifferenceEntry(
                "exchange",
                "changed",
                count,
                many.groups,
                tensors=many.tensors,
                is_whole=bool(many.groups) and many.with_names,
            )

    def _list_interface(self) -> Iterator[DifferenceEntry]:
        for change in self._found.interface:
            yield DifferenceEntry("interface", "changed", 1, changes=(change,))

    # nodes

    def _is_equal(self, pair: Pair) -> bool:
        fold = self._found.folds.get(pair)
        return fold is not None and fold.is_equal

    def _list_operators(self) -> Iterator[DifferenceEntry]:
        """Yield operators that became others, alone or with others around them."""
        became: list[tuple[tuple[str, str], Pair, tuple[Change, ...]]] = []
        for one in self._real:
            change = next((c for c in one.changes if c.what == "operator" and not c.aspect), None)
            if change is not None and one.pair.right[0] not in self._nodes:
                names = str(change.left), str(change.right)
                became.append((names, one.pair, tuple(c for c in one.changes if not c.aspect)))
        rest = []
        changes_of = {one.pair: one.changes for one in self._real}
        for pair in self._found.fused:
            if self._is_equal(pair):
                continue
            quantized = name_quantized(pair)
            if quantized is None or pair in self._found.matching.joined:
                rest.append(pair)
            else:
                became.append((quantized, pair, changes_of.get(pair, ())))
        fused = {*self._found.fused}
        folded = fold(became, lambda one: (one[0], repr(one[2]) if one[1] in fused else ""))
        for alike in sorted(folded, key=len, reverse=True):
            pairs = tuple(pair for _, pair, _ in alike)
            self._nodes.update(node for pair in pairs for node in pair.right)
            changes = next((changes for *_, changes in alike if changes), ())
            yield DifferenceEntry(
                "operator",
                "changed",
                len(alike),
                pairs=pairs,
                changes=changes,
                operators=alike[0][0],
            )
        yield from self._list_fused(rest, "changed")

    def _list_fused(self, pairs: Iterable[Pair], level: EntryLevel) -> Iterator[DifferenceEntry]:
        joined = self._found.matching.joined
        changes = {one.pair: one.changes for one in self._real}

        def key(pair: Pair) -> Hashable:
            joint = joined.get(pair)
            parts = None if joint is None else (joint.is_left, len(joint.parts))
            names = name_both_operators(pair.left, pair.right)
            return parts, names, pair in self._found.folds, repr(changes.get(pair))

        for alike in fold(pairs, key):
            self._nodes.update(node for pair in alike for node in pair.right)
            first = alike[0]
            yield DifferenceEntry(
                "fused" if first not in joined else "joined",
                level,
                len(alike),
                pairs=(*alike,),
                changes=changes.get(first, ()),
                operators=name_both_operators(first.left, first.right),
            )

    def _list_replaced(self) -> Iterator[DifferenceEntry]:
        left = [
            one for one in self._found.replaced if self._nodes.isdisjoint((*one.left, *one.right))
        ]
        for alike in fold(left, lambda one: name_both_operators(one.left, one.right)):
            lefts = tuple(node for one in alike for node in one.left)
            rights = tuple(node for one in alike for node in one.right)
            names = name_both_operators(alike[0].left, alike[0].right)
            yield self._tell_alone(
                "replaced",
                "changed",
                len(alike),
                lefts,
                rights,
                operators=names,
                replaced=(*alike,),
            )

    def _list_changed(self, *, are_types: bool = False) -> Iterator[DifferenceEntry]:
        """Yield nodes that differ in other things; apart those of which that is a type alone."""
        left = [
            one
            for one in self._real
            if one.pair.right[0] not in self._nodes and differs_in_type(one) == are_types
        ]
        for alike in fold(left, key_node):
            pairs = tuple(one.pair for one in alike)
            self._nodes.update(pair.right[0] for pair in pairs)
            changes = tuple(c for c in alike[0].changes if not c.aspect)
            name = pairs[0].right[0].op_type
            yield DifferenceEntry(
                "type" if are_types else "node",
                "changed",
                len(alike),
                pairs=pairs,
                changes=changes,
                operators=(name, name),
            )

    def _list_alone(self) -> Iterator[DifferenceEntry]:
        found = self._found
        for level, nodes in (("removed", found.left_alone), ("added", found.right_alone)):
            left = [node for node in nodes if node not in self._nodes]
            for alike in fold(left, lambda node: (node.domain, node.op_type)):
                name, is_left = alike[0].op_type, level == "removed"
                yield self._tell_alone(
                    "alone",
                    "removed" if is_left else "added",
                    len(alike),
                    (*alike,) if is_left else (),
                    () if is_left else (*alike,),
                    operators=(name, "") if is_left else ("", name),
                )

    def _list_moved(self) -> Iterator[DifferenceEntry]:
        # of one that also does something else that is told
        left = [p for p in self._found.moved if p.right[0] not in self._found.states]
        for alike in fold(left, lambda pair: pair.right[0].op_type):
            name = alike[0].right[0].op_type
            yield DifferenceEntry(
                "moved", "moved", len(alike), pairs=(*alike,), operators=(name, name)
            )

    # models

    def _list_of_model(self) -> Iterator[DifferenceEntry]:
        left = [c for c in self._found.about if not c.aspect and not is_version(c)]
        for alike in fold(left, lambda change: mask(change.what)):
            yield DifferenceEntry("model", "changed", len(alike), changes=(*alike,))

    def _list_versions(self) -> Iterator[DifferenceEntry]:
        versions = tuple(c for c in self._found.about if not c.aspect and is_version(c))
        if versions:
            yield DifferenceEntry("version", "version", len(versions), changes=versions)

    def _list_aspects(self) -> Iterator[DifferenceEntry]:
        found = self._found
        for aspect in IGNORABLE:
            changes = [change for change in found.about if change.aspect == aspect]
            nodes = [one for one in found.nodes if any(c.aspect == aspect for c in one.changes)]
            tensors = [one for one in found.tensors if any(c.aspect == aspect for c in one.changes)]
            count = len(changes) + len(nodes) + len(tensors)
            if count:
                yield DifferenceEntry(
                    "aspect",
                    "written",
                    count,
                    pairs=tuple(one.pair for one in nodes),
                    tensors=(*tensors,),
                    changes=(*changes,),
                    aspect=aspect,
                )

    # weights

    def _list_weights(self) -> Iterator[DifferenceEntry]:
        left = [
            one
            for one in self._found.tensors
            if one.right not in self._tensors
            and (one.numbers is not None or any(not change.aspect for change in one.changes))
        ]
        # the worst first, so that it is the one that is told
        left.sort(key=lambda one: -(one.numbers.relative if one.numbers else float("inf")))
        for alike in fold(left, key_weight):
            changes = tuple(change for change in alike[0].changes if not change.aspect)
            yield DifferenceEntry(
                "weight", "changed", len(alike), tensors=(*alike,), changes=changes
            )

    def _list_lone_weights(self) -> Iterator[DifferenceEntry]:
        found = self._found
        for level, tensors in (("removed", found.left_tensors), ("added", found.right_tensors)):
            left = [tensor for tensor in tensors if tensor not in self._tensors]
            for alike in fold(left, lambda tensor: mask(tensor.path)):
                if level == "removed":
                    yield DifferenceEntry(
                        "lone weight", "removed", len(alike), left_tensors=(*alike,)
                    )
                else:
                    yield DifferenceEntry(
                        "lone weight", "added", len(alike), right_tensors=(*alike,)
                    )

    def _list_unread(self) -> Iterator[DifferenceEntry]:
        unread = [one for one in self._found.unread if all(c.aspect for c in one.changes)]
        for alike in fold(unread, lambda one: mask(one.left.path)):
            yield DifferenceEntry("unread", "unread", len(alike), tensors=(*alike,))
        for what in self._found.unjudged:
            yield DifferenceEntry("unread", "unread", 1, changes=(Change(what, None, None),))
