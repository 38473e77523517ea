"""What of a tensor the panel shows: the menus in which that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from netloupe.explorer.model import SparseTensor, Tensor
from netloupe.explorer.quantization import Quantization

from .reading import TensorView

_NAMES: dict[TensorView, str] = {
    "all": "all elements",
    "channels": "channels side by side",
    "channel": "one channel",
    "scales": "scales",
}


class TensorChoice(ipywidgets.HBox):  # type: ignore[misc] # ipywidgets has no types
    """Offers the views that a tensor has, and shows the menus that have something to say.

    Parameters
    ----------
    on_asked
        Called when the user has chosen something else.
    """

    def __init__(self, on_asked: Callable[[], None]) -> None:
        super().__init__()
        self._on_asked = on_asked
        self._is_changing = False
        self._dims: tuple[int, ...] = ()
        self.view = ipywidgets.Dropdown(layout=ipywidgets.Layout(width="168px"))
        self.axis = ipywidgets.Dropdown(layout=ipywidgets.Layout(width="120px"))
        self.channel = ipywidgets.BoundedIntText(
            min=0, max=0, description="channel", layout=ipywidgets.Layout(width="130px")
        )
        for control in (self.view, self.axis, self.channel):
            control.observe(self._changed, "value")
        self.add_class("nl-inspector-controls")

    def offer(self, tensor: Tensor | SparseTensor, quantization: Quantization | None) -> None:
        """Offer the views of another tensor, and begin with all its elements."""
        self._is_changing = True
        try:
            has_channels = _has_channels(tensor)
            self._dims = tensor.dims if has_channels else ()
            views: list[TensorView] = ["all"]
            if has_channels:
                views += ["channels", "channel"]
            if _has_scales(quantization):
                views.append("scales")
            self.view.options = [(_NAMES[view], view) for view in views]
            self.view.value = "all"
            dims = tensor.dims
            self.axis.options = [
                (f"axis {place} · {size:,}", place) for place, size in enumerate(dims or (1,))
            ]
            axis = quantization.axis if quantization is not None else None
            self.axis.value = axis if axis is not None and 0 <= axis < len(dims) else 0
            self._limit_channel()
            self.channel.value = 0
        finally:
            self._is_changing = False

    def arrange(self) -> None:
        """Show the menus that matter for what is chosen; none where there is no choice."""
        view = self.view.value
        shown = [self.view] if len(self.view.options) > 1 else []
        if view in ("channels", "channel"):
            shown.append(self.axis)
        if view == "channel":
            shown.append(self.channel)
        self.children = shown

    def _changed(self, change: Any) -> None:
        if self._is_changing:
            return
        if change.owner is self.axis:
            self._limit_channel()
        view = self.view.value
        if change.owner is self.channel and view != "channel":
            return
        if change.owner is self.axis and view not in ("channels", "channel"):
            return
        self._on_asked()

    def _limit_channel(self) -> None:
        size = self._dims[self.axis.value] if self._dims else 1
        self.channel.max = max(size - 1, 0)


def _has_channels(tensor: Tensor | SparseTensor) -> bool:
    """Return whether the elements can be shown by channel: numbers along two axes or more."""
    if isinstance(tensor, SparseTensor) or tensor.dtype.name == "string":
        return False
    return len(tensor.dims) > 1 and tensor.size > 1


def _has_scales(quantization: Quantization | None) -> bool:
    return (
        quantization is not None and quantization.scale is not None and quantization.scale.size > 1
    )
