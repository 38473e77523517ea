"""The part of the inspector that shows a tensor's elements: a histogram and statistics."""

from __future__ import annotations

from typing import Any, Literal

import ipywidgets

from netloupe.explorer.describe import choose_elements, describe_parts, describe_statistics
from netloupe.explorer.errors import TensorDataError
from netloupe.explorer.model import SparseTensor, Tensor, Value
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.tensors import draw_histogram_png

from .description_html import write_error, write_section

Theme = Literal["light", "dark"]

#: of a tensor of more elements a sample of this size is shown first
SAMPLE = 1 << 20
#: a tensor of more elements than this is not read before a button is pressed
LARGE = 1 << 24
DEFAULT_BINS = 64
MOST_BINS = 512
_WIDTH = 340
_HEIGHT = 190


class TensorPanel(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows a tensor's histogram with its controls, and its statistics.

    Parameters
    ----------
    tensor
        Its elements are read when the panel is made, unless there are more than ``LARGE``.
    value
        The value whose elements these are; its quantization can be drawn over the histogram.
    theme
        ``light`` or ``dark``.
    """

    def __init__(
        self, tensor: Tensor | SparseTensor, value: Value | None = None, theme: Theme = "light"
    ) -> None:
        super().__init__()
        self._tensor = choose_elements(tensor)
        self._whole = tensor
        self._theme: Theme = theme
        size = self._tensor.size
        self._limit: int | None = SAMPLE if size > SAMPLE else None
        self._quantization = find_quantization(value) if value is not None else None
        self.bins = ipywidgets.BoundedIntText(
            value=DEFAULT_BINS,
            min=1,
            max=MOST_BINS,
            description="bins",
            layout=ipywidgets.Layout(width="110px"),
        )
        self.log_scale = ipywidgets.Checkbox(
            value=False, description="log scale", indent=False, layout=_narrow()
        )
        self.overlay = ipywidgets.Checkbox(
            value=True, description="quantization", indent=False, layout=_narrow()
        )
        self.picture = ipywidgets.Image(format="png")
        self.picture.add_class("nl-inspector-plot")
        self.read_all = ipywidgets.Button(layout=ipywidgets.Layout(width="auto"))
        self.statistics = ipywidgets.HTML()
        self._controls = ipywidgets.HBox([self.bins, self.log_scale])
        self._controls.add_class("nl-inspector-controls")
        if self._can_overlay():
            self._controls.children += (self.overlay,)
        for control in (self.bins, self.log_scale, self.overlay):
            control.observe(self._draw_again, "value")
        self.read_all.on_click(self._read_more)
        if size > LARGE:
            self.read_all.description = f"Read {size:,} elements"
            self.children = (self.read_all,)
        else:
            self._show()

    def set_theme(self, theme: Theme) -> None:
        """Draw the histogram in another theme."""
        self._theme = theme
        if self.picture in self.children:
            self._draw()

    def close(self) -> None:
        """Close the panel and everything in it."""
        inside = (
            self._controls,
            self.bins,
            self.log_scale,
            self.overlay,
            self.picture,
            self.read_all,
            self.statistics,
        )
        for widget in inside:
            widget.layout.close()
            widget.close()
        super().close()

    def _can_overlay(self) -> bool:
        """Return whether the histogram has anything to draw for the quantization."""
        found = self._quantization
        if found is None:
            return False
        if self._tensor.dtype.is_integer:  # the stored numbers: only their zero point is among them
            return found.zero_point is not None and found.zero_point.size == 1
        return found.real_range is not None

    def _read_more(self, _button: Any) -> None:
        # the first press on a large tensor shows a sample, the next one everything
        if self.children != (self.read_all,):
            self._limit = None
        self._show()

    def _show(self) -> None:
        """Show statistics and, where there is one, a histogram; else why not."""
        given = describe_parts(self._whole)
        parts = write_section(given) if given.rows else ""
        try:
            section = describe_statistics(self._whole, limit=self._limit)
            self.statistics.value = write_section(section) + parts
            shown: list[ipywidgets.Widget] = []
            if self._tensor.size > 1:
                self._draw()
                shown = [self.picture, self._controls]
        except TensorDataError as error:
            self.statistics.value = write_error(str(error)) + parts
            self.children = (self.statistics,)
            return
        if self._limit is not None:
            self.read_all.description = f"Use all {self._tensor.size:,} elements"
            shown.append(self.read_all)
        self.children = (*shown, self.statistics)

    def _draw(self) -> None:
        self.picture.value = draw_histogram_png(
            self._tensor,
            bins=self.bins.value,
            log=self.log_scale.value,
            quantization=self._quantization if self.overlay.value else None,
            theme=self._theme,
            width=_WIDTH,
            height=_HEIGHT,
            limit=self._limit,
        )

    def _draw_again(self, _change: Any) -> None:
        try:
            self._draw()
        except TensorDataError as error:  # an external file may vanish meanwhile
            self.statistics.value = write_error(str(error))
            self.children = (self.statistics,)


def _narrow() -> ipywidgets.Layout:
    return ipywidgets.Layout(width="auto")
