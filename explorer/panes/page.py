"""Two models side by side: the explorer of each, painted by what differs, in one HTML page.

The page has one copy of the explorer's script, of which it makes both frames: these are of the same
origin as the page around, which keeps them at the same place. It reaches no network, and no text of
a model is more than text in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from netloupe.explorer.compare import Diff
from netloupe.explorer.describe.difference_summary import (
    tell_sides_apart,
    write_compatibility,
    write_verdict,
)
from netloupe.explorer.errors import OutputError, ViewError
from netloupe.explorer.files.output import check_ending, check_place, write_file
from netloupe.explorer.layout.patience import Patience
from netloupe.explorer.layout.place import Placer
from netloupe.explorer.model import Model
from netloupe.explorer.notation import write_bytes
from netloupe.explorer.options import WeightContent
from netloupe.explorer.progress import part, step
from netloupe.explorer.render.differences import title_difference
from netloupe.explorer.render.json_text import write_json
from netloupe.explorer.render.paint import Paints
from netloupe.explorer.render.side_differences import find_operand_kinds, paint_sides
from netloupe.explorer.review import encode_review, make_review
from netloupe.explorer.standalone.content import PageContent
from netloupe.explorer.standalone.document import SplitPage, encode, split_page, write_html
from netloupe.explorer.standalone.page import make_page
from netloupe.explorer.view import OperandKinds, ViewKeywords, ViewOptions

from .document import PaneContent, PanesContent, write_panes_html
from .pairs import write_pairs

if TYPE_CHECKING:
    from os import PathLike

#: what is about one part of one model
_OF_ONE_GRAPH = ("graph", "focus")
#: the paths of items begin with the side that they are of
OLDER, NEWER = "old: ", "new: "


def draw_panes(
    found: Diff,
    path: str | PathLike[str] | None = None,
    weights: WeightContent | None = None,
    size_limit: str | int | None = None,
    **view: Unpack[ViewKeywords],
) -> bytes:
    """Return the page of two models side by side in UTF-8; write it to ``path`` where given.

    Raises
    ------
    ViewError
        For an option that does not exist or does not fit, and for ``graph`` and ``focus``, which
        are of one model.
    OutputError
        Where the file cannot be written, its name promises another format, or no page is as
        small as it must be.
    """
    options = ViewOptions.parse(view)
    content = PageContent.parse(weights, size_limit)
    if path is not None:  # what can be known to be wrong is said before the work begins
        check_ending(path, "html")
        check_place(path)
    data, _ = make_panes(found, options, content, follows_system=view.get("theme") is None)
    if path is not None:
        write_file(path, data)
    return data


def make_panes(
    found: Diff, options: ViewOptions, content: PageContent, *, follows_system: bool = False
) -> tuple[bytes, list[str]]:
    """Return the page of two models side by side, and notices about it.

    Parameters
    ----------
    found
        What differs between them.
    options
        The first view of each; direction and theme can be changed on the page.
    content
        What it holds of weights, and how large it is at most.
    follows_system
        Whether it is light or dark as the system is, in place of the theme of the options.

    Raises
    ------
    ViewError
        For ``graph`` and ``focus``, which are of one model.
    OutputError
        Where no page is as small as it must be.
    """
    usual = ViewOptions()
    for name in _OF_ONE_GRAPH:
        if getattr(options, name) != getattr(usual, name):
            raise ViewError(
                f"{name} names a part of one model, and two panes show two. Leave it out."
            )
    return _PanesMaker(found, options, content, follows_system=follows_system).make()


@dataclass(frozen=True, slots=True)
class _Side:
    """One of both models, and how it is shown."""

    model: Model
    paints: Paints
    operand_kinds: OperandKinds
    name: str
    #: of a progress bar
    begin: float
    end: float


class _PanesMaker:
    def __init__(
        self, found: Diff, options: ViewOptions, content: PageContent, *, follows_system: bool
    ) -> None:
        self._found, self._options, self._content = found, options, content
        self._follows_system = follows_system
        self._patience, self._placer = Patience(), Placer()

    def make(self) -> tuple[bytes, list[str]]:
        found, options = self._found, self._options
        with part(0.0, 0.1):
            paints = paint_sides(found, options.grouping)
            kinds = find_operand_kinds(found)
            pairs = encode(write_pairs(found, options.grouping))
        names = tell_sides_apart(found)
        sides = (
            _Side(found.left, paints.left, kinds.left, names[0], 0.1, 0.55),
            _Side(found.right, paints.right, kinds.right, names[1], 0.55, 1.0),
        )
        title = options.title if options.title not in (None, "auto") else title_difference(found)
        review = encode_review(make_review(None, found, find_shown=_find_on_sides))
        around = PanesContent(
            title=title or f"{names[1]} against {names[0]}",
            verdict=write_verdict(found),
            compatibility=write_compatibility(found),
            theme="auto" if self._follows_system else options.theme,
            review=review,
            pairs=pairs,
            panes=(),
        )
        share = self._find_share(around)
        notices: dict[str, None] = {}
        panes, head = [], ""
        for side in sides:
            split, told = self._make_side(side, share)
            notices.update(dict.fromkeys(f"{side.name}: {text}" for text in told))
            panes.append(PaneContent(side.name, _tell_pane(split.data), split.blocks, split.still))
            head = split.head
        step("writing the page")
        page = write_panes_html(replace(around, panes=tuple(panes)), head).encode()
        limit = self._content.size_limit
        if limit is not None and len(page) > limit:
            raise _refuse_size(len(page), limit)
        return page, [*notices]

    def _make_side(self, side: _Side, share: int | None) -> tuple[SplitPage, list[str]]:
        with part(side.begin, side.end):
            page, notices = make_page(
                side.model,
                replace(self._options, title=side.name),
                side.paints,
                content=replace(self._content, size_limit=share),
                follows_system=self._follows_system,
                operand_kinds=side.operand_kinds,
                patience=self._patience,
                placer=self._placer,
                models=2,
            )
        return split_page(page), notices

    def _find_share(self, around: PanesContent) -> int | None:
        """Return how large the page of one model may be; None for any size."""
        limit = self._content.size_limit
        if limit is None:
            return None
        head = split_page(_write_empty()).head
        around_size = len(write_panes_html(around, head).encode())
        # each page has its script, of which one copy is written
        share = (limit - around_size) // 2 + len(head.encode())
        if share <= len(head.encode()):
            raise _refuse_size(around_size, limit)
        return share


def _write_empty() -> bytes:
    return write_html("", {}, {}, "").encode()


def _refuse_size(size: int, limit: int) -> OutputError:
    return OutputError(
        f"the page takes {write_bytes(size)} at least, more than its size limit of "
        f"{write_bytes(limit)}. Allow more, or write the picture of both models as one."
    )


def _find_on_sides(path: str, is_older: bool) -> str:
    """Return where the page shows an element: a path of one of both models, and of which."""
    return f"{OLDER if is_older else NEWER}{path}"


def _tell_pane(data: str) -> str:
    """Return the data of a page as one of both panes takes it."""
    told: dict[str, Any] = json.loads(data)
    told["in_pane"] = True
    told["traits"]["inspector_shown"] = False
    return write_json(told).decode("utf-8", "surrogateescape").replace("<", "\\u003c")
