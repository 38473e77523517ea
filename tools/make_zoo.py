"""Write the skeletons of real architectures into tests/zoo, as torch and onnxruntime export them.

Every network has random weights, its true depth and small widths; nothing is downloaded. In a
skeleton the values of larger tensors are left out and their names, types and shapes are kept:
`tests/zoo.py` fills them in again. The metadata of nodes loses its stack traces, which hold lines
of other projects and paths of this machine.

Usage: pip install -r tools/zoo/requirements.txt; python tools/make_zoo.py [NAME ...]
Tests need none of these packages.
"""

from __future__ import annotations

import lzma
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from zoo import (
    adversarial,
    control,
    convolutional,
    decoders,
    dense_maps,
    detection,
    diffusion,
    fused,
    generation,
    graphs,
    images,
    pyramids,
    quantized,
    recurrent,
    science,
    sequences,
    sound,
    speech,
    tables,
    text,
)

ZOO = Path(__file__).resolve().parent.parent / "tests" / "zoo"
MOST_BYTES = 100_000
#: values of tensors of more elements are left out
MOST_ELEMENTS = 16
_LEFT_OUT = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
)
_STACK_TRACES = "pkg.torch.onnx.stack_trace"

MODELS: dict[str, Callable[[], onnx.ModelProto]] = {}
for _subject in (
    text,
    generation,
    decoders,
    images,
    speech,
    convolutional,
    detection,
    diffusion,
    recurrent,
    quantized,
    fused,
    dense_maps,
    sound,
    graphs,
    control,
    tables,
    science,
    adversarial,
    pyramids,
    sequences,
):
    MODELS.update(_subject.MODELS)


def list_graphs(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[Any]:
    """Yield a graph or function and the graphs inside it, at any depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from list_graphs(attribute.g)


def strip(model: onnx.ModelProto) -> None:
    """Leave out the values of large tensors, and what tells of the machine."""
    graphs = [g for root in (model.graph, *model.functions) for g in list_graphs(root)]
    nodes = [node for graph in graphs for node in graph.node]
    tensors = [a.t for node in nodes for a in node.attribute if a.HasField("t")]
    for graph in graphs:
        tensors += getattr(graph, "initializer", ())
    for tensor in tensors:
        if tensor.data_type in _LEFT_OUT and np.prod(tensor.dims) > MOST_ELEMENTS:
            for field in ("raw_data", "float_data", "int32_data"):
                tensor.ClearField(field)
    for holder in [model, *graphs, *nodes]:
        kept = [entry for entry in holder.metadata_props if entry.key != _STACK_TRACES]
        del holder.metadata_props[:]
        holder.metadata_props.extend(kept)
        holder.doc_string = ""


def main(names: list[str]) -> int:
    """Write the named skeletons, or all."""
    warnings.simplefilter("ignore")
    most = 0
    for name in names or MODELS:
        torch.manual_seed(0)
        model = MODELS[name]()
        strip(model)
        data = model.SerializeToString(deterministic=True)
        for word in (str(Path.home()), tempfile.gettempdir(), sys.prefix):
            if word.encode() in data:
                raise SystemExit(f"{name} still holds {word}")
        packed = lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)
        path = ZOO / f"{name}.onnx.xz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed)
        print(f"{name}: {len(model.graph.node)} nodes, {len(packed)} bytes", flush=True)
        most = max(most, len(packed))
    return most > MOST_BYTES


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
