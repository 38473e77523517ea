"""The explorer in one file: an HTML page that needs nothing but a browser.

The page has one script, named in its content policy by its hash, and behind it the blocks that the
script reads: of a file that was cut short it can say so. It reaches no network, and no text of a
model is more than text in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from netloupe.explorer.files.output import check_ending, check_place, write_file
from netloupe.explorer.layout import PATIENCE, Composer, FirstView, Window
from netloupe.explorer.layout.patience import Patience
from netloupe.explorer.layout.place import Placer
from netloupe.explorer.model import Model
from netloupe.explorer.model.collector import old_spared
from netloupe.explorer.options import OPTIONS, WeightContent
from netloupe.explorer.options.command import write_command
from netloupe.explorer.overlays import Overlay, make_overlays
from netloupe.explorer.render.asked_view import make_view
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.legend import walk_items
from netloupe.explorer.render.paint import (
    NO_PAINTS,
    Paint,
    Paints,
    check_paints,
    encode_paints,
    lay_paints,
)
from netloupe.explorer.render.picture import Picture, render_picture, title_of_model
from netloupe.explorer.render.shares import Shares
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.review import (
    Review,
    Reviewable,
    make_review,
    paint_places,
    place_items,
    take_review,
)
from netloupe.explorer.view import (
    NO_OPERAND_KINDS,
    Item,
    OperandKinds,
    View,
    ViewKeywords,
    ViewOptions,
)

from .content import EVERYTHING, PageContent
from .fitting import fit_page
from .levels import state_of
from .limits import Limits, choose_limits
from .parts import PageParts
from .review_block import write_review
from .weight_statistics import WeightBudget

if TYPE_CHECKING:
    from os import PathLike

#: options that are of still pictures alone
STILL_OPTIONS = ("wrap", "page", "legend", "key", "controls", "scale", "font")


def draw_page(
    model: Model,
    path: str | PathLike[str] | None = None,
    paint: Mapping[Any, Paint] | None = None,
    color_by: Any = None,
    weights: WeightContent | None = None,
    size_limit: str | int | None = None,
    review: Reviewable | Iterable[Reviewable] | None = None,
    **view: Unpack[ViewKeywords],
) -> bytes:
    """Return the page of a model in UTF-8; write it to ``path`` where given.

    Raises
    ------
    NotFoundError
        Where ``graph`` or ``focus`` names nothing.
    ViewError
        For an option that does not exist or does not fit.
    OutputError
        Where the file cannot be written, its name promises another format, or no page is as
        small as it must be.
    """
    options = ViewOptions.parse(view)
    content = PageContent.parse(weights, size_limit)
    paints = check_paints(paint)
    listed = None if review is None else take_review(review, model)
    if path is not None:  # what can be known to be wrong is said before the work begins
        check_ending(path, "html")
        check_place(path)
    given = [*color_by] if isinstance(color_by, list | tuple) else [color_by]
    overlays = [] if color_by is None else make_overlays(model, given)
    data, _ = make_page(
        model,
        options,
        paints,
        content=content,
        review=listed,
        follows_system=view.get("theme") is None,
        overlays=overlays,
    )
    if path is not None:
        write_file(path, data)
    return data


def make_page(
    model: Model,
    options: ViewOptions,
    paints: Paints = NO_PAINTS,
    shown: View | None = None,
    content: PageContent = EVERYTHING,
    budget: WeightBudget | None = None,
    review: Review | None = None,
    *,
    marks_shown: bool = True,
    follows_system: bool = False,
    overlays: Sequence[Overlay] = (),
    operand_kinds: OperandKinds = NO_OPERAND_KINDS,
    patience: Patience | None = None,
    placer: Placer | None = None,
    models: int = 1,
) -> tuple[bytes, list[str]]:
    """Return the page of a model, and notices about it.

    Parameters
    ----------
    model
        The model.
    options
        The first view; direction and theme can be changed on the page.
    paints
        What is painted, by path.
    shown
        What is open at first; what the options open where None.
    content
        What the page holds.
    budget
        How much of the weights is read.
    review
        What its Review tab lists; None for no such tab, but for a model made of two: then it lists
        what differs.
    marks_shown
        Whether items of the review are marked at first.
    follows_system
        Whether it is light or dark as the system is, in place of the theme of the options.
    overlays
        What boxes can be coloured by: the first one is chosen at first.
    operand_kinds
        How some nodes take some values, as for :class:`~netloupe.explorer.view.View`; ``shown``
        has its own.
    patience
        With layouts that take too long; shared by pages that are put together in one.
    placer
        Keeps the placements that were seen; shared likewise.
    models
        How many models are put together in one page: see :func:`.limits.choose_limits`.

    Raises
    ------
    NotFoundError
        Where ``graph`` or ``focus`` names nothing.
    ViewError
        Where they name something of the wrong kind.
    OutputError
        Where no page is as small as it must be.
    """
    if options.title == "auto":
        options = replace(options, title=title_of_model(model, options.graph))
    found = model.comparison
    if review is None and found is not None:
        review = make_review(None, found, find_shown=found.merging.find_shown)
    composer = Composer(patience=patience or Patience(), placer=placer)
    labels = Labels(options.details, options.direction, Shares(model, options.canvas_share))
    if shown is None:
        opener = FirstView(composer, labels, Window(*map(float, options.window)))
        view, notices = make_view(model, options, opener, operand_kinds)
    else:
        view, notices = shown, []
    scene = composer.compose(view, labels, options.direction, deadline=PATIENCE)
    marks, others = NO_PAINTS, {}
    if review is not None:
        items = dict(enumerate(review))
        if found is not None:  # what differs is painted already
            items = {n: item for n, item in items.items() if item.kind != "difference"}
        places = place_items(items, model, lambda graph: view.borders(graph).tree)
        marks = paint_places(places, items)
        others = {"review": write_review(model, review, places)}
    seen = marks if marks_shown else NO_PAINTS
    first: Overlay | None = overlays[0] if overlays else None
    coloured = first.paint(view, walk_items(scene)) if first is not None else NO_PAINTS
    still = Picture(
        model,
        view,
        options,
        scene,
        labels,
        paints=lay_paints(seen, lay_paints(paints, coloured)),
        colouring=first,
    )
    data = {
        "title": still.title,
        "first": write_open_groups(view.root),
        "command": _start_command(model, options, is_first=shown is None),
        "traits": {
            "title": still.title,
            "file_name": Path(model.source).name,
            "direction": options.direction,
            "theme": "auto" if follows_system else options.theme,
            "height": 0,
            "paints": encode_paints(paints),
            "marks": encode_paints(seen),
            "overlays": [overlay.name for overlay in overlays],
            "overlay": 0 if overlays else -1,
            "breadcrumb": [[view.graph.path, clean_label(view.graph.name or view.graph.path)]],
        },
        "notices": notices + _list_ignored(options),
    }
    svg = render_picture(replace(still, sheet=None), "svg").decode()

    # a view of very much takes seconds and memory: one of our own with nothing open does for all
    closed = view if shown is None and not view.open_state().keys else None

    def collect(limits: Limits, is_ranked: bool) -> PageParts:
        return PageParts(
            still,
            composer,
            limits,
            content,
            budget,
            is_ranked=is_ranked,
            closed=closed,
            others=others,
            overlays=overlays,
        )

    with old_spared():
        return fit_page(collect, choose_limits(model, models), data, svg)


def _list_ignored(options: ViewOptions) -> list[str]:
    usual = ViewOptions()
    given = [name for name in STILL_OPTIONS if getattr(options, name) != getattr(usual, name)]
    if not given:
        return []
    what = ", ".join(given)
    return [f"The explorer in a page has no {what}: still pictures have (static)."]


def write_page(
    picture: Picture, review: Review | None = None, *, marks_shown: bool = True
) -> tuple[bytes, list[str]]:
    """Return the page of what a picture shows, with the same groups open, and notices about it.

    The parameters are those of :func:`make_page`; the picture's paints are without marks.
    """
    return make_page(
        picture.model,
        picture.options,
        picture.paints,
        picture.view,
        review=review,
        marks_shown=marks_shown,
    )


def _start_command(model: Model, options: ViewOptions, *, is_first: bool) -> dict[str, str]:
    """Return the command that draws a model, but for what can be changed on its page.

    Its folder is nobody's business who is given the page.
    """
    name = Path(model.source).name or "model.onnx"
    still = {name: OPTIONS[name].default for name in STILL_OPTIONS}
    values = asdict(options) | still | {"wrap": False}
    # what fits is chosen for a window that is not quite that of a picture
    is_said = is_first and options.expand != "auto"
    for changed in ("expand", "direction", "theme"):
        del values[changed]
    return {
        "text": write_command(name, f"{Path(name).stem}.svg", values),
        "expand": str(options.expand) if is_said else "",
    }


def write_open_groups(item: Item) -> dict[str, Any]:
    """Return what is open inside an item: by its key its state, and what is open in it."""
    return {
        child.key: [state_of(child), write_open_groups(child)]
        for child in item.children
        if child.is_open
    }
