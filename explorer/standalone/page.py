"""The explorer in one file: an HTML page that needs nothing but a browser.

The page has one script, named in its content policy by its hash, and behind it the blocks that the
script reads: of a file that was cut short it can say so. It reaches no network, and no text of a
model is more than text in it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, get_args

from netloupe.explorer.files.output import check_ending, check_place, write_file
from netloupe.explorer.layout import PATIENCE, Composer, FirstView, Window
from netloupe.explorer.model import Model
from netloupe.explorer.options import OPTIONS, Direction
from netloupe.explorer.options.command import write_command
from netloupe.explorer.page import PAGE
from netloupe.explorer.render.paint import NO_PAINTS, Paint, Paints, check_paints
from netloupe.explorer.render.picture import (
    Labels,
    Picture,
    make_view,
    render_picture,
    title_of_model,
)
from netloupe.explorer.render.shares import Shares
from netloupe.explorer.render.tables import write_json
from netloupe.explorer.render.text import clean_label
from netloupe.explorer.view import Item, View, ViewKeywords, ViewOptions

from .blocks import write_block
from .facts import FactWriter
from .level_block import Numbers
from .levels import state_of, write_levels
from .limits import USUAL, choose_limits
from .search_block import write_search
from .weights import WeightBudget, WeightContent, WeightWriter

if TYPE_CHECKING:
    from os import PathLike

#: the number of the description of the model itself
_MODEL = -1
_STYLE = """
body { background: #fbfcfd; margin: 12px; }
[data-theme="dark"] body { background: #0f1318; }
.nl-page-error { color: #c62828; font: 14px/1.5 "DejaVu Sans", Verdana, sans-serif; }
noscript svg { max-width: 100%; height: auto; }
"""


#: options that are of still pictures alone
_STILL = ("wrap", "page", "legend", "scale", "font")


def draw_page(
    model: Model,
    path: str | PathLike[str] | None = None,
    paint: Mapping[Any, Paint] | None = None,
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
        Where the file cannot be written, or its name promises another format.
    """
    options = ViewOptions.parse(view)
    paints = check_paints(paint)
    if path is not None:  # what can be known to be wrong is said before the work begins
        check_ending(path, "html")
        check_place(path)
    data, _ = make_page(model, options, paints)
    if path is not None:
        write_file(path, data)
    return data


def make_page(
    model: Model,
    options: ViewOptions,
    paints: Paints = NO_PAINTS,
    shown: View | None = None,
    weights: WeightContent = "histograms",
    budget: WeightBudget | None = None,
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
    weights
        What the page has of weights: statistics and histograms, or nothing. In neither case it
        has their elements, but for those of which their descriptions tell.
    budget
        How much of the weights is read.

    Raises
    ------
    NotFoundError
        Where ``graph`` or ``focus`` names nothing.
    ViewError
        Where they name something of the wrong kind.
    """
    if options.title == "auto":
        options = replace(options, title=title_of_model(model, options.graph))
    composer = Composer()
    shares = Shares(model, options.share)
    labels = _make_labels(options, options.direction, shares)
    if shown is None:
        first = FirstView(composer, labels, Window(*map(float, options.window)))
        view, notices = make_view(model, options, first)
    else:
        view, notices = shown, []
    scene = composer.compose(view, labels, options.direction, deadline=PATIENCE)
    notices += _list_ignored(options)
    still = Picture(model, view, options, scene, labels, paints=paints)
    weighed = WeightWriter(weights, budget, model.source)
    limits = choose_limits(model)
    facts = FactWriter(model, weighed, limits.elements)
    facts.add(_MODEL, "", view)
    blocks: list[tuple[str, bytes]] = []
    texts = Numbers()
    numbers: dict[str, int] = {}
    linked: list[str] = []
    for direction in get_args(Direction):
        everything = View(model, view.graph, view.grouping, view.only, view.unnamed, view)
        is_first = direction == options.direction
        is_told = not blocks
        blocks.append(
            (
                f"levels-{direction}",
                write_levels(
                    everything,
                    labels if is_first else _make_labels(options, direction, shares),
                    direction,
                    composer.recall(view) if is_first else None,
                    texts,
                    partial(_note, facts, numbers, everything) if is_told else None,
                    limits,
                ),
            )
        )
        if is_told:
            blocks.append(("search", write_search(everything, numbers, limits.findable)))
            linked = facts.add_linked(numbers, everything)
    described, elements = facts.write()
    if facts.is_cut or limits is not USUAL:
        notices.append(
            f"The model is so large that this page holds a part of it: what is in up to "
            f"{limits.levels:,} groups, and descriptions of {facts.count:,} elements."
        )
    listed = [number for each in elements for number in each]
    blocks.append(("elements", write_block({"elements": listed}, {"linked": linked})))
    blocks += [(f"facts-{number}", block) for number, block in enumerate(described)]
    histograms, weight_counts, left_out = weighed.write()
    blocks += [(f"weights-{number}", block) for number, block in enumerate(histograms)]
    notices += left_out
    graph = view.graph
    data = {
        "title": still.title,
        "mark": hashlib.sha256(blocks[0][1]).hexdigest()[:8],
        "first": dict(_list_open(view.root)),
        "command": _start_command(model, options, is_first=shown is None),
        "traits": {
            "title": still.title,
            "file_name": Path(model.source).name,
            "direction": options.direction,
            "theme": options.theme,
            "height": 0,
            "paints": {path: [paint.tone, paint.text] for path, paint in paints.items()},
            "breadcrumb": [[graph.path, clean_label(graph.name or graph.path)]],
        },
        "notices": notices,
        "described": [len(each) for each in elements],
        "weights": weight_counts,
    }
    svg = render_picture(replace(still, sheet=None), "svg").decode()
    return _write_html(still.title, data, blocks, svg).encode(), notices


def _list_ignored(options: ViewOptions) -> list[str]:
    usual = ViewOptions()
    given = [name for name in _STILL if getattr(options, name) != getattr(usual, name)]
    if not given:
        return []
    what = ", ".join(given)
    return [f"The explorer in a page has no {what}: still pictures have (--static, static=True)."]


def write_page(picture: Picture) -> tuple[bytes, list[str]]:
    """Return the page of what a picture shows, with the same groups open, and notices about it."""
    return make_page(picture.model, picture.options, picture.paints, picture.view)


def _start_command(model: Model, options: ViewOptions, *, is_first: bool) -> dict[str, str]:
    """Return the command that draws a model, but for what can be changed on its page.

    Its folder is nobody's business who is given the page.
    """
    name = Path(model.source).name or "model.onnx"
    values = asdict(options) | {name: OPTIONS[name].default for name in _STILL} | {"wrap": False}
    # what fits is chosen for a window that is not quite that of a picture
    is_said = is_first and options.expand != "auto"
    for changed in ("expand", "direction", "theme"):
        del values[changed]
    return {
        "text": write_command(name, f"{Path(name).stem}.svg", values),
        "expand": str(options.expand) if is_said else "",
    }


def _note(facts: FactWriter, numbers: dict[str, int], view: View, number: int, path: str) -> None:
    """Describe what is at a path, and remember its number."""
    numbers[path] = number
    facts.add(number, path, view)


def _make_labels(options: ViewOptions, direction: Direction, shares: Shares) -> Labels:
    return Labels(options.details, direction, shares)


def _list_open(item: Item) -> Iterator[tuple[str, Any]]:
    """Yield what is open inside an item: its key, its state, and what is open in it."""
    for child in item.children:
        if child.is_open:
            yield child.key, [state_of(child), dict(_list_open(child))]


def _encode(block: bytes) -> str:
    return base64.b64encode(block).decode()


def _write_html(title: str, data: Any, blocks: list[tuple[str, bytes]], svg: str) -> str:
    script = (PAGE / "page.js").read_text("utf-8").replace("</script", "<\\/script")
    digest = _encode(hashlib.sha256(script.encode()).digest())
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    style = (PAGE / "explorer.css").read_text("utf-8") + _STYLE
    written = "".join(
        f'<script type="text/plain" data-block="{name}">{_encode(block)}</script>\n'
        for name, block in blocks
    )
    heading = escape(clean_label(title))
    # no text of a model ends the element
    told = write_json(data).decode("utf-8", "surrogateescape").replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{heading}</title>
<style>{style}</style>
</head>
<body>
<script>{script}</script>
<script type="application/json" id="nl-data">{told}</script>
{written}<noscript>
{svg}</noscript>
</body>
</html>
"""
