"""Positions: every open item is laid out by Graphviz and composed into one Scene.

A view and the sizes of its boxes go in, a Scene comes out. It knows neither what is written
on a box nor how it is coloured.
"""

from .compose import DEADLINE, PATIENCE, Composer
from .engine import LayoutEngine, shared_engine
from .plan import Measure
from .scene import Direction, LayerEdge, Scene, SceneBox, SceneEdge, SceneLayer, ScenePort
from .wrap import MOST_COLUMNS, Wrap

__all__ = [
    "DEADLINE",
    "MOST_COLUMNS",
    "PATIENCE",
    "Composer",
    "Direction",
    "LayerEdge",
    "LayoutEngine",
    "Measure",
    "Scene",
    "SceneBox",
    "SceneEdge",
    "SceneLayer",
    "ScenePort",
    "Wrap",
    "shared_engine",
]
