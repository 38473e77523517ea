"""Well-known groups of nodes, found by how they are wired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloupe.explorer.model import Node


@dataclass(frozen=True, slots=True)
class Motif:
    """A well-known group among some nodes, by their places."""

    name: str
    places: frozenset[int]


def find_motifs(nodes: Sequence[Node]) -> list[Motif]:
    """Return motifs; two are either disjoint or one inside the other."""
    return []
