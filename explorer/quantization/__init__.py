"""Where a model says how its values are quantized, and what follows from that.

A model or a value comes in; a :class:`Quantization` (scale, zero point, axis, real range, source),
its summary, the layout of packed weights or the share of elements outside of its range goes out.
Nothing here knows groups, pictures or plots.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .packing import unpack_constant, unpack_weights
    from .record import Quantization, find_quantization, node_badge, summarize_quantization
    from .saturation import Saturation, measure_saturation
    from .sources import list_statements
else:
    __getattr__ = import_later(
        __name__,
        {
            "packing": ["unpack_constant", "unpack_weights"],
            "record": ["Quantization", "find_quantization", "node_badge", "summarize_quantization"],
            "saturation": ["Saturation", "measure_saturation"],
            "sources": ["list_statements"],
        },
    )

__all__ = [
    "Quantization",
    "Saturation",
    "find_quantization",
    "list_statements",
    "measure_saturation",
    "node_badge",
    "summarize_quantization",
    "unpack_constant",
    "unpack_weights",
]
