"""The command that draws what a session shows, and what it cannot say of it."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from netloupe.explorer.model.graph import get_inferred_types
from netloupe.explorer.options import OPTIONS, Expand, ThemeName
from netloupe.explorer.options.command import write_command
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import Item, View, ViewOptions, expand_view

from .messages import CommandMessage
from .session import Session

#: options of a window's width and height
_LEAST_SIDE, _MOST_SIDE = 100, 100_000
#: groups that are nested deeper are not tried level by level
_DEEPEST = 8
#: of more boxes no picture is laid out to find out what the command opens
_MOST_BOXES = 2_000


def tell_command(session: Session, theme: ThemeName) -> CommandMessage:
    """Return the command that draws what a session shows, in a theme, and what it leaves out."""
    views = session.views
    model = views.model
    options = replace(options_now(session), theme=theme)
    left: list[str] = []
    found = _find_expand(session, options)
    if found is None:
        left.append("which groups are open: it opens what fits")
        options = replace(options, expand="auto")
    else:
        options = found
    if session.shown_paints:
        left.append("how it is painted")
    if options.share == "macs" and any(get_inferred_types(graph) for graph in model.graphs):
        left.append("the shapes that were inferred, from which multiplications are counted")
    own = model.files.own if model.files is not None else []
    if not own:
        left.append("where the model is: it was not read from a file")
    source = str(own[0]) if own else "model.onnx"
    # an init net that stands beside the model is found there
    is_given = len(own) > 1 and "init net file" not in model.metadata
    text = write_command(
        source, f"{Path(source).stem}.svg", asdict(options), str(own[1]) if is_given else ""
    )
    return {"type": "command", "text": text, "left": left}


def options_now(session: Session) -> ViewOptions:
    """Return the options that give what a session shows, but for what is open."""
    views = session.views
    focus, hops = views.focused or ("", OPTIONS["hops"].default)
    graph = views.current.graph
    return replace(
        views.options,
        graph="" if graph is views.model.graph or focus else graph.path,
        focus=focus,
        hops=int(hops),
        wrap=session.wrap,
        font="",
    )


def _find_expand(session: Session, options: ViewOptions) -> ViewOptions | None:
    """Return options with what opens the groups that are open; None where nothing does."""
    current = session.views.current
    if not any(child.is_open for child in current.root.children):
        return replace(options, expand="none")
    trial = View(
        session.views.model, current.graph, current.grouping, current.only, current.unnamed
    )
    for levels in range(1, min(_count_levels(current.root), _DEEPEST) + 1):
        if _opens(trial, levels, current):
            return replace(options, expand=levels)
    if _opens(trial, "all", current):
        return replace(options, expand="all")
    window = session.views.first.window
    sides = round(window.width), round(window.height)
    if not session.history.is_first or len(current.items) > _MOST_BOXES:
        return None
    if not all(_LEAST_SIDE <= side <= _MOST_SIDE for side in sides):
        return None
    wanted = replace(options, expand="auto", fit=f"{sides[0]}x{sides[1]}")
    return wanted if _is_same(make_picture(session.views.model, wanted).view, current) else None


def _count_levels(item: Item) -> int:
    """Return how deep what is open in an item is nested."""
    return max((1 + _count_levels(child) for child in item.children if child.is_open), default=0)


def _opens(trial: View, expand: Expand, current: View) -> bool:
    for item in [child for child in trial.root.children if child.is_open]:
        trial.close_item(item)
    expand_view(trial, expand)
    return _is_same(trial, current)


def _is_same(one: View, other: View) -> bool:
    """Return whether the same is open in two views, and the same repetitions are shown."""
    first, second = one.open_state(), other.open_state()
    return (
        set(first.keys) == set(second.keys)
        and first.unrolled == second.unrolled
        and first.shown_shapes == second.shown_shapes
        and _list_shown(one.root) == _list_shown(other.root)
    )


def _list_shown(item: Item) -> dict[str, Any]:
    """Return by the keys of repeats that are open which repetition is shown."""
    shown: dict[str, Any] = {}
    pending = [item]
    while pending:
        for child in pending.pop().children:
            if child.is_open:
                pending.append(child)
                if child.repeat is not None:
                    shown[child.key] = child.shown
    return shown
