"""How a model is quantized, what is wrong with it, and how near its weights are to a float twin.

A quantized model comes in, and perhaps the float model that it was made of; a
:class:`QuantizationAudit` goes out: coverage, defects, parts that compute in floats, and each
weight. Nothing here knows pictures or texts but for the verdict.
"""

from .audit import audit
from .coverage import Coverage, PrecisionShare, StorageShare
from .fidelity import ChannelFidelity, Fidelity
from .islands import FloatIsland
from .result import QuantizationAudit, Unchecked, WeightAudit

__all__ = [
    "ChannelFidelity",
    "Coverage",
    "Fidelity",
    "FloatIsland",
    "PrecisionShare",
    "QuantizationAudit",
    "StorageShare",
    "Unchecked",
    "WeightAudit",
    "audit",
]
