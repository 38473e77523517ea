"""Notebook widgets: the canvas, the inspector, and the explorer that joins them.

A model and user actions go in; scenes, descriptions and the selection come out. All that is
known of models, layouts and pictures is asked of ``netloupe.explorer``.
"""

from .canvas import Canvas
from .explorer import Explorer
from .inspector import Inspector
from .opening import explore

__all__ = ["Canvas", "Explorer", "Inspector", "explore"]
