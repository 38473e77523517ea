"""``--color-by``: overlays of what is given on the command line, and what is said of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import OutputError

from .running import load_named

if TYPE_CHECKING:
    from netloupe.explorer.model import Model
    from netloupe.explorer.overlays import Overlay


def check_color_by(parsed: argparse.Namespace) -> None:
    """Raise OutputError for what says how to colour where nothing is given to colour by."""
    for name in ("color_scale", "color_groups", "bind"):
        if getattr(parsed, name) and not parsed.color_by:
            flag = name.replace("_", "-")
            raise OutputError(f"--{flag} says how to colour. Give --color-by COLUMN too.")
    if (parsed.twin is not None) != ("sqnr" in parsed.color_by):
        raise OutputError("--color-by sqnr compares with a float model. Give --float TWIN with it.")


def read_overlays(model: Model, parsed: argparse.Namespace) -> list[Overlay]:
    """Return the overlays that are asked for; none where none are.

    Raises
    ------
    OverlayError
        Where a column is none, or a file cannot be read.
    """
    if not parsed.color_by:
        return []
    from netloupe.explorer.overlays import make_overlays

    given: list[Any] = parsed.color_by
    if parsed.twin is not None:
        from netloupe.explorer.audit import audit

        found = audit(model, load_named(parsed.twin, None), bind=dict(parsed.bind))
        given = [found if one == "sqnr" else one for one in given]
    settings = read_color_settings(parsed)
    return make_overlays(model, given, bind=dict(parsed.bind), **settings)


def read_color_settings(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return how numbers become colours, as :func:`netloupe.overlay` takes it."""
    settings: dict[str, Any] = {}
    if parsed.color_scale:
        settings["scale"] = parsed.color_scale
    if parsed.color_groups:
        settings["aggregation"] = parsed.color_groups
    return settings


def describe_overlays(overlays: Sequence[Overlay]) -> Iterator[str]:
    """Yield how much of each column could be placed, what not, and where most of it is."""
    for one in overlays:
        for line in _list_lines(one):
            yield f"{one.name}: {line}"


def _list_lines(overlay: Overlay) -> Iterable[str]:
    return (*overlay.describe_placement(), *overlay.describe_ranking())
