"""How much there is, and what follows from types and shapes without computing.

A model, a graph or nodes come in; totals (nodes, parameters, bytes) or the type that a file leaves
out go out. Nothing here reads elements, or knows groups or pictures.
"""

from .inferred_types import infer_type
from .totals import (
    Totals,
    count_bytes,
    count_elements,
    count_graphs,
    count_model,
    count_nodes,
)

__all__ = [
    "Totals",
    "count_bytes",
    "count_elements",
    "count_graphs",
    "count_model",
    "count_nodes",
    "infer_type",
]
