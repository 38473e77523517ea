"""What values are called at ports and stubs: after their module, their maker, or not at all."""

from __future__ import annotations

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest

from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Model, Value
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View, value_names
from netloupe.explorer.view.module_names import find_word, is_numbered_operator
from netloupe.explorer.view.value_names import (
    is_made_up,
    name_outputs,
    name_passing_values,
)
from netloupe.proto import onnx_pb2
from tests.onnx_text import load_text

Row = tuple[str, str, list[str], str]


def make_model(rows: list[Row], inputs: list[str], outputs: list[str], **numbers: float) -> Model:
    """Return a model of nodes: operator, module, operands and result; ``w`` is a weight."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    for name in inputs:
        proto.graph.input.add(name=name)
    proto.graph.initializer.add(name="w", dims=[2, 2], data_type=1, float_data=[1, 2, 3, 4])
    for name, element in numbers.items():
        proto.graph.initializer.add(name=name, data_type=1, float_data=[element])
    for number, (operator, module, operands, result) in enumerate(rows):
        node = proto.graph.node.add(op_type=operator, input=operands)
        node.name = f"/{module}/{operator}_{number}" if module else f"{operator}_{number}"
        node.output.append(result)
    for name in outputs:
        proto.graph.output.add(name=name)
    return load(proto.SerializeToString())


def call(model: Model, *names: str) -> str:
    """Return what values of a model are called."""
    tree = View(model).borders(model.graph).tree
    return name_passing_values([model.graph.values[name] for name in names], tree)


def layers(module: str, taken: str, count: int, name: str) -> list[Row]:
    """Return layers of a module, each a product and an activation."""
    rows: list[Row] = []
    for number in range(count):
        rows += [
            ("MatMul", f"{module}/layers.{number}", [taken, "w"], f"{name}_{number}m_output_0"),
            (
                "Relu",
                f"{module}/layers.{number}",
                [f"{name}_{number}m_output_0"],
                f"{name}_{number}",
            ),
        ]
        taken = f"{name}_{number}"
    return rows


def test_what_leaves_a_module_is_called_after_the_largest_that_no_user_is_in() -> None:
    rows = layers("encoder", "x", 3, "e")
    rows += [
        ("Tanh", "decoder/layers.0/act", ["e_2"], "memory_1"),  # put where it is taken first
        ("Transpose", "decoder/layers.0", ["memory_1"], "memory_2"),
        ("MatMul", "decoder/layers.0", ["x", "memory_2"], "d_1"),
        ("MatMul", "decoder/layers.1", ["d_1", "memory_2"], "d_2"),
        ("Relu", "decoder/layers.1", ["d_2"], "y"),
    ]
    model = make_model(rows, ["x"], ["y"])
    assert call(model, "memory_2") == "encoder"
    assert call(model, "e_0") == ""  # one of a list


@pytest.mark.parametrize(
    ("label", "word"),
    [
        ("encoder / layers.0 … layers.5", "encoder"),
        ("clip.text_projection", "text_projection"),
        ("pre_dense_4 / conv", "pre_dense_4"),
        ("layers.0", ""),
        ("conv1", ""),
        ("0 … 3", ""),
        ("BiasAdd", ""),
        ("tf_op_layer_stack_2", ""),
        ("Relu;model/conv2d;model_1", ""),
    ],
)
def test_names_of_places_and_kinds_say_nothing(label: str, word: str) -> None:
    assert find_word(label) == word


def test_what_no_module_gives_is_called_after_what_makes_it() -> None:
    model = load_text("""g (float[N, 4] path, int64[N] i, float[N, 4] a) => (float[N, 4] y)
        <float[2, 4] table = {1, 2, 3, 4, 5, 6, 7, 8}> {
        s_1 = Sub (path, path)
        t_1 = Gather (table, i)
        r_1 = RandomNormalLike (path)
        b_1 = Less (path, a)
        m_1 = Cast <to = 1> (b_1)
        t_2 = Mul (path, a)
        u_1 = Add (s_1, t_1)
        u_2 = Add (u_1, r_1)
        u_3 = Add (u_2, m_1)
        y = Add (u_3, t_2)
    }""")
    assert call(model, "s_1") == "from path"
    assert call(model, "t_1") == "embedding"
    assert call(model, "r_1") == "noise"
    assert call(model, "m_1") == "mask"
    assert call(model, "t_2") == ""  # of two inputs
    assert call(model, "s_1", "t_1", "r_1") == "from path · embedding · noise"
    assert call(model, "s_1", "t_2") == "from path"


def test_an_activation_that_is_written_out_keeps_the_name() -> None:
    rows: list[Row] = [
        ("MatMul", "film/fc", ["x", "w"], "a_1"),
        ("Sigmoid", "", ["a_1"], "a_2"),
        ("Mul", "", ["a_1", "a_2"], "a_3"),
        ("Mul", "", ["x", "a_2"], "a_4"),
        ("Add", "", ["a_3", "a_4"], "s"),
        ("MatMul", "head/fc", ["s", "w"], "h_1"),
        ("Relu", "head/act", ["h_1"], "y"),
    ]
    model = make_model(rows, ["x"], ["y"])
    assert call(model, "a_3") == "film"
    assert call(model, "a_4") == ""  # a gate of something else


def test_an_activation_that_is_written_out_behind_another_layout_keeps_the_name() -> None:
    rows: list[Row] = [
        ("MatMul", "film/fc", ["x", "w"], "a_1"),
        ("Flatten", "film/flat", ["a_1"], "a_2"),
        ("Sigmoid", "blocks.0/act", ["a_2"], "a_3"),
        ("Mul", "blocks.0/act", ["a_2", "a_3"], "a_4"),
        ("MatMul", "blocks.0/fc", ["a_4", "w"], "b_1"),
        ("MatMul", "blocks.1/fc", ["a_4", "w"], "b_2"),
        ("Add", "head", ["b_1", "b_2"], "y"),
    ]
    assert call(make_model(rows, ["x"], ["y"]), "a_4") == "film"


@pytest.mark.parametrize(
    ("name", "is_tools"),
    [
        ("758", True),
        ("onnx::Concat_241", True),
        ("input.96", True),
        ("StatefulPartitionedCall:1", True),
        ("Identity_1:0", True),
        ("softmax_0.tmp_0", True),
        ("activation_2", True),
        ("output_2", False),
        ("logits", False),
        ("z1", False),
        ("y", False),
    ],
)
def test_names_of_outputs_that_tools_make_up_are_known(name: str, is_tools: bool) -> None:
    model = make_model([("Relu", "head", ["x"], name)], ["x"], [name])
    assert is_made_up(model.graph.outputs[0]) == is_tools


def test_outputs_without_a_name_are_called_after_the_modules_that_tell_them_apart() -> None:
    rows: list[Row] = [
        ("MatMul", "trunk", ["x", "w"], "t"),
        ("Relu", "trunk", ["t"], "t2"),
        ("MatMul", "class_head/fc", ["t2", "w"], "c"),
        ("Softmax", "class_head/act", ["c"], "12"),
        ("MatMul", "box_head/fc", ["t2", "w"], "b"),
        ("Tanh", "box_head/act", ["b"], "15"),
        ("Add", "trunk", ["t2", "x"], "17"),
        ("Sub", "trunk", ["t2", "x"], "18"),
    ]
    model = make_model(rows, ["x"], ["12", "15", "17", "18", "t"])
    tree = View(model).borders(model.graph).tree
    told = {value.name: name for value, name in name_outputs(tree).items()}
    names = ["class_head", "box_head", "output 3", "output 4"]
    assert [*told.values()] == names
    labels = [item.label for item in View(model).root.children if item.kind == "output"]
    assert labels == [*names, "t"]


def test_numbers_behind_kinds_of_layers_are_no_names() -> None:
    assert is_numbered_operator("conv1d_3")
    assert not is_numbered_operator("output_1")
    assert not is_numbered_operator("linear")


@pytest.mark.parametrize(
    ("name", "is_tools"),
    [
        *(("input.1", True), ("onnx::Unsqueeze_0", True), ("0", True), ("args_0", True)),
        *(("input_1", True), ("arg0_1", True), ("input_1:0", True), ("input", False)),
        *(("x", False), ("x1", False), ("input_ids", False), ("data_0", False), ("image.1", False)),
    ],
)
def test_names_of_inputs_that_tools_make_up_are_known(name: str, is_tools: bool) -> None:
    model = make_model([("Relu", "head", [name], "y")], [name], ["y"])
    assert is_made_up(model.graph.inputs[0]) == is_tools


_UNNAMED = """
    g (int64[1, 7] ids, float[1, 3, 16, 16] picture, float[1, 5] more, float[1, 4] x) => (y)
    <int64[2] places = {2, 3}>
    {
      t = Gather (table, ids)
      c = Conv (picture, kernel)
      p = ReduceMean <keepdims = 0> (c, places)
      s = Add (p, x)
      a = Add (t, s)
      b = Exp (more)
      y = Concat <axis = 0> (a, b)
    }
"""


def _unname(text: str, **names: str) -> View:
    """Return the view of a graph whose inputs have other names, which need not be words."""
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]>' + text)
    for value in model.graph.input:
        value.name = names.get(value.name, value.name)
    for node in model.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    channels = model.graph.input[1].type.tensor_type.shape.dim[1].dim_value
    for name, dims in (("table", (9, 4)), ("kernel", (4, channels, 3, 3))):
        weight = np.ones(dims, np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weight, name))
    return View(load(model))


def _list_inputs(view: View) -> list[str]:
    return [item.label for item in view.root.children if item.kind == "input"]


def test_inputs_without_a_name_are_called_after_what_they_are_for_or_numbered() -> None:
    view = _unname(_UNNAMED, ids="onnx::Gather_0", picture="input.1", more="onnx::Exp_2")
    assert _list_inputs(view) == ["ids", "image", "input 3", "x"]
    paths = [item.path for item in view.root.children if item.kind == "input"]
    assert paths[0] == "main/%onnx::Gather_0"  # where the name of the file is found


def test_what_another_input_is_called_is_no_name_of_one_without() -> None:
    view = _unname(_UNNAMED, ids="onnx::Gather_0", x="ids")
    assert _list_inputs(view)[0] == "input 1"


def test_a_map_of_one_channel_need_not_be_an_image() -> None:
    text = _UNNAMED.replace("3, 16, 16", "1, 16, 16")
    assert _list_inputs(_unname(text, picture="input.1"))[1] == "input 2"


def test_one_number_each_is_a_class_only_beside_maps_of_as_many() -> None:
    text = _UNNAMED.replace("int64[1, 7] ids", "int64[1] ids")
    assert _list_inputs(_unname(text, ids="onnx::Gather_0"))[0] == "class"
    text = text.replace("int64[1] ids", "int64[9] ids")  # as of nine atoms
    assert _list_inputs(_unname(text, ids="onnx::Gather_0"))[0] == "input 1"


def test_names_of_authors_stay() -> None:
    assert _list_inputs(_unname(_UNNAMED)) == ["ids", "picture", "more", "x"]


def _attend(taken: str, number: int, *, kept: bool = True) -> list[Row]:
    """Return a layer that attends to a value: its keys, and its values where they are kept."""
    scope = f"layers.{number}"
    rows: list[Row] = [
        ("MatMul", scope, ["x", "w"], f"q{number}_output_0"),
        ("MatMul", scope, [taken, "w"], f"k{number}_output_0"),
        ("Transpose", scope, [f"k{number}_output_0"], f"t{number}_output_0"),
        ("MatMul", scope, [f"q{number}_output_0", f"t{number}_output_0"], f"s{number}_output_0"),
        ("Softmax", scope, [f"s{number}_output_0"], f"a{number}_output_0"),
        ("MatMul", scope, ["memory", "w"], f"v{number}_output_0"),
        ("MatMul", scope, [f"a{number}_output_0", f"v{number}_output_0"], f"h{number}"),
    ]
    return rows if kept else rows[:4]


def test_what_is_only_projected_to_keys_is_called_so() -> None:
    rows: list[Row] = [
        ("Add", "", ["memory", "places"], "add_3"),
        *(row for number in range(3) for row in _attend("add_3", number)),
    ]
    model = make_model(rows, ["x", "memory", "places"], ["h0", "h1", "h2"])
    assert call(model, "add_3") == "keys"


@pytest.mark.parametrize(
    "more",
    [
        [("MatMul", "other", ["add_3", "w"], "z")],  # something else takes it, too
        [*_attend("x", 3), ("MatMul", "layers.3", ["a3_output_0", "add_3"], "z")],  # as values
        _attend("add_3", 3, kept=False),  # no shares are made of its scores
    ],
)
def test_what_is_taken_otherwise_too_is_no_key(more: list[Row]) -> None:
    rows: list[Row] = [
        ("Add", "", ["memory", "places"], "add_3"),
        *(row for number in range(3) for row in _attend("add_3", number)),
        *more,
    ]
    outputs = ["h0", "h1", "h2", more[-1][-1]]
    assert call(make_model(rows, ["x", "memory", "places"], outputs), "add_3") != "keys"


def test_sums_and_shares_are_called_after_what_they_are_of() -> None:
    model = make_model(
        [
            ("MatMul", "encoder", ["x", "w"], "memory_output_0"),
            ("Add", "", ["memory_output_0", "places"], "add_1"),
            ("Mul", "", ["memory_output_0", "tenth"], "mul_2"),
            ("Mul", "", ["memory_output_0", "places"], "mul_3"),
            ("Sin", "a", ["add_1"], "y0"),
            ("Sin", "b", ["mul_2"], "y1"),
            ("Sin", "c", ["mul_3"], "y2"),
        ],
        ["x", "places"],
        ["y0", "y1", "y2"],
        tenth=0.1,
    )
    assert call(model, "add_1") == "encoder + places"
    assert call(model, "mul_2") == "0.1 · encoder"
    assert call(model, "mul_3") == ""


def test_a_value_is_named_once_however_many_places_it_stands_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = ", ".join(f"t{k}" for k in range(6))
    rows = "\n".join(f"t{k} = Sum({sums})" for k in range(6))
    model = load_text(f"""
        <ir_version: 8, opset_import: ["" : 17]>
        main (float[2] x) => (float[2] y) {{
            {rows}
            y = Add(x, t0)
        }}
        """)
    named = []
    name_by_use = value_names._name_by_use

    def note(value: Value, tree: GroupTree) -> str:
        named.append(value)
        return name_by_use(value, tree)

    monkeypatch.setattr(value_names, "_name_by_use", note)
    view = View(model)
    places = [child for child in view.root.children if child.kind == "stub"]
    assert len(places) > len(named) == len(set(named)) > 0
