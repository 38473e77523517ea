"""What denotations and image metadata mean, in plain words (ONNX: TypeDenotation, metadata)."""

from __future__ import annotations

from collections.abc import Mapping

from netloupe.explorer.checks.denotation_flow import find_carried
from netloupe.explorer.model import SparseTensorType, TensorType, Value

from .description import Row
from .file_text import write_line

_PIXEL_FORMATS = {
    "gray8": "gray 8-bit",
    "rgb8": "RGB 8-bit",
    "bgr8": "BGR 8-bit",
    "rgba8": "RGBA 8-bit",
    "bgra8": "BGRA 8-bit",
}
_GAMMAS = {"linear": "linear light", "srgb": "sRGB gamma"}
_RANGES = {
    "nominalrange_0_255": "0–255",
    "normalized_0_1": "0–1",
    "normalized_1_1": "−1–1",
    "nominalrange_16_235": "16–235",
}
_IMAGE_KEYS = {
    "image.bitmappixelformat": _PIXEL_FORMATS,
    "image.colorspacegamma": _GAMMAS,
    "image.nominalpixelrange": _RANGES,
}
_AXES = {
    "DATA_BATCH": "N",
    "DATA_CHANNEL": "C",
    "DATA_TIME": "T",
    "DATA_FEATURE": "F",
    "FILTER_IN_CHANNEL": "I",
    "FILTER_OUT_CHANNEL": "O",
    "FILTER_SPATIAL": "S",
}


def explain_image_metadata(metadata: Mapping[str, str]) -> str:
    """Return what a model's image metadata mean: ``BGR 8-bit, sRGB gamma, 0–255``; may be empty.

    Keys and values are compared without regard to case; unknown values stay as they are.
    """
    given = {key.lower(): text for key, text in metadata.items() if key.lower() in _IMAGE_KEYS}
    return ", ".join(
        words.get(given[key].strip().lower()) or write_line(given[key])
        for key, words in _IMAGE_KEYS.items()
        if key in given
    )


def list_carried_denotations(value: Value) -> list[Row]:
    """Return a row for each axis that is denoted by what the value is computed from.

    ONNX, DimensionDenotation: Denotation Propagation.
    """
    axes = find_carried(value.graph.model).get(value.path, ())
    note = "follows from operands"
    return [Row(f"axis {axis}", name, note, "", name) for axis, name in enumerate(axes) if name]


def list_image_facts(value: Value) -> list[Row]:
    """Return a row that says what the pictures that a value holds are like; else none."""
    kind = value.type
    if not isinstance(kind, TensorType | SparseTensorType) or kind.denotation.upper() != "IMAGE":
        return []
    words = ["image"]
    if kind.shape is not None and any(dim.denotation for dim in kind.shape[:16]):
        words.append("×".join(_name_axes([dim.denotation for dim in kind.shape[:16]])))
    pixels = explain_image_metadata(value.graph.model.metadata)
    if pixels:
        words.append(pixels)
    return [Row("meaning", ", ".join(words))]


def _name_axes(denotations: list[str]) -> list[str]:
    """Return letters for the axes of a picture; its two features are height and width."""
    names = [_AXES.get(text.upper(), write_line(text, 40) or "?") for text in denotations]
    if names.count("F") == 2:
        height = names.index("F")
        width = names.index("F", height + 1)
        names[height], names[width] = "H", "W"
    return names
