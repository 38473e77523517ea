"""Faces of open groups: a title in lines, in the upper corners of a frame.

Left stand the name, what the group is and what else is to be said, right how often it is repeated
and which repetition is shown. Values come in between, so that lines which are short on either side
leave them in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Title
from netloupe.explorer.model import Node
from netloupe.explorer.patterns import WORK
from netloupe.explorer.view import Item

from .box import BASELINE, GAP, MARGIN, lay_title, round_size
from .face import Face, TextRun, TextStyle
from .group_names import AND, is_number, name_group, says_the_same
from .group_summary import list_end_differences
from .rows import RANGE, drop_scope, short_name, short_range
from .sizes import HEADER, TEXT_STYLES
from .text import clean_label, measure_text, shorten_text

#: what a loop is that is written out
SHARED = "shared weights"
#: how often a graph runs of which the file does not tell it
EACH_TURN = "again and again"
#: what a frame is called whose name is only a number
_NAMELESS = "Block"
#: stands behind the title of a group that goes on in another column
CONTINUED = "… continued"
#: the widest that a line is
MOST_WIDTH = 440.0
#: a title and what the group is stand in one line where that is no wider
MOST_IN_LINE = 150.0
#: which repetition is shown is told by its number where its name is wider
MOST_SHOWN = 180.0
#: the canvas has its control of the repetitions where their number stands: edges keep clear of it
LEAST_RIGHT = 112.0
#: from line to line
LINE = 15.0
#: from the border to the letters, and from these to what passes beside them
_INSET = MARGIN + 4


class Heading(NamedTuple):
    """What is said of an open group.

    Parameters
    ----------
    quiet
        What it is.
    number
        How often it is repeated, as ``×12``.
    shown
        Which repetition is shown.
    more
        What else is said of a repetition: parts that may stand in one line or in several.
    """

    title: str
    quiet: str = ""
    number: str = ""
    shown: str = ""
    more: tuple[str, ...] = ()


def make_frame(item: Item, category: str) -> Face:
    """Return the face of an open item of a category."""
    return lay_heading(write_heading(item), category)


def write_heading(item: Item) -> Heading:
    """Return what is said of an open item."""
    element = item.element
    if isinstance(element, Group):
        title = short_range(item.label or element.label)
        title, quiet = name_group(element, title, element.recognised)
        part = quiet or _name_only_part(element)
        quiet = "" if says_the_same(title, part) else part
        quiet = "" if AND in quiet else quiet  # the names of what stands in it
        if is_number(title):
            title, quiet = _NAMELESS, title
        if item.repeat is None:
            return Heading(title, quiet, more=(SHARED,) * element.has_twin)
        number = f"×{len(element.children):,}"
        # over a loop it stands on its back edge
        are_towers = item.repeat.shares_weights and not item.repeat.is_loop
        more = (*[SHARED] * are_towers, *describe_others(item))
        return Heading(title, quiet, number, describe_shown(item), more)
    if isinstance(element, Node):
        title = item.label or element.op_type
        quiet = element.op_type if item.label else short_name(element.name) if element.name else ""
        return Heading(title, "" if says_the_same(title, quiet) else quiet)
    return Heading(item.label or getattr(element, "parent_attribute", "") or element.name)


def _name_only_part(group: Group) -> str:
    """Return what the closed box calls a group after the one block that it is with little around.

    Nothing where a box in it is that block.
    """
    name = "" if group.kind == "repeat" else _find_only_part(group)
    return "" if any(_find_only_part(inner) == name for inner in group.inner_groups()) else name


def _find_only_part(group: Group) -> str:
    working = [one for one in group.contents if one.rank >= WORK]
    return working[0].name if len(working) == 1 and working[0].times == 1 else ""


def lay_heading(heading: Heading, category: str) -> Face:
    """Return the face of a frame with a heading: as small as it can be."""
    title, quiet, number, shown, more = heading
    in_line = _measure(title, "title") + (GAP + _measure(quiet, "title-muted") if quiet else 0.0)
    if not number and not more and in_line <= MOST_IN_LINE:
        texts, end = lay_title(title, quiet, _INSET, MOST_WIDTH)
        return Face("frame", category, round_size(end + _INSET), HEADER, HEADER, tuple(texts))
    at_right: list[tuple[str, TextStyle]] = [(number, "title"), (shown, "title-muted")]
    widths = [_measure(*run) + 2 * _INSET for run in at_right]
    right = round_size(max(*widths, LEAST_RIGHT)) if number else 0.0
    texts = []
    below = [quiet, *_join_lines(more)] if quiet else _join_lines(more)
    for line, text in enumerate([title, *below]):
        style: TextStyle = "title-muted" if line else "title"
        keep: Literal["both", "start"] = "start" if line or RANGE in title else "both"
        if not line and _measure(text, style) > MOST_WIDTH - right:
            text = drop_scope(text)
        fitting = shorten_text(text, MOST_WIDTH - right, *TEXT_STYLES[style], keep)
        texts.append(TextRun(_INSET, BASELINE + line * LINE, fitting, style))
    left = max(_measure(run.text, run.style) for run in texts) + 2 * _INSET
    width = round_size(left + right)
    for line, (text, style) in enumerate(at_right):
        if text:
            run = TextRun(round_size(width - _INSET), BASELINE + line * LINE, text, style, "end")
            texts.insert(2 * line + 1, run)
    height = HEADER + LINE * (max(1 + len(below), 2 if shown else 1) - 1)
    wanted = [title, number, *below, shown]
    is_whole = {run.text for run in texts} >= {clean_label(text) for text in wanted if text}
    said = (f"{title} {number}" if number else title, quiet, shown, ", ".join(more))
    whole = "" if is_whole else " · ".join(filter(None, said))
    runs = tuple(texts)
    return Face("frame", category, width, height, height, runs, title=whole, aside=right)


def _join_lines(parts: Sequence[str]) -> list[str]:
    """Return lines that hold parts, several in one where they are short."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}, {part}" if lines else part
        if lines and _measure(joined, "title-muted") <= MOST_IN_LINE:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def measure_title(face: Face) -> Title:
    """Return the room that the title on a frame takes."""
    return Title(face.width - face.aside, face.aside, face.height + 1.0)


def _measure(text: str, style: TextStyle) -> float:
    return measure_text(text, *TEXT_STYLES[style])


def describe_shown(item: Item) -> str:
    """Return which of its repetitions an open repeat shows: ``shows layers.3``."""
    repetition, repeat = item.repetition, item.repeat
    if repetition is None or repeat is None:
        return "all shown"
    label = repetition.label if isinstance(repetition, Group) else ""
    if label and not label.startswith(repeat.label) and not is_number(label):
        shown = f"shows {label}"
        if _measure(shown, "title-muted") <= MOST_SHOWN:
            return shown
    ends = {0: "the first", len(repeat.children) - 1: "the last"}
    return f"shows {ends.get(item.shown) or f'{item.shown + 1:,} of {len(repeat.children):,}'}"


def describe_others(item: Item) -> tuple[str, ...]:
    """Return what changes over an open repeat, and in what others differ from what is shown.

    For example ``8 experts in 4 of 6``, or ``the first with projection``.
    """
    repetition, repeat = item.repetition, item.repeat
    if repetition is None or repeat is None:
        return ()
    return tuple(list_end_differences(repeat, item.shown))
