"""What a rule says of a model, before sizes and costs of the whole are added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.model import Node
from netloupe.explorer.patterns import Detail


@dataclass(frozen=True)
class BlockSketch:
    """Alike blocks that follow one another.

    Parameters
    ----------
    name
        What one of them is called.
    nodes
        Those of their nodes that do more than arrange; nothing where they are not needed.
    facts
        What is so of all of them.
    """

    name: str
    count: int
    nodes: tuple[Node, ...] = ()
    facts: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Sketch:
    """What a rule says.

    Parameters
    ----------
    family
        What the field calls such a network; "" where only its blocks are told.
    title
        How the sentence begins.
    clauses
        What follows, in order.
    blocks
        The blocks in the order of the main stream.
    facts
        Sizes by name.
    is_network
        Whether it has weights that multiply: parameters and MACs say something of it.
    is_open
        Whether what it is made of is told from its blocks, before its own clauses.
    """

    family: str
    title: str
    clauses: tuple[str, ...] = ()
    blocks: tuple[BlockSketch, ...] = ()
    facts: Mapping[str, Detail] = field(default_factory=dict)
    is_network: bool = True
    is_open: bool = False

    @property
    def text(self) -> str:
        """The sentence."""
        listed = ", ".join(clause for clause in self.clauses if clause)
        return f"{self.title}: {listed}." if listed else f"{self.title}."


def write_row(words: Sequence[object]) -> str:
    """Return ``3, 4, 6, 3``."""
    return ", ".join(map(str, words))


def write_way(sizes: Sequence[int]) -> str:
    """Return ``12 → 24 → 48``."""
    return " → ".join(f"{size:,}" for size in sizes)
