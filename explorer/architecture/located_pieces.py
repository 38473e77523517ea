"""Where blocks stand among the modules of an author."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from netloupe.explorer.model import Node

from .authored_lists import AuthoredLists, Path
from .outline import Outline
from .pieces import Piece
from .weighted_layers import WeightedLayers


class LocatedPieces:
    """The blocks of a graph, its layers, and the author's modules that they are in.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        All of its blocks, once where they share weights.
    layers
        The layers of the graph by its operators.

    Attributes
    ----------
    lists
        The author's lists of modules.
    paths
        The innermost module around each block, by the block's identity.
    """

    def __init__(self, outline: Outline, pieces: Sequence[Piece], layers: WeightedLayers) -> None:
        self.outline = outline
        self.pieces = pieces
        self.layers = layers
        self.lists = AuthoredLists(layers.firsts)
        self.paths = {id(piece): self.find_path([piece]) for piece in pieces}

    def find_path(self, pieces: Iterable[Piece]) -> Path:
        """Return the innermost module around all layers of some blocks."""
        nodes: list[Node] = [
            node
            for piece in pieces
            for node in self.outline.nodes(piece.parts)
            if node in self.layers.keys
        ]
        return self.lists.find_common(nodes)
