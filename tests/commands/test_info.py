"""The summary of a model: its graphs as a tree, bounded, with aligned columns."""

from __future__ import annotations

from onnx import helper

from netloupe.commands.info import format_summary, summarize_model
from netloupe.explorer.describe.models import describe_contents
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2
from tests.corpus import corpus_file
from tests.onnx_text import load_text

NESTED = """g (bool c, float[N] x) => (float[N] y) {
    [outer] y = If (c) <
        then_branch = then () => (float[N] a) {
            [inner] a = If (c) <
                then_branch = deep () => (float[N] b) { [neg] b = Neg (x) [abs] b2 = Abs (x) },
                else_branch = flat () => (float[N] d) { [id] d = Identity (x) }
            >
        },
        else_branch = other () => (float[N] e) { [relu] e = Relu (x) }
    >
}"""


def write_summary(model: Model) -> str:
    return format_summary(summarize_model(model), model.dialect)


def list_graph_lines(model: Model) -> list[str]:
    lines = write_summary(model).split("\n")
    start = next(i for i, line in enumerate(lines) if line.startswith("  graphs"))
    end = next((i for i in range(start + 1, len(lines)) if lines[i][2] != " "), len(lines))
    return [line[13:] for line in lines[start:end]]


def test_nested_graphs_are_named_within_their_parents() -> None:
    assert list_graph_lines(load_text(NESTED)) == [
        "main                   main      1 node",
        "  outer.then_branch    subgraph  1 node",
        "    inner.then_branch  subgraph  2 nodes",
        "    inner.else_branch  subgraph  1 node",
        "  outer.else_branch    subgraph  1 node",
    ]


def test_deep_graphs_fit_a_terminal() -> None:
    lines = list_graph_lines(load(corpus_file("features/control_flow_3deep.onnx")))
    assert len(lines) == 8
    assert max(map(len, lines)) < 70
    assert len({line.rindex(" node") for line in lines}) == 1


def test_many_graphs_are_bounded() -> None:
    model = load_text(NESTED)
    summary = summarize_model(model)
    graph = summary["graphs"][0]
    summary["graphs"] = [graph | {"path": f"main/{'x' * 500}_{i}.body"} for i in range(5000)]
    text = format_summary(summary, model.dialect)
    assert "… 4,988 more" in text
    assert max(map(len, text.split("\n"))) < 120


def test_operator_sets_are_left_out_where_the_format_has_none() -> None:
    net = caffe2_pb2.NetDef(name="n", op=[{"type": "Relu", "input": ["x"], "output": ["y"]}])
    model = load(net)
    assert summarize_model(model)["opsets"] == {}
    assert "opsets" not in write_summary(model)
    assert "opsets" in write_summary(load_text(NESTED))


def test_what_the_model_says_of_itself_is_shown() -> None:
    proto = helper.make_model(
        helper.make_graph([], "g", [], []), domain="org.example.vision", doc_string="One.\n\nTwo."
    )
    proto.model_version = 7
    model = load(proto)
    summary = summarize_model(model)
    assert (summary["domain"], summary["model_version"]) == ("org.example.vision", 7)
    assert summary["doc"] == "One.\n\nTwo."
    lines = [line.split(maxsplit=1) for line in write_summary(model).split("\n")]
    for shown in (["domain", "org.example.vision"], ["version", "7"], ["doc", "One."], ["Two."]):
        assert shown in lines
    words = [line.split()[0] for line in write_summary(load_text(NESTED)).split("\n")]
    assert not {"domain", "version", "doc"} & set(words)


def test_a_long_doc_is_cut() -> None:
    proto = helper.make_model(
        helper.make_graph([], "g", [], []), doc_string="\n".join(map(str, range(500)))
    )
    assert "… 494 more" in write_summary(load(proto))


def test_weights_of_a_net_without_its_init_net_are_no_inputs() -> None:
    net = caffe2_pb2.NetDef(
        name="n",
        op=[
            {"type": "Conv", "input": ["data", "w", "b"], "output": ["x"]},
            {"type": "FC", "input": ["x", "fc_w", "fc_b"], "output": ["y"]},
        ],
        external_input=["data", "w", "b", "fc_w", "fc_b", "unused"],
        external_output=["y"],
    )
    model = load(net)
    summary = summarize_model(model)
    assert [value["name"] for value in summary["inputs"]] == ["data", "unused"]
    assert summary["weights_not_given"] == ["w", "b", "fc_w", "fc_b"]
    lines = write_summary(model).split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("  inputs"))
    assert lines[at : at + 3] == [
        "  inputs     data",
        "             unused",
        "  weights    4 not given, for want of the init net (--init): w, b, fc_w, … 1 more",
    ]
    sections = {section.title: section for section in describe_contents(model).sections}
    assert [row.name for row in sections["Inputs"].rows] == ["data", "unused"]
    assert [row.name for row in sections["Weights not given"].rows] == ["w", "b", "fc_w", "fc_b"]
    assert summarize_model(load_text(NESTED))["weights_not_given"] == []
