"""Positions: every open item is laid out by Graphviz and composed into one Scene.

A view and the sizes of its boxes go in, a Scene comes out. It knows neither what is written
on a box nor how it is coloured.
"""

from .compose import DEADLINE, Composer, Measure
from .engine import LayoutEngine, shared_engine
from .scene import Direction, Scene, SceneBox, SceneEdge, ScenePort

__all__ = [
    "DEADLINE",
    "Composer",
    "Direction",
    "LayoutEngine",
    "Measure",
    "Scene",
    "SceneBox",
    "SceneEdge",
    "ScenePort",
    "shared_engine",
]
