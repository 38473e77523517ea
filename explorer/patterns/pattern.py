"""A kind of block that is looked for."""

from __future__ import annotations

import inspect
from typing import Literal, NamedTuple

from .found_blocks import BlockFinder


class Pattern(NamedTuple):
    """A kind of block that is looked for.

    Parameters
    ----------
    id
        Its name in messages and on the page of patterns: ``state-space-mixer``.
    find
        Yields the blocks that it finds. Its docstring says what they are, and which source
        describes them.
    extent
        ``part`` where such blocks are found among other operations; ``whole`` where it is told what
        all operations of a group are together.
    kinds
        What :attr:`FoundBlock.kind` of these blocks may be; other patterns ask for that.
    family
        The family of operators that they are coloured as, or ``group``.
    example
        A model in the text form of ONNX whose graph is such a block. Where other nodes have to be
        around it, the block is all those that have names.
    told
        What that block is told to be.
    """

    id: str
    find: BlockFinder
    extent: Literal["part", "whole"]
    kinds: tuple[str, ...]
    family: str = "group"
    example: str = ""
    told: str = ""

    @property
    def description(self) -> str:
        """What is found, and by which source: the docstring of ``find``."""
        return inspect.getdoc(self.find) or ""
