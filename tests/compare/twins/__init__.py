"""Twins: pairs of models of which it is known what in one is what in the other.

A twin is made of a model by a script that knows what it does to every node; see ``KINDS``. In go
models of the ``onnx`` package, out come two of them and the paths of the nodes that belong
together. Nothing here knows how models are compared.
"""

from tests.compare.twins.exporters import EXPORTERS, pair_exports
from tests.compare.twins.kinds import KINDS, Kind, make_twin
from tests.compare.twins.runtimes import QUANTIZED_ELSEWHERE, pair_quantized
from tests.compare.twins.tools import TOOLS, is_installed, make_tool_twin, trace_values
from tests.compare.twins.truth import Naming, Twin

__all__ = [
    "EXPORTERS",
    "KINDS",
    "QUANTIZED_ELSEWHERE",
    "TOOLS",
    "Kind",
    "Naming",
    "Twin",
    "is_installed",
    "make_tool_twin",
    "make_twin",
    "pair_exports",
    "pair_quantized",
    "trace_values",
]
