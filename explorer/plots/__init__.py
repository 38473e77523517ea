"""Drawings of numbers: histograms, channels and scales, with matplotlib.

A histogram, statistics or a quantization comes in; axes of matplotlib or the bytes of a PNG go
out. What is drawn has been computed in ``tensors`` and ``quantization``.
"""

from .channel_plot import draw_channels, find_ranges, plot_channels
from .histogram_plot import draw_frequencies, draw_histogram, plot_histogram
from .histogram_words import HistogramOverlay, choose_extent, describe_rest, lay_over, name_values
from .plot_frame import choose_unit, draw_plot_png, make_axes, open_axes
from .scale_plot import draw_scales

__all__ = [
    "HistogramOverlay",
    "choose_extent",
    "choose_unit",
    "describe_rest",
    "draw_channels",
    "draw_frequencies",
    "draw_histogram",
    "draw_plot_png",
    "draw_scales",
    "find_ranges",
    "lay_over",
    "make_axes",
    "name_values",
    "open_axes",
    "plot_channels",
    "plot_histogram",
]
