"""A small model with a hand-made Scene: what layout would give, without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Scene
from netloupe.explorer.layout.scene import Flat, SceneBox, SceneEdge, ScenePort
from netloupe.explorer.model import Graph, Model, Tensor
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.view import Instance, Item
from netloupe.explorer.view.item import ConstantRow


def build_model() -> Model:
    """Return an embedding, a block with attention, a head, and an If."""

    def weight(name: str, *dims: int, dtype: Any = np.float32) -> onnx.TensorProto:
        return numpy_helper.from_array(np.zeros(dims, dtype), name)

    def branch(name: str, operator: str) -> onnx.GraphProto:
        output = helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None)
        node = helper.make_node(operator, ["sum"], [f"{name}_out"], name=f"{name}_{operator}")
        return helper.make_graph([node], name, [], [output])

    nodes = [
        helper.make_node("Gather", ["wte", "input_ids"], ["embedded"], name="Embedding"),
        helper.make_node(
            "LayerNormalization",
            ["embedded", "ln.weight", "ln.bias"],
            ["normed"],
            name="ln_1",
            axis=-1,
            epsilon=1e-5,
        ),
        helper.make_node(
            "DequantizeLinear", ["w_q", "w_scale", "w_zero"], ["w"], name="dq", axis=1
        ),
        helper.make_node("MatMul", ["normed", "w"], ["qkv"], name="attn_MatMul"),
        helper.make_node("Reshape", ["qkv", "heads"], ["query"], name="Reshape_q"),
        helper.make_node("Transpose", ["query"], ["key"], name="Transpose_k", perm=[0, 2, 1, 3]),
        helper.make_node("Softmax", ["key"], ["probability"], name="Softmax", axis=-1),
        helper.make_node(
            "Conv",
            ["probability", "c.weight", "c.bias"],
            ["convolved"],
            name="Conv",
            kernel_shape=[3, 3],
            strides=[2, 2],
            pads=[1, 1, 1, 1],
            dilations=[1, 1],
            group=1,
        ),
        helper.make_node("Add", ["convolved", "embedded"], ["sum"], name="Add"),
        helper.make_node("Greater", ["flag", "threshold"], ["positive"], name="Greater"),
        helper.make_node(
            "If",
            ["positive"],
            ["chosen"],
            name="choose",
            then_branch=branch("then", "Relu"),
            else_branch=branch("other", "Tanh"),
        ),
        helper.make_node("Cast", ["chosen"], ["logits"], name="Cast", to=TensorProto.FLOAT16),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "seq"]),
            helper.make_tensor_value_info("flag", TensorProto.FLOAT, []),
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT16, ["batch", "seq", 50257])],
        [
            weight("wte", 500, 8),
            weight("ln.weight", 8),
            weight("ln.bias", 8),
            weight("w_q", 8, 24, dtype=np.int8),
            weight("w_scale", 24),
            weight("w_zero", 24, dtype=np.int8),
            numpy_helper.from_array(np.array([0, -1, 12, 64]), "heads"),
            weight("c.weight", 4, 4, 3, 3),
            weight("c.bias", 4),
            weight("threshold"),
        ],
        value_info=[
            helper.make_tensor_value_info("embedded", TensorProto.FLOAT, ["batch", "seq", 8])
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return load(model.SerializeToString())


def make_item(
    graph: Graph, name: str, instance: Instance, parent: Item | None, **options: Any
) -> Item:
    """Return the item of a node with its constants as rows."""
    node = next(node for node in graph.nodes if node.name == name)
    item = Item("node", node.path, node, instance, parent, **options)
    item.constants = tuple(
        ConstantRow(index, value.initializer, "", value.path)
        for index, value in enumerate(node.inputs)
        if value is not None and value.initializer is not None
    )
    return item


def build_scene(model: Model, face_of: Callable[[Item], Any]) -> Scene:
    """Place the model's items by hand: one column, with one open group in it."""
    graph = model.graph
    root = Instance(graph, graph.path, None)
    block = Group("scope", graph, "main/layers.0/", "layers.0", "GPT2Block")
    block.children = [node for node in graph.nodes if node.name in ("ln_1", "Softmax")]
    block.node_count = 2
    frame = Item("group", block.path, block, root, None)
    frame.is_open = True
    attention = Group("scope", graph, "main/layers.0/attn/", "attn", "GPT2Attention", block)
    inner = Item("group", attention.path, attention, root, frame)
    inner.is_open = True
    closed = Group("scope", graph, "main/layers.1/", "layers.1", "GPT2Block")
    closed.children = list(graph.nodes[3:9])
    closed.node_count = 6

    def terminal(kind: Any, name: str) -> Item:
        value = graph.values[name]
        return Item(kind, value.path, value, root, None, key=f"{value.path}@{kind}", label=name)

    def node(name: str, parent: Item | None = None, **options: Any) -> Item:
        return make_item(graph, name, root, parent, **options)

    mask = graph.values["flag"]
    stub = Item("stub", mask.path, mask, root, frame, key="main/%flag to Add", label="flag")
    ports = [
        ScenePort(390, 186, 2, "main/%embedded"),
        ScenePort(300, 360, 4, "main/%normed"),
        ScenePort(390, 746, 2, "main/%sum"),
    ]
    boxes: list[SceneBox] = []
    edges: list[SceneEdge] = []
    column: list[tuple[Item, float, float, int]] = [
        (terminal("input", "input_ids"), 330, 20, -1),
        (node("Embedding"), 330, 96, -1),
        (frame, 390, 186, -1),
        (node("ln_1", frame, label="ln_1"), 250, 226, 2),
        (inner, 300, 360, 2),
        (node("attn_MatMul", inner), 270, 396, 4),
        (node("Reshape_q", inner), 180, 476, 4),
        (node("Transpose_k", inner), 370, 476, 4),
        (node("Softmax", inner), 270, 550, 4),
        (node("Conv", frame), 610, 396, 2),
        (node("Add", frame), 610, 670, 2),
        (Item("group", closed.path, closed, root, None, openable=True), 390, 790, -1),
        (node("choose", openable=True), 390, 886, -1),
        (node("Cast"), 640, 886, -1),
        (terminal("output", "logits"), 640, 950, -1),
        (node("dq", None), 140, 30, -1),
        (stub, 680, 620, 2),
    ]
    sizes = {frame.key: (720.0, 560.0), inner.key: (420.0, 270.0)}
    for item, centre, y, parent in column:
        face = face_of(item)
        width, height = sizes.get(item.key, (face.width, face.height))
        depth = 0 if parent < 0 else boxes[parent].depth + 1
        boxes.append(SceneBox(item, centre - width / 2, y, width, height, parent, depth))

    def connect(name: str, source: int, target: int, **options: Any) -> None:
        a, b = boxes[source], boxes[target]
        x, y = a.x + a.width / 2, a.y + (0 if b.parent == source else a.height)
        u, v = b.x + b.width / 2, b.y + (b.height if a.parent == target else 0)
        middle = (y + v) / 2
        value = graph.values[name]
        if options.get("label"):
            options.update(label_x=(x + u) / 2, label_y=middle)
        edges.append(
            SceneEdge(
                value, value.path, source, target, (x, y, x, middle, u, middle, u, v), **options
            )
        )

    connect("input_ids", 0, 1)
    connect("embedded", 1, 2, arrow=False, label="float32[batch, seq, 8]")
    connect("embedded", 2, 3)
    connect("embedded", 2, 10)
    connect("normed", 3, 4, arrow=False)
    connect("normed", 4, 5)
    connect("qkv", 5, 6, label="Q")
    connect("qkv", 5, 7, label="K")
    connect("query", 6, 8)
    connect("key", 7, 8)
    connect("convolved", 9, 10, kind="captured")
    connect("sum", 2, 11)
    connect("chosen", 12, 13, kind="control")
    connect("logits", 13, 14)
    notices = ("The layout took too long, so a simpler one is shown.",)
    flat = Flat(tuple(boxes), tuple(edges), tuple(ports))
    return Scene(760, 1010, notices=notices, by_hand=flat)


@pytest.fixture(scope="session")
def model() -> Model:
    return build_model()


@pytest.fixture
def faces() -> FaceBook:
    return FaceBook("all")


@pytest.fixture
def scene(model: Model, faces: FaceBook) -> Scene:
    return build_scene(model, faces.face)


@pytest.fixture
def weight(model: Model) -> Tensor:
    tensor = model.graph.values["w_q"].initializer
    assert isinstance(tensor, Tensor)
    return tensor
