"""Blocks of stacks that are built as others are: where nothing is found in one, so in these.

A decoder has the same layer hundreds of times. What looks for something in every group of a tree
has seen all of such layers once it has seen one.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.model.kept import find_kept

from .alike import Key, KeyWriter
from .group import Group

Places = tuple[int, ...]


class _KnownNumbers:
    """What is told of the nodes of blocks: several that look for something ask for the same.

    Attributes
    ----------
    of_rows
        By the indices of nodes in the order of a tree: what those share that are wired alike.
    of_nodes
        By their indices in the order of the file: a number that those share that are wired alike.
    of_keys
        These numbers by what is equal for nodes wired alike.
    """

    def __init__(self) -> None:
        self.of_rows: dict[Places, Places] = {}
        self.of_nodes: dict[Places, int] = {}
        self.of_keys: dict[Key, int] = {}

    def number(self, nodes: Sequence[Node], keys: KeyWriter) -> int:
        """Return the number of nodes in the order of the file."""
        places = tuple([node.index for node in nodes])
        number = self.of_nodes.get(places)
        if number is None:
            key = *keys.write(nodes), *_list_fed(nodes)
            number = self.of_nodes[places] = self.of_keys.setdefault(key, len(self.of_keys))
        return number


class LikeBlocks:
    """Tells one search in a tree which blocks it need not look into.

    Two blocks are alike if their groups are, but for their own names, and hold nodes at the same
    places that are wired alike and feed the same operators. Nothing is to be found in a block if it
    is like one that the search has looked into and has left as it was.
    """

    def __init__(self) -> None:
        self._keys = KeyWriter()
        self._first: dict[Key, Group] = {}
        self._are_left: dict[Key, bool] = {}
        self._answers: dict[Group, bool] = {}

    def is_like_one_left(self, group: Group) -> bool:
        """Return whether a group is a block of a repeat in which nothing is to be found.

        It is asked first when the search comes to the group, after all that it does in the blocks
        that it comes to before that.
        """
        if group.parent is None or group.parent.kind != "repeat":
            return False
        if group not in self._answers:
            self._answers[group] = self._look(group)
        return self._answers[group]

    def _look(self, block: Group) -> bool:
        key = self._write(block)
        first = self._first.setdefault(key, block)
        if first is block:
            return False
        if key not in self._are_left:
            self._are_left[key] = self._write(first) == key
        return self._are_left[key]

    def _write(self, block: Group) -> Key:
        """Return what is equal for blocks that are alike."""
        nodes: list[Node] = []
        groups: list[Key] = [(block.kind, block.type_name)]
        pending = [*reversed(block.children)]
        while pending:
            child = pending.pop()
            if isinstance(child, Node):
                nodes.append(child)
                continue
            told = child.kind, child.label, child.type_name, child.names_operator, child.exemplar
            groups.append((len(nodes), len(child.children), *told))
            alone = child.nodes_alone()
            if alone:
                nodes += alone
            else:
                pending += reversed(child.children)
        return self._number(nodes), *groups

    def _number(self, nodes: Sequence[Node]) -> Key:
        """Return what is equal for nodes that are in the same order and wired alike."""
        if not nodes:
            return ()
        known = find_kept(nodes[0].graph, _KnownNumbers, _KnownNumbers)
        places = tuple([node.index for node in nodes])
        key = known.of_rows.get(places)
        if key is None:
            order = sorted(range(len(nodes)), key=places.__getitem__)
            members = [nodes[place] for place in order]
            key = known.of_rows[places] = known.number(members, self._keys), *order
        return key


def _list_fed(nodes: Sequence[Node]) -> list[object]:
    """Return the places of those of some nodes that feed others, with the operators of these."""
    own = {*nodes}
    fed: list[object] = []
    for place, node in enumerate(nodes):
        for value in node.outputs:
            if value is not None:
                fed += [(place, user.op_type) for user in value.users if user not in own]
                if value.is_output:
                    fed.append(place)
    return fed
