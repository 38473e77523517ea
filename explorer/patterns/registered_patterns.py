"""Patterns of netloupe itself, whose examples are in `pattern_examples`.

Nothing but their page and tests asks for those, and no picture waits until they are read.
"""

from __future__ import annotations

from .found_blocks import BlockFinder
from .pattern import Pattern


def register_part(name: str, find: BlockFinder, *kinds: str, family: str = "group") -> Pattern:
    """Return a pattern whose blocks are found among other operations."""
    return Pattern(name, find, "part", kinds, family)


def register_whole(name: str, find: BlockFinder, *kinds: str, family: str = "group") -> Pattern:
    """Return a pattern that tells what all operations of a group are together."""
    return Pattern(name, find, "whole", kinds, family)
