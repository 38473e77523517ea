"""Faces: what stands on a box, and that it fits."""

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group, build_group_tree, recognise_function
from netloupe.explorer.layout import Scene
from netloupe.explorer.model import Model
from netloupe.explorer.options import Direction
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.box import MOST_TITLE_WIDTH, MOST_WIDTH_IN_LINE, lay_title
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import FaceBook, make_face
from netloupe.explorer.render.facts import NodeFacts
from netloupe.explorer.render.group_names import fold_chain
from netloupe.explorer.render.group_summary import (
    write_difference,
)
from netloupe.explorer.render.rows import (
    describe_dims,
    describe_pads,
    drop_scope,
    short_range,
    shorten_dims,
    write_elements,
)
from netloupe.explorer.render.sizes import HEADER, TEXT_STYLES
from netloupe.explorer.render.text import measure_text
from netloupe.explorer.render.value_faces import MOST_STUB_WIDTH
from netloupe.explorer.view import Instance, Item, View
from netloupe.explorer.view.item import ConstantRow
from tests.corpus import corpus_file, light_file


def words(face: Face) -> list[str]:
    return [run.text for run in face.texts]


def face_of_node(model: Model, index: int = 0, **options: object) -> Face:
    graph = model.graph
    node = graph.nodes[index]
    item = Item("node", node.path, node, Instance(graph, "main", None), None, **options)  # type: ignore[arg-type]
    item.constants = tuple(
        ConstantRow(number, value.initializer, "", value.path)
        for number, value in enumerate(node.inputs)
        if value is not None and value.initializer is not None
    )
    return make_face(item)


def one_node(
    op_type: str,
    *,
    domain: str = "",
    initializers: Sequence[onnx.TensorProto] = (),
    name: str = "",
    **attributes: object,
) -> Model:
    inputs = ["x", *(tensor.name for tensor in initializers)]
    node = helper.make_node(op_type, inputs, ["y"], name=name, domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        list(initializers),
    )
    return load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def fits(face: Face) -> bool:
    for run in face.texts:
        width = measure_text(run.text, *TEXT_STYLES[run.style])
        left = run.x - {"start": 0.0, "middle": width / 2, "end": width}[run.anchor]
        if left < 0 or left + width > face.width - 4 or not 0 < run.y < face.height:
            return False
    return all(
        badge.x >= 0
        and badge.x + badge.width <= face.width
        and measure_text(badge.text, *TEXT_STYLES["badge"]) <= badge.width - 8
        for badge in face.badges
    )


def weight(*dims: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.zeros(dims, np.float32), "w")


def face_in(model: Model, direction: Direction) -> Face:
    """Return the face of a model's first node in a picture of some direction."""
    return FaceBook(direction=direction).face(View(model).items[model.graph.nodes[0].path])


def test_every_text_of_the_scene_fits_its_box(scene: Scene, faces: FaceBook) -> None:
    for box in scene.boxes:
        assert fits(faces.face(box.item)), box.item


def test_attributes_that_matter_then_weights(scene: Scene, faces: FaceBook) -> None:
    face = next(faces.face(box.item) for box in scene.boxes if box.item.path == "main/Conv")
    assert words(face) == [
        "Conv", "kernel", "3×3", "strides", "2×2", "pads", "1", "W", "⟨4×4×3×3⟩", "B", "⟨4⟩",
    ]  # fmt: skip
    assert face.category == "weights"
    assert face.header == HEADER
    assert len(face.rules) == 1


def test_a_node_without_rows_is_one_band() -> None:
    face = face_of_node(one_node("Relu"))
    assert words(face) == ["Relu"]
    assert face.header == face.height == HEADER
    assert face.width == 90


def test_uninteresting_defaults_are_left_out() -> None:
    model = one_node("Softmax", axis=-1)
    assert words(face_of_node(model)) == ["Softmax", "axis", "-1"]
    model = one_node("MaxPool", kernel_shape=[2, 2], strides=[1, 1], auto_pad="NOTSET", ceil_mode=0)
    assert words(face_of_node(model)) == ["MaxPool", "kernel", "2×2"]


def test_cast_says_the_dtype() -> None:
    assert words(face_of_node(one_node("Cast", to=TensorProto.BFLOAT16)))[1:] == ["to", "bfloat16"]
    assert words(face_of_node(one_node("Cast", to=77)))[1:] == ["to", "77"]


def test_tiny_constants_show_their_elements() -> None:
    heads = numpy_helper.from_array(np.array([0, -1, 12, 64]), "heads")
    assert words(face_of_node(one_node("Reshape", initializers=[heads])))[1:] == [
        "shape",
        "[0, -1, 12, 64]",
    ]
    scale = numpy_helper.from_array(np.array(0.125, np.float32), "scale")
    assert words(face_of_node(one_node("Mul", initializers=[scale])))[1:] == ["B", "0.125"]
    zero = numpy_helper.from_array(np.array(3, np.int8), "zero")
    assert words(face_of_node(one_node("Add", initializers=[zero])))[1:] == ["B", "3", "int8"]


def test_broken_constants_show_their_dimensions() -> None:
    short = onnx.TensorProto(name="w", data_type=1, dims=[], raw_data=b"x")
    assert words(face_of_node(one_node("Mul", initializers=[short])))[1:] == ["B", "⟨⟩"]


def test_many_rows_are_bounded() -> None:
    weights = [numpy_helper.from_array(np.zeros((2, 2), np.float32), f"w{i}") for i in range(40)]
    face = face_of_node(one_node("Concat", initializers=weights, axis=1))
    assert words(face)[-1] == "… 34 more"
    assert len(face.texts) < 20
    face = face_of_node(one_node("Odd", domain="example", **{f"a{i}": i for i in range(30)}))
    assert words(face)[-1] == "… 25 more"


@pytest.mark.parametrize(
    "text", ["<script>", 'a"&]]>', "\x00\ud800\u202e", "x" * 100_000, "層" * 99]
)
def test_hostile_names_fit(text: str) -> None:
    model = one_node("Op", domain="example")
    node = model.graph.nodes[0]
    node.op_type = text
    for options in ({}, {"label": text, "openable": True}):
        face = face_of_node(model, **options)
        assert fits(face)
        assert face.width <= MOST_TITLE_WIDTH
        assert all("\n" not in run.text and "\x00" not in run.text for run in face.texts)


def test_the_groups_name_stands_before_the_operator() -> None:
    face = face_of_node(one_node("LayerNormalization"), label="ln_1")
    assert [(run.text, run.style) for run in face.texts] == [
        ("ln_1", "title"),
        ("LayerNormalization", "title-muted"),
    ]


@pytest.mark.parametrize(
    "name", ["word_embeddings_layernorm", "post_attention_layernorm", "encoder_attn_layer_norm"]
)
def test_names_of_modules_and_their_operators_are_read_whole(name: str) -> None:
    face = face_of_node(one_node("LayerNormalization"), label=name)
    assert words(face) == [name, "LayerNormalization"]
    assert face.title == ""
    assert fits(face)


def make_group(model: Model, label: str, type_name: str = "") -> Item:
    group = Group("scope", model.graph, f"main/{label}/", label, type_name)
    group.children = list(model.graph.nodes)
    group.node_count = len(model.graph.nodes)
    return Item(
        "group", group.path, group, Instance(model.graph, "main", None), None, openable=True
    )


def test_a_closed_group_says_what_it_is_made_of(model: Model) -> None:
    face = make_face(make_group(model, "layers.1", "GPT2Block"))
    assert words(face)[:2] == ["layers.1", "GPT2Block"]
    assert "+" in words(face)
    # the ideas in it, and not what only moves data
    assert "Embedding, Residual block, If" in words(face)
    assert face.outline == "group"
    assert fits(face)


def test_an_activation_that_quantization_does_needs_no_long_names() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (int8[N] x, float s) => (int8[N] y) '
        "{ f = DequantizeLinear(x, s) y = QuantizeLinear(f, s) }"
    )
    face = make_face(make_group(load(proto.SerializeToString()), "relu"))
    assert "Q/DQ" in words(face)


def test_a_stub_is_a_pill_with_the_values_short_name(model: Model) -> None:
    value = model.graph.values["input_ids"]
    instance = Instance(model.graph, "main", None)
    item = Item("stub", value.path, value, instance, None, key="a", label="/model/attention_mask")
    face = make_face(item)
    assert (face.outline, words(face)) == ("stub", ["attention_mask"])
    assert fits(face)
    item.label = "x" * 100_000
    item.key = "b"
    assert make_face(item).width <= MOST_STUB_WIDTH


def test_a_groups_family_comes_from_its_class_or_its_weights(model: Model) -> None:
    assert make_face(make_group(model, "h", "GPT2Attention")).category == "attention"
    assert make_face(make_group(one_node("ReduceMean"), "input_layernorm")).category == "norm"
    assert make_face(make_group(model, "h", "Block")).category == "weights"
    assert make_face(make_group(one_node("MatMul"), "h", "Block")).category == "weights"


def test_an_open_group_is_a_frame(model: Model) -> None:
    item = make_group(model, "layers.1", "GPT2Block")
    item.is_open = True
    face = make_face(item)
    assert (face.outline, face.header, words(face)) == ("frame", HEADER, ["layers.1", "GPT2Block"])
    assert fits(face)


def test_what_can_be_opened_says_how_much_is_inside(model: Model) -> None:
    node = next(node for node in model.graph.nodes if node.op_type == "If")
    item = Item("node", node.path, node, Instance(model.graph, "main", None), None, openable=True)
    assert words(make_face(item)) == ["If", "+", "2 nodes in 2 branches"]


def test_an_input_shows_type_and_denotation() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[N,3,H,W] image) => (float[N,3,H,W] y) '
        "{ y = Relu(image) }"
    )
    tensor_type = proto.graph.input[0].type
    tensor_type.denotation = "IMAGE"
    for dim, denotation in zip(
        tensor_type.tensor_type.shape.dim, ("DATA_BATCH", "DATA_CHANNEL", "", ""), strict=True
    ):
        dim.denotation = denotation
    model = load(proto)
    value = model.graph.inputs[0]
    item = Item("input", value.path, value, Instance(model.graph, "main", None), None)
    face = make_face(item)
    assert words(face) == ["image", "float32[N, 3, H, W]", "IMAGE · batch×channel×·×·"]
    assert face.outline == "terminal"


def test_faces_are_made_once_and_equal_ones_are_one_object(model: Model) -> None:
    book = FaceBook()
    graph, instance = model.graph, Instance(model.graph, "main", None)
    node = graph.nodes[8]
    one, other = (Item("node", key, node, instance, None) for key in ("a", "b"))
    assert book.face(one) is book.face(one)
    assert book.face(one) is book.face(other)
    one.label = "renamed"
    assert words(book.face(one))[0] == "renamed"


def test_brief_forms() -> None:
    assert describe_pads((1, 1, 1, 1)) == "1"
    assert describe_pads((1, 2, 1, 2)) == "1, 2"
    assert describe_pads((0, 1, 2, 3)) == "[0, 1, 2, 3]"
    assert write_elements((2**63 - 1, -(2**63))) == "[int64 max, int64 min]"
    assert write_elements(10**100) == "…"
    assert describe_dims(range(9)) == "0×1×2×…×7×8"


def stack_of_sizes(*sizes: int) -> Group:
    """Return a repeat whose repetitions have so many nodes."""
    nodes = [helper.make_node("Relu", ["x"], [f"y{number}"]) for number in range(sum(sizes))]
    graph = helper.make_graph(nodes, "g", [], [])
    model = load(helper.make_model(graph).SerializeToString())
    repeat = Group("repeat", model.graph, "main/r/", "r")
    done = 0
    for number, size in enumerate(sizes):
        block = Group("block", model.graph, f"main/r/{number}/", str(number), "", repeat)
        block.children = list(model.graph.nodes[done : done + size])
        block.node_count = size
        repeat.add(block)
        done += size
    return repeat


def test_a_stack_whose_blocks_differ_in_nothing_that_is_known_says_nothing() -> None:
    assert write_difference(stack_of_sizes(3, 3, 3)) == ""
    assert write_difference(stack_of_sizes(5, 3, 3)) == ""
    told = write_difference(stack_of_sizes(3, 4, 5), shown=1)
    assert told == "the first without one ReLU"  # of the last nothing is known


def test_the_stages_of_a_resnet_say_in_what_their_first_block_differs() -> None:
    graph = load(light_file("light_resnet50.onnx")).graph
    stages = [
        group
        for group in build_group_tree(graph).root.children
        if isinstance(group, Group) and group.kind == "repeat"
    ]
    assert [write_difference(stage) for stage in stages] == [
        "the first with projection",
        *["the first halves the size"] * 3,
    ]
    assert write_difference(stages[2], shown=1) == "the first halves the size"
    assert write_difference(stages[2], shown=0) == "stride 2, then 1"


def recognised_item(
    path: str, file: str = "exported/gpt2.legacy.onnx", *, is_open: bool = False
) -> Item:
    """Return the item of a group, such as a stack of blocks, of a GPT-2 or of another file."""
    model = load(corpus_file(file))
    group = build_group_tree(model.graph).find(path)
    assert isinstance(group, Group), path
    item = Item("group", group.path, group, Instance(model.graph, "main", None), None)
    item.openable = True
    item.is_open = is_open
    return item


@pytest.mark.parametrize(
    ("path", "texts", "category"),
    [
        ("h.3/attn", ["attn", "Self-attention", "+", "4 heads × 12 · causal"], "attention"),
        ("h.3/mlp", ["mlp", "+", "48 → 192 → 48 · GELU (tanh)"], "weights"),
        ("h.3/mlp/act", ["act", "GELU (tanh)", "+"], "activation"),
        ("h.3/mlp/c_fc", ["c_fc", "Linear", "+", "48 → 192"], "weights"),
    ],
)
def test_a_closed_group_says_what_it_is_and_its_facts(
    path: str, texts: list[str], category: str
) -> None:
    face = make_face(recognised_item(path))
    assert words(face) == texts
    assert face.category == category
    assert fits(face)


def test_a_closed_group_of_no_known_kind_says_which_stacks_it_holds() -> None:
    face = make_face(recognised_item("encoder", "exported/bert.legacy.onnx"))
    assert words(face) == ["encoder", "Transformer block ×12", "+"]


def test_an_open_group_says_what_it_is() -> None:
    assert words(make_face(recognised_item("h.3/attn", is_open=True))) == ["attn", "Self-attention"]


def test_facts_for_which_there_is_no_room_are_left_out() -> None:
    face = make_face(recognised_item("h.3"))
    assert words(face)[:2] == ["h.3", "Transformer block"]
    assert words(face)[3] == "4 heads × 12 · causal · MLP 48 → 192 → 48"
    assert fits(face)


def test_what_structure_alone_has_found_is_named_after_what_it_is() -> None:
    tree = build_group_tree(load(light_file("light_resnet50.onnx")).graph)
    group = next(g for g in tree.groups.values() if g.label == "Conv · BN · ReLU")
    assert group.path == "main/Conv-BN-ReLU/"
    item = Item("group", group.path, group, Instance(tree.graph, "main", None), None)
    face = make_face(item)
    assert words(face) == ["Conv · BN · ReLU", "7×7 · 3 → 64 · /2"]
    # and so it is called where it is not to be told what it is
    group._recognised[:] = [None]
    assert words(make_face(item))[0] == "Conv · BN · ReLU"


def test_a_call_says_what_its_function_is() -> None:
    model = load(corpus_file("exported/lstm.legacy-functions.onnx"))
    body = next(function for function in model.functions if function.name == "Tagger")
    call = next(node for node in body.nodes if node.op_type == "Linear")
    item = Item("node", call.path, call, Instance(body, body.path, None), None)
    item.openable = True
    item.label = "head"
    face = make_face(item)
    assert words(face)[:2] == ["head", "Linear"]
    assert "12 → 5" in words(face)
    assert not any("inside" in text for text in words(face))
    # a figure leaves out what is passed to it: in_features 12 · out_features 5
    assert any("features" in text for text in words(face))
    figure = make_face(item, NodeFacts(), has_controls=False)
    assert words(figure) == ["head", "Linear", "12 → 5"]


def test_what_a_function_is_keeps_no_model() -> None:
    model = load(corpus_file("exported/lstm.legacy-functions.onnx"))
    assert any(recognise_function(function) for function in model.functions)
    kept = weakref.ref(model)
    del model
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("layers.0 … layers.11", "layers.0 … 11"),
        ("0 … 2", "0 … 2"),
        ("blocks.0–1 … blocks.4–5", "blocks.0–1 … 4–5"),
        ("cell … cell_7", "cell … _7"),
        ("layers.0 … layers.0_11", "layers.0 … _11"),
        ("up.0.conv … up.3.conv", "up.0.conv … up.3.conv"),
        ("cell … cell_b", "cell … cell_b"),
        ("points.Mixed_4b … points.Mixed_4d", "points.Mixed_4b … Mixed_4d"),
        ("stage.first … head.last", "stage.first … head.last"),
        ("layers.0", "layers.0"),
    ],
)
def test_a_range_says_once_what_both_ends_share(label: str, expected: str) -> None:
    assert short_range(label) == expected


def test_a_range_loses_its_scope_before_its_end() -> None:
    title = "end_points_of_the_network.Mixed_4b … Mixed_4d"
    for room, shown in ((1000.0, title), (230.0, "Mixed_4b … Mixed_4d")):
        runs, _ = lay_title(title, "", 0.0, room)
        assert [run.text for run in runs] == [shown]
    assert [drop_scope(name) for name in ("layers.0 … 11", "up.0.a … up.1.a", "a.b")] == [
        "layers.0 … 11",
        "up.0.a … up.1.a",
        "a.b",
    ]


def test_where_a_picture_runs_down_facts_stand_in_the_line_of_the_title() -> None:
    model = one_node("Conv", initializers=[weight(8, 4, 3, 3)], kernel_shape=[3, 3])
    down, across = (face_in(model, direction) for direction in ("TB", "LR"))
    assert words(down) == words(across) == ["Conv", "3×3 · 4 → 8"]
    assert down.height == down.header == HEADER < across.height
    assert {run.y for run in down.texts} == {down.texts[0].y}
    assert fits(down)
    [(left, top, bottom)] = down.targets  # a click on the facts selects the weight
    assert down.texts[0].x < left < down.texts[1].x
    assert (top, bottom) == (0, HEADER)


def test_facts_that_would_make_a_box_too_wide_stand_below_its_title() -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch_size", "sequence"] * 2)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch"])],
    )
    view = View(load(helper.make_model(graph)))
    book = FaceBook()
    items = {item.kind: item for item in view.root.children}
    wide, narrow = (book.face(items[kind]) for kind in ("input", "output"))
    assert narrow.height == HEADER < wide.height
    assert fits(wide)
    assert words(wide)[1].endswith("sequence]")
    assert narrow.width <= MOST_WIDTH_IN_LINE


def test_a_block_with_a_name_of_its_own_keeps_a_line_for_its_facts() -> None:
    book = FaceBook()
    assert book.face(recognised_item("h.3/attn")).height > HEADER
    assert book.face(recognised_item("h.3/mlp")).height == HEADER


@pytest.mark.parametrize(
    ("label", "type_name", "title"),
    [
        ("head", "Head", ["head"]),
        ("layer_norm", "LayerNorm", ["layer_norm"]),
        ("head", "YOLOHead", ["head", "YOLOHead"]),
    ],
)
def test_a_class_that_only_repeats_the_title_is_left_out(
    model: Model, label: str, type_name: str, title: list[str]
) -> None:
    item = make_group(model, label, type_name)
    face = make_face(item)
    assert [run.text for run in face.texts if run.text != "+"][:-1] == title
    item.is_open = True
    assert words(make_face(item)) == title


def test_a_chain_that_recurs_is_named_once() -> None:
    assert fold_chain("Conv · ReLU · Conv · ReLU") == "(Conv · ReLU) ×2"
    assert fold_chain("Conv · ReLU · Conv") == "Conv · ReLU · Conv"
    assert fold_chain("Conv · ReLU · Conv · ReLU · MaxPool") == "(Conv · ReLU) ×2 · MaxPool"
    assert fold_chain("Linear · Linear · Linear") == "Linear ×3"
    assert fold_chain("(Conv · ReLU) ×2 · Linear") == "(Conv · ReLU) ×2 · Linear"
    assert fold_chain("Linear") == "Linear"


def test_names_have_the_room_that_they_need(model: Model) -> None:
    item = make_group(model, "embeddings", "TokenAndPositionEmbedding")
    assert words(make_face(item))[:2] == ["embeddings", "TokenAndPositionEmbedding"]


LONG = "TransformerLayerOfTheSecondDecoder"


def item_of(group: Group) -> Item:
    instance = Instance(group.graph, "main", None)
    return Item("group", group.path, group, instance, None, openable=True)


@pytest.mark.parametrize("is_open", [False, True])
def test_what_a_stack_is_has_a_line_of_its_own_where_both_do_not_fit(is_open: bool) -> None:
    repeat = stack_of_sizes(3, 3)
    repeat.facts = (LONG,)
    repeat.label = "blocks_of_the_decoder.0 … blocks_of_the_decoder.1"
    item = item_of(repeat)
    item.is_open = is_open
    face = make_face(item)
    title, quiet = (run for run in face.texts if run.text in ("blocks_of_the_decoder.0 … 1", LONG))
    assert quiet.text == LONG
    assert quiet.y > title.y
    assert face.title == ""
    assert fits(face)


def test_the_title_of_a_stack_that_is_too_long_loses_its_end() -> None:
    repeat = stack_of_sizes(2, 2)
    repeat.label = f"{'very_' * 12}long.0 … {'very_' * 12}long.1"
    face = make_face(item_of(repeat))
    assert words(face)[0].startswith("very_very_")
    assert words(face)[0].endswith("…")
    assert fits(face)


def test_a_title_that_is_whole_is_not_told_again(model: Model) -> None:
    assert make_face(make_group(model, "embeddings", "TokenAndPositionEmbedding")).title == ""


def test_long_names_of_dimensions_are_shortened_each() -> None:
    name = "LayerNormalizationlast_hidden_state_dim_"
    text = f"sequence(float32[{name}0, {name}1, 48])"
    assert shorten_dims(text, 1000, "text") == text
    shown = shorten_dims(text, 260, "text")
    assert shown.startswith("sequence(float32[Lay")
    assert "_0, Lay" in shown
    assert shown.endswith("_1, 48])")
    assert measure_text(shown, *TEXT_STYLES["text"]) <= 260


def test_a_closed_stack_says_what_it_is_and_only_where_its_blocks_differ() -> None:
    model = load(light_file("light_resnet50.onnx"))
    stage = next(
        item for item in View(model).items.values() if item.repeat is not None and not item.is_open
    )
    assert words(FaceBook().face(stage))[-1].endswith(" · the first with projection")


def test_what_is_beside_the_body_says_what_it_is_and_counts_nothing() -> None:
    tree = build_group_tree(load(corpus_file("exported/bert.legacy.onnx")).graph)
    beside = [group for group in tree.groups.values() if group.kind == "preparation"]
    told = {
        tuple(
            words(make_face(Item("group", one.path, one, Instance(tree.graph, "main", None), None)))
        )
        for one in beside
    }
    # what follows from sizes alone is hidden
    assert told == {("attention mask", "padding", "preparation")}
