"""What the address of a page says of a view: told, checked and followed.

The fields are those of ``address/link.ts`` in ``widgets/frontend/src``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from netloupe.explorer.errors import NetloupeError, ViewError
from netloupe.explorer.options import OPTIONS, Direction, check_option
from netloupe.explorer.view.open_state import OpenState

from .history import Moment
from .lookup import has_element
from .open_state_text import LONGEST, OpenPaths, read_open_paths, write_open_state
from .requests import MOST_HOPS
from .reveal import reveal
from .session import Session

_CHOICES = frozenset({"graph", "grouping", "unnamed", "wrap", "details", "share"})


@dataclass(frozen=True, slots=True)
class PageLink:
    """What an address says.

    Parameters
    ----------
    open_paths
        What is open; None for what is open at first.
    focus
        Path and hops of the neighbourhood that alone is shown; None for the whole graph.
    selected
        Paths of what is selected.
    choices
        The path of the graph, and values of options, by name; those that are missing are as at
        first.
    """

    direction: Direction
    open_paths: OpenPaths | None = None
    focus: tuple[str, int] | None = None
    selected: tuple[str, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)


def write_page_link(session: Session) -> dict[str, Any]:
    """Return what an address has to keep of a session beside what a page knows itself.

    What is open is that of the moment that was noted last.
    """
    moment = session.history.moment or session.views.note()
    first = _list_first(session)
    options = session.views.options
    now = {
        "graph": moment.graph,
        "grouping": moment.grouping,
        "unnamed": ",".join(moment.unnamed),
        "wrap": session.wrap,
        "details": options.details,
        "share": options.canvas_share,
    }
    choices = {name: _write(name, now[name]) for name in now if now[name] != first[name]}
    return {"opened": write_open_state(moment.open_state), "choices": choices}


def _list_first(session: Session) -> dict[str, Any]:
    """Return by name what an address keeps only where it is something else."""
    moment, options = session.first, session.first_options
    return {
        "graph": moment.graph,
        "grouping": moment.grouping,
        "unnamed": ",".join(moment.unnamed),
        "wrap": options.wrap,
        "details": options.details,
        "share": options.canvas_share,
    }


def _write(name: str, value: Any) -> str:
    """Return a value as a text, a choice as the word that it has on the command line."""
    choices = OPTIONS[name].choices
    same = [c.word for c in choices if type(c.value) is type(value) and c.value == value]
    return same[0] if same else str(value)


def _read(name: str, text: Any) -> Any:
    if not isinstance(text, str):
        raise ViewError(f"its {name} is damaged")
    if name == "graph":
        return text
    named = [choice.value for choice in OPTIONS[name].choices if choice.word == text]
    return check_option(name, named[0] if named else text)


def read_page_link(fields: Mapping[str, Any]) -> PageLink:
    """Return what a page has read from its address.

    Raises
    ------
    ViewError
        Where a field is none, or all together are too long.
    """
    match fields:
        case {"selected": [*selected], "choices": dict(choices), "opened": str() | None as opened}:
            pass
        case _:
            raise ViewError("it is damaged")
    if set(choices) - _CHOICES or not all(isinstance(path, str) for path in selected):
        raise ViewError("it is damaged")
    if sum(map(len, selected)) > LONGEST or len(selected) > LONGEST:
        raise ViewError("it is too long")
    return PageLink(
        check_option("direction", fields.get("direction")),
        None if opened is None else read_open_paths(opened),
        _read_focus(fields.get("focus")),
        tuple(dict.fromkeys(selected)),
        {name: _read(name, text) for name, text in choices.items()},
    )


def _read_focus(focus: Any) -> tuple[str, int] | None:
    match focus:
        case None:
            return None
        case {"path": str(path), "hops": int(hops)} if 1 <= hops <= MOST_HOPS and hops is not True:
            return path, hops
    raise ViewError("its neighbourhood is damaged")


def follow_page_link(session: Session, link: PageLink) -> tuple[list[str], list[str]]:
    """Show what an address says, as far as the model has it; lays out nothing.

    Returns
    -------
    selected : list of str
        The paths of what it selects.
    gone : list of str
        What else it names that the model does not have.

    Raises
    ------
    NotFoundError, ViewError
        Where its graph or neighbourhood is not in the model, or nothing else that it names.
    """
    views = session.views
    choices = _list_first(session) | dict(link.choices)
    _set_looks(session, link, choices)
    session.go_to(_make_moment(session, link, choices))
    if link.open_paths is None:
        views.expand(session.first_options.expand)
        _reveal_again(session, [link.focus[0]] if link.focus is not None else [])
        _reveal_again(session, link.selected)
    there = {p for p in link.selected if has_element(views.model, views.current, p)}
    selected = [path for path in link.selected if path in there]
    gone = [path for path in link.selected if path not in there]
    named = len(link.selected)
    if link.open_paths is not None:
        gone += _list_not_open(session, link.open_paths)
        named += len(link.open_paths.keys)
    if 0 < named <= len(gone):
        raise ViewError("nothing of what it names is in the model")
    session.is_open_said |= link.open_paths is not None
    return selected, gone


def _reveal_again(session: Session, paths: Sequence[str]) -> None:
    """Open what hides elements; what no picture shows stays as it is."""
    for path in reversed(paths):
        with suppress(NetloupeError):
            reveal(session.views, path)


def _set_looks(session: Session, link: PageLink, choices: Mapping[str, Any]) -> None:
    options = session.views.options
    if link.direction != options.direction:
        session.set_direction(link.direction)
    if choices["details"] != options.details:
        session.set_details(choices["details"])
    if choices["share"] != options.canvas_share:
        session.set_share(choices["share"])
    session.set_wrap(choices["wrap"])


def _make_moment(session: Session, link: PageLink, choices: Mapping[str, Any]) -> Moment:
    views = session.views
    found = views.model[choices["graph"]]
    if getattr(found, "path", None) not in views.model.graphs_by_path:
        raise ViewError(f"{choices['graph']!r} is no graph of the model")
    wanted = link.open_paths or OpenPaths((), frozenset(), {}, ())
    shapes: dict[str, set[str]] = {}
    for path in wanted.shapes:
        home = path
        while home and home not in views.model.graphs_by_path:
            home = home.rpartition("/")[0]
        if home:
            shapes.setdefault(home, set()).add(path)
    state = OpenState(
        wanted.keys,
        wanted.unrolled,
        wanted.shown,
        {path: frozenset(groups) for path, groups in shapes.items()},
        session.first.open_state.shows_shapes,
        {},
    )
    unnamed = tuple(text for text in choices["unnamed"].split(",") if text)
    return Moment(found.path, choices["grouping"], link.focus, state, unnamed)


def _list_not_open(session: Session, wanted: OpenPaths) -> list[str]:
    """Return what was to be open, and is not since the model does not have it."""
    items = session.views.current.items
    missing = [key for key in wanted.keys if key not in items]
    for key, index in wanted.shown.items():
        item = items.get(key)
        if item is not None and item.repeat is not None and item.shown != index:
            missing.append(f"repetition {index} of {key}")
    return missing
