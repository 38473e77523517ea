"""Patterns of netloupe itself, each with its example."""

from __future__ import annotations

from typing import Literal

from .found_blocks import BlockFinder
from .pattern import Pattern
from .pattern_examples import EXAMPLES


def register_part(name: str, find: BlockFinder, *kinds: str, family: str = "group") -> Pattern:
    """Return a pattern whose blocks are found among other operations, with its example."""
    return _make(name, find, "part", kinds, family)


def register_whole(name: str, find: BlockFinder, *kinds: str, family: str = "group") -> Pattern:
    """Return a pattern that tells what all operations of a group are together."""
    return _make(name, find, "whole", kinds, family)


def _make(
    name: str,
    find: BlockFinder,
    extent: Literal["part", "whole"],
    kinds: tuple[str, ...],
    family: str,
) -> Pattern:
    example, told = EXAMPLES[name]
    return Pattern(name, find, extent, kinds, family, example, told)
