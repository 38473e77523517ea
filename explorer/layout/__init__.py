"""Positions: every open item is laid out by Graphviz and composed into one Scene.

A view and the sizes of its boxes go in, a Scene comes out. It knows neither what is written
on a box nor how it is coloured.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .compose import DEADLINE, PATIENCE, Composer
    from .engine import LayoutEngine, shared_engine
    from .first_view import WINDOW, FirstView, Window
    from .plan import Measure
    from .scene import LevelEdge, Scene, SceneBox, SceneEdge, SceneLevel, ScenePort
    from .titles import Title
else:
    __getattr__ = import_later(
        __name__,
        {
            "compose": ["DEADLINE", "PATIENCE", "Composer"],
            "engine": ["LayoutEngine", "shared_engine"],
            "first_view": ["WINDOW", "FirstView", "Window"],
            "plan": ["Measure"],
            "scene": ["LevelEdge", "Scene", "SceneBox", "SceneEdge", "SceneLevel", "ScenePort"],
            "titles": ["Title"],
        },
    )

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
