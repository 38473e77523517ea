"""Colours. ``themes.json`` is the single source, for Python and for the canvas alike."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import ViewError
from netloupe.explorer.options import Background

from .tones import choose_border, choose_text, is_hex


@dataclass(frozen=True, slots=True)
class CategoryColours:
    """A family of operators: ``tint`` behind the title, ``border``, and ``text`` of that hue."""

    tint: str
    border: str
    text: str


@dataclass(frozen=True, slots=True)
class FrameColours:
    """An open group at one depth."""

    fill: str
    border: str


@dataclass(frozen=True, slots=True)
class PillColours:
    """A badge, a stub, or what is painted in a tone.

    Only a tone has ``strong``, the colour of rings and of the ground of marks, on which text has
    the colour of the page.
    """

    fill: str
    border: str
    text: str
    strong: str = ""


class Tones(dict[str, PillColours]):
    """The tones of a theme by name; ``#rrggbb`` stands for itself."""

    def __missing__(self, tone: str) -> PillColours:
        """Return the colours of ``#rrggbb``, which is no entry.

        Raises
        ------
        KeyError
            For anything else.
        """
        if not is_hex(tone):
            raise KeyError(tone)
        border = choose_border(tone)
        return PillColours(tone, border, choose_text(tone), border)


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour of a picture, as ``#rrggbb``.

    Parameters
    ----------
    name
        ``light`` or ``dark``.
    page, body
        The ground of the picture; the ground of a box below its header.
    ink, muted
        Values and weights' names; attributes' names and dimensions.
    frames
        Open groups by depth, outermost first; deeper ones repeat the last two in turn.
    frame_text, frame_muted
        Title of an open group and its second part.
    edge, edge_captured, edge_control, edge_label
        Lines and the text on them.
    port
        Inside of a ring on a border.
    badge, stub
        Pills on boxes and beside them.
    accent, hover, hit
        What is selected, pointed at, found by a search.
    shadow
        Drawn with little opacity under sheets and selections.
    tones
        Colours of what is painted (:mod:`netloupe.explorer.render.paint`), by name: for words and
        marks, ``scale-…`` from little to much, ``diverging-…`` about a middle, ``category-…`` for
        words that have no order, ``missing`` where there is no number.
    categories
        Colours of every family of operators, of ``terminal`` and of ``constant``.
    """

    name: str
    page: str
    body: str
    ink: str
    muted: str
    frames: tuple[FrameColours, ...]
    frame_text: str
    frame_muted: str
    edge: str
    edge_captured: str
    edge_control: str
    edge_label: str
    port: str
    badge: PillColours
    stub: PillColours
    accent: str
    hover: str
    hit: str
    shadow: str
    tones: Tones
    categories: dict[str, CategoryColours]

    def category(self, name: str) -> CategoryColours:
        """Return the colours of a family; those of ``other`` where it is unknown."""
        return self.categories.get(name) or self.categories["other"]

    def frame(self, depth: int) -> FrameColours:
        """Return the colours of an open group with ``depth`` others around it."""
        last = len(self.frames) - 1
        return self.frames[depth if depth <= last else last - (depth - last) % 2]


def lay_on_ground(theme: Theme, background: Background) -> Theme:
    """Return a theme for pictures with a ground: white, and what lies on it in that colour."""
    if background == "theme" or theme.name == "dark":
        return theme
    return replace(theme, page="#ffffff")


@cache
def load_theme(name: str) -> Theme:
    """Return a theme by name.

    Raises
    ------
    ViewError
        Where there is no such theme.
    """
    themes = themes_as_json()
    if name not in themes:
        raise ViewError(f"there is no theme {name!r}. Choose one of {', '.join(themes)}.")
    colours: dict[str, Any] = dict(themes[name])
    frames = tuple(FrameColours(**frame) for frame in colours.pop("frames"))
    badge, stub = PillColours(**colours.pop("badge")), PillColours(**colours.pop("stub"))
    tones = Tones({tone: PillColours(**entry) for tone, entry in colours.pop("tones").items()})
    categories = {
        category: CategoryColours(**entry) for category, entry in colours.pop("categories").items()
    }
    return Theme(
        name=name,
        frames=frames,
        badge=badge,
        stub=stub,
        tones=tones,
        categories=categories,
        **colours,
    )


@cache
def themes_as_json() -> dict[str, dict[str, Any]]:
    """Return all themes as ``themes.json`` holds them."""
    text = Path(__file__).with_name("themes.json").read_text(encoding="utf-8")
    themes: dict[str, dict[str, Any]] = json.loads(text)
    return themes
