"""Layer information and profiles of TensorRT, as ``trtexec`` exports them.

``--exportLayerInfo`` with ``--profilingVerbosity=detailed`` writes ``Layers`` with names, precision
and, as ``Metadata``, the ONNX nodes that each was made of; ``--exportProfile`` a list of layers
with their times in milliseconds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netloupe.explorer.errors import OverlayError
from netloupe.explorer.notation import write_count
from netloupe.explorer.overlays.column import Column, NodeSet

from .text import LONGEST_WORD, take_number

_METADATA = re.compile(r"\[ONNX Layer: (.*?)\](?=$|[\x1e\x1f]|\[ONNX Layer: )", re.DOTALL)
_SEPARATORS = re.compile(r"[\x1e\x1f]")
_JOINED = re.compile(r" \+ | \|\| ")
_PROFILE = re.compile(r"\s*\[profile \d+\]$")
_POINTWISE = re.compile(r"PWN\(|\)+$")
_MOST_NAMES = 10_000
#: layers that TensorRT adds or compiles as one, by how their names begin or end. What follows is
#: the name of another layer, or of a value: their time is not that of its nodes
_ADDED = re.compile(
    r"Reformatting CopyNode|\{ForeignNode|Identity \(Output|reformat|copied_squeeze_after_"
    r"|\[trainStation|\(Unnamed Layer\* \d+\) \[[^\]]*\]$|.* copy$|.*\[\w*Copy\]$"
)
_NO_FORMAT = "N/A"

REMEDY = (
    "TensorRT calls fused layers by itself: build with --profilingVerbosity=detailed and give the "
    "file of --exportLayerInfo, too."
)


def is_tensorrt_profile(told: Any) -> bool:
    """Return whether JSON is a profile."""
    return (
        isinstance(told, list)
        and len(told) > 0
        and any(
            isinstance(one, Mapping) and "averageMs" in one and isinstance(one.get("name"), str)
            for one in told[:3]
        )
    )


def is_layer_information(told: Any) -> bool:
    """Return whether JSON is layer information."""
    return isinstance(told, Mapping) and isinstance(told.get("Layers"), list)


def split_name(name: str) -> tuple[str, ...]:
    """Return the ONNX nodes that a layer's name is made of.

    ``Conv_0 + Relu_1`` is a fusion, ``Conv_2 || Conv_3`` two nodes beside each other;
    ``PWN(PWN(Sigmoid_1), Mul_2)`` one kernel for several that compute element by element.
    """
    plain = _PROFILE.sub("", name)
    if _is_added(plain):
        return (plain[:LONGEST_WORD],)
    parts: list[str] = []
    for part in _JOINED.split(plain[:LONGEST_WORD]):
        if part.startswith("PWN("):
            parts += [_POINTWISE.sub("", one).strip() for one in part.split(", ")]
        else:
            parts.append(part.strip())
    return tuple(dict.fromkeys(filter(None, parts)))


def _is_added(name: str) -> bool:
    return _ADDED.match(name[:LONGEST_WORD]) is not None


def split_metadata(text: str) -> tuple[str, ...]:
    """Return the ONNX nodes that a layer's metadata names, with the separators 1E and 1F."""
    found = _METADATA.findall(text)
    names = found or _SEPARATORS.split(text)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))[:_MOST_NAMES]


def read_layer_names(told: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the ONNX nodes of each layer that says them."""
    found: dict[str, tuple[str, ...]] = {}
    for layer in told["Layers"]:
        if isinstance(layer, Mapping) and isinstance(layer.get("Name"), str):
            metadata = layer.get("Metadata")
            names = split_metadata(metadata) if isinstance(metadata, str) else ()
            if names:
                found[_PROFILE.sub("", layer["Name"])] = names
    return found


def read_tensorrt_profile(
    told: Sequence[Any], name: str, names: Mapping[str, tuple[str, ...]] | None = None
) -> list[Column]:
    """Return the average times of a profile, in milliseconds.

    Parameters
    ----------
    told, name
        The JSON, and what the file is called.
    names
        The ONNX nodes of each layer, as its layer information has them.

    Raises
    ------
    OverlayError
        Where a layer has no time.
    """
    values: dict[str, float | str] = {}
    sets: list[NodeSet] = []
    reasons: dict[str, str] = {}
    total = 0.0
    for number, layer in enumerate(told, 1):
        if not isinstance(layer, Mapping) or "name" not in layer:
            continue  # the count
        label = layer["name"]
        time = take_number(layer.get("averageMs"))
        if not isinstance(label, str) or time is None or not math.isfinite(time):
            raise OverlayError(f"{name}: entry {number:,} has no name with an averageMs.")
        label = label[:LONGEST_WORD]
        total += time
        nodes = (names or {}).get(_PROFILE.sub("", label)) or split_name(label)
        if len(nodes) > 1:
            sets.append(NodeSet(nodes, time, label))
            continue
        key = nodes[0] if nodes else label
        values[key] = float(values.get(key, 0.0)) + time
        if _is_added(key):
            reasons[key] = "TensorRT has added it, or compiled a part of the graph into it"
    notes = ["times of layers may be measured one by one: together they can take longer than a run"]
    if sets:
        notes.append(
            write_count(len(sets), "time is", "times are") + " of several nodes, and not divided"
        )
    return [
        Column(
            "time",
            values,
            "ms",
            "lower",
            "sum",
            sets=tuple(sets),
            whole=total,
            reasons=reasons,
            notes=tuple(notes),
            remedy="" if names else REMEDY,
            source=name,
        )
    ]


def read_layer_information(told: Mapping[str, Any], name: str) -> list[Column]:
    """Return what layer information says of each node: precision, kind of layer and kernel.

    Raises
    ------
    OverlayError
        Where layers are only named, for want of ``--profilingVerbosity=detailed``.
    """
    layers = [layer for layer in told["Layers"] if isinstance(layer, Mapping)]
    if not layers:
        raise OverlayError(
            f"{name}: the layer information has names alone. Build the engine with "
            "--profilingVerbosity=detailed."
        )
    columns: dict[str, dict[str, float | str]] = {"precision": {}, "layer type": {}, "kernel": {}}
    fused: dict[str, float | str] = {}
    for layer in layers:
        label = layer.get("Name")
        if not isinstance(label, str):
            continue
        metadata = layer.get("Metadata")
        names = split_metadata(metadata) if isinstance(metadata, str) else ()
        names = names or split_name(label)
        told_of = {
            "precision": _find_precision(layer),
            "layer type": layer.get("ParameterType") or layer.get("LayerType"),
            "kernel": layer.get("TacticName"),
        }
        for key in names:
            for title, word in told_of.items():
                if isinstance(word, str) and word:
                    columns[title][key[:LONGEST_WORD]] = word[:LONGEST_WORD]
            fused[key[:LONGEST_WORD]] = float(len(names))
    found = [Column(title, values, source=name) for title, values in columns.items() if values]
    return [*found, Column("nodes in the same layer", fused, aggregation="max", source=name)]


def _find_precision(layer: Mapping[str, Any]) -> str:
    """Return the element type of the first output: ``Int8`` of ``Int8 NC/32HW32``."""
    for end in _list_ends(layer):
        form = end.get("Datatype") or end.get("Format/Datatype")
        # of dynamic shapes it says "N/A due to dynamic shapes"
        if isinstance(form, str) and form and not form.startswith(_NO_FORMAT):
            # "Thirty-two wide channel vectorized row major Int8 format"
            found = re.search(
                r"\b(FP32|FP16|BF16|FP8|FP4|Int8|Int4|Int32|Int64|Bool|Half|Float)\b",
                form,
                re.IGNORECASE,
            )
            return found[1] if found else form[:80]
    return ""


def _list_ends(layer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("Outputs", "Inputs"):
        ends = layer.get(key)
        for end in ends if isinstance(ends, list) else ():
            if isinstance(end, Mapping):
                yield end
