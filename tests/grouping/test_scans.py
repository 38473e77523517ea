"""What a state space computes without weights is one box between its layers."""

from __future__ import annotations

import onnx.parser
import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.readers.load import load

from .test_spilled_ideas import find_blocks, list_operators
from .test_tree import check_tree


def _list_scans(text: str) -> list[Group]:
    tree = build_group_tree(load(onnx.parser.parse_model(text).SerializeToString()).graph)
    check_tree(tree)
    return [block for block in find_blocks(tree) if block.label == "Selective scan"]


@pytest.mark.parametrize(
    ("example", "kept"),
    [
        ("state-space-mixer", {"Softplus", "CumSum", "Exp"}),
        ("state-space-block", {"CumSum", "Exp"}),
    ],
)
def test_the_scan_of_a_state_space_is_one_box(example: str, kept: set[str]) -> None:
    text, _ = EXAMPLES[example]
    (scan,) = _list_scans(text)
    operators = list_operators(scan)
    assert kept <= {*operators}
    assert not {"Conv", "Swish"} & {*operators}  # the layers, and the gate, stand around it


def test_without_decays_there_is_no_scan() -> None:
    text, _ = EXAMPLES["state-space-mixer"]
    assert not _list_scans(text.replace("Exp (passed)", "Neg (passed)"))
