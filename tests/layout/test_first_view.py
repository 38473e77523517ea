"""First views: what a person sees first of a model of any size, with names or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import WINDOW, Composer, FirstView, Window
from netloupe.explorer.layout.shown_items import count_boxes, list_closed
from netloupe.explorer.model import Model, Node, is_constant_node
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.corpus import LIGHT_MODELS, also_beside, beside, corpus_file, light_file
from tests.grouping.blank_names import load_blank
from tests.grouping.test_repeats import Builder
from tests.grouping.test_tree import make_chain
from tests.onnx_text import load_text
from tests.wiring_check import find_lost_edges

LEAST, MOST = 5, 28
#: those of which more boxes are shown: stacks of a net without names, and one of single operators
MOST_OF = {
    # without names the first block of each stage is of another kind than the second
    "exported/unet.dynamo.onnx": 38,
    "beside:exported/unet.dynamo.onnx": 41,
    "beside:caffe2/dzung-hoang__caffe2-models/mobilenet_v2_quantized/predict_net.pb": 36,
}
MOST_OF_HOSTILE = 64
EXPORTED = ("bert.dynamo", "bert.legacy", "densenet.legacy", "gpt2.legacy", "segformer.dynamo")
EXPORTED += ("t5.legacy", "unet.dynamo", "vit.dynamo", "whisper.dynamo")
QUANTIZED = ("bert.dynamic", "bert.matmulnbits_int4", "bert.qdq", "bert.qoperator_perchannel")
CAFFE2 = tuple(
    f"caffe2/{name}"
    for name in (
        "alexnet/predict_net.pbtxt",
        "densenet121/predict_net.pbtxt",
        "inception/predict_net.pbtxt",
        "mobilenet_int8/predict_net.pb",
        "resnet50/predict_net.pbtxt",
    )
)
CAFFE2_BESIDE = tuple(
    f"caffe2/caffe2__models/{name}/predict_net.pbtxt"
    for name in ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "vgg19")
) + tuple(
    f"caffe2/dzung-hoang__caffe2-models/{name}/predict_net.pb"
    for name in ("mobilenet_v2_quantized", "resnet50_quantized")
)
MODELS = [
    *also_beside([f"exported/{name}.onnx" for name in EXPORTED]),
    *also_beside([f"quantized/{name}.onnx" for name in QUANTIZED]),
    *CAFFE2,
    *beside(*CAFFE2_BESIDE),
]


def first_view(model: Model, window: Window = WINDOW) -> View:
    view = View(model)
    FirstView(Composer(), Labels(), window).open(view)
    return view


def stacks(view: View) -> list[tuple[str, int]]:
    return [
        (item.label, len(item.repeat.children))
        for item in view.root.children
        if item.repeat is not None
    ]


def test_a_module_around_a_choice_and_what_it_hangs_on_is_open() -> None:
    """Two boxes, and what is in the branches of one of them is told nowhere else."""
    view = first_view(load(corpus_file("exported/condloop.dynamo.onnx")))
    (module,) = [item for item in view.root.children if item.label == "cond"]
    assert [child.kind for child in module.children if not child.is_terminal] == ["group", "node"]
    assert module.is_open
    assert any(item.kind == "branch" for item in view.open_items())


def test_a_nameless_decoder_is_a_stack_of_layers() -> None:
    builder = Builder()
    x = builder.add("Gather", builder.weight(), "x")
    mask = builder.add("Mul", builder.add("Cast", x, to=1), builder.weight())
    for _ in range(269):
        x = builder.layer(x, mask)
    view = first_view(builder.load(builder.linear(builder.norm(x))).model)
    assert stacks(view) == [("Transformer block", 269)]
    assert LEAST <= count_boxes(list_closed(view.root)) <= MOST
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    assert stack.is_open
    inside = [child.label for child in stack.children if child.element is not stack.element]
    assert [label for label in inside if label] == ["RMSNorm", "Attention", "RMSNorm", "MLP"]
    assert find_lost_edges(view) == []


#: a stage of residual blocks on each side of the middle, and three with three blocks each up; in
#: the blocks of the stages down self- and cross-attention stand one by one
UNET = [*[("Residual block", 3)] * 2, *[("Transformer block", 3)] * 3]
#: the same of the file beside the repository, whose stages down hold whole transformers alone
UNET_BESIDE = [*[("Transformer block", 2)] * 3, *UNET]


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        *also_beside(
            [
                ("gpt2.legacy", [("Transformer block", 12)]),
                ("bert.legacy", [("Transformer block", 12)]),
                ("vit.dynamo", [("Transformer block", 12)]),
            ],
            "exported/{}.onnx",
        ),
        ("exported/unet.dynamo.onnx", UNET),
        *((name, UNET_BESIDE) for name in beside("exported/unet.dynamo.onnx")),
    ],
)
def test_first_views_without_names(name: str, truth: list[tuple[str, int]]) -> None:
    view = first_view(load_blank(corpus_file(name)).model)
    assert stacks(view) == truth
    assert LEAST <= count_boxes(list_closed(view.root)) <= MOST_OF.get(name, MOST)
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("name", MODELS)
def test_first_views_of_the_corpus_have_a_readable_number_of_boxes(name: str) -> None:
    named = name.endswith("unet.dynamo.onnx")  # with its names it needs no more than others
    check_readable(corpus_file(name), MOST if named else MOST_OF.get(name, MOST))


@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_first_views_of_light_models_have_a_readable_number_of_boxes(name: str) -> None:
    check_readable(light_file(name), MOST)


def check_readable(path: Path, most: int) -> None:
    view = first_view(load(path))
    nodes = sum(not is_constant_node(node) for node in view.graph.nodes)
    assert min(LEAST, nodes) <= count_boxes(list_closed(view.root)) <= most


def test_a_stack_of_single_nodes_stays_closed() -> None:
    view = first_view(make_chain(*["" for _ in range(300)]).model)
    (stack,) = [item for item in view.root.children if item.repeat is not None]
    assert not stack.is_open
    view.open(stack.key)  # but can be opened
    assert [child.kind for child in stack.children] == ["node"]


@pytest.mark.parametrize(
    "name",
    also_beside(
        ["scope_cycle", "cycle_scc_dense", "cycle_self", "outputs_5000"], "hostile/{}.onnx"
    ),
)
def test_first_views_of_hostile_graphs_are_small(name: str) -> None:
    view = first_view(load(corpus_file(name)))
    assert count_boxes(list_closed(view.root)) <= MOST_OF_HOSTILE
    links = sum(len(view.links(item)) for item in view.open_items())
    assert links <= 3 * MOST_OF_HOSTILE
    assert find_lost_edges(view) == []


def make_stages(*counts: int) -> Model:
    """Return a model of scopes "a", "b" … of so many nodes each, one after the other."""
    names = [
        f"{scope}/n{index}"
        for scope, count in zip("abcdef", counts, strict=False)
        for index in range(count)
    ]
    return make_chain(*names, op_type="ReduceMax").model


def opened(view: View) -> set[str]:
    return {item.key for item in view.open_items() if item is not view.root}


def test_a_larger_window_shows_more() -> None:
    model = make_stages(12, 9, 6)
    views = [first_view(model, Window(1100, height)) for height in (250, 400, 4000)]
    boxes = [count_boxes(list_closed(view.root)) for view in views]
    assert boxes == sorted(boxes)
    assert boxes[0] < boxes[-1]


def test_all_of_it_fits_at_a_readable_zoom() -> None:
    for counts in ((12, 9, 6), (8, 8, 8, 8), (5, 4, 3, 2)):
        view = first_view(make_stages(*counts))
        scene = Composer().compose(view, Labels())
        assert WINDOW.zoom(scene.width, scene.height) >= 0.5
        assert count_boxes(list_closed(view.root)) <= 30


def test_what_is_alike_is_treated_alike() -> None:
    names = [f"stage.{stage}.part/n{index}" for stage in range(4) for index in range(2 + stage)]
    for height in range(300, 1400, 100):
        view = first_view(make_chain(*names, op_type="Neg").model, Window(1100, height))
        assert len(opened(view)) in (0, 4)


def test_inside_a_repetition_nothing_more_is_open() -> None:
    view = first_view(load(corpus_file("exported/t5.legacy.onnx")), Window(4000, 8000))
    inside = [item for item in view.open_items() if item.parent is not None and item.parent.repeat]
    assert any(item.repeat is not None for item in view.open_items())
    assert not inside


def make_towers(*counts: int) -> Model:
    """Return a model of scopes "a", "b" … with so many layers of four nodes each, and a norm."""
    names = []
    for scope, count in zip("abcdef", counts, strict=False):
        names += [f"{scope}/layer.{layer}/n{node}" for layer in range(count) for node in range(4)]
        names += [f"{scope}/norm/{node}" for node in "xyz"]
    return make_chain(*names, op_type="Neg").model


def opened_stacks(view: View) -> list[str]:
    return [item.path for item in view.open_items() if item.repeat is not None]


def test_the_largest_stack_is_open_even_where_nothing_else_has_room() -> None:
    model = make_towers(4, 12, 5)
    window = Window(1100, 350)
    view = first_view(model, window)
    assert opened(view) == {"main/b/", "main/b/layer.0-11/"}
    scene = Composer().compose(view, Labels())
    assert 0.65 <= window.zoom(scene.width, scene.height) < 0.85


def test_stacks_that_are_alike_are_open_together_where_there_is_room() -> None:
    model = make_towers(8, 8)
    for height, count in ((2_000, 2), (330, 1), (100, 0)):
        assert len(opened_stacks(first_view(model, Window(1100, height)))) == count


@pytest.mark.parametrize("exporter", ["legacy", "dynamo"])
def test_two_towers_that_are_alike_are_open_alike(exporter: str) -> None:
    view = first_view(load(corpus_file(f"exported/clip.{exporter}.onnx")))
    labels = [item.label for item in view.open_items() if item is not view.root]
    # a block of each stack would make too many boxes, one of one stack would tell them apart
    assert sorted(labels) == ["text_model", "vision_model"]
    closed = [item for item in list_closed(view.root) if item.repeat is not None]
    assert [len(item.repeat.children) for item in closed if item.repeat] == [12, 12]
    assert count_boxes(list_closed(view.root)) <= 26
    scene = Composer().compose(view, Labels())
    assert WINDOW.zoom(scene.width, scene.height) >= 0.65


def test_never_one_of_two_alike_towers_is_open_in_a_larger_window() -> None:
    view = first_view(load(corpus_file("exported/clip.legacy.onnx")), Window(4000, 4000))
    assert len(opened_stacks(view)) in (0, 2)


def test_without_room_for_the_largest_stack_the_next_one_is_open() -> None:
    parts = [f"{chr(96 + part)}/{node}" for part in range(1, 15) for node in range(part + 1)]
    names = [f"a/layer.{layer}/{part}" for layer in range(9) for part in parts]
    names += [f"b/layer.{layer}/n{node}" for layer in range(3) for node in range(5)]
    view = first_view(make_chain(*names, "c/x", "c/y", op_type="Neg").model, Window(1100, 350))
    assert [path.split("/")[1] for path in opened_stacks(view)] == ["b"]


def test_a_stack_in_the_branch_of_a_node_is_found() -> None:
    view = first_view(load(corpus_file("exported/distilgpt2_merged.legacy.onnx")))
    assert opened_stacks(view)


def test_a_branch_of_one_node_stays_closed() -> None:
    view = first_view(
        load_text("""
        g (float[3, 3] x, bool c) => (y) <float[3, 3] w = {1,2,3,4,5,6,7,8,9}> {
            a = Relu (x)
            y = If (c) <
                then_branch = t () => (float[3, 3] p) { b = MatMul (a, w) p = Tanh (b) },
                else_branch = e () => (float[3, 3] q) { q = Neg (a) }
            >
        }""")
    )
    branches = {
        item.path.rpartition(".")[2]: item.is_open
        for item in view.items.values()
        if item.kind == "branch"
    }
    assert branches == {"then_branch": True, "else_branch": False}


def test_beside_an_open_stack_blocks_of_a_known_kind_stay_closed() -> None:
    view = first_view(load(corpus_file("exported/vit.legacy.onnx")), Window(2000, 3000))
    assert opened_stacks(view)
    assert not [
        item.label
        for item in view.open_items()
        if isinstance(item.element, Group)
        and item.repeat is None
        and item.element.recognised is not None
        and item.element.recognised.family != "group"
    ]


def test_few_trials_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a layout; their number must not grow with the model."""
    counts = []
    compose = Composer.compose

    def count(self: Composer, *given: Any, **named: Any) -> Any:
        counts[-1] += 1
        return compose(self, *given, **named)

    monkeypatch.setattr(Composer, "compose", count)
    for layers in (20, 2_000):
        counts.append(0)
        first_view(make_towers(layers, layers, layers))
    assert counts[0] == counts[1] <= 12


def test_the_same_is_opened_each_time() -> None:
    model = load(corpus_file("exported/t5.legacy.onnx"))
    assert opened(first_view(model)) == opened(first_view(model))


def test_a_known_block_stays_closed_where_its_nodes_say_no_more() -> None:
    """Of LSTM and GRU name and facts tell more than Transpose, Slice and ConstantOfShape do.

    A linear layer and an embedding are one product and one lookup.
    """
    view = first_view(load(corpus_file("exported/lstm.legacy-functions.onnx")))
    (model,) = [item for item in view.root.children if item.is_open]
    assert [
        (item.element.op_type, item.is_open)
        for item in model.children
        if isinstance(item.element, Node) and item.openable
    ] == [
        ("Embedding", False),
        ("LSTM", False),
        ("GRU", False),
        ("Linear", False),
    ]
