"""What a block was told to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from netloupe.explorer.model import Node

#: what a fact may be besides its text: ``{"heads": 12, "head_width": 64, "causal": True}``
Detail = int | str | bool | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recognition:
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
        The same as numbers and words, by name.
    nodes
        The nodes that it consists of.
    """

    name: str
    family: str
    facts: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """Name and facts: ``Self-attention, 12 heads × 64, causal``; widths follow the name."""
        if not self.facts:
            return self.name
        joint = " " if "→" in self.facts[0] else ", "
        return f"{self.name}{joint}{', '.join(self.facts)}"
