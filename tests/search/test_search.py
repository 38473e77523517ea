"""Search by name, op type, attribute; plain text or regular expression."""

from __future__ import annotations

import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.search import findable
from netloupe.explorer.search.search import search_model
from netloupe.explorer.view import View
from netloupe.proto import onnx_pb2
from tests.corpus import also_beside, corpus_file
from tests.onnx_text import load_text

MODEL = """g (bool c, float[N] x) => (float[N] y) <float[2] weight = {1.0, 2.0}> {
    [first] a = LeakyRelu <alpha = 0.25> (x)
    [choose] y = If (c) <
        then_branch = then () => (float[N] p) { [inner_Neg] p = Neg (a) },
        else_branch = else () => (float[N] q) { [fft] q = com.microsoft.Rfft <axes = [1, 2]> (a) }
    >
}"""


def find(text: str, regex: bool = False) -> list[tuple[str, str]]:
    return list_hits(load_text(MODEL), text, regex)


def list_hits(model: Model, text: str, regex: bool = False) -> list[tuple[str, str]]:
    hits = list(search_model(model, text, regex=regex, find_tree=build_group_tree))
    assert [hit.path for hit in hits] == model.search(text, regex=regex)
    return [(hit.kind, hit.path) for hit in hits]


def make_layers(classes: bool = False) -> Model:
    """Return three layers, each with the scopes attention/self/query and output; or classes."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    proto.graph.input.add(name="x")
    last = "x"
    for layer in range(3):
        for scope in ("attention/self/query", "attention/self/key", "output"):
            for op in ("MatMul", "Add", "Tanh"):
                name = f"/vit/encoder/layer.{layer}/{scope}/{op}"
                node = proto.graph.node.add(
                    op_type=op, input=[last, last][: 1 if op == "Tanh" else 2], output=[name + "_0"]
                )
                if classes:
                    levels = ["", "vit", f"vit.encoder.layer.{layer}", name.replace("/", ".")[1:]]
                    node.name = f"node_{len(proto.graph.node)}"
                    names = ["ViTModel", "ViTEncoder", "ViTLayer", "ViTAttention"]
                    hierarchy = [f"lib.vit.{each}" for each in names[: len(levels)]]
                    node.metadata_props.add(
                        key="pkg.torch.onnx.name_scopes", value=repr([*levels, node.name])
                    )
                    node.metadata_props.add(
                        key="pkg.torch.onnx.class_hierarchy",
                        value=repr([*hierarchy, "aten.linear.default"]),
                    )
                else:
                    node.name = name
                last = name + "_0"
    proto.graph.output.add(name=last)
    return load(proto.SerializeToString())


def test_names_and_op_types_in_any_case() -> None:
    assert find("FIRST") == [("node", "main/first")]
    assert find("leakyrelu") == [("node", "main/first")]
    assert find("neg") == [("node", "main/choose.then_branch/inner_Neg")]


def test_attributes_and_domains() -> None:
    assert find("alpha = 0.25") == [("node", "main/first")]
    assert find("axes = [1, 2]") == [("node", "main/choose.else_branch/fft")]
    assert find("com.microsoft") == [("node", "main/choose.else_branch/fft")]


def test_values_initializers_and_graphs() -> None:
    assert find("weight") == [("initializer", "main/%weight")]
    assert ("value", "main/choose.then_branch/%p") in find("p")
    assert ("graph", "main/choose.else_branch") in find("else")


def test_regular_expressions() -> None:
    assert find("^fi.st$", regex=True) == [("node", "main/first")]
    assert find("^fi.st$") == []
    assert find("") == find("", regex=True) == []
    for text in ("(", "*", "[", "(?P<a", "a{99999999999}"):
        with pytest.raises(ViewError, match="regular expression"):
            find(text, regex=True)
        assert find(text) == [] or text in ("[", "*", "(")


@pytest.mark.parametrize(
    "name",
    also_beside(["evil_names", "empty_names", "attr_oddities", "invalid_utf8"], "hostile/{}.onnx"),
)
def test_hits_of_hostile_models_lead_somewhere(name: str) -> None:
    model = load(corpus_file(name))
    hits = list(search_model(model, ".", regex=True, find_tree=build_group_tree))
    assert hits
    view = View(model)
    for hit in hits:
        assert (view.group_at if hit.kind == "group" else model.__getitem__)(hit.path) is not None


def test_groups_are_found_by_their_own_part_of_the_path_and_come_first() -> None:
    model = make_layers()
    found = list_hits(model, "encoder/layer.1")
    assert found[0] == ("group", "main/vit/encoder/layer.1/")
    assert ("group", "main/vit/encoder/layer.1/output/") not in found
    kinds = [kind for kind, _ in list_hits(model, "attention")]
    assert kinds[:3] == ["group"] * 3
    assert kinds == sorted(kinds, key=["group", "node", "value"].index)
    assert list_hits(model, r"layer\.\d/$", regex=True) == [
        ("group", f"main/vit/encoder/layer.{layer}/") for layer in range(3)
    ]


def test_words_are_found_in_any_order_and_anywhere_around() -> None:
    model = make_layers()
    expected = [
        ("group", "main/vit/encoder/layer.1/attention/self/query/"),
        *(
            ("node", f"main/vit/encoder/layer.1/attention/self/query/{op}")
            for op in ("MatMul", "Add", "Tanh")
        ),
    ]
    for text in ("layer.1 query", "query layer.1", " QUERY\tself  layer.1 "):
        assert [hit for hit in list_hits(model, text) if hit[0] != "value"] == expected
    assert list_hits(model, "layer.1 query zebra") == []
    assert list_hits(model, "layer.1 tanh output") == [
        ("node", "main/vit/encoder/layer.1/output/Tanh"),
        ("value", "main/%/vit/encoder/layer.1/output/Tanh_0"),
    ]


def test_an_attribute_is_one_word() -> None:
    assert find("FIRST alpha=0.25") == find("alpha = 0.25 leaky") == [("node", "main/first")]
    assert find("axes = [2, 1]") == []
    assert find("com.microsoft axes = [1, 2]") == [("node", "main/choose.else_branch/fft")]


def test_attributes_are_written_as_short_as_they_are_read() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    node = proto.graph.node.add(op_type="LeakyRelu", name="act", input=["x"], output=["y"])
    node.attribute.add(name="alpha", type=onnx_pb2.AttributeProto.FLOAT, f=0.01)
    model = load(proto.SerializeToString())
    (hit,) = search_model(model, "alpha", find_tree=build_group_tree)
    assert hit.detail == "alpha = 0.01"


def test_classes_of_modules_are_found_as_groups() -> None:
    model = make_layers(classes=True)
    found = list(search_model(model, "vitlayer", find_tree=build_group_tree))
    repeat, *layers = found
    assert (repeat.path, repeat.detail) == ("main/encoder.layer.0-2/", "×3 · ViTLayer · 27 nodes")
    assert [hit.path for hit in layers] == [f"main/vit/encoder.layer.{n}/" for n in range(3)]
    assert {(hit.kind, hit.detail) for hit in layers} == {("group", "ViTLayer · 9 nodes")}
    within = list_hits(model, "layer.1 tanh")
    assert [kind for kind, _ in within].count("node") == 3


def test_nodes_without_names_are_told_apart() -> None:
    model = load_text("g (float[N] x) => (float[N] y) { a = Relu (x) y = Relu (a) }")
    hits = list(search_model(model, "relu", find_tree=build_group_tree))
    assert [hit.title for hit in hits] == ["#0:Relu", "#1:Relu"]


def test_groups_are_found_by_what_they_were_recognised_as() -> None:
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    hits = [
        (hit.path, hit.detail)
        for hit in search_model(model, "gelu tanh", find_tree=build_group_tree)
        if hit.kind == "group"
    ]
    assert len(hits) == 24  # of each layer the MLP and its activation
    assert any(
        path.endswith("h.3/mlp/act/") and detail.startswith("GELU (tanh)") for path, detail in hits
    )
    # the words around it still count
    assert ("group", "main/transformer/h.3/attn/") in [
        (kind, path.replace("/model", "")) for kind, path in list_hits(model, "h.3 self-attention")
    ]


def test_one_search_recognises_a_bounded_number_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findable, "_MOST_TOLD", 600)
    model = load(corpus_file("exported/gpt2.legacy.onnx"))
    tree = build_group_tree(model.graph)

    def count() -> int:
        hits = search_model(model, "gelu tanh", find_tree=lambda _: tree)
        return sum(hit.kind == "group" for hit in hits)

    first = count()
    assert 0 < first < 24
    # what is known already costs nothing, so that the next search finds more
    assert count() > first
