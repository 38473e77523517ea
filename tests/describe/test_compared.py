"""What is said of elements of two models in one."""

from __future__ import annotations

import netloupe
from netloupe.explorer.compare import Diff
from netloupe.explorer.describe import describe_path
from netloupe.explorer.describe.description import Description
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers
from tests.compare.test_merging import CHAIN, WITHOUT, take_out
from tests.onnx_text import load_text


def list_difference(description: Description) -> list[tuple[str, str]]:
    return [
        (row.name, row.value)
        for section in description.sections
        if section.title == "Difference"
        for row in section.rows
    ]


def compare_chain() -> Diff:
    return netloupe.diff(load_text(CHAIN), load_text(WITHOUT))


def test_of_the_model_the_difference_comes_first_and_then_the_newer_one() -> None:
    found = compare_chain()
    told = describe_path(found.merged, "")
    assert told.title.count(" against ") == 1
    assert told.sections[0].text.splitlines() == [
        ("The models differ: 1 node removed (Tanh). Same inputs and outputs."),
        (
            "Nodes: kept 2 · changed 0 · added 0 · removed 1; "
            "weights: equal 0 · changed 0 · added 0 · removed 0"
        ),
    ]
    nodes = [r.value for s in told.sections if s.title == "Contents" for r in s.rows]
    assert nodes[0] == "2"  # of the newer model, not of both
    assert any(section.title == "Differences: 1" for section in told.sections)


def test_of_a_node_is_told_what_has_become_of_it() -> None:
    merged = compare_chain().merged
    ((_, gone),) = list_difference(describe_path(merged, "main/b"))
    assert gone.startswith("removed: only in ")
    kept = describe_path(merged, "main/c")
    assert list_difference(kept)[0] == ("", "the same in both")
    assert ("took before", "q") in list_difference(kept)
    assert all(section.title != "Control inputs" for section in kept.sections)


def test_of_a_changed_weight_is_told_how_far_it_is_from_what_it_was() -> None:
    right = make_layers(2)
    right.graph.initializer[1].raw_data = bytes(64)
    merged = netloupe.diff(load(make_layers(2)), load(right)).merged
    node = list_difference(describe_path(merged, "main/layers.0/fc/MatMul"))
    assert node[0] == ("", "changed")
    assert node[1][0] == "layers.0.fc.weight"
    assert "relative (L2) 100 %" in node[1][1]
    value = list_difference(describe_path(merged, "main/%layers.0.fc.weight"))
    assert value == [("", node[1][1])]


def test_of_a_group_is_told_how_many_nodes_differ_and_the_others_are_counted() -> None:
    left = make_layers(3)
    found = netloupe.diff(load(left), load(take_out(left, "/layers.1/act/Tanh")))
    told = describe_path(found.merged, "main/layers.1/")
    assert list_difference(told) == [("kept", "3 nodes"), ("removed", "1 node")]
    rows = {row.name: row.value for section in told.sections for row in section.rows}
    assert rows["nodes"] == "3"


def test_other_models_have_no_such_section() -> None:
    model = load_text(CHAIN)
    for path in ("", "main/b", "main/%q"):
        assert not list_difference(describe_path(model, path))


def test_what_is_odd_in_both_together_is_not_told_of_the_newer_one() -> None:
    found = compare_chain()
    assert found.merged.findings == found.right.findings
