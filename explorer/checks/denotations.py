"""Denotations and image metadata that contradict types, each other, or the standard.

ONNX: TypeDenotation, DimensionDenotation and MetadataProps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from netloupe.explorer.model import (
    Dimension,
    Graph,
    MapType,
    Model,
    ModelWarning,
    OptionalType,
    SequenceType,
    SparseTensorType,
    TensorType,
    Value,
    ValueType,
)
from netloupe.explorer.model.reading import get_graph_reading
from netloupe.explorer.notation import say_count, write_count

TYPE_DENOTATIONS = ("TENSOR", "IMAGE", "AUDIO", "TEXT")
DATA_AXES = ("DATA_BATCH", "DATA_CHANNEL", "DATA_TIME", "DATA_FEATURE")
FILTER_AXES = ("FILTER_IN_CHANNEL", "FILTER_OUT_CHANNEL", "FILTER_SPATIAL")
#: axes of which a tensor has one
_SINGLE_AXES = ("DATA_BATCH", "DATA_CHANNEL", "FILTER_IN_CHANNEL", "FILTER_OUT_CHANNEL")

_PIXEL_FORMAT, _GAMMA, _RANGE = (
    "image.bitmappixelformat",
    "image.colorspacegamma",
    "image.nominalpixelrange",
)
_IMAGE_VALUES = {
    _PIXEL_FORMAT: ("gray8", "rgb8", "bgr8", "rgba8", "bgra8"),
    _GAMMA: ("linear", "srgb"),
    _RANGE: ("nominalrange_0_255", "normalized_0_1", "normalized_1_1", "nominalrange_16_235"),
}
_CHANNELS = {"gray8": 1, "rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4}
_MOST_DEPTH = 64
#: what is said of names of one's own, which are allowed, and only known to who has given them
NOT_PREDEFINED = "none of those that the specification predefines"


def find_denotations(model: Model, graphs: Iterable[Graph]) -> Iterator[ModelWarning]:
    """Yield what denotations and image metadata contradict."""
    pixels, warnings = read_image_metadata(model)
    yield from warnings
    for graph in graphs:
        if not get_graph_reading(graph).has_denotations:
            continue
        for value in graph.values.values():
            if value.type is not None:
                yield from _judge_value(value, pixels)


def read_image_metadata(model: Model) -> tuple[dict[str, str], list[ModelWarning]]:
    """Return the image metadata in lower case by key, and what is odd about them."""
    found: dict[str, str] = {}
    warnings = []
    for written, text in model.metadata.items():
        key, value = written.lower().split("#")[0], text.strip().lower()
        if key.startswith("image.") and key not in _IMAGE_VALUES:
            warnings.append(ModelWarning("model", f"the image metadata {written!r} is not known"))
            continue
        if key not in _IMAGE_VALUES:
            continue
        if value not in _IMAGE_VALUES[key]:
            shown = text if len(text) <= 60 else text[:60] + "…"
            warnings.append(
                ModelWarning("model", f"{written} is {shown!r}, which is not one of the standard's")
            )
        if found.setdefault(key, value) != value:
            warnings.append(
                ModelWarning("model", f"the metadata contradict each other in {written}")
            )
    return found, warnings


def _judge_value(value: Value, pixels: dict[str, str]) -> Iterator[ModelWarning]:
    kind: ValueType | None = value.type
    for _ in range(_MOST_DEPTH):
        if kind is None:
            return
        yield from _judge_type(value.path, kind, pixels)
        if isinstance(kind, SequenceType | OptionalType):
            kind = kind.element
        elif isinstance(kind, MapType):
            kind = kind.value
        else:
            return


def _judge_type(path: str, kind: ValueType, pixels: dict[str, str]) -> Iterator[ModelWarning]:
    denotation = kind.denotation.upper()
    if denotation and denotation not in TYPE_DENOTATIONS:
        yield ModelWarning(path, f"the denotation {_show(kind.denotation)} is {NOT_PREDEFINED}")
    if not isinstance(kind, TensorType | SparseTensorType):
        # a list of pictures is denoted as a whole, or its elements are
        if denotation == "IMAGE" and not isinstance(kind, SequenceType | OptionalType):
            yield ModelWarning(path, f"is denoted IMAGE, but is of the type {kind}")
        return
    shape = kind.shape or ()
    yield from _judge_axes(path, shape)
    if denotation == "IMAGE":
        yield from _judge_image(path, kind, pixels)


def _judge_axes(path: str, shape: tuple[Dimension, ...]) -> Iterator[ModelWarning]:
    given = [dimension.denotation.upper() for dimension in shape if dimension.denotation]
    if not given:
        return
    if len(given) != len(shape):
        have = "has" if len(given) == 1 else "have"
        yield ModelWarning(path, f"{len(given)} of its {len(shape)} axes {have} a denotation")
    counts = Counter(given)
    for name, count in list(counts.items())[:_MOST_DEPTH]:
        if name not in DATA_AXES and name not in FILTER_AXES:
            yield ModelWarning(path, f"the axis denotation {_show(name)} is {NOT_PREDEFINED}")
        elif count > 1 and name in _SINGLE_AXES:
            yield ModelWarning(path, f"{count} of its axes are denoted {name}")
    if counts.keys() & set(DATA_AXES) and counts.keys() & set(FILTER_AXES):
        yield ModelWarning(path, "its axes are denoted partly as data and partly as a filter")


def _judge_image(
    path: str, kind: TensorType | SparseTensorType, pixels: dict[str, str]
) -> Iterator[ModelWarning]:
    if kind.shape is not None and len(kind.shape) not in (3, 4):
        axes = write_count(len(kind.shape), "axis", "axes")
        yield ModelWarning(path, f"is denoted IMAGE, but has {axes}, not 3 or 4")
    shape = kind.shape or ()
    names = [dimension.denotation.upper() for dimension in shape]
    if any(names):
        if "DATA_CHANNEL" not in names:
            yield ModelWarning(path, "is denoted IMAGE, but no axis is denoted DATA_CHANNEL")
        features = names.count("DATA_FEATURE")
        if features != 2 and all(names):
            yield ModelWarning(
                path,
                f"is denoted IMAGE, but {say_count(features, 'axis', 'axes')} denoted "
                "DATA_FEATURE, not 2",
            )
    wanted = _CHANNELS.get(pixels.get(_PIXEL_FORMAT, ""))
    if wanted is not None and names.count("DATA_CHANNEL") == 1:
        channels = shape[names.index("DATA_CHANNEL")].value
        if isinstance(channels, int) and channels != wanted:
            yield ModelWarning(
                path,
                f"has {write_count(channels, 'channel')}, "
                f"but the pixel format {pixels[_PIXEL_FORMAT]} has {wanted}",
            )
    if kind.dtype.is_integer and pixels.get(_RANGE, "").startswith("normalized_"):
        yield ModelWarning(
            path, f"is of {kind.dtype}, but the pixel range is {pixels[_RANGE]}, of fractions"
        )
    if kind.dtype.name in ("string", "bool") or kind.dtype.is_complex:
        yield ModelWarning(path, f"is denoted IMAGE, but holds {kind.dtype}")


def _show(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")
