"""Where noted elements are in another version: never said of what is not certain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from netloupe.explorer.model import Model
from netloupe.explorer.notes import Anchored, Note
from netloupe.explorer.notes.clues import ClueIndex
from netloupe.explorer.notes.locate import Locator
from netloupe.explorer.readers.load import load
from tests.notes.networks import make_chain, save_chain

_NUMBERED = "{1}_{n}"


def note_and_replace(
    folder: Path, old: onnx.ModelProto, new: onnx.ModelProto, *places: Any
) -> tuple[Note, Model]:
    """Write a note in one version and return it as the other version beside it has it."""
    file = folder / "m.onnx"
    save_chain(file, old).notes.add(list(places), "x")
    model = save_chain(file, new)
    (note,) = model.notes
    return note, model


def place(
    folder: Path, old: onnx.ModelProto, new: onnx.ModelProto, path: str
) -> tuple[str, str, tuple[str, ...]]:
    note, _ = note_and_replace(folder, old, new, path)
    (element,) = note.elements
    return element.state, element.path, element.candidates


def test_all_names_are_others(tmp_path: Path) -> None:
    new = make_chain(names="{1}/block{0}")
    for kind in ("MatMul", "Relu"):
        found = place(tmp_path, make_chain(), new, f"main/layer.1/{kind}")
        assert found[:2] == ("moved", f"main/{kind}/block1")
        (tmp_path / "m.onnx.notes.jsonl").unlink()


def test_a_layer_is_left_out_and_numbers_shift(tmp_path: Path) -> None:
    """``MatMul_6`` is another node now: the weights tell where the old one is."""
    old, new = make_chain(names=_NUMBERED), make_chain(names=_NUMBERED, left_out=0)
    assert place(tmp_path, old, new, "main/MatMul_6")[:2] == ("moved", "main/MatMul_3")


def test_what_has_no_weights_is_told_by_those_around(tmp_path: Path) -> None:
    old, new = make_chain(names=_NUMBERED), make_chain(names=_NUMBERED, left_out=0)
    assert place(tmp_path, old, new, "main/Relu_8")[:2] == ("moved", "main/Relu_5")


def test_trained_again_under_the_same_names(tmp_path: Path) -> None:
    found = place(tmp_path, make_chain(), make_chain(seed=1), "main/layer.1/MatMul")
    assert found[:2] == ("exact", "main/layer.1/MatMul")


def test_trained_again_with_a_layer_less_and_numbers(tmp_path: Path) -> None:
    """Nothing tells which of the layers it is: there are candidates, and no more."""
    old = make_chain(6, names=_NUMBERED)
    new = make_chain(6, names=_NUMBERED, seed=1, left_out=2)
    state, path, candidates = place(tmp_path, old, new, "main/MatMul_9")
    assert (state, path) == ("uncertain", "")
    assert candidates[0] == "main/MatMul_9"


def test_layers_of_equal_weights(tmp_path: Path) -> None:
    old = make_chain(6, names=_NUMBERED, doubled=True)
    new = make_chain(6, names=_NUMBERED, doubled=True, left_out=2)
    assert place(tmp_path, old, new, "main/MatMul_9")[0] == "uncertain"


def test_the_layer_itself_is_gone(tmp_path: Path) -> None:
    old, new = make_chain(), make_chain(left_out=1)
    state, path, candidates = place(tmp_path, old, new, "main/layer.1/MatMul")
    assert (state, path) == ("uncertain", "")
    assert "main/layer.2/MatMul" in candidates


def test_nothing_is_like_it(tmp_path: Path) -> None:
    new = make_chain(1)
    for node in new.graph.node:
        node.op_type, node.name = "Abs", f"other/{node.name}"
        del node.input[1:]
    note, _ = note_and_replace(
        tmp_path, make_chain(), new, "main/layer.1/MatMul", "main/layer.1/", "main/%v2"
    )
    assert {element.state for element in note.elements} == {"orphaned"}
    assert note.paths == ()
    assert note.state == "orphaned"
    assert "orphaned" in str(note)


def test_the_same_name_on_something_else_is_not_certain(tmp_path: Path) -> None:
    """As where a ResNet-50 is put in the place of a ResNet-18: both have a ``conv1``."""
    new = make_chain(1, seed=5, names="layer.1/{1}")
    for node in new.graph.node:
        if node.op_type == "Add":
            node.op_type = "Mul"
    new.graph.node.insert(0, onnx.helper.make_node("Neg", ["x"], ["x0"], "first/Neg"))
    new.graph.node[1].input[0] = "x0"
    for tensor in new.graph.initializer:
        if list(tensor.dims) == [16, 16]:
            tensor.dims[:] = [16, 8]
            tensor.raw_data = tensor.raw_data[: 16 * 8 * 4]
    state, path, candidates = place(tmp_path, make_chain(), new, "main/layer.1/MatMul")
    assert (state, path, candidates) == ("uncertain", "", ("main/layer.1/MatMul",))


def test_values_inputs_and_weights(tmp_path: Path) -> None:
    new = make_chain(names="{1}/block{0}")
    for entry in (*new.graph.node,):
        entry.output[:] = [f"{name}_new" if name != "y" else name for name in entry.output]
        entry.input[:] = [
            f"{name}_new" if name.startswith("v") else name.replace("w", "weight.")
            for name in entry.input
        ]
    for tensor in new.graph.initializer:
        tensor.name = tensor.name.replace("w", "weight.")
    note, _ = note_and_replace(tmp_path, make_chain(), new, "main/%v3", "main/%x", "main/%w3")
    assert [(e.state, e.path) for e in note.elements] == [
        ("moved", "main/%v3_new"),
        ("exact", "main/%x"),
        ("moved", "main/%weight.3"),
    ]


def test_an_input_of_another_name_is_a_guess(tmp_path: Path) -> None:
    new = make_chain()
    new.graph.input[0].name = new.graph.node[0].input[0] = "pixels"
    assert place(tmp_path, make_chain(), new, "main/%x") == ("uncertain", "", ("main/%pixels",))


def test_groups(tmp_path: Path) -> None:
    new = make_chain(names="encoder/block{0}/{1}")
    note, model = note_and_replace(tmp_path, make_chain(), new, "main/layer.2/")
    (element,) = note.elements
    assert (element.state, element.path) == ("moved", "main/encoder/block2/")
    assert model.group(element.path).node_count == 3


def test_subgraphs_and_calls(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "pkg": 1]>
    g (float[N] x, bool c) => (float[N] y) {{
      {0} = pkg.Block(x)
      y = If (c) <then_branch = t () => (float[N] a) {{ a = Abs({0}) }},
                  else_branch = e () => (float[N] b) {{ b = Neg({0}) }}>
    }}
    <domain: "pkg", opset_import: ["": 21]>
    Block (p) => (q) {{ r = Relu(p) q = Sigmoid(r) }}"""
    models = []
    for name, call, branch in (("h", "call", "choice"), ("k", "kall", "pick")):
        proto = onnx.parser.parse_model(text.format(name))
        proto.graph.node[0].name, proto.graph.node[1].name = call, branch
        models.append(proto)
    old = save_chain(tmp_path / "old.onnx", models[0])
    inner = "main/choice.then_branch"
    paths = ["main/call()/#0:Relu", inner, f"{inner}/#0:Abs", old.functions[0].path, "model"]
    (tmp_path / "old.onnx").unlink()
    note, _ = note_and_replace(tmp_path, *models, *paths)
    assert [(e.state, e.path) for e in note.elements] == [
        ("moved", "main/kall()/#0:Relu"),
        ("moved", "main/pick.then_branch"),
        ("moved", "main/pick.then_branch/#0:Abs"),
        ("exact", old.functions[0].path),
        ("exact", "model"),
    ]


@pytest.mark.parametrize(
    "anchor",
    [
        {"path": "main/layer.1/MatMul"},
        {"path": "main/layer.1/MatMul", "kind": "node"},
        {"path": "main/layer.1/MatMul", "kind": "node", "op": 1, "domain": [], "clues": 5},
        {"path": "main/layer.1/MatMul", "kind": "value", "role": 1, "place": "x"},
        {"path": "main/layer.1/MatMul", "kind": "group", "nodes": "many", "members": [1]},
        {"path": "main/layer.1/MatMul", "kind": "inside", "call": {}, "inner": 5},
        {"path": "main/layer.1/MatMul", "kind": "tensor", "of": {"path": "main/" * 10_000}},
        {"path": "main/layer.1/MatMul", "kind": "node", "op": "MatMul", "domain": "",
         "clues": {"weights": {"a": 1}, "name": ["x"]}},
    ],
)  # fmt: skip
def test_anchors_of_others_tell_nothing_for_certain(anchor: Any) -> None:
    locator = Locator(ClueIndex(load(make_chain().SerializeToString())))
    found = locator.locate(anchor)
    assert (found.state, found.path) == ("uncertain", "")
    assert found.candidates[0] == "main/layer.1/MatMul"


@pytest.mark.parametrize("path", ["main/" * 50_000, "main/a" + "()/b" * 1_000, "", "main/%", "()"])
def test_paths_that_lead_nowhere(path: str) -> None:
    locator = Locator(ClueIndex(load(make_chain().SerializeToString())))
    found = locator.locate({"path": path})
    assert found.state == "orphaned"
    assert found == Anchored(path[:4_000], "orphaned", reason=found.reason)


def test_a_path_of_the_same_model_needs_no_more() -> None:
    """As pages write them, which know a model's structure but not the clues of its nodes."""
    index = ClueIndex(load(make_chain().SerializeToString()))
    anchor = {"path": "main/layer.1/", "structure": index.structure}
    assert Locator(index).locate(anchor).state == "exact"
    other = ClueIndex(load(make_chain(3).SerializeToString()))
    assert Locator(other).locate(anchor).state == "uncertain"


def test_carry(tmp_path: Path) -> None:
    """With both versions at hand the matcher tells what clues do not."""
    old = save_chain(tmp_path / "old.onnx", make_chain(names=_NUMBERED))
    new = save_chain(tmp_path / "new.onnx", make_chain(seed=3, names="n/{1}/{0}"))
    old.notes.add("main/Relu_5", "a")
    old.notes.add(["main/%v4", "main/%w4", "main"], "b")
    old.notes.remove(old.notes.add("main/Relu_2", "removed"))
    assert new.notes.carry_from(old) == 2
    assert new.notes.carry_from(old) == 2
    assert [note.paths for note in new.notes] == [
        ("main/n/Relu/1",),
        ("main/%v4", "main/%w4", "main"),
    ]
    assert {note.state for note in new.notes} == {"exact"}
    assert len(old.notes) == 2


def test_carry_does_not_undo_what_was_attached_by_hand(tmp_path: Path) -> None:
    old = save_chain(tmp_path / "old.onnx")
    new = save_chain(tmp_path / "new.onnx", make_chain(names="n/{1}/{0}"))
    old.notes.add("main/layer.1/Relu", "a")
    new.notes.carry_from(old)
    (note,) = new.notes
    new.notes.edit(note, place="main/n/Relu/3")
    new.notes.carry_from(old)
    assert [each.paths for each in new.notes] == [("main/n/Relu/3",)]


def renumber(model: onnx.ModelProto, gone: int) -> onnx.ModelProto:
    """Give the layers behind one that was left out the numbers that an exporter would."""
    for node in model.graph.node:
        layer, _, kind = node.name.removeprefix("layer.").partition("/")
        if int(layer) > gone:
            node.name = f"layer.{int(layer) - 1}/{kind}"
    return model


@pytest.mark.parametrize("gone", [1, 3, 5])
def test_a_note_on_a_block_that_is_gone_is_not_on_the_next_one(tmp_path: Path, gone: int) -> None:
    """The names of the next block are those of the one that was left out."""
    new = renumber(make_chain(7, left_out=gone), gone)
    for path in (f"main/layer.{gone}/", *(f"main/layer.{gone}/{k}" for k in ("MatMul", "Relu"))):
        state, found, _ = place(tmp_path, make_chain(7), new, path)
        assert (state, found) in (("uncertain", ""), ("orphaned", "")), path
        (tmp_path / "m.onnx.notes.jsonl").unlink()


@pytest.mark.parametrize("gone", [1, 3, 5])
def test_notes_behind_a_block_that_is_gone_move(tmp_path: Path, gone: int) -> None:
    new = renumber(make_chain(7, left_out=gone), gone)
    for path in (f"main/layer.{gone + 1}/", f"main/layer.{gone + 1}/MatMul"):
        found = place(tmp_path, make_chain(7), new, path)
        assert found[:2] == ("moved", path.replace(str(gone + 1), str(gone)))
        (tmp_path / "m.onnx.notes.jsonl").unlink()


@pytest.mark.parametrize("added", [1, 3])
def test_notes_behind_a_block_that_was_put_in_move(tmp_path: Path, added: int) -> None:
    old, new = renumber(make_chain(7, left_out=added), added), make_chain(7)
    for path in (f"main/layer.{added}/", f"main/layer.{added}/MatMul"):
        found = place(tmp_path, old, new, path)
        assert found[:2] == ("moved", path.replace(str(added), str(added + 1)))
        (tmp_path / "m.onnx.notes.jsonl").unlink()


def test_other_weights_outweigh_name_and_neighbours(tmp_path: Path) -> None:
    """One layer alone was trained again: that it is the same nobody knows."""
    new = make_chain()
    weight = next(tensor for tensor in new.graph.initializer if tensor.name == "w3")
    weight.raw_data = weight.raw_data[::-1]
    new.graph.node[0].name = "layer.0/First"
    state, path, candidates = place(tmp_path, make_chain(), new, "main/layer.1/MatMul")
    assert (state, path) == ("uncertain", "")
    assert candidates[0] == "main/layer.1/MatMul"


def test_layers_that_were_exchanged_take_their_notes_along(tmp_path: Path) -> None:
    """Names and wiring are as they were."""
    new = make_chain()
    one, other = (next(t for t in new.graph.initializer if t.name == name) for name in ("w0", "w6"))
    one.raw_data, other.raw_data = other.raw_data, one.raw_data
    found = place(tmp_path, make_chain(), new, "main/layer.0/MatMul")
    assert found[:2] == ("moved", "main/layer.2/MatMul")


def _make_stack(count: int, left_out: int = -1, *, is_quantized: bool = False) -> onnx.ModelProto:
    """Return blocks that share a table and have constants of equal names and numbers but for the
    number of the block; quantized with QuantizeLinear and DequantizeLinear behind each node.
    """
    chance = np.random.default_rng(5)
    weights = {f"w{n}": chance.standard_normal((8, 8)).astype(np.float32) for n in range(count)}
    weights["table"] = chance.standard_normal((2, 8)).astype(np.float32)
    weights["scale"] = np.array(0.1, np.float32)
    weights["end"] = chance.standard_normal((8, 8)).astype(np.float32)
    nodes, value, place = [], "x", 0

    def add(op: str, taken: list[str], name: str, scope: str) -> str:
        result = f"{scope}/{name}"
        nodes.append(helper.make_node(op, taken, [result], result))
        if not is_quantized:
            return result
        for kind in ("QuantizeLinear", "DequantizeLinear"):
            behind = f"{result}_{kind}"
            nodes.append(helper.make_node(kind, [result, "scale"], [behind], behind))
            result = behind
        return result

    for number in range(count):
        if number == left_out:
            continue
        scope, place = f"block.{place}", place + 1
        constant = numpy_helper.from_array(weights["table"])
        nodes.append(
            helper.make_node(
                "Constant", [], [f"{scope}/Constant"], f"{scope}/Constant", value=constant
            )
        )
        product = add("MatMul", [value, f"w{number}"], "MatMul", scope)
        given = add("Add", [product, f"{scope}/Constant"], "Add", scope)
        turned = add("Relu", [given], "Relu", scope)
        value = add("Add", [value, turned], "Add_1", scope)
    nodes.append(helper.make_node("MatMul", [value, "end"], ["y"], "end/MatMul"))
    graph = helper.make_graph(
        nodes,
        "stack",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 8])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in weights.items() if n != "table"],
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize("is_quantized", [False, True])
@pytest.mark.parametrize("gone", range(5))
def test_what_blocks_share_tells_no_block_from_another(
    tmp_path: Path, gone: int, is_quantized: bool
) -> None:
    """Names were given anew, and what only differs in them has moved: nothing is on another node.

    A constant that all blocks have, a sum with it, what has no weights, and what is quantized.
    """
    old = _make_stack(5, is_quantized=is_quantized)
    new = _make_stack(5, gone, is_quantized=is_quantized)
    paths = [f"main/{node.name}" for node in old.graph.node]
    note, _ = note_and_replace(tmp_path, old, new, *paths)
    wrong = []
    for path, element in zip(paths, note.elements, strict=True):
        number = int(path.split("/")[1].partition(".")[2] or 5)
        expected = path.replace(f".{number}/", f".{number - 1}/") if number > gone else path
        if "end" in path:
            expected = path
        is_gone = number == gone and "end" not in path
        if element.state in ("exact", "moved") and (is_gone or element.path != expected):
            wrong.append((path, element.path, element.reason))
    assert not wrong
    certain = [one for one in note.elements if one.state in ("exact", "moved")]
    assert len(certain) > len(paths) // 3
