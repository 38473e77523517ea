"""From a tensor's stored bytes to arrays, statistics and histograms.

A :class:`~netloupe.explorer.model.Tensor` comes in; a numpy array, a :class:`Statistics` or a
:class:`Histogram` goes out. Nothing here knows protobuf, graphs, quantization or plots.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .channels import ChannelHistogram, compute_channels, list_blocks, take_channel
    from .counting import count_strings
    from .decode import decode_sparse_tensor, decode_tensor, open_elements
    from .elements import Elements, Walk, sample_elements
    from .external import ModelFiles
    from .histogram import Histogram, compute_histogram
    from .packed import Packing, unpack_elements
    from .statistics import Statistics, compute_statistics
    from .stored import FileChangedError, StoredBytes, StoredFile
else:
    __getattr__ = import_later(
        __name__,
        {
            "channels": ["ChannelHistogram", "compute_channels", "list_blocks", "take_channel"],
            "counting": ["count_strings"],
            "decode": ["decode_sparse_tensor", "decode_tensor", "open_elements"],
            "elements": ["Elements", "Walk", "sample_elements"],
            "external": ["ModelFiles"],
            "histogram": ["Histogram", "compute_histogram"],
            "packed": ["Packing", "unpack_elements"],
            "statistics": ["Statistics", "compute_statistics"],
            "stored": ["FileChangedError", "StoredBytes", "StoredFile"],
        },
    )

__all__ = [
    "ChannelHistogram",
    "Elements",
    "FileChangedError",
    "Histogram",
    "ModelFiles",
    "Packing",
    "Statistics",
    "StoredBytes",
    "StoredFile",
    "Walk",
    "compute_channels",
    "compute_histogram",
    "compute_statistics",
    "count_strings",
    "decode_sparse_tensor",
    "decode_tensor",
    "list_blocks",
    "open_elements",
    "sample_elements",
    "take_channel",
    "unpack_elements",
]
