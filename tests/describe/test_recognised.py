"""The inspector says what a group was recognised as."""

from __future__ import annotations

import json

from netloupe.explorer.describe.as_json import to_json
from netloupe.explorer.describe.graphs import describe_group
from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.readers.load import load
from tests.corpus import corpus_file


def group_of(path: str) -> Group:
    found = build_group_tree(load(corpus_file("exported/gpt2.legacy.onnx")).graph).find(path)
    assert isinstance(found, Group)
    return found


def test_a_group_says_what_it_was_recognised_as() -> None:
    description = describe_group(group_of("h.3/attn"))
    assert description.subtitle == "Self-attention · 83 nodes"
    rows = {row.name: row.value for row in description.sections[0].rows}
    assert rows["recognised as"] == "Self-attention, 4 heads × 12, causal"
    assert "recognised as" not in {
        row.name for row in describe_group(group_of("transformer")).sections[0].rows
    }


def test_json_has_names_and_numbers() -> None:
    group = json.loads(json.dumps(to_json(describe_group(group_of("h.3/mlp")))))
    assert group["recognised"]["name"] == "MLP"
    assert group["recognised"]["facts"] == ["48 → 192 → 48", "GELU (tanh)"]
    assert group["recognised"]["details"] == {"widths": [48, 192, 48], "activation": "GELU (tanh)"}
    assert (
        json.loads(json.dumps(to_json(describe_group(group_of("transformer")))))["recognised"]
        is None
    )


def test_a_group_says_its_share_of_the_models_parameters() -> None:
    group = group_of("h.3/mlp")
    note = next(
        row.note for row in describe_group(group).sections[0].rows if row.name == "parameters"
    )
    assert note == "4 % of the model"  # 18,672 of 441,504
