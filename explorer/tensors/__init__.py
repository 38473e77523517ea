"""From a tensor's stored bytes to arrays, statistics, histograms and plots.

A :class:`~netloupe.explorer.model.Tensor` comes in; a numpy array, a :class:`Statistics`, a
:class:`Histogram` or a matplotlib drawing goes out. Nothing here knows protobuf, graphs or
widgets.
"""

from .channel_plot import draw_channels, find_ranges, plot_channels
from .channels import ChannelHistogram, compute_channels, take_channel
from .counting import count_strings
from .decode import decode_sparse_tensor, decode_tensor, open_elements
from .elements import Elements, Progress, Walk, sample_elements
from .external import ModelFiles
from .histogram import Histogram, compute_histogram
from .histogram_plot import draw_frequencies, draw_histogram, plot_histogram
from .packed import Packing, unpack_elements
from .plot_frame import Theme, draw_png, open_axes
from .saturation import Saturation, measure_saturation
from .scale_plot import draw_scales
from .statistics import Statistics, compute_statistics
from .stored import FileChangedError, StoredBytes, StoredFile

__all__ = [
    "ChannelHistogram",
    "Elements",
    "FileChangedError",
    "Histogram",
    "ModelFiles",
    "Packing",
    "Progress",
    "Saturation",
    "Statistics",
    "StoredBytes",
    "StoredFile",
    "Theme",
    "Walk",
    "compute_channels",
    "compute_histogram",
    "compute_statistics",
    "count_strings",
    "decode_sparse_tensor",
    "decode_tensor",
    "draw_channels",
    "draw_frequencies",
    "draw_histogram",
    "draw_png",
    "draw_scales",
    "find_ranges",
    "measure_saturation",
    "open_axes",
    "open_elements",
    "plot_channels",
    "plot_histogram",
    "sample_elements",
    "take_channel",
    "unpack_elements",
]
