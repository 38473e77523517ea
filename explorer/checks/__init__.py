"""What is odd in a model: cycles, damaged tensors, unknown operators and denotations.

A model comes in; :class:`~netloupe.explorer.model.ModelWarning` objects that name the element go
out. Nothing here changes the model, or knows pictures.
"""

from .cycles import find_cycles
from .findings import find_oddities

__all__ = [
    "find_cycles",
    "find_oddities",
]
