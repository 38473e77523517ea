"""What is said of every element that a page can show.

Each block (see :mod:`.blocks`) has the descriptions of some elements, as HTML: see
:mod:`.templates` for ``templates``, ``slots`` and ``kinds`` (the templates themselves), and
``texts`` for what the slots hold. The block ``elements`` has the number of each element's path
among the texts of the levels, -1 for the model itself, block after block. What has no box but is
linked to, such as a graph or a weight behind another node, has numbers from -2 downwards, and its
paths stand in ``linked`` of that block.
"""

from __future__ import annotations

from collections.abc import Container

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import View

from .blocks import write_block
from .describing import Describer
from .level_block import Numbers
from .limits import USUAL
from .templates import TemplateWriter

#: so many descriptions are in one block: a page unpacks one at a time
_MOST_IN_BLOCK = 4_000
#: what a group of more nodes holds would take too long to be compared
_MOST_IN_GROUP = 200_000
#: so many elements without a box of their own are described
_MOST_LINKED = 20_000
#: and so many steps from what has one: what is hidden is near, but what stays closed may go on
_MOST_STEPS = 12


class FactWriter:
    """Collects descriptions.

    Parameters
    ----------
    describer
        Describes elements.
    most
        So many elements are described; what comes later is not.
    """

    def __init__(self, describer: Describer, most: int = USUAL.elements) -> None:
        self._describer = describer
        self._most = most
        #: how many were described, and whether any were not
        self.count = 0
        self.is_cut = False
        self._blocks: list[bytes] = []
        #: for each block the elements in it
        self._elements: list[list[int]] = []
        #: where descriptions lead to
        self.targets: dict[str, None] = {}
        self._begin()

    def _begin(self) -> None:
        self._writer = TemplateWriter()
        self._described: list[int] = []

    def add(self, number: int, path: str, view: View) -> None:
        """Describe what is at a path of a view as it is now.

        Parameters
        ----------
        number
            By which the element is found again.
        path, view
            Where it is. What is no element of its own is left out.
        """
        if self.count >= self._most:
            self.is_cut = True
            return
        group = view.items[path].element if path in view.items else None
        if isinstance(group, Group) and group.node_count > _MOST_IN_GROUP:
            self.is_cut = True
            return
        told = self._describer.describe(path, view)
        if told is None:
            return
        self._writer.add(told.around, told.slots)
        self._described.append(number)
        self.count += 1
        self.targets.update(dict.fromkeys(told.targets))
        if len(self._described) >= _MOST_IN_BLOCK:
            self._finish()

    def add_linked(self, known: Container[str], view: View) -> list[str]:
        """Describe what descriptions lead to and has no box of its own; return the paths."""
        linked: list[str] = []
        seen: set[str] = set()
        for _ in range(_MOST_STEPS):
            if not self.targets or len(linked) >= _MOST_LINKED or self.count >= self._most:
                break
            targets, self.targets = self.targets, {}
            for path in targets:
                if path not in known and path not in seen and len(linked) < _MOST_LINKED:
                    seen.add(path)
                    linked.append(path)
                    self.add(-1 - len(linked), path, view)
        return linked

    def _finish(self) -> None:
        texts = Numbers()
        integers, templates = self._writer.columns(texts.number_all)
        self._blocks.append(write_block(integers, {"kinds": templates}, texts.list()))
        self._elements.append(self._described)
        self._begin()

    def write(self) -> tuple[list[bytes], list[list[int]]]:
        """Return the blocks, and the numbers of the elements that each has."""
        if self._described:
            self._finish()
        return self._blocks, self._elements
