"""From a tensor's stored bytes to arrays, statistics, histograms and plots.

A :class:`~netloupe.explorer.model.Tensor` comes in; a numpy array, a :class:`Statistics`, a
:class:`Histogram` or a matplotlib drawing goes out. Nothing here knows protobuf, graphs or
widgets.
"""

from .decode import decode_sparse_tensor, decode_tensor, open_elements
from .elements import Elements, Progress
from .external import judge_location, read_external
from .histogram import Histogram, compute_histogram
from .plot import draw_histogram_png, open_axes, plot_histogram
from .statistics import Statistics, compute_statistics
from .stored import StoredBytes, StoredFile

__all__ = [
    "Elements",
    "Histogram",
    "Progress",
    "Statistics",
    "StoredBytes",
    "StoredFile",
    "compute_histogram",
    "compute_statistics",
    "decode_sparse_tensor",
    "decode_tensor",
    "draw_histogram_png",
    "judge_location",
    "open_axes",
    "open_elements",
    "plot_histogram",
    "read_external",
]
