"""What differs between two models is told, no less and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.commands.diff import read_fail_on
from netloupe.explorer.compare import Diff, diff, stated_graphs
from netloupe.explorer.compare.numbers import compare_numbers
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.errors import CompareError
from netloupe.explorer.model import Value
from netloupe.explorer.readers.load import load
from netloupe.explorer.readers.onnx.nodes import OnnxNodeLoader
from tests.corpus import corpus_file
from tests.hostile_models import graph_inputs
from tests.onnx_text import load_text

Edit = Callable[[onnx.ModelProto], Any]


def make_model(edit: Edit | None = None) -> onnx.ModelProto:
    """Return a small network, perhaps edited."""
    rng = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="act"),
        helper.make_node("Conv", ["b", "v"], ["c"], name="conv2"),
        helper.make_node("Softmax", ["c"], ["y"], name="end", axis=1),
    ]
    tensors = [
        numpy_helper.from_array(rng.normal(size=(4, 3, 3, 3)).astype(np.float32), "w"),
        numpy_helper.from_array(rng.normal(size=(2, 4, 1, 1)).astype(np.float32), "v"),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2, 8, 8])],
        tensors,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    if edit is not None:
        edit(model)
    return model


def compare(edit: Edit | None = None, *ignore: str) -> Diff:
    return diff(load(make_model()), load(make_model(edit)), ignore=ignore)


def rename(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.name = f"new_{node.name}"


def store_typed(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    values = numpy_helper.to_array(tensor).ravel()
    tensor.ClearField("raw_data")
    tensor.float_data.extend(values.tolist())


def add_default(model: onnx.ModelProto) -> None:
    model.graph.node[0].attribute.append(helper.make_attribute("group", 1))


def add_doc(model: onnx.ModelProto) -> None:
    model.doc_string = "new"
    model.graph.node[0].doc_string = "told"


def swap_initializers(model: onnx.ModelProto) -> None:
    first, second = (onnx.TensorProto() for _ in range(2))
    first.CopyFrom(model.graph.initializer[0])
    second.CopyFrom(model.graph.initializer[1])
    del model.graph.initializer[:]
    model.graph.initializer.extend([second, first])


def retrain(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    values = numpy_helper.to_array(tensor).copy()
    values[0, 0, 0, 0] += 0.5
    tensor.raw_data = values.tobytes()


def test_ends_are_numbered_once_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    find = stated_graphs._find_places

    def find_places(values: Sequence[Value]) -> dict[Value, int]:
        asked.append(len(values))
        return find(values)

    monkeypatch.setattr(stated_graphs, "_find_places", find_places)
    model = load(graph_inputs(50))
    diff(model, load(graph_inputs(50)))
    assert sorted(asked) == [1, 50]


def test_a_model_is_identical_to_itself() -> None:
    found = compare()
    assert (found.verdict, found.is_compatible, found.equal_tensors) == ("identical", True, 2)
    assert compare(swap_initializers).verdict == "identical"


@pytest.mark.parametrize(
    ("edit", "aspect"),
    [
        (rename, "names"),
        (store_typed, "storage"),
        (add_default, "defaults"),
        (add_doc, "docs"),
    ],
)
def test_what_may_be_ignored_is_told_apart(edit: Edit, aspect: str) -> None:
    found = compare(edit)
    assert (found.verdict, found.aspects) == ("cosmetic", [aspect])
    assert compare(edit, aspect).verdict == "identical"


@pytest.mark.parametrize(
    ("field", "value", "what", "aspect"),
    [
        ("ir_version", 9, "IR version", ""),
        ("producer_name", "me", "producer", "docs"),
        ("producer_version", "2", "producer version", "docs"),
        ("domain", "org.example", "domain", "docs"),
        ("model_version", 3, "model version", "docs"),
        ("doc_string", "new", "documentation", "docs"),
    ],
)
def test_what_models_say_of_themselves(field: str, value: Any, what: str, aspect: str) -> None:
    found = compare(lambda model: setattr(model, field, value))
    assert [(change.what, change.right, change.aspect) for change in found.about] == [
        (what, value, aspect)
    ]
    assert found.verdict == ("cosmetic" if aspect else "structure")


def test_operator_sets_and_metadata() -> None:
    def edit(model: onnx.ModelProto) -> None:
        model.opset_import[0].version = 18
        model.opset_import.add(domain="own", version=1)
        model.metadata_props.add(key="key", value="value")
        model.graph.name = "other"

    assert [(change.what, change.left, change.right) for change in compare(edit).about] == [
        ("name of the graph", "network", "other"),
        ("opset of ai.onnx", 17, 18),
        ("opset of own", None, 1),
        ("metadata key", None, "value"),
    ]


def test_operator_sets_that_are_stated_otherwise() -> None:
    def restate(*domains: tuple[str | None, int]) -> Callable[[onnx.ModelProto], None]:
        def edit(model: onnx.ModelProto) -> None:
            del model.opset_import[:]
            for domain, version in domains:
                entry = model.opset_import.add(version=version)
                if domain is not None:
                    entry.domain = domain

        return edit

    told: list[tuple[tuple[tuple[str | None, int], ...], list[tuple[str, object, object, str]]]] = [
        ((("ai.onnx", 17),), [("domain of the opset of ai.onnx", "", "ai.onnx", "defaults")]),
        (((None, 17),), [("domain of the opset of ai.onnx", "", None, "defaults")]),
        ((("", 17), ("", 12)), [("opset of ai.onnx (imported again)", None, 12, "")]),
        ((("", 17), ("ai.onnx", 12)), [("opset of ai.onnx (imported again)", None, 12, "")]),
    ]
    for domains, changes in told:
        left, right = make_model(restate(("", 17))), make_model(restate(*domains))
        found = diff(load(left), load(right))
        assert [(each.what, each.left, each.right, each.aspect) for each in found.about] == changes
        assert found.verdict == ("cosmetic" if changes[0][3] else "structure")


def test_another_order_of_nodes() -> None:
    def make(order: list[int]) -> onnx.ModelProto:
        nodes = [
            helper.make_node("Relu", ["x"], ["a"], name="a"),
            helper.make_node("Tanh", ["x"], ["b"], name="b"),
            helper.make_node("Add", ["a", "b"], ["y"], name="c"),
        ]
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
        graph = helper.make_graph([nodes[i] for i in order], "g", infos[:1], infos[1:])
        return helper.make_model(graph)

    found = diff(load(make([0, 1, 2])), load(make([1, 0, 2])))
    assert (found.verdict, found.aspects) == ("cosmetic", ["order"])
    assert (
        diff(load(make([0, 1, 2])), load(make([1, 0, 2])), ignore=["order"]).verdict == "identical"
    )


def test_other_numbers_in_weights() -> None:
    found = compare(retrain)
    assert (found.verdict, found.equal_tensors, len(found.tensors)) == ("weights", 1, 1)
    numbers = found.tensors[0].numbers
    assert numbers is not None
    assert (numbers.count, numbers.changed) == (108, 1)
    assert numbers.largest == pytest.approx(0.5, rel=1e-6)
    weights = numpy_helper.to_array(make_model().graph.initializer[0])
    assert numbers.relative == pytest.approx(0.5 / np.linalg.norm(weights), rel=1e-5)


def test_an_attribute_an_operator_and_a_type_that_changed() -> None:
    def edit(model: onnx.ModelProto) -> None:
        model.graph.node[0].attribute[0].ints[:] = [1, 1, 1, 2]
        model.graph.node[3].op_type = "LogSoftmax"
        model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16

    found = compare(edit)
    assert found.verdict == "structure"
    changes = {
        one.pair.left[0].name: [change.what for change in one.changes] for one in found.nodes
    }
    assert changes["conv"] == ["attribute pads"]
    assert [(change.what, change.left) for change in found.interface] == [
        ("output y", "float32[n, 2, 8, 8]")
    ]
    assert not found.is_compatible


@pytest.mark.parametrize(
    ("dims", "is_compatible"),
    [(["n", 3, 8, 8], True), ([None, 3, 8, 8], True), ([1, 3, 8, 8], False), (["n", 3], False)],
)
def test_an_input_has_to_take_what_it_took(dims: list[Any], is_compatible: bool) -> None:
    def edit(model: onnx.ModelProto) -> None:
        info = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
        model.graph.input[0].CopyFrom(info)

    assert compare(edit).is_compatible == is_compatible


def test_more_outputs_harm_nobody_but_fewer_do() -> None:
    def edit(model: onnx.ModelProto) -> None:
        model.graph.output.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, None))

    assert compare(edit).is_compatible
    backwards = diff(load(make_model(edit)), load(make_model()))
    assert [change.what for change in backwards.interface] == ["output b"]


def test_nodes_that_were_added_and_removed() -> None:
    def edit(model: onnx.ModelProto) -> None:
        model.graph.node[1].op_type = "Sigmoid"
        model.graph.node[1].name = "gate"

    found = compare(edit)
    assert found.verdict == "structure"
    told = {node.op_type for node in found.left_alone} | {
        change.left for one in found.nodes for change in one.changes if change.what == "operator"
    }
    assert "Relu" in told


def test_weights_that_only_one_side_has() -> None:
    def edit(model: onnx.ModelProto) -> None:
        model.graph.initializer.append(numpy_helper.from_array(np.ones(3, np.float32), "more"))

    found = compare(edit)
    assert [tensor.name for tensor in found.right_tensors] == ["more"]
    assert found.has_other_weights


def test_only_known_words_can_be_ignored() -> None:
    with pytest.raises(CompareError, match="'weights' cannot be ignored"):
        compare(None, "weights")


def make_tensors(left: Any, right: Any) -> list[Any]:
    graph = helper.make_graph(
        [],
        "g",
        [],
        [],
        [
            numpy_helper.from_array(np.array(each), name)
            for each, name in ((left, "a"), (right, "b"))
        ],
    )
    return load(helper.make_model(graph)).graph.initializers


def test_numbers_that_are_not_finite_and_none_at_all() -> None:
    nan, inf = float("nan"), float("inf")
    numbers = compare_numbers(*make_tensors([1.0, nan, inf, 0.0], [1.0, nan, -inf, -0.0]))
    assert numbers is not None
    assert (numbers.changed, numbers.largest, numbers.relative) == (1, inf, inf)
    assert (numbers.cosine, numbers.unbounded, numbers.other_bits) == (None, 1, 1)
    numbers = compare_numbers(*make_tensors([0.0, 0.0], [0.0, 3.0]))
    assert numbers is not None
    assert (numbers.relative, numbers.cosine) == (inf, None)
    numbers = compare_numbers(*make_tensors(np.zeros(0), np.zeros(0)))
    assert numbers is not None
    assert (numbers.count, numbers.changed) == (0, 0)
    assert compare_numbers(*make_tensors([1.0], [1.0, 2.0])) is None


def test_numbers_of_other_types_are_compared_too() -> None:
    values = np.array([0.5, 1.25, -3.0])
    numbers = compare_numbers(*make_tensors(values.astype(np.float32), values.astype(np.float16)))
    assert numbers is not None
    assert (numbers.changed, numbers.cosine) == (0, pytest.approx(1.0))


@pytest.mark.parametrize(
    "name",
    [
        "hostile/dims_2pow62.onnx",
        "hostile/dup_initializers.onnx",
        "hostile/raw_too_short.onnx",
    ],
)
def test_what_is_damaged_is_the_same_where_it_is_so_in_the_same_way(name: str) -> None:
    path = corpus_file(name)
    found = diff(load(path), load(path))
    assert (found.verdict, found.right_tensors) == ("identical", [])


def test_weights_whose_files_are_pointers_are_not_the_same(tmp_path: Path) -> None:
    models = []
    for letter in "ab":
        folder = tmp_path / letter
        folder.mkdir()
        tensor = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 4], bytes(32), raw=True)
        onnx.external_data_helper.set_external_data(tensor, "w.bin", 0, 32)
        tensor.ClearField("raw_data")
        value = onnx.helper.make_tensor_value_info
        x, y = (value(name, onnx.TensorProto.FLOAT, [2, 4]) for name in "xy")
        node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
        graph = onnx.helper.make_graph([node], "g", [x], [y], [tensor])
        (folder / "m.onnx").write_bytes(onnx.helper.make_model(graph).SerializeToString())
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{letter * 64}\nsize 32\n"
        (folder / "w.bin").write_text(pointer)
        models.append(load(folder / "m.onnx"))
    found = diff(*models)
    assert (found.verdict, len(found.unread), found.equal_tensors) == ("unread", 1, 0)
    assert read_fail_on("weights:1e-3")[0].applies(found)


@pytest.mark.parametrize(
    "name", ["hostile/external/missing_file.onnx", "hostile/external/absolute.onnx"]
)
def test_what_cannot_be_read_is_not_the_same(name: str) -> None:
    path = corpus_file(name)
    found = diff(load(path), load(path))
    assert (found.verdict, len(found.unread), found.equal_tensors) == ("unread", 1, 0)
    assert "1 weight could not be read" in format_diff(found)
    assert read_fail_on("weights:1e-3")[0].applies(found)
    assert not read_fail_on("structure")[0].applies(found)
    told = encode_diff(found)
    assert (told["verdict"], told["identical"]) == ("unread", False)
    assert (told["tensors"]["equal"], told["tensors"]["unread"]) == (0, 1)


def test_other_names_of_sizes_are_names() -> None:
    text = "g (float[{}] x) => (float[{}] y) <float[{}] p> {{ p = Relu (x) y = Neg (p) }}"
    left, right = (load_text(text.format(*[name] * 3)) for name in ("n", "batch"))
    found = diff(left, right)
    assert found.is_compatible
    assert found.verdict == "cosmetic"
    assert found.aspects == ["names"]
    other = diff(left, load_text(text.format("n", "n", "4")))
    assert other.verdict == "structure"


_ONE_OPERAND = '<ir_version: 10, opset_import: ["" : 21]> g (float[n, 4] x) => (float[n, 4] y)'


def test_the_end_of_a_chain_that_became_shorter_says_the_same() -> None:
    left, right = "{ h = Neg(x) y = Relu(h) }", "{ y = Neg(x) }"
    found = diff(*(load((_ONE_OPERAND + nodes).encode()) for nodes in (left, right)))
    assert found.about == []
    assert [node.op_type for node in found.left_alone] == ["Relu"]


def test_operands_that_change_places_move_no_node() -> None:
    given = "{ a = Neg(x) b = Exp(x) y = Sub"
    found = diff(*(load(f"{_ONE_OPERAND}{given}{o} }}".encode()) for o in ("(a, b)", "(b, a)")))
    assert found.verdict == "structure"
    assert found.moved == []


def test_of_nodes_that_files_say_the_same_of_nothing_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def tell(text: str) -> Edit:
        def write(model: onnx.ModelProto) -> None:
            for node in model.graph.node:
                node.doc_string = f"of {node.name}"
                node.metadata_props.add(key="origin", value=node.name)
            model.graph.node[1].doc_string += text

        return write

    left, right = (load(make_model(tell(text))) for text in ("", " in the newer file"))
    read: list[str] = []
    details = OnnxNodeLoader.details
    monkeypatch.setattr(
        OnnxNodeLoader,
        "details",
        lambda self, node: read.append(node.name) or details(self, node),
    )
    (found,) = diff(left, right).nodes
    assert [change.what for change in found.changes] == ["documentation"]
    assert {*read} == {"act"}
