"""Graphs inside others, sizes below 0, and what a file states against what follows."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

from netloupe.explorer.checks import check
from netloupe.explorer.checks.rules import second_opinion
from netloupe.explorer.costs import count_costs
from netloupe.explorer.inference import opinion, process
from netloupe.explorer.readers.load import load
from tests.checks.ruling import find, parse, read_made

_IF = """g (float[3] x, bool c) => (float[3] y) {{
    y = If (c) <
        then_branch = t () => (float[3] a) {{ a = Relu(x) }},
        else_branch = e () => ({} b) {{ {} }}>
}}"""


def test_a_branch_that_gives_an_outer_value() -> None:
    def make(name: str) -> onnx.ModelProto:
        model = parse(_IF.format("float[3]", "b = Identity(x)"))()
        branch = model.graph.node[0].attribute[1].g
        branch.output[0].name = name
        return model

    (finding,) = check(load(make("x")), select=["NL-L37"])
    assert finding.severity == "error"
    assert "else_branch gives x" in finding.message
    assert list(check(load(make("b")), select=["NL-L37"])) == []


def test_branches_of_different_types() -> None:
    (finding,) = find(parse(_IF.format("int64[3]", "b = Cast<to=7>(x)")), "NL-T04")
    assert "float32[3]" in finding.message
    assert "int64[3]" in finding.message
    assert find(parse(_IF.format("float[3]", "b = Neg(x)")), "NL-T04") == []


def test_nodes_of_one_name_are_an_error_for_onnx_runtime() -> None:
    made = parse("g (float[2] x) => (float[2] y) { [n] a = Relu(x) [n] y = Neg(a) }")
    assert [each.severity for each in find(made, "NL-L07")] == ["warning"]
    assert [each.severity for each in find(made, "NL-L07", target="ort-1.20")] == ["error"]


def test_a_size_of_minus_one_is_unknown() -> None:
    model = parse("g (float[2, 3] x) => (float[2, 3] y) { t = Relu(x) y = Neg(t) }")()
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = -1
    found = check(load(model), select=["NL-I08"])
    assert {path for each in found for path in each.paths} == {"main/%x", "main/%y"}
    costs = count_costs(load(model))
    assert costs.activation_bytes is None
    assert costs.activation_bytes_expression.startswith("24*x[0]")
    assert list(check(load(model), select=["NL-T05"])) == []


def test_graphs_without_a_name() -> None:
    model = parse("g (float[2] x) => (float[2] y) { y = Relu(x) }")()
    assert list(check(load(model), select=["NL-L39"])) == []
    model.graph.name = ""
    assert [each.id for each in check(load(model), select=["NL-L39"])] == ["NL-L39"]
    tensor = onnx.TensorProto(dims=[1], data_type=1, float_data=[1])
    assert list(check(load(tensor.SerializeToString()), select=["NL-L39"])) == []


def test_initializers_that_are_no_inputs_before_version_4() -> None:
    text = '<ir_version: {}, opset_import: ["": 9]> g (float[2] x) => (float[2] y)'
    text += " <float[2] w = {{1.0, 2.0}}> {{ y = Add(x, w) }}"
    (finding,) = find(parse(text.format(3)), "NL-I09")
    assert "w" in finding.message
    assert find(parse(text.format(4)), "NL-I09") == []


_STATED = "g (float[2, 3] x) => ({} y) <{} t> {{ t = Transpose(x) y = Relu(t) }}"


@pytest.mark.parametrize(
    ("output", "inner", "ids"),
    [
        ("float[3, 2]", "float[3, 2]", []),
        ("float[N, M]", "float[3, K]", []),
        ("float[3, 2]", "float[2, 3]", ["NL-T05"]),
        ("float[3, 2, 1]", "float[3, 2]", ["NL-T05"]),
        ("float16[3, 2]", "float[3, 2]", ["NL-T03"]),
        ("float[3, 2]", "int64[3, 2]", ["NL-T03"]),
    ],
)
def test_what_is_stated_against_what_follows(output: str, inner: str, ids: list[str]) -> None:
    found = check(
        read_made(parse(_STATED.format(output, inner))), select=["NL-T03", "NL-T05", "NL-T02"]
    )
    assert [each.id for each in found] == ids, [str(each) for each in found]


def test_onnx_is_asked_only_where_ours_could_not_judge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = parse("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    silent = tmp_path / "worker.py"  # what is asked has no answer, however fast onnx is
    silent.write_text("import time; time.sleep(600)")
    monkeypatch.setattr(process, "_WORKER", silent)
    monkeypatch.setattr(second_opinion, "_SECONDS", 0.2)
    assert check(read_made(known), select=["NL-T20"]).skipped_rules == ()
    open_ranked = parse("g (float[] x) => (float[] y) { y = Relu(x) }")
    (skipped,) = check(read_made(open_ranked), select=["NL-T20"]).skipped_rules
    assert "took longer than" in skipped.reason


def test_onnx_is_asked_once_of_a_model_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "_SECONDS", 120.0)
    asked: list[int] = []
    run, write = opinion.run_worker, opinion.write_skeleton
    monkeypatch.setattr(opinion, "run_worker", lambda *given: asked.append(1) or run(*given))
    text = "g (float[] r, float[3] x) => (float[] y, string[3] z) "
    text += "{ y = Relu(r) z = StringConcat(x, x) }"
    model = read_made(parse(text))
    first, second = (list(check(model, select=["NL-T20"])) for _ in range(2))
    assert first == second
    assert (len(first), len(asked)) == (1, 1)
    sound = write(read_made(parse("g (float[] x) => (float[] y) { y = Relu(x) }")))
    monkeypatch.setattr(opinion, "write_skeleton", lambda _: sound)
    assert list(check(model, select=["NL-T20"])) == []
    assert len(asked) == 2


def test_what_onnx_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "_SECONDS", 120.0)  # a machine may have much to do
    text = "g (float[] r, float[3] x) => (float[] y, string[3] z) "
    text += "{ y = Relu(r) z = StringConcat(x, x) }"
    (finding,) = find(parse(text), "NL-T20")
    assert finding.severity == "warning"
    assert finding.paths == ("main/#1:StringConcat",)
    assert finding.message.startswith("onnx ")
