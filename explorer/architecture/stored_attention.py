"""Attention of stored queries among themselves, which takes no input of a model."""

from __future__ import annotations

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node

from .outline import Outline
from .pieces import Piece

_MOST_STEPS = 200


def follows_stored_attention(outline: Outline, piece: Piece) -> bool:
    """Return whether what a block takes that is stored was made by attention.

    So the first layer of a decoder with learned queries begins: its self-attention gives the same
    for all inputs (N. Carion and others, End-to-End Object Detection with Transformers, 2020,
    section A.3). Only its cross-attention is a part then.
    """
    pending = [
        value.producer
        for node in outline.nodes(piece.parts)
        for value in node.inputs
        if value is not None and is_input_independent(value)
    ]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST_STEPS:
        node = pending.pop()
        if node is None or node in seen:
            continue
        if node.operator.has("distributes"):
            return True
        seen.add(node)
        pending += [value.producer for value in node.inputs if value is not None]
    return False
