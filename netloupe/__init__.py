"""netloupe: a visual explorer for neural-network graph files (ONNX and Caffe2).

Importing this module loads neither protobuf nor a widget library: each name below is
fetched from its module on first use (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netloupe.explorer.architecture import Architecture, ArchitectureBlock
    from netloupe.explorer.audit import QuantizationAudit, WeightAudit, audit
    from netloupe.explorer.checks import Finding, Findings, check
    from netloupe.explorer.compare import Diff, diff
    from netloupe.explorer.costs import Costs, Totals
    from netloupe.explorer.errors import (
        ArgumentError,
        BindingError,
        CheckError,
        CompareError,
        CopyError,
        InferenceError,
        LayoutError,
        MissingPackageError,
        ModelFormatError,
        NetloupeError,
        NotesError,
        NotFoundError,
        OperatorsError,
        OutputError,
        OverlayError,
        ReadingError,
        SourceChangedError,
        SourceError,
        TensorDataError,
        ViewError,
    )
    from netloupe.explorer.grouping import ModelGroup
    from netloupe.explorer.model import (
        Attribute,
        Function,
        Graph,
        Model,
        ModelWarning,
        Node,
        SparseTensor,
        Tensor,
        Value,
    )
    from netloupe.explorer.notes import Note, Notes
    from netloupe.explorer.operators.registering import register_operators
    from netloupe.explorer.overlays import Column, Overlay, overlay
    from netloupe.explorer.progress import Cancelled, watched
    from netloupe.explorer.quantization import Quantization
    from netloupe.explorer.readers.load import load
    from netloupe.explorer.render.figure import Figure
    from netloupe.explorer.render.paint import Paint
    from netloupe.explorer.report import report
    from netloupe.explorer.view import ViewKeywords

    from .widgets import Explorer, explore

__version__ = "0.1.0"

_HOMES = {
    "Architecture": "netloupe.explorer.architecture.architecture",
    "ArchitectureBlock": "netloupe.explorer.architecture.architecture",
    "ArgumentError": "netloupe.explorer.errors",
    "Attribute": "netloupe.explorer.model",
    "BindingError": "netloupe.explorer.errors",
    "Cancelled": "netloupe.explorer.progress",
    "CheckError": "netloupe.explorer.errors",
    "Column": "netloupe.explorer.overlays",
    "CompareError": "netloupe.explorer.errors",
    "CopyError": "netloupe.explorer.errors",
    "Costs": "netloupe.explorer.costs.costs",
    "Diff": "netloupe.explorer.compare",
    "Explorer": "netloupe.widgets",
    "Figure": "netloupe.explorer.render.figure",
    "Finding": "netloupe.explorer.checks",
    "Findings": "netloupe.explorer.checks",
    "Function": "netloupe.explorer.model",
    "Graph": "netloupe.explorer.model",
    "InferenceError": "netloupe.explorer.errors",
    "LayoutError": "netloupe.explorer.errors",
    "MissingPackageError": "netloupe.explorer.errors",
    "Model": "netloupe.explorer.model",
    "ModelFormatError": "netloupe.explorer.errors",
    "ModelGroup": "netloupe.explorer.grouping",
    "ModelWarning": "netloupe.explorer.model",
    "NetloupeError": "netloupe.explorer.errors",
    "Node": "netloupe.explorer.model",
    "Note": "netloupe.explorer.notes",
    "Notes": "netloupe.explorer.notes",
    "NotesError": "netloupe.explorer.errors",
    "NotFoundError": "netloupe.explorer.errors",
    "OperatorsError": "netloupe.explorer.errors",
    "OutputError": "netloupe.explorer.errors",
    "Overlay": "netloupe.explorer.overlays",
    "OverlayError": "netloupe.explorer.errors",
    "Paint": "netloupe.explorer.render.paint",
    "Quantization": "netloupe.explorer.quantization.record",
    "QuantizationAudit": "netloupe.explorer.audit",
    "ReadingError": "netloupe.explorer.errors",
    "SourceChangedError": "netloupe.explorer.errors",
    "SourceError": "netloupe.explorer.errors",
    "SparseTensor": "netloupe.explorer.model",
    "Tensor": "netloupe.explorer.model",
    "TensorDataError": "netloupe.explorer.errors",
    "Totals": "netloupe.explorer.costs.totals",
    "Value": "netloupe.explorer.model",
    "ViewError": "netloupe.explorer.errors",
    "ViewKeywords": "netloupe.explorer.view",
    "WeightAudit": "netloupe.explorer.audit",
    "audit": "netloupe.explorer.audit",
    "check": "netloupe.explorer.checks",
    "diff": "netloupe.explorer.compare",
    "explore": "netloupe.widgets",
    "overlay": "netloupe.explorer.overlays",
    "load": "netloupe.explorer.readers.load",
    "register_operators": "netloupe.explorer.operators.registering",
    "report": "netloupe.explorer.report",
    "watched": "netloupe.explorer.progress",
}

__all__ = [
    "Architecture",
    "ArchitectureBlock",
    "ArgumentError",
    "Attribute",
    "BindingError",
    "Cancelled",
    "CheckError",
    "Column",
    "CompareError",
    "CopyError",
    "Costs",
    "Diff",
    "Explorer",
    "Figure",
    "Finding",
    "Findings",
    "Function",
    "Graph",
    "InferenceError",
    "LayoutError",
    "MissingPackageError",
    "Model",
    "ModelFormatError",
    "ModelGroup",
    "ModelWarning",
    "NetloupeError",
    "Node",
    "NotFoundError",
    "Note",
    "Notes",
    "NotesError",
    "OperatorsError",
    "OutputError",
    "Overlay",
    "OverlayError",
    "Paint",
    "Quantization",
    "QuantizationAudit",
    "ReadingError",
    "SourceChangedError",
    "SourceError",
    "SparseTensor",
    "Tensor",
    "TensorDataError",
    "Totals",
    "Value",
    "ViewError",
    "ViewKeywords",
    "WeightAudit",
    "__version__",
    "audit",
    "check",
    "diff",
    "explore",
    "load",
    "overlay",
    "register_operators",
    "report",
    "watched",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'netloupe' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
