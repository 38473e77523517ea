"""The public face: what is listed is there, and nothing else is needed to use it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import netloupe
from netloupe.explorer import errors


def test_all_names_can_be_imported_and_are_listed() -> None:
    assert sorted(set(netloupe.__all__)) == list(netloupe.__all__)
    for name in netloupe.__all__:
        assert getattr(netloupe, name) is not None
    assert set(netloupe.__all__) <= set(dir(netloupe))


def test_exactly_these_names_are_public() -> None:
    assert list(netloupe.__all__) == [
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


def test_every_name_has_documentation() -> None:
    for name in netloupe.__all__:
        if name != "__version__":
            assert getattr(netloupe, name).__doc__, name


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="'netloupe' has no attribute 'nonsense'"):
        netloupe.nonsense  # noqa: B018


def test_errors_are_one_family() -> None:
    names = [name for name in netloupe.__all__ if name.endswith("Error")]
    assert all(issubclass(getattr(netloupe, name), netloupe.NetloupeError) for name in names)
    assert issubclass(netloupe.NotFoundError, LookupError)
    defined = {name for name, each in vars(errors).items() if isinstance(each, type)}
    assert set(names) == defined


@pytest.mark.parametrize(
    "package",
    [
        "explorer",
        "explorer.grouping",
        "explorer.layout",
        "explorer.model",
        "explorer.options",
        "explorer.readers",
        "explorer.render",
        "explorer.tensors",
        "explorer.view",
        "proto",
        "widgets",
    ],
)
def test_packages_list_what_they_export(package: str) -> None:
    module = importlib.import_module(f"netloupe.{package}")
    assert module.__doc__
    for name in getattr(module, "__all__", ()):
        assert hasattr(module, name)


def test_names_of_others_are_not_taken() -> None:
    """Installed, the folders explorer, proto and widgets must not be top-level names."""
    script = "import netloupe.explorer, sys; print([m for m in sys.modules if m in NAMES])"
    done = subprocess.run(
        [sys.executable, "-c", script.replace("NAMES", "('explorer', 'proto', 'widgets')")],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert done.stdout == "[]\n"
