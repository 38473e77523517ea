"""Groups in Python, and on the command line: what each is, holds and costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx.parser
import pytest
from onnx import TensorProto, helper

from netloupe import ModelGroup, NotFoundError, load
from netloupe.commands.cli import main
from netloupe.explorer.describe import describe_path, format_text
from netloupe.explorer.model import Model
from tests.corpus import corpus_file
from tests.costs.networks import make_bert


@pytest.fixture(scope="module")
def encoder() -> Model:
    return make_bert(4, 128, "batch", 16)


def list_all(group: ModelGroup) -> list[ModelGroup]:
    found = [group]
    for one in found:
        found += one.groups
    return found


def test_the_tree_holds_every_node_once(encoder: Model) -> None:
    root = encoder.groups
    assert (root.path, root.kind, root.parent) == ("main/", "graph", None)
    assert len(root.nodes) == root.node_count == len(encoder.graph.nodes)
    for group in list_all(root):
        inner = [node for one in group.groups for node in one.nodes]
        assert group.node_count == len(group.nodes) == len(set(group.nodes))
        assert set(inner) <= set(group.nodes)
        assert group.path.endswith("/")
        assert all(one.parent == group for one in group.groups)


def test_groups_tell_what_they_are_and_cost(encoder: Model) -> None:
    stack = next(one for one in list_all(encoder.groups) if one.kind == "repeat")
    assert len(stack.groups) == 4
    assert stack.recognised.startswith("Transformer block")
    block = stack.groups[2]
    each = 12 * 16 * 128**2 + 2 * 16**2 * 128
    assert block.costs().macs_expression == f"{each}*batch"
    assert block.macs is None
    assert block.costs(bind={"batch": 3}).macs == 3 * each
    # attention, MLP and two normalizations, with biases
    assert block.parameters == 12 * 128**2 + 13 * 128
    # beside them the shapes that split and join the heads
    assert block.bytes == 4 * block.parameters + 8 * (4 + 3)


def test_a_repeated_block_times_its_count_is_the_whole_group(encoder: Model) -> None:
    stack = next(one for one in list_all(encoder.groups) if one.kind == "repeat")
    bind = {"batch": 1}
    blocks = [one.costs(bind) for one in stack.groups]
    assert len({one.macs for one in blocks}) == 1
    assert (blocks[0].macs or 0) * len(blocks) == stack.costs(bind).macs == encoder.costs(bind).macs
    assert blocks[0].parameters * len(blocks) == stack.parameters


def test_a_group_is_found_by_its_path_or_the_end_of_it(encoder: Model) -> None:
    block = encoder.group("main/encoder/layer.1/")
    for path in ("main/encoder/layer.1", "encoder/layer.1", "encoder.layer.1", "layer.1/"):
        assert encoder.group(path) == block
    assert encoder.group("main") == encoder.group("main/") == encoder.groups
    assert repr(block).startswith("<ModelGroup 'main/encoder/layer.1/'")
    assert len({block, encoder.group("layer.1")}) == 1


def test_what_is_no_group_is_said_with_what_is_near(encoder: Model) -> None:
    with pytest.raises(NotFoundError, match=r"no group at 'layer\.9'\. Did you mean .*layer\."):
        encoder.group("layer.9")
    node = encoder.graph.nodes[0]
    with pytest.raises(NotFoundError, match=r"is a node, not a group\. model\.node\("):
        encoder.group(node.path)
    with pytest.raises(NotFoundError, match="by its path, such as 'main/encoder/', and not by int"):
        encoder.group(3)  # type: ignore[arg-type]


NESTED = """<ir_version: 10, opset_import: ["": 21, "local": 1]>
g (bool c, float[2, 3] x, float[3, 3] w) => (y, z) {
    [choose] y = If (c) <
        then_branch = then () => (t) {
            [__deep__a__MatMul] p = MatMul (x, w) [__deep__a__Relu] q = Relu (p)
            [__deep__a__Sub] q2 = Sub (q, p) [__deep__b__Add] t = Add (q2, x)
        },
        else_branch = other () => (o) { [same] o = Identity (x) }
    >
    [call] z = local.Block (x, w)
}
<domain: "local", opset_import: ["": 21, "local": 1]>
Block (a, b) => (d) {
    [__part__lin__MatMul] m = MatMul (a, b) [__part__lin__Relu] r = Relu (m)
    [__part__lin__Mul] r2 = Mul (r, m) [__part__out__Add] d = Add (r2, a)
}
"""


def load_scoped(text: str) -> Model:
    """Return a model whose nodes have names like ``/a/b``, which the text writes ``__a__b``."""
    model = onnx.parser.parse_model(text)
    graphs: list[Any] = [model.graph, *model.functions]
    for graph in graphs:
        for node in graph.node:
            node.name = node.name.replace("__", "/")
            graphs += [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    return load(model)


def test_groups_in_branches_and_functions_have_the_path_of_the_graph_before_theirs() -> None:
    model = load_scoped(NESTED)
    branch = model.group("main/choose.then_branch/deep/a/")
    assert (branch.graph.path, branch.macs) == ("main/choose.then_branch", 18)
    body = model.group("functions/local::Block/part/lin/")
    assert [node.op_type for node in body.nodes] == ["MatMul", "Relu", "Mul"]
    assert body.macs == 18
    assert model.group("main/call()/part/lin/") == body
    assert model.group("functions/local::Block").kind == "graph"


def test_the_command_line_tells_groups(tmp_path: Path, capsys: Any, encoder: Model) -> None:
    path = str(corpus_file("exported/gpt2.legacy.onnx"))
    assert main(["info", path, "--groups", "--depth", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("h.0 … h.11 ×12" in line and "Transformer block" in line for line in lines)
    assert any(line.strip().startswith("h.0  first of 12") for line in lines) is False
    assert not any("shape arithmetic" in line for line in lines)
    assert (
        main(
            [
                "info",
                path,
                "--groups",
                "--depth",
                "2",
                "--bind",
                "batch=1",
                "--json",
                "--bind",
                "sequence=8",
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)["groups"]
    model = load(path)
    bind = {"batch": 1, "sequence": 8}
    assert told["path"] == "main/"
    assert told["macs"] == model.groups.costs(bind).macs
    stack = next(one for one in told["groups"] if one["kind"] == "repeat")
    assert [one["label"] for one in stack["groups"]][:2] == ["h.0", "h.1"]
    assert sum(one["macs"] for one in stack["groups"]) == stack["macs"]
    assert stack["groups"][0]["groups"] is None
    for key in ("label", "kind", "recognised", "nodes", "parameters", "bytes"):
        assert key in stack["groups"][0]
    assert main(["info", path, "--depth", "1"]) == 2
    assert "Give --groups too." in capsys.readouterr().err


def test_inspect_tells_a_group(capsys: Any) -> None:
    path = str(corpus_file("exported/gpt2.legacy.onnx"))
    for name in ("h.0/mlp", "main/model/transformer/h.0/mlp/"):
        assert main(["inspect", path, name]) == 0
        text = capsys.readouterr().out
        assert "main/model/transformer/h.0/mlp/" in text
        assert "MACs 18.4 k · batch · sequence" in " ".join(text.split())
        assert "/model/transformer/h.0/ln_2/LayerNormalization_output_0" in text
    assert main(["inspect", path, "h.0/mlp/", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["path"] == "main/model/transformer/h.0/mlp/"
    assert told["costs"]["macs_expression"] == "18432*batch*sequence"
    assert main(["inspect", path, "h.99/mlp/"]) == 2
    assert "there is no group at 'h.99/mlp/'" in capsys.readouterr().err


def test_panels_tell_macs_and_their_share() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "/one/MatMul"),
        helper.make_node("MatMul", ["a", "w"], ["b"], "/two/MatMul"),
        helper.make_node("Relu", ["b"], ["y"], "/two/Relu"),
    ]
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
        helper.make_tensor_value_info("w", TensorProto.FLOAT, [4, 4]),
    ]
    output = helper.make_empty_tensor_value_info("y")
    model = load(helper.make_model(helper.make_graph(nodes, "g", values, [output])))
    texts = {
        path: " ".join(format_text(describe_path(model, path)).split())
        for path in ("main/one/MatMul", "main/two/Relu", "main/two/", "model")
    }
    assert "MACs 16 · n (50 % of the model)" in texts["main/one/MatMul"]
    assert "MACs 16 · n (50 % of the model)" in texts["main/two/"]
    assert "MACs" not in texts["main/two/Relu"]
    assert "MACs 32 · n " in texts["model"]


def test_the_panel_of_a_repeat_tells_what_each_costs(encoder: Model) -> None:
    stack = next(one for one in list_all(encoder.groups) if one.kind == "repeat")
    text = " ".join(format_text(describe_path(encoder, stack.path)).split())
    assert "MACs 12.8 M · batch (3.21 M · batch each)" in text
