"""Two models in one explorer."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import netloupe
from netloupe.widgets import Explorer
from tests.compare.networks import make_layers
from tests.compare.test_merging import take_out


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return the files of a network and of the same without a node in one layer."""
    older, newer = tmp_path / "old.onnx", tmp_path / "new.onnx"
    onnx.save(make_layers(5), older)
    onnx.save(take_out(make_layers(5), "/layers.3/act/Tanh"), newer)
    return older, newer


@pytest.fixture
def explorer(files: tuple[Path, Path]) -> Explorer:
    return netloupe.explore(files[1], against=files[0])


def test_both_models_are_shown_and_what_differs_is_painted(explorer: Explorer) -> None:
    found = explorer.model.comparison
    assert found is not None
    assert found.counts.removed == 1
    assert explorer.canvas.paints["main/layers.3/act/Tanh"][3] == "−"
    assert "new.onnx against old.onnx" in explorer.canvas.title
    explorer.select("main/layers.3/act/Tanh")
    assert explorer.selected.op_type == "Tanh"


def test_what_is_painted_by_hand_leaves_the_differences(explorer: Explorer) -> None:
    explorer.paint = {"main/embed/Gather": netloupe.Paint("note", "here")}
    assert explorer.canvas.paints["main/embed/Gather"] == ["note", "here"]
    assert explorer.canvas.paints["main/layers.3/act/Tanh"][3] == "−"
    assert set(explorer.paint) == {"main/embed/Gather"}


def test_counts_are_those_of_the_groups_that_are_shown(explorer: Explorer) -> None:
    assert "main/layers.3/" in explorer.canvas.paints
    explorer.canvas.grouping = "none"
    assert explorer.canvas.paints["main/layers.3/act/Tanh"][3] == "−"


def test_pictures_have_the_differences(explorer: Explorer) -> None:
    assert ">−<" in explorer.to_svg()


def test_both_files_are_read_again(explorer: Explorer, files: tuple[Path, Path]) -> None:
    onnx.save(make_layers(5), files[1])
    explorer.reload()
    found = explorer.model.comparison
    assert found is not None
    assert found.verdict == "identical"
    assert not explorer.canvas.paints


def test_a_model_that_is_loaded_can_be_given(files: tuple[Path, Path]) -> None:
    older, newer = map(netloupe.load, files)
    explorer = netloupe.explore(newer, against=older)
    found = explorer.model.comparison
    assert found is not None
    assert found.right is newer


def test_the_review_lists_what_differs_and_leads_to_it(explorer: Explorer) -> None:
    assert explorer.diff is explorer.model.comparison
    items = [item for item in explorer.review if item.kind == "difference"]
    assert [path for item in items for path in item.paths] == ["main/layers.3/act/Tanh"]
    assert explorer.next_item() is not None
    assert explorer.selection == "main/layers.3/act/Tanh"


def test_rules_are_applied_to_the_newer_model(explorer: Explorer) -> None:
    found = explorer.findings
    assert found.source.endswith("new.onnx")
