"""What is left out, renamed and highlighted for one figure, and the file that keeps it.

A file is TOML with three entries: ``hide``, a list of paths or of what is searched, and the tables
``rename`` and ``highlight``, which give paths texts and colours. It makes the same figure again of
the next export of a model: what is not found any more is told, and all else holds.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.errors import NotFoundError, ViewError
from netloupe.explorer.files.output import write_file
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.hiding import hide_items

from .category import CATEGORIES
from .paint import Paint, Paints
from .theme import Theme
from .tones import is_hex

#: of entries of each kind, of letters in a text and in a path, and of bytes in a file
MOST_ENTRIES = 1_000
LONGEST_TEXT = 120
LONGEST_PATH = 4_000
MOST_BYTES = 1_000_000
_KINDS = ("hide", "rename", "highlight")
#: so many names are looked through for those that are near
_MOST_NAMES = 2_000
_MOST_NEAR = 3
_COLOURS = f"one of {', '.join(CATEGORIES)}, or #rrggbb"


@explain_methods()
@dataclass(frozen=True, slots=True)
class Figure:
    """What is left out, renamed and highlighted for one figure.

    Parameters
    ----------
    hide
        Paths or titles of boxes, or words as for :meth:`Model.search`: all boxes that they find.
        What a hidden box takes leads to where what it gives goes.
    rename
        By path or title the text that a box is called by, of at most 120 letters.
    highlight
        By path or title the colour of a box: a category such as ``attention``, or ``#rrggbb``.
    source
        The file that it was read from; "" for none.

    Raises
    ------
    ViewError
        Where an entry is none of these; the message names it, and what may stand there.
    """

    hide: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    highlight: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        prefix = f"{self.source}: " if self.source else ""
        problem = next(_list_problems(self.hide, self.rename, self.highlight), "")
        if problem:
            raise ViewError(prefix + problem)
        colours = {path: colour.lower() for path, colour in self.highlight.items()}
        object.__setattr__(self, "hide", tuple(self.hide))
        object.__setattr__(self, "rename", dict(self.rename))
        object.__setattr__(self, "highlight", colours)

    def __bool__(self) -> bool:
        """Whether it changes anything."""
        return bool(self.hide or self.rename or self.highlight)

    def over(self, other: Figure) -> Figure:
        """Return this with what another one has beside it.

        Parameters
        ----------
        other
            Whose entries of the same name give way.
        """
        return Figure(
            tuple(dict.fromkeys((*other.hide, *self.hide))),
            {**other.rename, **self.rename},
            {**other.highlight, **self.highlight},
            other.source,
        )

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Figure:
        """Read a file.

        Parameters
        ----------
        path
            TOML as :meth:`write` writes it; ``~`` is the home folder.

        Raises
        ------
        ViewError
            Where it cannot be read, or has other entries than those of a figure.
        """
        source = fspath(path)
        try:
            with Path(path).expanduser().open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise ViewError(f"{source}: has more than {MOST_BYTES:,} bytes. It is no figure.")
            given: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ViewError(f"{source}: cannot be read: {reason}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ViewError(f"{source}: is no TOML: {error}.") from error
        for name in given:
            if name not in _KINDS:
                raise ViewError(
                    f"{source}: there is no entry {name!r}. Choose among {', '.join(_KINDS)}."
                )
        return cls(**given, source=source)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a file that :meth:`read` reads.

        Parameters
        ----------
        path
            The file; ``~`` is the home folder.

        Raises
        ------
        OutputError
            Where it cannot be written.
        """
        write_file(path, self.text.encode("utf-8"))

    @property
    def text(self) -> str:
        """What a file of it holds."""
        lines = []
        if self.hide:
            lines += ["hide = [", *(f"  {_quote(text)}," for text in self.hide), "]"]
        for name, entries in (("rename", self.rename), ("highlight", self.highlight)):
            if entries:
                pairs = (f"{_quote(path)} = {_quote(text)}" for path, text in entries.items())
                lines += ["", f"[{name}]", *pairs] if lines else [f"[{name}]", *pairs]
        return "".join(f"{line}\n" for line in lines)


def read_figure(given: Figure | str | PathLike[str] | None) -> Figure:
    """Return a figure, one that is in a file, or where None is given one that changes nothing.

    Raises
    ------
    ViewError
        For anything else, and what :meth:`Figure.read` raises.
    """
    if given is None:
        return Figure()
    if isinstance(given, Figure):
        return given
    if isinstance(given, str | PathLike):
        return Figure.read(given)
    raise ViewError(f"figure is a {type(given).__name__}. Give a Figure, or the path of a file.")


def edit_view(view: View, figure: Figure) -> tuple[dict[str, str], list[str]]:
    """Leave boxes of a view out and rename others, as a figure says.

    Returns
    -------
    dict
        By path the colours of the boxes that are highlighted.
    list
        What is not found, in sentences.
    """
    notices: list[str] = []

    def find(kind: str, text: str, *, searches: bool = False) -> list[Item]:
        found = find_shown(view, text)
        if not found and searches:
            found = _search_shown(view, text)
        if not found:
            notices.append(_tell_missing(view, figure.source, kind, text))
        return found

    # all are looked for before any of them changes its name or is gone
    hidden = [item for text in figure.hide for item in find("hide", text, searches=True)]
    renamed = [(item, new) for old, new in figure.rename.items() for item in find("rename", old)]
    colours = {
        item.path: colour
        for text, colour in figure.highlight.items()
        for item in find("highlight", text)
    }
    for item, text in renamed:
        item.label = text
        item.children = item.children  # it is laid out anew
    hide_items(view, dict.fromkeys(hidden))
    return colours, notices


def paint_figure(colours: Mapping[str, str], theme: Theme) -> Paints:
    """Return how boxes are painted that are highlighted, by path."""
    return {
        path: Paint(colour if is_hex(colour) else theme.category(colour).tint)
        for path, colour in colours.items()
    }


def find_shown(view: View, text: str) -> list[Item]:
    """Return the boxes of a view that a person means: by path, by name, or else by title."""
    shown = [*_list_shown(view)]
    for path in _list_paths(view, text):
        found = [item for item in shown if path in (item.key, item.path, item.repetition_path)]
        if found:
            return found
    return [item for item in shown if text in (item.label, _title_of(item))]


def _list_paths(view: View, text: str) -> Iterator[str]:
    """Yield the paths that a text may stand for."""
    yield text
    group = view.find(text)
    if group is not None:
        yield group
    try:
        found: Any = view.model[text]
    except NotFoundError:
        return
    yield str(getattr(found, "path", ""))


def _search_shown(view: View, text: str) -> list[Item]:
    """Return the boxes that a search finds."""
    paths = {*view.model.search(text)}
    return [item for item in _list_shown(view) if item.path in paths]


def _list_shown(view: View) -> Iterator[Item]:
    for item in view.open_items():
        yield from (child for child in item.children if child.kind != "stub")


def _title_of(item: Item) -> str:
    element = item.element
    if isinstance(element, Group):
        return element.label
    return element.op_type if isinstance(element, Node) else str(getattr(element, "name", ""))


def _tell_missing(view: View, source: str, kind: str, text: str) -> str:
    names: dict[str, None] = {}
    for item in _list_shown(view):
        end = item.path.rstrip("/").rpartition("/")[2]
        names.update(dict.fromkeys(filter(None, (item.label or _title_of(item), end, item.path))))
        if len(names) > _MOST_NAMES:
            break
    near = difflib.get_close_matches(text[:LONGEST_TEXT], names, _MOST_NEAR, 0.5)
    told = f"Near it are {', '.join(map(repr, near))}." if near else "Nothing is called nearly so."
    where = f"{source}: " if source else ""
    return f"{where}{kind} {text[:LONGEST_TEXT]!r}: nothing that is drawn is called so. {told}"


def _list_problems(hide: Any, rename: Any, highlight: Any) -> Iterator[str]:
    """Yield what is wrong with the entries of a figure."""
    if isinstance(hide, str) or not isinstance(hide, Sequence):
        yield f"hide is a {type(hide).__name__}. Give a list of texts."
        return
    for name, entries in (("rename", rename), ("highlight", highlight)):
        if not isinstance(entries, Mapping):
            yield f"{name} is a {type(entries).__name__}. Give a table of paths and texts."
            return
    for name, given in (("hide", hide), ("rename", rename), ("highlight", highlight)):
        if len(given) > MOST_ENTRIES:
            yield f"{name} has {len(given):,} entries. Give {MOST_ENTRIES:,} at most."
        for text in given:
            yield from _check_text(f"{name} {_show(text)}", text, LONGEST_PATH)
    for path, text in rename.items():
        yield from _check_text(f"rename {_show(path)}", text, LONGEST_TEXT)
    for path, colour in highlight.items():
        known = isinstance(colour, str) and (colour in CATEGORIES or is_hex(colour.lower()))
        if not known:
            yield f"highlight {_show(path)} is {_show(colour)}. Give {_COLOURS}."


def _check_text(what: str, text: Any, longest: int) -> Iterator[str]:
    if not isinstance(text, str):
        yield f"{what} is a {type(text).__name__}. Give a text."
    elif not text.strip() or len(text) > longest:
        yield f"{what} has {len(text):,} letters. Give a text of 1 to {longest:,}."
    elif not text.isprintable():
        yield f"{what} has letters that cannot be printed. Leave them out."


def _show(given: Any) -> str:
    return repr(given if not isinstance(given, str) else given[:LONGEST_TEXT])[:200]


def _quote(text: str) -> str:
    """Return a text as a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def split_pairs(pairs: Iterable[str], option: str, *, at_last: bool) -> dict[str, str]:
    """Return what stands before and behind the sign = of words of the command line.

    Raises
    ------
    ViewError
        Where one has none.
    """
    found = {}
    for pair in pairs:
        path, sign, text = pair.rpartition("=") if at_last else pair.partition("=")
        if not sign or not path or not text:
            wanted = "COLOUR" if at_last else "TEXT"
            raise ViewError(
                f"{option} {_show(pair)} has no path, sign = and text. Give PATH={wanted}."
            )
        found[path] = text
    return found
