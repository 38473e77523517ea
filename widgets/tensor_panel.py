"""The part of the inspector that shows a tensor's elements: a picture and statistics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ipywidgets

from netloupe.explorer.describe import describe_parts
from netloupe.explorer.errors import SourceChangedError, TensorDataError
from netloupe.explorer.model import SparseTensor, Tensor, Value
from netloupe.explorer.plots import Theme, draw_png, draw_scales
from netloupe.explorer.progress import Cancelled, part, step
from netloupe.explorer.quantization import Quantization, find_quantization
from netloupe.explorer.tensors import Statistics

from .background import Background
from .description_html import write_error, write_section
from .reading import Question, Reading, View, read_tensor

#: of a tensor of more elements a sample is shown first, and the rest is read in the background;
#: all of so many float32 elements take about 0.1 s
AT_ONCE = 1 << 22
#: the size of that sample
SAMPLE = 1 << 20
DEFAULT_BINS = 64
MOST_BINS = 512
#: of what answers an earlier question while the answer is read
_STALE = "nl-inspector-stale"
_WIDTH = 340
_HEIGHT = 190
_VIEWS: dict[View, str] = {
    "all": "all elements",
    "channels": "channels side by side",
    "channel": "one channel",
    "scales": "scales",
}


@dataclass(frozen=True, slots=True)
class _Job:
    """A question about one tensor, what answers it, and what is known of that tensor."""

    question: Question
    read: Callable[..., Reading]
    known: dict[tuple[View, int, int], Statistics]

    @property
    def key(self) -> tuple[View, int, int]:
        return self.question.view, self.question.axis, self.question.channel


class TensorPanel(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows a tensor's histogram with its controls, and its statistics.

    Parameters
    ----------
    tensor
        The tensor that is shown first.
    value
        The value whose elements these are.
    theme
        ``light`` or ``dark``.
    on_source_changed
        Called, perhaps from a thread, where elements cannot be read since their file changed.
    """

    def __init__(
        self,
        tensor: Tensor | SparseTensor,
        value: Value | None = None,
        theme: Theme = "light",
        on_source_changed: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._on_source_changed = on_source_changed
        self._theme: Theme = theme
        #: held while widgets change, since a thread changes them too
        self._lock = threading.RLock()
        self._background: Background | None = None
        self._is_changing = False
        self._make_controls()
        self.show(tensor, value)

    # what Python can do

    def show(self, tensor: Tensor | SparseTensor, value: Value | None = None) -> None:
        """Show another tensor, with bins and scale as they are.

        Parameters
        ----------
        tensor
            Its elements are read at once; of more than ``AT_ONCE`` first a sample and then all,
            in a thread.
        value
            The value whose elements these are; its quantization can be drawn over the histogram.
        """
        with self._lock:
            self.cancel()
            self._tensor = tensor
            #: the given elements and indices, where the tensor is sparse
            given = describe_parts(tensor)
            self._parts = write_section(given) if given.rows else ""
            self._quantization = find_quantization(value) if value is not None else None
            self._reading: Reading | None = None
            self._is_stale = False
            self._known: dict[tuple[View, int, int], Statistics] = {}
            self.statistics.value = ""
            self._is_changing = True
            try:
                self._offer_views()
            finally:
                self._is_changing = False
            self._read()

    def set_theme(self, theme: Theme) -> None:
        """Draw the picture in another theme."""
        with self._lock:
            self._theme = theme
            self._draw()

    def cancel(self) -> None:
        """End what is read in the background; what is shown stays."""
        with self._lock:
            if self._background is None:
                return
            self._background.cancel()
            self._background = None
            self._arrange()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is read in the background; return whether that is so."""
        background = self._background
        return background is None or background.wait(seconds)

    def close(self) -> None:
        """End what is read, and close the panel and everything in it."""
        with self._lock:
            if self._background is not None:
                self._background.cancel()
                self._background = None
            for widget in self._inside:
                for part in (widget.layout, getattr(widget, "style", None)):
                    if part is not None:
                        part.close()
                widget.close()
            super().close()

    # widgets

    def _make_controls(self) -> None:
        self.view = ipywidgets.Dropdown(layout=_sized("168px"))
        self.axis = ipywidgets.Dropdown(layout=_sized("120px"))
        self.channel = ipywidgets.BoundedIntText(
            min=0, max=0, description="channel", layout=_sized("130px")
        )
        self.bins = ipywidgets.BoundedIntText(
            value=DEFAULT_BINS,
            min=1,
            max=MOST_BINS,
            description="bins",
            layout=_sized("110px"),
        )
        self.log_scale = ipywidgets.Checkbox(
            value=False, description="log scale", indent=False, layout=_sized("auto")
        )
        self.overlay = ipywidgets.Checkbox(
            value=True, description="quantization", indent=False, layout=_sized("auto")
        )
        self.picture = ipywidgets.Image(format="png")
        self.picture.add_class("nl-inspector-plot")
        self.progress = ipywidgets.FloatProgress(
            min=0, max=1, layout=ipywidgets.Layout(flex="1 1 60px", width="auto", height="8px")
        )
        self.state = ipywidgets.HTML()
        self.state.add_class("nl-inspector-state")
        self.stop = ipywidgets.Button(description="Cancel", layout=_sized("auto"))
        self.read_all = ipywidgets.Button(layout=_sized("auto"))
        self.message = ipywidgets.HTML()
        self.statistics = ipywidgets.HTML()
        self._choice = ipywidgets.HBox()
        self._controls = ipywidgets.HBox()
        self._work = ipywidgets.HBox([self.progress, self.state, self.stop])
        for box in (self._choice, self._controls, self._work):
            box.add_class("nl-inspector-controls")
        self._inside = [
            *(self._choice, self._controls, self._work, self.view, self.axis, self.channel),
            *(self.bins, self.log_scale, self.overlay, self.picture, self.progress, self.state),
            *(self.stop, self.read_all, self.message, self.statistics),
        ]
        for control in (self.view, self.axis, self.channel, self.bins):
            control.observe(self._asked, "value")
        for control in (self.log_scale, self.overlay):
            control.observe(self._look_changed, "value")
        self.stop.on_click(lambda _button: self.cancel())
        self.read_all.on_click(lambda _button: self._read())

    def _offer_views(self) -> None:
        """Offer the views that the tensor has, and begin with all its elements."""
        dims = self._tensor.dims
        views: list[View] = ["all"]
        if self._has_channels():
            views += ["channels", "channel"]
        if _has_scales(self._quantization):
            views.append("scales")
        self.view.options = [(_VIEWS[view], view) for view in views]
        self.view.value = "all"
        self.axis.options = [
            (f"axis {place} · {size:,}", place) for place, size in enumerate(dims or (1,))
        ]
        axis = self._quantization.axis if self._quantization is not None else None
        self.axis.value = axis if axis is not None and 0 <= axis < len(dims) else 0
        self._limit_channel()
        self.channel.value = 0
        self.read_all.description = f"Read all {self._tensor.size:,} elements"

    def _has_channels(self) -> bool:
        """Return whether the elements can be shown by channel: numbers along two axes or more."""
        tensor = self._tensor
        if isinstance(tensor, SparseTensor) or tensor.dtype.name == "string":
            return False
        return len(tensor.dims) > 1 and tensor.size > 1

    def _limit_channel(self) -> None:
        dims = self._tensor.dims
        size = dims[self.axis.value] if dims and self._has_channels() else 1
        self.channel.max = max(size - 1, 0)

    def _arrange(self) -> None:
        """Show the widgets that have something to say."""
        view = self.view.value
        choice = [self.view] if len(self.view.options) > 1 else []
        if view in ("channels", "channel"):
            choice.append(self.axis)
        if view == "channel":
            choice.append(self.channel)
        reading = self._reading
        counts = reading.counts if reading is not None else None
        controls: list[ipywidgets.Widget] = []
        if view != "scales" and counts is not None and self._tensor.dtype.name != "string":
            controls.append(self.bins)
            if view != "channels":
                controls.append(self.log_scale)
            if self._can_overlay(reading):
                controls.append(self.overlay)
        self._choice.children = choice
        self._controls.children = controls
        shown: list[ipywidgets.Widget] = [self._choice] if choice else []
        if self.message.value:
            shown.append(self.message)
        if view == "scales" or (counts is not None and not self.message.value):
            shown.append(self.picture)
        if controls:
            shown.append(self._controls)
        if self._background is not None:
            shown.append(self._work)
        elif view != "scales" and not self.message.value and not self._is_answered():
            shown.append(self.read_all)
        if self.statistics.value and view != "scales":
            shown.append(self.statistics)
        self.children = shown

    def _is_answered(self) -> bool:
        """Return whether all that is asked for was read."""
        reading = self._reading
        return reading is not None and not reading.is_sample and not self._is_stale

    def _can_overlay(self, reading: Reading | None) -> bool:
        """Return whether the picture has anything to draw for the quantization."""
        if reading is None or reading.quantization is None:
            return False
        found = reading.quantization
        if self.view.value == "channels":
            return getattr(reading.counts, "ranges", None) is not None
        if reading.saturation is not None:
            return True
        dtype = self._tensor.dtype
        if dtype.is_integer:  # of the stored numbers only the zero point is one
            is_one = found.zero_point is not None and found.zero_point.size == 1
            return is_one and (dtype.numpy is None or found.describes(dtype.numpy))
        return found.real_range is not None

    # reading

    def _asked(self, change: Any) -> None:
        if self._is_changing:
            return
        if change.owner is self.axis:
            self._limit_channel()
        is_channel = self.view.value == "channel"
        if change.owner is self.channel and not is_channel:
            return
        if change.owner is self.axis and not (is_channel or self.view.value == "channels"):
            return
        self._read()

    def _look_changed(self, _change: Any) -> None:
        with self._lock:
            self._draw()

    def _question(self) -> Question:
        return Question(self.view.value, self.axis.value, self.channel.value, self.bins.value)

    def _read(self) -> None:
        """Read what is asked for now: at once where that is quick, else in a thread."""
        with self._lock:
            if self._background is not None:
                self._background.cancel()
                self._background = None
            self.message.value = ""
            question = self._question()
            if question.view == "scales":
                self._draw()
                self._mark(is_stale=False)
                self._arrange()
                return
            # bound here: by the time a thread reads, another tensor may be shown
            read = partial(read_tensor, self._tensor, question, self._quantization)
            job = _Job(question, read, self._known)
            if self._tensor.size <= AT_ONCE:
                self._answer(None, job)
                return
            self.progress.value = 0.0
            self.state.value = "reading a sample"
            self._mark(is_stale=True)

            background = Background(
                lambda: self._answer(background, job),
                lambda share: self._report(background, share),
            )
            self._background = background
            self._arrange()
            background.start()

    def _answer(self, background: Background | None, job: _Job) -> None:
        """Read and show; in a thread a sample first."""
        message = ""
        try:
            if background is not None:
                step(share=0.0)
                with part(0.0, 0.0):  # the bar is for what comes after it
                    sample = job.read(limit=SAMPLE)
                self._show(background, sample)
            reading = job.read(known=job.known.get(job.key))
            job.known[job.key] = reading.statistics
            self._show(background, reading)
        except Cancelled:
            raise
        except TensorDataError as error:
            message = str(error)
            if isinstance(error, SourceChangedError) and self._on_source_changed is not None:
                self._on_source_changed()
        except ValueError as error:
            message = f"{error}."
        except MemoryError:
            message = "There is not enough memory to read these elements."
        except Exception as error:  # in a thread nobody else would see it
            if background is None:
                raise
            self.log.exception("reading a tensor failed")
            message = f"internal error: {error}"
        with self._lock:
            if self._background is not background:
                return
            self._background = None
            if message:
                self._mark(is_stale=False)
                self.message.value = write_error(message)
                self.statistics.value = self._parts
                self._reading = None
            self._arrange()

    def _show(self, background: Background | None, reading: Reading) -> None:
        """Show what was read, unless something else is wanted meanwhile."""
        with self._lock:
            if self._background is not background:
                return
            self._reading = reading
            self.statistics.value = write_section(reading.section) + self._parts
            self._draw()
            self._mark(is_stale=False)
            if reading.is_sample:
                self.state.value = f"a sample; reading all {self._tensor.size:,}"
            self._arrange()

    def _mark(self, *, is_stale: bool) -> None:
        """Mark picture and statistics as the answer to an earlier question, or to this one."""
        self._is_stale = is_stale
        for shown in (self.picture, self.statistics):
            if is_stale:
                shown.add_class(_STALE)
            else:
                shown.remove_class(_STALE)

    def _report(self, background: Background, share: float) -> None:
        with self._lock:
            if self._background is background:
                self.progress.value = share

    def _draw(self) -> None:
        if self.view.value == "scales" and self._quantization is not None:
            quantization, theme = self._quantization, self._theme
            self.picture.value = draw_png(
                lambda ax: draw_scales(ax, quantization, theme),
                theme,
                width=_WIDTH,
                height=_HEIGHT,
            )
        elif self._reading is not None and self._reading.counts is not None:
            reading = self._reading
            log, overlay, theme = self.log_scale.value, self.overlay.value, self._theme
            self.picture.value = draw_png(
                lambda ax: reading.draw(ax, log=log, overlay=overlay, theme=theme),
                theme,
                width=_WIDTH,
                height=_HEIGHT,
            )


def _has_scales(quantization: Quantization | None) -> bool:
    return (
        quantization is not None and quantization.scale is not None and quantization.scale.size > 1
    )


def _sized(width: str) -> ipywidgets.Layout:
    return ipywidgets.Layout(width=width)
