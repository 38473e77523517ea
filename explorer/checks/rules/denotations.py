"""Denotations and image metadata."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.denotation_flow import follow_denotations
from netloupe.explorer.checks.denotations import NOT_PREDEFINED
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject


def _find_denotations(subject: Subject) -> Iterator[Occurrence]:
    for hit in subject.noted.get("denotation", ()):
        yield hit._replace(severity="note") if hit.message.endswith(NOT_PREDEFINED) else hit


RULES = (
    Rule(
        "NL-D01",
        "denotation",
        "warning",
        "Denotations or image metadata that contradict types, each other or the standard",
        "Programs that go by them feed the model wrongly: channels swapped, pixels scaled twice. "
        "Names of one's own, a note, tell others nothing.",
        "Correct the denotation, or leave it out.",
        "ONNX, TypeDenotation, DimensionDenotation and MetadataProps",
        _find_denotations,
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
        follow_denotations,
    ),
)
