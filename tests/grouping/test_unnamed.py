"""A name that is wrong for a model is switched off for a group, or for all that are called so."""

from __future__ import annotations

import pytest

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree, leave_unnamed
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.corpus import corpus_file, light_file


def list_names(tree: GroupTree) -> dict[str, str]:
    """Return what groups are said to be, by path."""
    groups = dict.fromkeys(tree.groups.values())
    return {group.path: found.name for group in groups if (found := group.recognised) is not None}


@pytest.fixture
def vit() -> GroupTree:
    return build_group_tree(load(corpus_file("exported/vit.legacy.onnx")).graph)


def test_a_group_and_its_counterparts_in_other_layers_lose_their_name(vit: GroupTree) -> None:
    before = list_names(vit)
    attentions = [path for path, name in before.items() if name == "Self-attention"]
    chosen = next(path for path in attentions if "layer.1/" in path or "layers.1/" in path)
    leave_unnamed(vit, [chosen])
    lost = before.keys() - list_names(vit).keys()
    end = chosen.rsplit("1/", 1)[1]
    assert chosen in lost
    assert lost == {path for path in attentions if path.endswith(f"/{end}")}
    assert len(lost) == 12


def test_names_come_back(vit: GroupTree) -> None:
    before, labels = list_names(vit), {group: group.label for group in vit.groups.values()}
    leave_unnamed(vit, ["Self-attention", next(iter(before))])
    assert "Self-attention" not in list_names(vit).values()
    leave_unnamed(vit, [])
    assert list_names(vit) == before
    assert {group: group.label for group in vit.groups.values()} == labels


def test_a_stack_loses_its_name_with_its_blocks() -> None:
    tree = build_group_tree(load(light_file("light_resnet50.onnx")).graph)
    stacks = [group for group in tree.root.inner_groups() if group.kind == "repeat"]
    assert [stack.label for stack in stacks] == ["Bottleneck block"] * 4
    leave_unnamed(tree, [stacks[2].path])
    assert [stack.label for stack in stacks] == [
        "Bottleneck block",
        "Bottleneck block",
        "block",
        "Bottleneck block",
    ]
    assert [block.label for block in stacks[2].inner_groups()][:2] == ["block 0", "block 1"]
    assert [block.recognised for block in (stacks[2], *stacks[2].inner_groups())] == [None] * 7


def test_a_kind_of_block_is_left_out_everywhere() -> None:
    tree = build_group_tree(load(light_file("light_resnet50.onnx")).graph)
    leave_unnamed(tree, ["Bottleneck block"])
    assert "Bottleneck block" not in list_names(tree).values()
    assert not [group for group in tree.groups.values() if "Bottleneck" in group.label]
    assert tree.root.names_met == {"Bottleneck block"}


def draw(name: str, **options: object) -> tuple[set[str], list[str]]:
    """Return all texts on the boxes of a picture, and its notices."""
    picture = make_picture(load(corpus_file(name)), ViewOptions.parse(options))
    faces = [picture.labels.draw(box.item) for box in picture.scene.boxes]
    return {run.text for face in faces for run in face.texts}, picture.notices


def test_a_picture_says_no_more_what_a_group_is() -> None:
    texts, notices = draw("exported/vit.legacy.onnx", expand=3)
    assert "Self-attention" in texts
    assert not notices
    for unnamed in ("Self-attention", ["Self-attention"], " Self-attention ,MLP"):
        texts, notices = draw("exported/vit.legacy.onnx", expand=3, unnamed=unnamed)
        assert "Self-attention" not in texts
        assert not notices


def test_a_name_that_nothing_has_is_told() -> None:
    _, notices = draw("exported/vit.legacy.onnx", unnamed="Selfattention")
    (notice,) = notices
    assert "'Selfattention'" in notice


def test_what_is_no_list_of_texts_is_refused() -> None:
    with pytest.raises(ViewError, match="unnamed is"):
        ViewOptions.parse({"unnamed": [3]})
    assert ViewOptions.parse({"unnamed": "a/b, MLP,,a/b"}).unnamed_blocks == ("a/b", "MLP")


def test_the_first_view_takes_a_group_without_a_name_for_any_other(vit: GroupTree) -> None:
    group = next(g for g in vit.groups.values() if g.recognised is not None)
    assert isinstance(group, Group)
    leave_unnamed(vit, [group.path])
    assert group.recognised is None
