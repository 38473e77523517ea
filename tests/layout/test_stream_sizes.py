"""Sizes beside the main stream: where resolution, width or element type change, and only there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.layout import Composer, LayoutEngine, Scene
from netloupe.explorer.layout.value_sizes import find_sizes
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.render.sizes import TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.view import View
from netloupe.proto import onnx_pb2


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def list_written(scene: Scene) -> list[tuple[str, str]]:
    """Return the box that each size stands behind, and the size, from above."""
    found = [edge for edge in scene.edges if edge.label]
    found.sort(key=lambda edge: edge.label_y)
    return [(scene.boxes[edge.source].item.path.split("/")[-1], edge.label) for edge in found]


def load_network(text: str) -> Model:
    """Return the model of a text, with stored weights for what it lists as values of its own."""
    proto = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]>\n' + text)
    for value in proto.graph.value_info:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        weights = numpy_helper.from_array(np.zeros(dims, np.float32), value.name)
        proto.graph.initializer.append(weights)
    del proto.graph.value_info[:]
    return load(proto.SerializeToString())


def compose(model: Model, engine: LayoutEngine) -> Scene:
    view = View(model, grouping="none")
    return Composer(engine).compose(view, Labels())


IMAGE = """
g (float[{batch}, 3, {height}, {width}] x) => (float[{batch}, 10] y)
<float[16, 3, 3, 3] w0, float[32, 16, 3, 3] w1, float[32, 10] w2> {{
    [stem] a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w0)
    [act] b = Relu (a)
    [down] c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (b, w1)
    [pool] d = GlobalAveragePool (c)
    [flat] e = Flatten (d)
    [head] y = MatMul (e, w2)
}}"""


def test_sizes_stand_where_resolution_or_width_change(engine: LayoutEngine) -> None:
    """Channels last, without the batch, followed by rules where the file states no types."""
    model = load_network(IMAGE.format(batch=1, height=64, width=48))
    assert list_written(compose(model, engine)) == [
        ("stem", "32 × 24 × 16"),
        ("down", "16 × 12 × 32"),
        ("pool", "1 × 1 × 32"),
        ("flat", "32"),
    ]


def test_symbols_are_told_by_their_names(engine: LayoutEngine) -> None:
    text = """
    g (int64[batch, T] ids) => (float[batch, T, 8] y) <float[100, 32] table, float[32, 8] w> {
        [embed] a = Gather (table, ids)
        [act] b = Relu (a)
        [head] c = MatMul (b, w)
        [out] y = Relu (c)
    }"""
    assert list_written(compose(load_network(text), engine)) == [("embed", "T × 32")]


def test_a_part_of_a_symbol_is_written_as_figures_do(engine: LayoutEngine) -> None:
    model = load_network(IMAGE.format(batch="N", height="H", width="W"))
    assert list_written(compose(model, engine))[:2] == [
        ("stem", "H/2 × W/2 × 16"),  # which rounds up
        ("down", "H/4 × W/4 × 32"),
    ]


def test_what_a_tool_made_up_is_no_name(engine: LayoutEngine) -> None:
    model = load_network(IMAGE.format(batch="unk__1", height="unk__2", width="unk__3"))
    assert [size for _, size in list_written(compose(model, engine))][:2] == [
        "16 channels",
        "32 channels",
    ]


def test_a_size_that_comes_back_is_told_again_and_one_that_stays_is_not(
    engine: LayoutEngine,
) -> None:
    text = """
    g (float[1, 5, 8] x) => (float[1, 5, 8] y) <float[8, 32] up, float[32, 8] down> {
        [wide] a = MatMul (x, up)
        [act] b = Relu (a)
        [narrow] c = MatMul (b, down)
        [act2] d = Relu (c)
        [wide2] e = MatMul (d, up)
        [narrow2] y = MatMul (e, down)
    }"""
    written = [("wide", "5 × 32"), ("wide2", "5 × 32")]  # 5 × 8 stands on the output
    assert list_written(compose(load_network(text), engine)) == written


def test_an_element_type_is_told_where_it_changes(engine: LayoutEngine) -> None:
    text = """
    g (float[1, 4, 8, 8] x) => (float[1, 4, 1, 1] y)
    <float s = {0.1}, int8 z = {0}> {
        [first] a = Relu (x)
        [quantize] b = QuantizeLinear (a, s, z)
        [pool] c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
        [dequantize] d = DequantizeLinear (c, s, z)
        [last] y = GlobalAveragePool (d)
    }"""
    written = list_written(compose(load_network(text), engine))
    assert ("quantize", "int8") in written
    assert ("pool", "4 × 4 × 4") in written


def make_stages() -> Model:
    """Return an image through a stage of a stride and two like blocks, named as torch does."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.opset_import.add(version=18)
    graph = proto.graph
    value = graph.input.add(name="x").type.tensor_type
    value.elem_type = 1
    for size in (1, 3, 32, 32):
        value.shape.dim.add(dim_value=size)
    above, width = "x", 3
    for stage, channels in enumerate((8, 16)):
        blocks = [(f"blocks.{number}/conv", 1) for number in range(2 + stage)]
        for name, stride in (("down", 2), *blocks):
            weight = f"w{len(graph.initializer)}"
            graph.initializer.add(name=weight, data_type=1, dims=(channels, width, 1, 1))
            result = f"v{len(graph.node)}"
            node = graph.node.add(
                op_type="Conv", name=f"/stage{stage}/{name}", input=[above, weight], output=[result]
            )
            node.attribute.add(name="strides", type=7, ints=[stride, stride])
            graph.node.add(
                op_type="Relu",
                name=f"/stage{stage}/{name}.act",
                input=[result],
                output=[f"r{len(graph.node)}"],
            )
            above, width = graph.node[-1].output[0], channels
    graph.output.add(name=above)
    return load(proto.SerializeToString())


def test_sizes_are_told_outside_blocks_once_for_each_change(engine: LayoutEngine) -> None:
    model = make_stages()
    view = View(model, grouping="names")
    for key in ("main/stage0/", "main/stage1/"):
        view.open(key)
    scene = Composer(engine).compose(view, Labels())
    sizes = [edge.label for edge in scene.edges if edge.label]
    # behind the first stage; what each stage gives does not stand inside it again
    assert sizes == ["16 × 16 × 8"]


def test_a_size_overlaps_nothing_and_stands_in_the_picture(engine: LayoutEngine) -> None:
    model = load_network(IMAGE.format(batch=1, height=1024, width=2048))
    scene = compose(model, engine)
    sized = [edge for edge in scene.edges if edge.label]
    assert len(sized) == 4
    for edge in sized:
        half = measure_text(edge.label, *TEXT_STYLES["label"]) / 2
        assert edge.label_x - half == pytest.approx(edge.points[0] + 12, abs=0.1)
        assert edge.label_x + half < scene.width
        assert all(
            edge.label_y + 7 <= box.y or edge.label_y - 7 >= box.y + box.height
            for box in scene.boxes
        )


def test_the_axis_of_channels_is_what_operators_take_it_for() -> None:
    text = """
    g (float[2, 6, 4, 5] x) => (float[2, 6] y) <float[6] s, float[6] b> {
        [first] a = Relu (x)
        [mean] y = ReduceMean <axes = [2, 3], keepdims = 0> (a)
    }"""
    sizes = find_sizes(model := load_network(text))
    found = sizes.find(model.graph.values["a"])
    assert found is not None
    assert found.write() == "4 × 5 × 6"
    text = text.replace("[2, 6] y", "[2, 5] y").replace("[2, 3]", "[1, 2]")
    found = find_sizes(model := load_network(text)).find(model.graph.values["a"])
    assert found is not None
    assert found.write() == "6 × 4 × 5"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        # a mean over all places keeps the axes, and what permutes axes tells which they are
        ("r = Relu (a) v = ReduceMean <axes = [2, 3]> (r) y = Identity (v)", "1 × 1 × 8"),
        (
            (
                "n = MatMul (s, w) g = Reshape (n, grid)"
                " v = Transpose <perm = [0, 3, 1, 2]> (g) y = Flatten (v)"
            ),
            "4 × 6 × 8",
        ),
        ("v = Gather <axis = 2> (a, places) y = Flatten (v)", "2 × 6 × 8"),
    ],
)
def test_channels_stand_last_however_a_map_came_about(made: str, told: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 8, 4, 6] x, float[1, 24, 8] s) => (float y) <int64[2] dims = {{8, 8}},
  int64[4] grid = {{1, 4, 6, 8}}, int64[2] places = {{0, 1}},
  int64[4] kernel = {{8, 8, 1, 1}}> {{
 k = ConstantOfShape (kernel) w = ConstantOfShape (dims) a = Conv (x, k) {made}
}}"""
    model = load(onnx.parser.parse_model(text).SerializeToString())
    value = next(one for node in model.graph.nodes for one in node.outputs if one.name == "v")
    size = find_sizes(model).find(value)
    assert size is not None
    assert size.write() == told


def test_no_size_is_told_whose_last_one_may_not_be_that_of_channels() -> None:
    """A scale of channels that no layer takes: elsewhere in the picture channels stand last."""
    model = load_network(
        "g (float[64, 1, 1] x) => (float[64, 1, 1] y) { r = Exp (x) y = Sqrt (r) }"
    )
    (value,) = model.graph.nodes[0].outputs
    assert value is not None
    assert find_sizes(model).find(value) is None


def find_written(text: str, name: str) -> str | None:
    """Return the size that is written of a value; None where nothing is known to be so."""
    model = load(onnx.parser.parse_model(text).SerializeToString())
    values = (one for node in model.graph.nodes for one in node.outputs)
    size = find_sizes(model).find(next(one for one in values if one and one.name == name))
    return size.write() if size is not None else None


@pytest.mark.parametrize(
    ("made", "told"),
    [
        # the users of a shape come before the one that tells which axis has channels
        ("q = Reshape (v, flat) n = Shape (v) z = Add (v, a) y = Conv (z, k)", "4 × 6 × 8"),
        # a map laid out flat is no list of features
        ("v1 = Relu (v) y = Conv (v1, k)", "4 × 6 × 8"),
    ],
)
def test_a_map_that_was_reshaped_has_channels_last(made: str, told: str) -> None:
    text = f"""<ir_version: 8, opset_import: ["": 13]>
g (float[1, 8, 4, 6] x, float[1, 8, 24] s) => (float y) <int64[4] grid = {{1, 8, 4, 6}},
  int64[3] flat = {{1, 8, 24}}, int64[4] kernel = {{8, 8, 1, 1}}> {{
 k = ConstantOfShape (kernel) a = Relu (x) u = Softsign (s) v = Reshape (u, grid) {made}
}}"""
    assert find_written(text, "v") == told
    if "v1" in made:
        assert find_written(text, "u") is None


@pytest.mark.parametrize(
    ("batch", "rows", "told"), [(2, 12, None), (1, 12, "12 × 8"), (2, 2, "8"), (2, 7, "7 × 8")]
)
def test_what_may_hold_the_batch_is_not_told(batch: int, rows: int, told: str | None) -> None:
    """Sentences of all texts in one axis, as of a hierarchical attention network."""
    text = f"""<ir_version: 8, opset_import: ["": 13]>
g (float[{batch}, {rows * 8 // batch}] x) => (float y)
  <int64[2] shape = {{{rows}, 8}}> {{ h = Reshape (x, shape) v = Tanh (h) y = Exp (v) }}"""
    assert find_written(text, "v") == told


def test_the_norms_of_capsules_tell_no_channels() -> None:
    """A sum over one axis leaves what it leaves (S. Sabour and others, 2017, equation 1)."""
    text = """<ir_version: 8, opset_import: ["": 13]>
g (float[1, 10, 288, 16] x) => (float y) <int64[1] two = {2}, int64[1] last = {3}> {
 v = Softsign (x) s = ReduceSum <keepdims = 1> (v, two) q = Mul (s, s)
 y = ReduceSum <keepdims = 1> (q, last)
}"""
    assert find_written(text, "v") == "10 × 288 × 16"
