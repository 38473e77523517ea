"""What all plots have in common: colours, frame, ticks, and the way to a PNG."""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from netloupe.explorer.options import ThemeName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT_SIZE = 8.0
_LINE_POINTS = 11.0
COLOURS: dict[str, dict[str, str]] = {
    "light": {
        "bar": "#5b84b1",
        "background": "#ffffff",
        "text": "#3d4650",
        "quiet": "#667079",
        "line": "#cbd2d9",
        "quantization": "#a9582a",
    },
    "dark": {
        "bar": "#7fa8d6",
        "background": "#1c2128",
        "text": "#c9d1d9",
        "quiet": "#8b949e",
        "line": "#444c56",
        "quantization": "#e0955f",
    },
}

#: around what is drawn, in inches: 7 CSS pixels, as the dark theme shows where a picture ends
_PADDING = 7 / 96
#: matplotlib's caches are not meant for several threads at once
_drawing = threading.Lock()


def open_axes(theme: ThemeName = "light") -> Axes:
    """Open a figure with pyplot and return its axes.

    A notebook shows the figure below its cell, a desktop session in a window. Without a
    display nobody would ever close it: there, only the last one stays registered.
    """
    from matplotlib import pyplot

    colours = COLOURS[theme]
    name = None
    if pyplot.get_backend().lower() == "agg":
        name = "netloupe"
        pyplot.close(name)
    figure = pyplot.figure(name, **choose_frame(colours))
    return figure.add_subplot(facecolor=colours["background"])


def make_axes(theme: ThemeName) -> Axes:
    """Return the axes of a figure that nobody else knows of."""
    from matplotlib.figure import Figure

    colours = COLOURS[theme]
    return Figure(**choose_frame(colours)).add_subplot(facecolor=colours["background"])


def choose_frame(colours: dict[str, str]) -> dict[str, Any]:
    """Return the arguments of a figure of its own."""
    return {"figsize": (5, 3), "layout": "constrained", "facecolor": colours["background"]}


def draw_plot_png(
    draw: Callable[[Axes], object],
    theme: ThemeName = "light",
    *,
    width: int = 360,
    height: int = 200,
    scale: float = 2.0,
) -> bytes:
    """Return what a function draws on axes as a PNG; for one thread after another.

    Parameters
    ----------
    draw
        Draws on the axes that it is given.
    theme
        ``light`` or ``dark``.
    width, height
        Size as shown, in CSS pixels.
    scale
        Pixels of the picture for one CSS pixel.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    colours = COLOURS[theme]
    picture = io.BytesIO()
    with _drawing:
        figure = Figure(
            figsize=(width / 96, height / 96),
            dpi=96 * scale,
            layout=ConstrainedLayoutEngine(w_pad=_PADDING, h_pad=_PADDING),
            facecolor=colours["background"],
        )
        draw(figure.add_subplot(facecolor=colours["background"]))
        figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def add_note(ax: Axes, text: str, colour: str, side: str = "right", line: int = 0) -> None:
    """Write a small text above the axes, at either side; line 0 is the lowest."""
    ax.annotate(
        text,
        (1.0 if side == "right" else 0.0, 1.0),
        (0, 2 + line * _LINE_POINTS),
        xycoords="axes fraction",
        textcoords="offset points",
        ha=side,
        va="bottom",
        fontsize=FONT_SIZE,
        color=colour,
        parse_math=False,
    )
    _keep_title_above(ax, 2 + (line + 1) * _LINE_POINTS)


def _keep_title_above(ax: Axes, points: float) -> None:
    """Keep a title, whenever it is set, so far above the axes.

    matplotlib moves titles above axes that lie within others: here these hold nothing.
    """
    from matplotlib.transforms import Bbox

    def locate(_axes: object, _renderer: object) -> Bbox:
        box = ax.bbox
        top = box.y1 + points * ax.figure.dpi / 72
        room = Bbox.from_extents(box.x0, box.y1, box.x1, top)
        return room.transformed(ax.figure.transSubfigure.inverted())

    room = ax.inset_axes((0, 1, 1, 0.1))
    room.set_axis_off()
    room.set_axes_locator(locate)


def style_axes(ax: Axes, colours: dict[str, str]) -> None:
    """Give axes the look of the theme."""
    ax.minorticks_off()
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(colours["line"])
    ax.tick_params(colors=colours["quiet"], labelsize=FONT_SIZE, width=0.6)
    ax.set_axisbelow(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(colours["text"])
        axis.label.set_fontsize(FONT_SIZE)
        axis.offsetText.set_color(colours["quiet"])
        axis.offsetText.set_fontsize(FONT_SIZE)


def choose_unit(edges: np.ndarray[Any, Any]) -> float:
    """Return what to divide values by: matplotlib overflows near the ends of float64."""
    magnitude = float(np.abs(edges).max())
    if 1e-200 < magnitude < 1e200:
        return 1.0
    return float(10.0 ** max(math.floor(math.log10(magnitude)), -300))
