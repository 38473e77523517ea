"""Positions: every open item is laid out by Graphviz and composed into one Scene.

A view and the sizes of its boxes go in, a Scene comes out. It knows neither what is written
on a box nor how it is coloured.
"""

from .compose import DEADLINE, PATIENCE, Composer
from .engine import LayoutEngine, shared_engine
from .first_view import WINDOW, FirstView, Window
from .plan import Measure
from .scene import LevelEdge, Scene, SceneBox, SceneEdge, SceneLevel, ScenePort
from .titles import Title

__all__ = [
    "DEADLINE",
    "PATIENCE",
    "WINDOW",
    "Composer",
    "FirstView",
    "LayoutEngine",
    "LevelEdge",
    "Measure",
    "Scene",
    "SceneBox",
    "SceneEdge",
    "SceneLevel",
    "ScenePort",
    "Title",
    "Window",
    "shared_engine",
]
