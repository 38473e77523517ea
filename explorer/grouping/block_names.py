"""What a repeated block is, told from its structure."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node


def name_block(nodes: Sequence[Node]) -> str:
    """Return what a block of nodes is: ``Transformer block``; "" where it cannot be told."""
    return ""
