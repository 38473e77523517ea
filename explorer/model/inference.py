"""What came of inferring the shapes of a model."""

from __future__ import annotations

from dataclasses import dataclass

from .warning import ModelWarning


@dataclass(frozen=True, slots=True)
class Inference:
    """What came of inferring shapes.

    Parameters
    ----------
    version
        Of onnx; "" where nothing was inferred.
    problem
        Why nothing was inferred, or not all that there is; "" where all was.
    warnings
        Where a type that the file states cannot be.
    """

    version: str = ""
    problem: str = ""
    warnings: tuple[ModelWarning, ...] = ()
