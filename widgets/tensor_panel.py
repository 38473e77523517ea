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
from netloupe.explorer.notation import write_count
from netloupe.explorer.options import ThemeName
from netloupe.explorer.page.description_html import write_error, write_section
from netloupe.explorer.plots import draw_plot_png, draw_scales
from netloupe.explorer.progress import Cancelled, part, step
from netloupe.explorer.quantization import find_quantization
from netloupe.explorer.session.background import Background
from netloupe.explorer.tensors import Statistics

from .reading import Question, Reading, TensorView, look_at_tensor
from .tensor_choice import TensorChoice

#: of a tensor of more elements a sample is shown first, and the rest is read in the background;
#: all of so many float32 elements take about 0.1 s
AT_ONCE = 1 << 22
#: the size of that sample
SAMPLE = 1 << 20
DEFAULT_BINS = 64
MOST_BINS = 512
#: of what answers an earlier question while the answer is read
_STALE = "nl-inspector-stale"
#: what stands where the picture will, with as much room
_AWAITED = "nl-inspector-awaited"
_ROOM = "nl-inspector-room"
_WIDTH = 340
_HEIGHT = 190


@dataclass(frozen=True, slots=True)
class _Job:
    """A question about one tensor, what answers it, and what is known of that tensor."""

    question: Question
    read: Callable[..., Reading]
    known: dict[tuple[TensorView, int, int], Statistics]

    @property
    def key(self) -> tuple[TensorView, int, int]:
        return self.question.view, self.question.axis, self.question.channel


class TensorPanel(ipywidgets.VBox):  # type: ignore[misc] # ipywidgets has no types
    """Shows a tensor's histogram with its controls, and its statistics.

    Parameters
    ----------
    tensor
        The tensor that is shown first, once :meth:`read` is called.
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
        theme: ThemeName = "light",
        on_source_changed: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._on_source_changed = on_source_changed
        self._theme: ThemeName = theme
        #: held while widgets change, since a thread changes them too
        self._lock = threading.RLock()
        self._background: Background | None = None
        self._reading: Reading | None = None
        self._make_controls()
        self.expect(tensor, value)

    # what Python can do

    def expect(self, tensor: Tensor | SparseTensor, value: Value | None = None) -> None:
        """Show that another tensor is to be read, with bins and scale as they are.

        Parameters
        ----------
        tensor
            Of the one before nothing is shown any more.
        value
            The value whose elements these are; its quantization can be drawn over the histogram.

        Notes
        -----
        Each change reaches the page by itself, and reading takes its time: whoever shows the
        tensor's name calls this before it, and :meth:`read` after it.
        """
        with self._lock:
            self._end_reading()
            self._reading = None
            self._is_awaited = True
            self.message.value = ""
            self.awaited.value = f"Reading {write_count(tensor.size, 'element')} …"
            if tensor.size > 1:  # of a single one there is no picture
                self.awaited.add_class(_ROOM)
            else:
                self.awaited.remove_class(_ROOM)
            self._arrange()
            self._tensor = tensor
            #: the given elements and indices, where the tensor is sparse
            given = describe_parts(tensor)
            self._parts = write_section(given) if given.rows else ""
            self._quantization = find_quantization(value) if value is not None else None
            self._mark(is_stale=False)
            self._known: dict[tuple[TensorView, int, int], Statistics] = {}
            self.statistics.value = ""
            self.choice.offer(tensor, self._quantization)
            self.read_all.description = f"Read all {tensor.size:,} elements"
            self._arrange()

    def read(self) -> None:
        """Read what is asked for now and show it.

        At most ``AT_ONCE`` elements are read at once; of more first a sample and then all, in a
        thread.
        """
        with self._lock:
            self._end_reading()
            self.message.value = ""
            question = self._question()
            if question.view == "scales":
                self._is_awaited = False
                self._draw()
                self._mark(is_stale=False)
                self._arrange()
                return
            # bound here: by the time a thread reads, another tensor may be shown
            read = partial(look_at_tensor, self._tensor, question, self._quantization)
            job = _Job(question, read, self._known)
            if self._tensor.size <= AT_ONCE:
                try:
                    self._answer(None, job)
                except BaseException:  # an interrupted kernel's too: nothing is being read
                    self._is_awaited = False
                    self._arrange()
                    raise
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

    def set_theme(self, theme: ThemeName) -> None:
        """Draw the picture in another theme."""
        with self._lock:
            self._theme = theme
            self._draw()

    def cancel(self) -> None:
        """End what is read in the background; what is shown stays."""
        with self._lock:
            if self._background is None:
                return
            self._end_reading()
            self._is_awaited = False
            self._arrange()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is read in the background; return whether that is so."""
        background = self._background
        return background is None or background.wait(seconds)

    def close(self) -> None:
        """End what is read, and close the panel and everything in it."""
        with self._lock:
            self._end_reading()
            for widget in self._inside:
                for part in (widget.layout, getattr(widget, "style", None)):
                    if part is not None:
                        part.close()
                widget.close()
            super().close()

    # widgets

    def _make_controls(self) -> None:
        self.choice = TensorChoice(self.read)
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
        self.awaited = ipywidgets.HTML()
        self.awaited.add_class(_AWAITED)
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
        self._controls = ipywidgets.HBox()
        self._work = ipywidgets.HBox([self.progress, self.state, self.stop])
        for box in (self._controls, self._work):
            box.add_class("nl-inspector-controls")
        self._inside = [
            *(self.choice, self.choice.view, self.choice.axis, self.choice.channel),
            *(self._controls, self._work, self.bins, self.log_scale, self.overlay),
            *(self.awaited, self.picture, self.progress, self.state),
            *(self.stop, self.read_all, self.message, self.statistics),
        ]
        self.bins.observe(lambda _change: self.read(), "value")
        for control in (self.log_scale, self.overlay):
            control.observe(self._look_changed, "value")
        self.stop.on_click(lambda _button: self.cancel())
        self.read_all.on_click(lambda _button: self.read())

    def _arrange(self) -> None:
        """Show the widgets that have something to say."""
        view = self.choice.view.value
        self.choice.arrange()
        reading = self._reading
        counts = reading.counts if reading is not None else None
        controls: list[ipywidgets.Widget] = []
        if view != "scales" and counts is not None and self._tensor.dtype.name != "string":
            controls.append(self.bins)
            if view != "channels":
                controls.append(self.log_scale)
            if reading is not None and reading.has_overlay:
                controls.append(self.overlay)
        self._controls.children = controls
        shown: list[ipywidgets.Widget] = [self.choice] if self.choice.children else []
        if self.message.value:
            shown.append(self.message)
        if self._is_awaited:
            shown.append(self.awaited)
        elif view == "scales" or (counts is not None and not self.message.value):
            shown.append(self.picture)
        if controls:
            shown.append(self._controls)
        if self._background is not None:
            shown.append(self._work)
        elif not (
            self._is_awaited or view == "scales" or self.message.value or self._is_answered()
        ):
            shown.append(self.read_all)
        if self.statistics.value and view != "scales" and not self._is_awaited:
            shown.append(self.statistics)
        self.children = shown

    def _is_answered(self) -> bool:
        """Return whether all that is asked for was read."""
        reading = self._reading
        return reading is not None and not reading.is_sample and not self._is_stale

    # reading

    def _look_changed(self, _change: Any) -> None:
        with self._lock:
            self._draw()

    def _question(self) -> Question:
        view, axis, channel = self.choice.view, self.choice.axis, self.choice.channel
        return Question(view.value, axis.value, channel.value, self.bins.value)

    def _end_reading(self) -> None:
        if self._background is not None:
            self._background.cancel()
            self._background = None

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
            self._is_awaited = False
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
            self._draw()
            self.statistics.value = write_section(reading.section) + self._parts
            self._is_awaited = False
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
        if self.choice.view.value == "scales" and self._quantization is not None:
            quantization, theme = self._quantization, self._theme
            self.picture.value = draw_plot_png(
                lambda ax: draw_scales(ax, quantization, theme),
                theme,
                width=_WIDTH,
                height=_HEIGHT,
            )
        elif self._reading is not None and self._reading.counts is not None:
            reading = self._reading
            log, overlay, theme = self.log_scale.value, self.overlay.value, self._theme
            self.picture.value = draw_plot_png(
                lambda ax: reading.draw(ax, log=log, overlay=overlay, theme=theme),
                theme,
                width=_WIDTH,
                height=_HEIGHT,
            )


def _sized(width: str) -> ipywidgets.Layout:
    return ipywidgets.Layout(width=width)
