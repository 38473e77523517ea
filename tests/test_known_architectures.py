"""What is known of architectures fits the files, and structure alone tells their stacks.

Those that are found by names as well are looked at in ``architecture/test_known_families.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path

import onnx
import pytest

from netloupe.explorer.grouping import build_group_tree
from tests.corpus import LIGHT_MODELS, corpus_file, light_file, list_beside
from tests.grouping.blank_names import load_blank
from tests.grouping.test_repeats import repeats
from tests.known_architectures import (
    BESIDE_ARCHITECTURES,
    LIGHT_ARCHITECTURES,
    ZOO_ARCHITECTURES,
    Architecture,
    Blocks,
)
from tests.known_exports import EXPORTED_ARCHITECTURES, SKELETON_ARCHITECTURES
from tests.known_stacks import agrees
from tests.zoo import ZOO

KNOWN: dict[str, Architecture] = {
    **{name: ZOO_ARCHITECTURES[name] for name in ZOO if name in ZOO_ARCHITECTURES},
    **LIGHT_ARCHITECTURES,
    **{
        name: BESIDE_ARCHITECTURES[name.removeprefix("beside:")]
        for folder in ("exported", "quantized", "sklearn")
        for name in list_beside(f"{folder}/*.onnx")
        if name.removeprefix("beside:") in BESIDE_ARCHITECTURES
    },
}


def find_file(name: str) -> Path:
    return light_file(name) if name in LIGHT_MODELS else corpus_file(name)


def list_shapes(graph: onnx.GraphProto) -> Iterator[tuple[int, ...]]:
    """Yield the shapes of all tensors of a graph and of the graphs inside it, and written ones."""
    for tensor in graph.initializer:
        yield tuple(tensor.dims)
        if tensor.data_type == onnx.TensorProto.INT64 and 0 < prod(tensor.dims) <= 8:
            yield tuple(map(int, onnx.numpy_helper.to_array(tensor).ravel()))
    for value in graph.input:
        yield tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from list_shapes(attribute.g)
            elif attribute.type == onnx.AttributeProto.TENSOR:
                yield tuple(attribute.t.dims)


def test_something_is_known_of_every_model() -> None:
    assert set(ZOO) <= {*ZOO_ARCHITECTURES, *EXPORTED_ARCHITECTURES}
    skeletons = {packed.removesuffix(".xz") for packed in list_beside("architectures/*.onnx.xz")}
    assert {name.removeprefix("beside:") for name in skeletons} <= set(SKELETON_ARCHITECTURES)
    assert set(LIGHT_MODELS) <= set(LIGHT_ARCHITECTURES)
    beside = [
        name
        for folder in ("exported", "quantized", "sklearn")
        for name in list_beside(f"{folder}/*.onnx")
    ]
    assert {name.removeprefix("beside:") for name in beside} <= set(BESIDE_ARCHITECTURES)


DRAWN = {
    **EXPORTED_ARCHITECTURES,
    **{
        name: SKELETON_ARCHITECTURES[name.removeprefix("beside:")]
        for packed in list_beside("architectures/*.onnx.xz")
        if (name := packed.removesuffix(".xz"))
    },
}


@pytest.mark.parametrize(
    "name", [name for name in KNOWN | DRAWN if "sklearn" not in name and "/sk_" not in name]
)
def test_known_sizes_are_those_of_tensors(name: str) -> None:
    known = (KNOWN | DRAWN)[name]
    sizes = {known.width, known.inner_width, known.vocabulary, known.classes, known.outputs}
    sizes |= set(known.stage_widths)
    model = onnx.load(find_file(name))
    found = {size for shape in list_shapes(model.graph) for size in shape}
    assert sizes - {None} <= found


def test_stacks_agree_as_a_person_would_say() -> None:
    stages = Architecture("", blocks=(Blocks("stem", (3,), may_lack=True), Blocks("b", (1, 2, 4))))
    assert agrees([2, 4], stages)
    assert agrees([3, 2, 4], stages)
    assert not agrees([4, 2], stages)
    assert not agrees([3, 2], stages)
    assert not agrees([2, 4, 4], stages)
    towers = Architecture("", blocks=(Blocks("a", (6,)), Blocks("b", (12,))), any_order=True)
    assert agrees([12, 6], towers)
    pairs = Architecture("", blocks=(Blocks("b", (12,), otherwise=((4,),)),))
    assert agrees([4], pairs)
    assert not agrees([], pairs)


_SMALL = "two blocks of six nodes say too little"
_ALIKE_ENDS = "the next stack begins like another block of the one before"
_PIECES = "what differs between two stages is cut into pieces"
_FUNCTIONS = "its stacks are in functions and branches, which keep their names"
#: models of which structure alone, without a name, tells other stacks than are known
NAMELESS_OTHERWISE: dict[str, str] = {
    "built/genai_llama.matmulnbits_int4.onnx": "the first block has a norm that adds nothing",
    "built/windowed_decoder.opset28.onnx": "attributes tell windows, which one of six blocks lacks",
    "exported/detr.dynamo.onnx": _ALIKE_ENDS,
    "exported/distilgpt2_merged.legacy.onnx": _FUNCTIONS,
    "exported/efficientnet.dynamo.onnx": _PIECES,
    "exported/efficientnet.legacy.onnx": _PIECES,
    "exported/lstm.legacy-functions.onnx": _FUNCTIONS,
    "beside:exported/lstm.legacy-functions.onnx": _FUNCTIONS,
    "exported/mobilenetv2.legacy.onnx": _PIECES,
    "exported/mobilenetv3.dynamo.onnx": _SMALL,
    "exported/mobilenetv3.legacy.onnx": _SMALL,
    "quantized/mobilenetv3.qoperator.onnx": _SMALL,
    "exported/vae_decoder.dynamo.onnx": _ALIKE_ENDS,
    "exported/vae_decoder.legacy.onnx": _ALIKE_ENDS,
}


@pytest.mark.parametrize(
    "name",
    [name for name in KNOWN if KNOWN[name].blocks is not None and "sklearn" not in name],
)
def test_structure_alone_tells_the_same_stacks(name: str) -> None:
    tree = build_group_tree(load_blank(find_file(name)))
    found = [len(group.children) for group in repeats(tree)]
    if name in NAMELESS_OTHERWISE:
        assert not agrees(found, KNOWN[name]), "now as it should be: take it out of the list"
    else:
        assert agrees(found, KNOWN[name]), f"{found} instead of {KNOWN[name].counts}"
