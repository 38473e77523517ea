"""The legend: what the colours, lines and signs of a picture mean; only those that occur in it.

``legend.json`` has the words. A picture is given its legend as marks, the canvas as a list of
small pictures with their words, both made here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from netloupe.explorer.layout import Scene, SceneLevel
from netloupe.explorer.view import Item

from .called import list_open_calls, paint_calls
from .face import Bar, Face
from .marks import (
    DIFFERING,
    CircleMark,
    CurveMark,
    LineMark,
    Mark,
    RectMark,
    TextMark,
    colour_of_edge,
    hatch,
    mark_bar,
    mark_line,
    mark_port,
)
from .paint import NO_PAINTS, Paint, Paints, find_paint
from .sizes import (
    ARROW,
    BOX_BORDER,
    DASHES,
    EDGE_WIDTH,
    FRAME_BORDER,
    OPENER,
    RING_DASH,
    RING_WIDTH,
    RULE,
    SELECTED_EDGE_WIDTH,
    STREAM_WIDTH,
    STUB_DASH,
    TEXT_STYLES,
)
from .text import measure_text
from .theme import Theme

#: size of the small picture of an entry
SAMPLE_WIDTH = 34.0
SAMPLE_HEIGHT = 18.0
_ROW = 22.0
_GAP = 9.0
_COLUMN_GAP = 24.0
_ABOVE = 18.0
_TEXT = TEXT_STYLES["text"]
#: tones that stand in an order, and how many of each there are
_RAMPS = {"scale": 7, "diverging": 7, "category": 8}
_BASELINE = 12.8

#: tones that an overlay explains itself
_OF_OVERLAYS = frozenset({"scale", "diverging", "category", "missing"})

#: by sign the kind of difference that it marks
_DIFFERENCES = {"+": "added", "−": "removed", "Δ": "changed", "⇄": "moved"}
#: in which tone
_TONES = {
    "added": "added",
    "removed": "removed",
    "changed": "changed",
    "moved": "changed",
    "count": "changed",
}

Placed = tuple[float, float, Mark]


#: kinds of entries that an overlay explains itself by
OVERLAY_KINDS = ("heading", "painted")


class Entry(NamedTuple):
    """One line of a legend: what it explains (``linear``, ``stack``), and in which words.

    Beside the kinds of ``legend.json`` a line may explain a tone of an overlay (``painted``), or be
    words alone (``heading``).

    Parameters
    ----------
    kind
        What kind of thing it explains.
    key
        Which of that kind: as the tone.
    text
        In words.
    """

    kind: str
    key: str
    text: str

    @property
    def is_of_overlay(self) -> bool:
        """Whether it explains what boxes are coloured by."""
        return self.kind in OVERLAY_KINDS


@cache
def load_words() -> dict[str, dict[str, str]]:
    """Return the words of legends by kind and key, and those of the key at a picture's foot."""
    text = Path(__file__).with_name("legend.json").read_text(encoding="utf-8")
    words: dict[str, dict[str, str]] = json.loads(text)
    return words


def list_legend(
    scene: Scene,
    face_of: Callable[[Item], Face],
    paints: Paints = NO_PAINTS,
    overlay: Sequence[Entry] = (),
) -> list[Entry]:
    """Return what a picture's legend explains, in the order of ``legend.json``.

    Parameters
    ----------
    scene
        The picture.
    face_of
        Gives the face of an item.
    paints
        How boxes and edges are painted, by path.
    overlay
        What an overlay explains of its tones, which stands before all else.
    """
    categories, tones, signs = set(), set(), set()
    differences = set[str]()
    items = [*walk_items(scene)]
    paints = paint_calls(paints, list_open_calls(items))
    for item in items:
        paint = find_paint(paints, item.path)
        difference = find_difference(paint)
        if difference:
            differences.add(difference)
        else:
            tones |= _list_tones(paint)
        if item.is_open:
            signs.add("frame")
            continue
        face = face_of(item)
        if face.outline in ("stub", "junction", "caption"):
            signs.update([face.outline] if face.texts else [])
        elif paint is None or not paint.tone:
            categories.add(face.category)
        if face.stack:
            signs.add("stack")
        if face.bar is not None and face.bar.width:
            signs.add(f"share-{face.bar.share}")
        signs.update("chip" if badge.is_chip else "badge" for badge in face.badges)
        if any(run.text == OPENER and run.anchor == "end" for run in face.texts):
            signs.add("opener")
    for kind, path in _walk_edges(scene):
        signs.add(kind)
        if not differences:
            tones |= _list_tones(find_paint(paints, path))
    if scene.root is None:
        signs.update("continued" for box in scene.boxes if box.leaves is not None)
        signs.update("port" for _ in scene.ports)
    elif scene.root.ports_total:
        signs.add("port")
    found = {
        "differences": differences,
        "categories": categories,
        "tones": tones,
        "signs": signs,
    }
    if overlay:
        if "missing" not in tones:
            overlay = [entry for entry in overlay if entry.key != "missing"]
        tones -= _OF_OVERLAYS
    own = [entry for entry in list_all_entries() if entry.key in found[entry.kind]]
    return [*overlay, *own]


def find_difference(paint: Paint | None) -> str:
    """Return which difference of two models a paint tells of; "" for none."""
    if paint is None or not paint.mark:
        return ""
    if paint.mark[:1].isdecimal():
        return "count" if paint.tone_of_mark == _TONES["count"] else ""
    found = _DIFFERENCES.get(paint.mark, "")
    return found if _TONES.get(found) == paint.tone_of_mark else ""


def _list_tones(paint: Paint | None) -> set[str]:
    """Return the keys of the entries that explain a paint."""
    if paint is None:
        return set()
    return {tone.partition("-")[0] for tone in (paint.tone, paint.ring, paint.mark_tone) if tone}


def list_all_entries() -> list[Entry]:
    """Return all that legends can explain, in the order in which they do."""
    return [
        Entry(kind, key, text)
        for kind, words in load_words().items()
        if kind != "key"
        for key, text in words.items()
    ]


def walk_items(scene: Scene) -> Iterator[Item]:
    """Yield what is drawn; of scenes of a composer no places are computed for it."""
    if scene.root is None:
        yield from (box.item for box in scene.boxes if box.item.kind != "root")
        return
    for level in _walk_levels(scene.root):
        yield from level.children


def _walk_edges(scene: Scene) -> Iterator[tuple[str, str]]:
    """Yield kind and path of the edges that are drawn."""
    if scene.root is None:
        yield from ((edge.kind, path) for edge in scene.edges for path in edge.paths)
        return
    for level in _walk_levels(scene.root):
        drawn = (level.inside.curves.counts > 0).tolist()
        for edge, is_drawn in zip(level.edges, drawn, strict=True):
            if is_drawn:
                yield from ((edge.kind, path) for path in edge.paths)


def _walk_levels(root: SceneLevel) -> Iterator[SceneLevel]:
    pending = [root]
    while pending:
        level = pending.pop()
        yield level
        pending.extend(level.inner.values())


def mark_sample(entry: Entry, theme: Theme) -> list[Mark]:
    """Return the small picture of an entry, from its top left corner."""
    if entry.kind == "categories":
        colours = theme.category(entry.key)
        return [RectMark(3, 2, 28, 14, 4, colours.tint, colours.border)]
    if entry.kind == "heading":
        return []
    if entry.kind == "differences":
        return _mark_difference(entry.key, theme)
    if entry.kind == "painted":
        return _mark_painted(entry.key, theme)
    if entry.kind == "tones":
        if entry.key in _RAMPS:
            tones = [theme.tones[f"{entry.key}-{number}"] for number in range(_RAMPS[entry.key])]
            step = 28 / len(tones)
            return [
                RectMark(3 + number * step, 2, step, 14, 0, tone.fill)
                for number, tone in enumerate(tones)
            ]
        return _mark_painted(entry.key, theme)
    return _SIGNS[entry.key](theme)


def _mark_difference(key: str, theme: Theme) -> list[Mark]:
    """Return a box with a ring and a sign, or of a count the sign alone."""
    tone = theme.tones[_TONES[key]]
    size, bold = TEXT_STYLES["badge"]
    sign = "3" if key == "count" else next(s for s, k in _DIFFERENCES.items() if k == key)
    disc: list[Mark] = [
        CircleMark(28, 5, 5, tone.strong, tone.strong, 0),
        TextMark(28, 8.4, sign, size, bold, theme.body, "middle"),
    ]
    if key == "count":
        colours = theme.category("plain")
        return [RectMark(3, 3, 25, 13, 4, colours.frame, colours.border), *disc]
    fill = tone.fill if key == "removed" else theme.body
    dash = RING_DASH if key == "removed" else None
    return [RectMark(3, 3, 25, 13, 4, fill, tone.strong, RING_WIDTH, dash=dash), *disc]


def _mark_painted(tone: str, theme: Theme) -> list[Mark]:
    colours = theme.tones[tone]
    marks: list[Mark] = [RectMark(3, 2, 28, 14, 4, colours.fill, colours.border)]
    return [*marks, hatch(3, 2, 28, 14, colours.border)] if tone == "missing" else marks


def _mark_way(kind: str, theme: Theme) -> list[Mark]:
    points = (1.0, 9.0, 12.0, 9.0, 22.0, 9.0, 33.0, 9.0)
    colour = colour_of_edge(kind, theme)
    dash = RING_DASH if kind == "former" else DASHES.get(kind)
    width = SELECTED_EDGE_WIDTH if kind in DIFFERING else EDGE_WIDTH
    return mark_line(points, dash, colour, width, ARROW)


def _mark_port(theme: Theme) -> list[Mark]:
    frame = theme.category("plain")
    way = (17.0, 0.0, 17.0, 6.0, 17.0, 12.0, 17.0, 18.0)
    port: CircleMark = mark_port(17, 9, theme)
    return [
        RectMark(3, 9, 28, 9, 0, frame.frame),
        LineMark(3, 9, 28, frame.border),
        *mark_line(way, None, theme.stream, STREAM_WIDTH, None),
        port,
    ]


def _mark_frame(theme: Theme) -> list[Mark]:
    frame = theme.category("plain")
    return [RectMark(3, 1, 28, 16, 5, frame.frame, frame.border, FRAME_BORDER)]


def _mark_continued(theme: Theme) -> list[Mark]:
    frame = theme.category("plain")
    ways = [
        (8.0, 17.0, 8.0, 11.0, 8.0, 6.0, 8.0, 1.0),
        (26.0, 17.0, 26.0, 11.0, 26.0, 6.0, 26.0, 1.0),
    ]
    sides = [mark_line(way, None, frame.border, FRAME_BORDER, None) for way in ways]
    top = LineMark(8, 1, 18, frame.border)
    return [RectMark(8, 1, 18, 16, 0, frame.frame), top, *(mark for side in sides for mark in side)]


def _mark_opener(theme: Theme) -> list[Mark]:
    colours = theme.category("plain")
    size, bold = TEXT_STYLES["title-muted"]
    return [
        RectMark(3, 2, 28, 14, 4, colours.tint, colours.border, BOX_BORDER),
        TextMark(24, 13, OPENER, size, bold, colours.text, "middle"),
    ]


def _mark_stack(theme: Theme) -> list[Mark]:
    colours = theme.category("plain")
    size, bold = TEXT_STYLES["badge"]
    sheets: list[Mark] = [
        RectMark(3 + offset, 5 - offset, 24, 12, 3, colours.tint, colours.border)
        for offset in (4.0, 2.0, 0.0)
    ]
    return [*sheets, TextMark(15, 14.5, "×N", size, bold, colours.text, "middle")]


def _mark_junction(theme: Theme) -> list[Mark]:
    size, bold = TEXT_STYLES["title"]
    return [
        CircleMark(17, 9, 7.5, theme.body, theme.stream, BOX_BORDER),
        TextMark(17, 13.4, "+", size, bold, theme.ink, "middle"),
    ]


def _mark_caption(theme: Theme) -> list[Mark]:
    size, bold = TEXT_STYLES["badge"]
    lines = [CurveMark((17, y, 17, y, 17, y + 3, 17, y + 3), theme.stream) for y in (0, 15)]
    return [*lines, TextMark(17, 12.4, "× 2", size, bold, theme.muted, "middle")]


def _mark_share(theme: Theme) -> list[Mark]:
    colours = theme.category("weights")
    box = RectMark(3, 2, 28, 14, 4, colours.tint, colours.border)
    return [box, mark_bar(Bar("parameters", 7, 15, 12, ""), colours)]


def _mark_stub(theme: Theme) -> list[Mark]:
    return [RectMark(3, 3, 28, 12, 6, theme.stub.fill, theme.stub.border, dash=STUB_DASH)]


def _mark_pill(theme: Theme, *, is_chip: bool) -> list[Mark]:
    pill = theme.stub if is_chip else theme.badge
    return [RectMark(3, 3, 28, 12, 6, pill.fill, pill.border)]


_SIGNS: dict[str, Callable[[Theme], list[Mark]]] = {
    "frame": _mark_frame,
    "opener": _mark_opener,
    "stack": _mark_stack,
    "data": lambda theme: _mark_way("data", theme),
    "captured": lambda theme: _mark_way("captured", theme),
    "control": lambda theme: _mark_way("control", theme),
    "former": lambda theme: _mark_way("former", theme),
    "newer": lambda theme: _mark_way("newer", theme),
    "junction": _mark_junction,
    "caption": _mark_caption,
    "share-parameters": _mark_share,
    "share-macs": _mark_share,
    "share-bytes": _mark_share,
    "port": _mark_port,
    "continued": _mark_continued,
    "stub": _mark_stub,
    "chip": lambda theme: _mark_pill(theme, is_chip=True),
    "badge": lambda theme: _mark_pill(theme, is_chip=False),
}


class Legend:
    """A legend that is set in columns, as many as there is room for.

    Parameters
    ----------
    entries
        What it explains.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self._widths = [_indent(entry) + measure_text(entry.text, *_TEXT) for entry in entries]

    @property
    def least_width(self) -> float:
        """Width of one column."""
        return max(self._widths, default=0.0)

    def _columns(self, rows: int) -> list[float]:
        """Return the widths of the columns when they have so many rows."""
        widths = self._widths
        return [max(widths[start : start + rows]) for start in range(0, len(widths), rows)]

    def _rows(self, width: float) -> int:
        """Return how many rows there are in a width."""
        most = len(self.entries)
        for rows in range(1, most):
            columns = self._columns(rows)
            if sum(columns) + _COLUMN_GAP * (len(columns) - 1) <= width:
                return rows
        return max(most, 1)

    def height(self, width: float) -> float:
        """Return how high it is in a width."""
        return _ABOVE + _ROW * self._rows(width) if self.entries else 0.0

    def place(self, width: float, theme: Theme) -> Iterable[Placed]:
        """Yield its marks, read downwards, from its top left corner."""
        if not self.entries:
            return
        rows = self._rows(width)
        yield 0.0, 0.0, LineMark(0, 0, width, theme.rule, RULE)
        left = 0.0
        for column, across in enumerate(self._columns(rows)):
            for row, entry in enumerate(self.entries[column * rows : (column + 1) * rows]):
                y = _ABOVE * 0.7 + row * _ROW
                for mark in mark_sample(entry, theme):
                    yield left, y, mark
                yield (
                    left,
                    y,
                    TextMark(_indent(entry), _BASELINE, entry.text, *_TEXT, theme.ink),
                )
            left += across + _COLUMN_GAP


def _indent(entry: Entry) -> float:
    """Return where the words of an entry begin: behind its small picture."""
    return 0.0 if entry.kind == "heading" else SAMPLE_WIDTH + _GAP
