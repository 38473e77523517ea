"""In how many columns a picture is drawn, and what would have to be closed for a page."""

from __future__ import annotations

import math
from collections.abc import Callable

from netloupe.explorer.layout import Scene
from netloupe.explorer.layout.column_cutter import ColumnCutter
from netloupe.explorer.layout.column_scene import Columns, Titles
from netloupe.explorer.layout.wrap import MOST_COLUMNS
from netloupe.explorer.options import Wrap
from netloupe.explorer.view import Item, View

#: what is drawn smaller than this in a window is cut into columns, where that makes it larger
READABLE_ZOOM = 0.65
#: what is so much longer than broad, and so long, is cut in any window but one that is so itself
_MOST_RATIO = 3.0
_LEAST_LENGTH = 500.0
#: repetitions are cut only in pictures that nobody could read otherwise: at this share of what
#: can be read
_LEAST_SHARE = 0.55
#: columns are worth it where the picture becomes so much larger
_LEAST_GAIN = 1.15
#: where nobody asked for columns the shortest has this share of the longest one's length: a few
#: boxes alone are no column
_LEAST_EVENNESS = 0.3
#: nearly as large as the largest: the fewest columns are taken
_AS_LARGE = 0.92
#: so many numbers of columns are tried
_MOST_TRIED = 12
#: so many groups of one level are closed one by one to find how many it takes
_MOST_CLOSED_SINGLY = 8

Scaler = Callable[[tuple[float, float]], float]


def cut_scene(
    scene: Scene,
    titles: Titles,
    wrap: Wrap,
    scale_of: Scaler,
    readable: float,
    shape: tuple[float, float],
    *,
    is_page: bool = False,
) -> tuple[Columns | None, str]:
    """Cut a picture into columns where that is wanted and possible.

    Parameters
    ----------
    scene
        A picture in one column.
    titles
        Gives the width of titles.
    wrap
        Whether, or into how many columns.
    scale_of
        Gives the scale at which a picture of a size is drawn.
    readable
        The least scale at which it can be read.
    shape
        Width and height that it is meant for, in any unit.
    is_page
        Whether that is a page, which a strip may run down.

    Returns
    -------
    Columns or None, str
        The columns, None where the picture stays as it is, and a notice; "" for none.
    """
    if wrap is False or (wrap == 1 and wrap is not True):
        return None, ""
    first = scale_of((scene.width, scene.height))
    is_strip = _is_strip((scene.width, scene.height), shape) and not is_page
    if wrap == "auto" and first >= readable and not is_strip:
        return None, ""
    if wrap != "auto":
        cutter = ColumnCutter(scene, titles)
        if not isinstance(wrap, bool):
            count = min(wrap, cutter.most)
            return cutter.columns(count), _explain_fewer(wrap, count)
        return cutter.columns(_choose_count(cutter, scale_of, first, shape)), ""
    best: Columns | None = None
    even = 0.0 if is_page else _LEAST_EVENNESS
    for in_groups, in_repetitions, least, evenness in (
        (False, False, readable, even),
        (True, False, _LEAST_SHARE * readable, even),
        (True, False, _LEAST_SHARE * readable, 0.0),
        (True, True, 0.0, 0.0),
    ):
        cutter = ColumnCutter(
            scene,
            titles,
            after_inputs=True,
            in_groups=in_groups,
            in_repetitions=in_repetitions,
        )
        columns = cutter.columns(_choose_count(cutter, scale_of, first, shape, evenness))
        if is_strip and columns.count == 1 and cutter.most > 1:
            columns = cutter.columns(2)
        if best is None or scale_of(columns.size) > scale_of(best.size):
            best = columns
        if scale_of(best.size) >= least and (in_groups or best.count > 1 or not is_strip):
            break
    return best, ""


def _is_strip(size: tuple[float, float], shape: tuple[float, float]) -> bool:
    if max(size) <= max(_LEAST_LENGTH, _MOST_RATIO * min(size)):
        return False
    return max(shape) <= _MOST_RATIO * min(shape)


def _choose_count(
    cutter: ColumnCutter,
    scale_of: Scaler,
    first: float,
    shape: tuple[float, float],
    evenness: float = 0.0,
) -> int:
    """Return the number of columns with which the picture is drawn largest.

    What is less even than ``evenness`` is left out.
    """
    width, height = cutter.columns(1).size
    ideal = math.sqrt(max(width, height) / min(width, height) * max(shape) / min(shape))
    most = min(cutter.most, MOST_COLUMNS, math.ceil(2 * ideal) + 4)
    counts = set(range(2, min(most, _MOST_TRIED) + 1))
    ratio = max(most / _MOST_TRIED, 1.0)
    counts |= {round(_MOST_TRIED * ratio ** (k / _MOST_TRIED)) for k in range(_MOST_TRIED + 1)}
    tried = sorted(
        count for count in counts if count <= most and cutter.columns(count).evenness >= evenness
    )
    scales: dict[int, float] = {count: scale_of(cutter.columns(count).size) for count in tried}
    best = max(scales.values(), default=0.0)
    if best < first * _LEAST_GAIN:
        return 1
    return min(count for count, scale in scales.items() if scale >= best * _AS_LARGE)


def _explain_fewer(wanted: int, count: int) -> str:
    if count == wanted:
        return ""
    columns = "one column" if count == 1 else f"{count} columns"
    return (
        f"The picture is in {columns} instead of {wanted}: elsewhere branches run beside each "
        "other, and it is cut only where one value passes."
    )


def find_closing(view: View, is_enough: Callable[[View], bool]) -> list[Item] | None:
    """Return groups that would have to be closed for a picture to be large enough.

    Parameters
    ----------
    view
        What is shown; it stays as it is.
    is_enough
        Tells whether a view has a picture that is large enough.

    Returns
    -------
    list of Item or None
        The outermost groups to be closed; None where closing all is not enough. Groups are
        closed level by level, the innermost first, of the last level no more than it takes.
    """
    trial = View(view.model, view.graph, view.grouping, view.only, view.unnamed)
    trial.reopen(view.open_state())
    closed: list[Item] = []
    while True:
        opened = [item for item in trial.open_items() if item is not trial.root]
        if not opened:
            return None
        depth = max(item.depth for item in opened)
        level = [item for item in opened if item.depth == depth]
        before = trial.open_state()
        for item in level:
            trial.close(item.key)
        if is_enough(trial):
            break
        closed += level
    trial.reopen(before)
    level.sort(key=lambda item: len(item.children), reverse=True)
    keys = [item.key for item in level]
    for number, key in enumerate(keys):
        closed.append(trial.items[key])
        trial.close(key)
        if number + 1 == len(keys) or (number < _MOST_CLOSED_SINGLY and is_enough(trial)):
            break
    inside = {item.path for item in closed}
    return [item for item in closed if not any(_is_inside(item, path) for path in inside)]


def _is_inside(item: Item, path: str) -> bool:
    outer = item.parent
    while outer is not None:
        if outer.path == path:
            return True
        outer = outer.parent
    return False
