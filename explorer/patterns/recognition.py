"""What a block was told to be."""

from __future__ import annotations

from typing import NamedTuple

from netloupe.explorer.model import Node

from .details import NO_DETAILS, BlockDetails


class Recognition(NamedTuple):
    """A block of a known kind.

    Parameters
    ----------
    name
        What the block is, as the field calls it: ``Self-attention``.
    family
        The family of operators that it is coloured as: a key of a theme's palette.
    facts
        The few things that a reader of the paper wants to know, in short texts:
        ``("12 heads × 64", "causal")``.
    details
        What is known of it as numbers and words: of a class for each kind of block.
    nodes
        The nodes that it consists of.
    """

    name: str
    family: str
    facts: tuple[str, ...] = ()
    details: BlockDetails = NO_DETAILS
    nodes: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """Name and facts: ``Self-attention, 12 heads × 64, causal``; widths follow the name."""
        if not self.facts:
            return self.name
        joint = " " if "→" in self.facts[0] else ", "
        return f"{self.name}{joint}{', '.join(self.facts)}"
