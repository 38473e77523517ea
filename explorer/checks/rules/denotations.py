"""Denotations and image metadata."""

from __future__ import annotations

from .noted import take_noted

RULES = (
    take_noted(
        "NL-D01",
        "denotation",
        "Denotations or image metadata that contradict types, each other or the standard",
        "Programs that go by them feed the model wrongly: channels swapped, pixels scaled twice.",
        "Correct the denotation, or leave it out.",
        "ONNX, TypeDenotation, DimensionDenotation and MetadataProps",
    ),
)
