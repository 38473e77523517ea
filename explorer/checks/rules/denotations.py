"""Denotations and image metadata."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.denotation_flow import follow_denotations
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject

from .noted import take_noted


def _follow(subject: Subject) -> Iterator[Occurrence]:
    yield from follow_denotations(subject.graphs)


RULES = (
    take_noted(
        "NL-D01",
        "denotation",
        "Denotations or image metadata that contradict types, each other or the standard",
        "Programs that go by them feed the model wrongly: channels swapped, pixels scaled twice.",
        "Correct the denotation, or leave it out.",
        "ONNX, TypeDenotation, DimensionDenotation and MetadataProps",
    ),
    Rule(
        "NL-D02",
        "denotation-flow",
        "error",
        "Axes that an operator takes for something else than they are denoted",
        "A picture of the layout N×H×W×C is pooled or convolved along its channels, or a program "
        "that goes by the denotation gives the model one of another layout.",
        "Transpose the value before the node, or correct the denotation.",
        "ONNX, DimensionDenotation: Denotation Propagation and Denotation Verification",
        _follow,
    ),
)
