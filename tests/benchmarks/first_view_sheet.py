"""All first views on one sheet, with the names of the models and the grades that were given."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: a letter and what is to be said of it for each model: ``"exported/bert.legacy.onnx" = "A"``
GRADES = Path(__file__).parent / "grades.toml"
#: of the sheet, and a picture's room in inches
COLUMNS = 6
ROOM = (4.0, 3.6)
DPI = 90
#: room for a name, in inches
_TITLE = 0.35
_COLOURS = {"A": "#14702c", "B": "#8a6a00", "C": "#b3471b", "W": "#b00030"}


def read_grades(path: Path = GRADES) -> dict[str, str]:
    """Return the grades by the names of models; none where the file is missing."""
    if not path.exists():
        return {}
    return {name: str(said) for name, said in tomllib.loads(path.read_text("utf-8")).items()}


class SheetOfViews:
    """Pictures of models, small, beside one another.

    Parameters
    ----------
    grades
        What is written beside a name, a letter first.
    """

    def __init__(self, grades: Mapping[str, str]) -> None:
        self._grades = grades
        self._pictures: list[tuple[str, bytes]] = []

    def add(self, name: str, png: bytes) -> None:
        """Add a model's picture."""
        self._pictures.append((name, png))

    def write(self, path: Path) -> None:
        """Write the sheet as PNG."""
        rows = max(-(-len(self._pictures) // COLUMNS), 1)
        figure = Figure((COLUMNS * ROOM[0], rows * ROOM[1]), dpi=DPI)
        canvas = FigureCanvasAgg(figure)
        for number, (name, png) in enumerate(self._pictures):
            axes = figure.add_subplot(rows, COLUMNS, number + 1)
            axes.set_axis_off()
            axes.set_anchor("NW")
            image = mpl.image.imread(io.BytesIO(png), format="png")
            step = max(1, int(max(image.shape[:2]) / (DPI * max(ROOM)) / 2))
            axes.imshow(image[::step, ::step], interpolation="antialiased")
            grade = self._grades.get(name, "")[:1]
            title = f"{grade}  {name.removesuffix('.onnx')}".strip()
            axes.set_title(title, fontsize=9, color=_COLOURS.get(grade, "#222222"), loc="left")
        top = 1 - _TITLE / (rows * ROOM[1])
        figure.subplots_adjust(0.01, 0.005, 0.99, top, wspace=0.04, hspace=_TITLE / ROOM[1])
        canvas.print_png(path)
