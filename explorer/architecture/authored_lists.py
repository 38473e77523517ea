"""Lists that an author numbered, and which of their members carry weights.

A list is what its program calls it, ``layers.0 … 11``: in metadata, or in names of nodes. It counts
blocks without a look at what is in them, so that it can contradict a pattern that knows most of
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.grouping import read_module_path
from netloupe.explorer.model import Node

Path = tuple[str, ...]
#: the path of what holds a list, and the name of its members with ``#`` for the number
ListKey = tuple[Path, str]

_MOST_DEPTH = 24
#: members are alike that have so much of what is in the smaller one
_LEAST_ALIKE = 0.5
_NUMBER = re.compile(r"\d+$")


@dataclass(eq=False)
class ListMember:
    """One member of a numbered list.

    Parameters
    ----------
    path
        Its path.
    type_name
        Its class; "" where that is not known.
    inner
        The names of what is in it and carries weights.
    """

    path: Path
    type_name: str = ""
    inner: set[str] = field(default_factory=set)

    def is_like(self, other: ListMember) -> bool:
        """Return whether it is of the same class; where none is known, whether it holds alike."""
        if self.type_name and other.type_name:
            return self.type_name == other.type_name
        shared = len(self.inner & other.inner)
        return shared >= _LEAST_ALIKE * max(min(len(self.inner), len(other.inner)), 1)

    def holds(self, path: Path) -> bool:
        """Return whether a path is in it."""
        return path[: len(self.path)] == self.path


class AuthoredLists:
    """The numbered lists of a graph.

    Parameters
    ----------
    nodes
        Those that have a weight, each weight once.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._paths: dict[Node, Path] = {}
        self._members: dict[ListKey, dict[str, ListMember]] = {}
        #: the members of all lists of one form: ``layer#.#``
        self._of_form: dict[Path, list[ListMember]] = {}
        for node in nodes:
            path = self._read(node)
            types = [kind for _, kind in read_module_path(node)]
            for place, word in enumerate(path[:_MOST_DEPTH]):
                if not word[-1:].isdigit():
                    continue
                members = self._members.setdefault((path[:place], _mask(word)), {})
                member = members.get(word)
                if member is None:
                    member = members[word] = ListMember(path[: place + 1], types[place])
                    self._of_form.setdefault(read_form(member.path), []).append(member)
                member.inner.update(path[place + 1 : place + 2])

    def _read(self, node: Node) -> Path:
        if node not in self._paths:
            self._paths[node] = tuple(name for name, _ in read_module_path(node))
        return self._paths[node]

    def find_common(self, nodes: Iterable[Node]) -> Path:
        """Return the path of the innermost module that holds all of some nodes."""
        common: Path | None = None
        for node in nodes:
            path = self._read(node)
            if common is None:
                common = path
                continue
            depth = 0
            while depth < min(len(common), len(path)) and common[depth] == path[depth]:
                depth += 1
            common = common[:depth]
        return common or ()

    def holds(self, path: Path, node: Node) -> bool:
        """Return whether a node is in a module."""
        return self._read(node)[: len(path)] == path

    def locate(self, path: Path) -> list[tuple[ListKey, ListMember]]:
        """Return the lists that a module is in, innermost first, each with the member it is in.

        One that has a single member is a list where others of its form have more. What an author
        numbers as attributes, ``branch1``, counts only where there is no list.
        """
        found = []
        for place in range(len(path) - 1, -1, -1):
            key = path[:place], _mask(path[place])
            member = self._members.get(key, {}).get(path[place])
            if member is not None and len(self._of_form[read_form(member.path)]) > 1:
                found.append((key, member))
        return [one for one in found if one[0][1] == "#"] or found

    def list_members(self, key: ListKey) -> list[ListMember]:
        """Return all members of a list."""
        return [*self._members[key].values()]

    def list_alike(self, some: Sequence[ListMember]) -> list[list[ListMember]]:
        """Return for each list of the form of some members those that are like any of these."""
        rows: dict[Path, list[ListMember]] = {}
        for one in self._of_form[read_form(some[0].path)]:
            if any(one is member or one.is_like(member) for member in some):
                rows.setdefault(one.path[:-1], []).append(one)
        return [*rows.values()]


def read_form(path: Path) -> Path:
    """Return a path with ``#`` for each number at the end of a word."""
    return tuple(map(_mask, path))


def _mask(word: str) -> str:
    return _NUMBER.sub("#", word)
