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
    """What boxes of one category have: a ``tint`` behind the title, ``border``, and ``text``.

    ``frame`` is the faint ground of an open group of that category.
    """

    tint: str
    border: str
    text: str
    frame: str = ""


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
    rule, quiet, chosen
        Lines between parts of a page; the ground of what is beside a picture, and of an entry
        that is chosen there.
    stream
        Lines of the main stream, and the signs where it is joined.
    edge, edge_captured, edge_control, edge_loop, edge_label
        All other lines, and the text on them.
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
        Colours of boxes by what they do (:mod:`netloupe.explorer.render.category`).
    """

    name: str
    page: str
    body: str
    ink: str
    muted: str
    rule: str
    quiet: str
    chosen: str
    stream: str
    edge: str
    edge_captured: str
    edge_control: str
    edge_loop: str
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
        """Return the colours of a category; those of ``plain`` where it is unknown."""
        return self.categories.get(name) or self.categories["plain"]


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
    badge, stub = PillColours(**colours.pop("badge")), PillColours(**colours.pop("stub"))
    tones = Tones({tone: PillColours(**entry) for tone, entry in colours.pop("tones").items()})
    categories = {
        category: CategoryColours(**entry) for category, entry in colours.pop("categories").items()
    }
    return Theme(
        name=name,
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
