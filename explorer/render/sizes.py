"""Sizes of what is drawn. ``sizes.json`` is the single source, for Python and for the canvas alike.

All are pixels at zoom 1. What only decides where things stand on a box is in
:mod:`netloupe.explorer.render.box`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SIZES: dict[str, Any] = json.loads(
    Path(__file__).with_name("sizes.json").read_text(encoding="utf-8")
)

#: fonts, the preferred one first, as CSS writes them
FONT_FAMILY: str = _SIZES["font_family"]
#: size and whether bold, by text style
TEXT_STYLES: dict[str, tuple[float, bool]] = {
    style: (size, bold) for style, (size, bold) in _SIZES["text_styles"].items()
}
#: height of the band of a box's title
HEADER: float = _SIZES["header"]
#: of the corners, by shape
RADII: dict[str, float] = _SIZES["radii"]
#: widths of the lines around boxes, around inputs and outputs, and around open groups
BOX_BORDER: float = _SIZES["borders"]["box"]
TERMINAL_BORDER: float = _SIZES["borders"]["terminal"]
FRAME_BORDER: float = _SIZES["borders"]["frame"]
#: width of the lines between rows
RULE: float = _SIZES["rule"]
#: by which each sheet of a stack lies further up and to the right
SHEET_OFFSET: float = _SIZES["sheet_offset"]
#: length of the dashes around a stub, and of the gaps between them
STUB_DASH: tuple[float, float] = tuple(_SIZES["stub_dash"])
#: the same around what is beside the model's body
PREPARATION_DASH: tuple[float, float] = tuple(_SIZES["preparation_dash"])
#: from the middle of a badge down to the baseline of its text
BADGE_BASELINE: float = _SIZES["badge_baseline"]

EDGE_WIDTH: float = _SIZES["edge"]["width"]
#: of the lines of the main stream
STREAM_WIDTH: float = _SIZES["edge"]["stream_width"]
SELECTED_EDGE_WIDTH: float = _SIZES["edge"]["selected_width"]
#: dashes and gaps by kind of edge; others are drawn through
DASHES: dict[str, tuple[float, float]] = {
    kind: (dash, gap) for kind, (dash, gap) in _SIZES["edge"]["dashes"].items()
}
#: length and half of the width of an arrow head, of one on the main stream, and of a loop's
ARROW: tuple[float, float] = tuple(_SIZES["edge"]["arrow"].values())
STREAM_ARROW: tuple[float, float] = tuple(_SIZES["edge"]["stream_arrow"].values())
LOOP_ARROW: tuple[float, float] = tuple(_SIZES["edge"]["loop_arrow"].values())
#: of the back edge of a loop
LOOP_WIDTH: float = _SIZES["edge"]["loop_width"]

LABEL_HEIGHT: float = _SIZES["edge_label"]["height"]
#: from the top of a label down to the baseline of its text
LABEL_BASELINE: float = _SIZES["edge_label"]["baseline"]
#: at either side of a label's text
LABEL_PADDING: float = _SIZES["edge_label"]["padding"]
LABEL_RADIUS: float = _SIZES["edge_label"]["radius"]

#: of what a paint says on a box's border
PILL_HEIGHT: float = _SIZES["pill"]["height"]
PILL_BASELINE: float = _SIZES["pill"]["baseline"]
PILL_PADDING: float = _SIZES["pill"]["padding"]

PORT_RADIUS: float = _SIZES["port_radius"]
#: from a box to the ring around it where it is selected
RING_OFFSET: float = _SIZES["ring"]["offset"]
RING_WIDTH: float = _SIZES["ring"]["width"]
#: width of the border of an open group that is painted
PAINTED_BORDER: float = _SIZES["paint"]["border"]
#: from the right end of a box to the pill of its paint
PAINT_INSET: float = _SIZES["paint"]["inset"]
#: by which the pill is higher than the box
PAINT_RISE: float = _SIZES["paint"]["rise"]
PAINT_DIP: float = _SIZES["paint"]["dip"]
#: from a box to the middle of the ring that a paint draws around it
PAINT_RING: float = _SIZES["paint"]["ring"]
#: dashes and gaps of the ring, the border or the edge of what a paint dashes
RING_DASH: tuple[float, float] = tuple(_SIZES["paint"]["dash"])
#: between the strokes of what is hatched
HATCH_STEP: float = _SIZES["paint"]["hatch"]
#: of the mark in a box's corner, and by which it is further up and to the right than the box
MARK_HEIGHT: float = _SIZES["paint"]["mark"]["height"]
MARK_OVERHANG: float = _SIZES["paint"]["mark"]["overhang"]
#: from the top of a mark down to the baseline of its text, and at either side of the text
#: a long mark reaches so far into its box, where the title ends, and so far out of it at most
MARK_REACH: float = _SIZES["paint"]["mark"]["reach"]
MARK_FURTHEST: float = _SIZES["paint"]["mark"]["furthest"]
MARK_BASELINE: float = _SIZES["paint"]["mark"]["baseline"]
MARK_PADDING: float = _SIZES["paint"]["mark"]["padding"]
#: of the bar that tells a share
BAR_THICKNESS: float = _SIZES["bar"]["thickness"]
#: from the bottom of a box up to the middle of its bar
BAR_RISE: float = _SIZES["bar"]["rise"]
#: stands on what can be opened
OPENER: str = _SIZES["opener"]
