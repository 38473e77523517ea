"""Long pictures as a page: columns beside one another (rows for LR)."""

from __future__ import annotations

from typing import Literal

from .dot import Layer
from .placement import Placement

Wrap = bool | int | Literal["auto"]


def wrap_placement(layer: Layer, placement: Placement, wrap: Wrap) -> tuple[Placement, int]:
    return placement, 1
