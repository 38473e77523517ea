"""What is found by structure among nodes in a row: repeats, blocks in them, and so on.

A plan says it in rows of the nodes' table. Blocks that are alike are planned once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import (
    NestedBlock,
    find_graph_context,
    find_nested_blocks,
    name_block,
)

from .attention_pairs import are_two_kinds
from .branches import are_in_turns, are_levels, list_columns
from .closed_blocks import close_blocks
from .found_repeat import FoundRepeat
from .order import walk_from_outputs
from .repeats import find_repeats
from .residual_groups import find_residual_groups
from .search_budget import SearchBudget
from .signatures import Integers, NodeTable, wiring_key
from .streams import StreamReader
from .trees import are_way_down_tree

#: repeats in repeats are looked for down to this depth
_MOST_NESTED = 6
#: where repeats of the file's order say less of the nodes, another order is tried
_COVER = 0.5
#: it is taken where it says nearly as much of more nodes
_NEARLY = 0.9
#: fewer nodes without weights, twice in a row, are no stack
_MOST_OF_SCRAP = 4
#: a tree of like blocks has so many levels at most
_MOST_LEVELS = 8
#: chains that stand side by side are looked for up to this number
_MOST_CHAINS = 1000


@dataclass(slots=True)
class GroupPlan:
    """A group to be made: its children are rows of a table and further plans.

    Parameters
    ----------
    kind
        ``block`` or ``repeat``.
    name
        What the block is, or what the repeat is of.
    exemplar
        Of a repeat: which child stands for all.
    """

    kind: str
    name: str
    children: list[Children]
    exemplar: int = 0


Children = int | GroupPlan


class Planner:
    """Makes plans for the nodes of groups of one graph.

    Parameters
    ----------
    nodes
        How many nodes the graph has.
    """

    def __init__(self, nodes: int) -> None:
        self._budget = SearchBudget(nodes)
        self._kinds: dict[tuple[object, ...], int] = {}
        #: plans of what is alike, in places
        self._known: dict[tuple[bytes, bytes], list[Children]] = {}
        self._names: dict[bytes, str] = {}
        self._unnamed = 0
        self._streams = StreamReader()

    def plan(self, nodes: Sequence[Node]) -> list[Children]:
        """Return the children of a group of nodes, by place among the nodes."""
        if len(nodes) < 2:
            return list(range(len(nodes)))
        table = NodeTable(nodes, self._kinds)
        rows: Integers = np.arange(len(nodes))
        repeats = self._find_repeats(table, rows)
        if _weigh(repeats) < _COVER * len(nodes) or sum(map(_is_one_by_one, repeats)) > 1:
            walked = walk_from_outputs(table)
            others = self._find_repeats(table, walked)
            if _says_more(others, repeats):
                rows, repeats = walked, others
        return self._lay_out(table, rows, repeats, 0)

    def _find_repeats(self, table: NodeTable, rows: Integers, depth: int = 0) -> list[FoundRepeat]:
        """Return the repeats among rows, cut where width or resolution of the stream change.

        A module that puts branches together may grow within a stage, as those of GoogLeNet do (C.
        Szegedy and others, Going Deeper with Convolutions, 2015, table 1). A block that is left
        alone is searched itself.
        """
        found: list[FoundRepeat] = []
        for repeat in find_repeats(table, rows, self._budget):
            if repeat.size == 1 and not table.nodes[rows[repeat.low]].operator.weight_kind:
                found.append(repeat)  # there may be a million
                continue
            nodes = [[table.nodes[row] for row in rows[block].tolist()] for block in repeat.blocks]
            if _are_two_scraps(nodes):
                continue
            columns = [] if repeat.is_serial else list_columns(nodes)
            if columns:
                found += filter(None, map(repeat.pick, columns))
                continue
            if not repeat.is_serial and (are_levels(nodes) or are_in_turns(nodes)):
                continue
            for first, last in self._streams.find_even(nodes, with_joined=False):
                part = repeat.part(first, last)
                if last - first == 2 and are_two_kinds(nodes[first:last]):
                    continue
                if part is not None:
                    found.append(part)
                elif depth < _MOST_NESTED:
                    for block in repeat.blocks[first:last]:
                        inner = self._find_repeats(table, rows[block], depth + 1)
                        found += [one.put_into(block) for one in inner]
        return found

    def _plan_block(self, table: NodeTable, rows: Integers, depth: int) -> list[Children]:
        """Return the children of a block as rows."""
        key = wiring_key(table, rows)
        known = self._known.get(key)
        if known is None:
            repeats = self._find_repeats(table, rows) if depth < _MOST_NESTED else []
            made = self._lay_out(table, rows, repeats, depth)
            places = {int(row): place for place, row in enumerate(rows)}
            known = self._known[key] = _renumber(made, places)
        return _renumber(known, rows.tolist())

    def _lay_out(
        self,
        table: NodeTable,
        rows: Integers,
        repeats: list[FoundRepeat],
        depth: int,
    ) -> list[Children]:
        """Return repeats, known blocks and what is left of some rows, in order."""
        is_left = np.ones(len(rows), np.bool_)
        children: list[Children] = []
        for repeat in repeats:
            plan = self._plan_repeat(table, rows, repeat, depth)
            children += plan.children if _is_in_tree(table, rows, repeat) else [plan]
            is_left[repeat.places] = False
        rest: list[int] = rows[is_left].tolist()
        children.extend(rest if not repeats and len(rest) < 2 else self._find_blocks(table, rest))
        table.places[rows] = np.arange(len(rows))
        places = table.places[np.array([first_row(child) for child in children], np.int64)]
        table.places[rows] = -1
        return [children[number] for number in np.argsort(places, kind="stable").tolist()]

    def _plan_repeat(
        self, table: NodeTable, rows: Integers, repeat: FoundRepeat, depth: int
    ) -> GroupPlan:
        exemplar = rows[repeat.blocks[repeat.exemplar]]
        name = self._name(table, exemplar)
        if len(exemplar) == 1:  # there may be a million
            return GroupPlan("repeat", name, rows[repeat.firsts].tolist(), repeat.exemplar)
        planned: list[Children] = [
            GroupPlan("block", name, self._plan_block(table, rows[block], depth + 1))
            for block in repeat.blocks
        ]
        return GroupPlan("repeat", name, planned, repeat.exemplar)

    def _name(self, table: NodeTable, rows: Integers) -> str:
        key = table.kinds[rows].tobytes()
        name = self._names.get(key)
        if name is None:
            nodes = [table.nodes[row] for row in rows]
            name = nodes[0].op_type if len(nodes) == 1 else self._name_block(nodes)
            if not name:
                name = f"Block {_write_letters(self._unnamed)}"
                self._unnamed += 1
            self._names[key] = name
        return name

    def _name_block(self, nodes: list[Node]) -> str:
        return name_block(nodes, find_graph_context(nodes[0].graph))

    def _find_blocks(self, table: NodeTable, rows: list[int]) -> list[Children]:
        nodes = [table.nodes[row] for row in rows]
        blocks = close_blocks(find_nested_blocks(nodes), nodes)
        blocks += find_residual_groups(nodes, blocks)
        return _renumber(_nest(blocks, len(rows)), rows)


def _nest(blocks: list[NestedBlock], count: int) -> list[Children]:
    """Return places and blocks as plans; a block inside another is its child."""
    owner: list[GroupPlan | None] = [None] * count
    # the innermost come first
    for block in sorted(blocks, key=lambda block: len(block.places)):
        plan = GroupPlan("block", block.name, _gather(sorted(block.places), owner))
        for place in block.places:
            owner[place] = plan
    return _gather(range(count), owner)


def _gather(places: Iterable[int], owner: list[GroupPlan | None]) -> list[Children]:
    """Return the outermost plan of each place, or the place itself, each once."""
    children: list[Children] = []
    seen: set[int] = set()
    for place in places:
        plan = owner[place]
        if plan is None:
            children.append(place)
        elif id(plan) not in seen:
            seen.add(id(plan))
            children.append(plan)
    return children


def _write_letters(number: int) -> str:
    """Return ``A`` … ``Z``, ``AA``, ``AB`` and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = ascii_uppercase[digit] + text
    return text


def first_row(child: Children) -> int:
    """Return the first row of a plan."""
    while isinstance(child, GroupPlan):
        child = child.children[0]
    return child


def _is_in_tree(table: NodeTable, rows: Integers, repeat: FoundRepeat) -> bool:
    """Return whether the blocks of a repeat stand on one way down a tree: each is a box then."""
    if not repeat.is_serial or repeat.size == 1 or len(repeat.blocks) > _MOST_LEVELS:
        return False
    blocks = ([table.nodes[row] for row in rows[block].tolist()] for block in repeat.blocks)
    return are_way_down_tree([sorted(nodes, key=lambda node: node.index) for nodes in blocks])


def _are_two_scraps(blocks: Sequence[Sequence[Node]]) -> bool:
    """Return whether a few nodes that take no weights stand twice in a row.

    They are ends of other things, as the gate of an attention over channels and the SiLU behind it.
    """
    if len(blocks) != 2 or len(blocks[0]) > _MOST_OF_SCRAP:
        return False
    return not any(node.operator.weight_kind for block in blocks for node in block)


def _weigh(repeats: list[FoundRepeat]) -> float:
    return sum(repeat.weight for repeat in repeats)


def _is_one_by_one(repeat: FoundRepeat) -> bool:
    """Return whether nodes stand side by side: perhaps one of each of some chains."""
    return repeat.size == 1 and not repeat.is_serial and len(repeat.blocks) <= _MOST_CHAINS


def _says_more(ours: list[FoundRepeat], theirs: list[FoundRepeat]) -> bool:
    """Return whether repeats weigh more than others, or nearly as much and hold more nodes.

    Nodes side by side say nothing, for chains of them may be found instead.
    """
    ours, theirs = (
        [repeat for repeat in repeats if not _is_one_by_one(repeat)] for repeats in (ours, theirs)
    )
    our_nodes, their_nodes = (
        sum(repeat.node_count for repeat in repeats) for repeats in (ours, theirs)
    )
    return _weigh(ours) > _weigh(theirs) or (
        _weigh(ours) > _NEARLY * _weigh(theirs) and _NEARLY * our_nodes > their_nodes
    )


def _renumber(children: list[Children], numbers: Sequence[int] | dict[int, int]) -> list[Children]:
    """Return a copy of plans with other numbers."""
    return [
        GroupPlan(child.kind, child.name, _renumber(child.children, numbers), child.exemplar)
        if isinstance(child, GroupPlan)
        else numbers[child]
        for child in children
    ]
