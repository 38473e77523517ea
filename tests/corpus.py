"""Where model files to try things on are found, beside the inline models of the tests."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

_REPOSITORY = Path(__file__).resolve().parent.parent
CORPUS = _REPOSITORY.parent / "shared" / "corpus"
_LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

#: models that the onnx package ships, without their weights
LIGHT_MODELS = sorted(path.name for path in _LIGHT.glob("*.onnx"))


def corpus_file(name: str) -> Path:
    """Return a file of the corpus beside the repository; skip the test where it is missing."""
    path = CORPUS / name
    if not path.is_file():
        pytest.skip(f"the corpus file {name} is not beside this repository")
    return path


def light_file(name: str) -> Path:
    """Return one of the models that the onnx package ships."""
    return _LIGHT / name
