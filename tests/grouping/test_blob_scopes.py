"""Scopes from the names of Caffe2's blobs."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph
from netloupe.explorer.readers.load import load
from netloupe.proto import caffe2_pb2
from tests.corpus import beside, corpus_file

from .test_repeats import repeats
from .test_tree import check_tree, outline


def make_net(*blobs: str) -> Graph:
    net = caffe2_pb2.NetDef(name="net", external_input=["data"])
    before = "data"
    for blob in blobs:
        net.op.add(type="Relu", input=[before], output=[blob])
        before = blob
    net.external_output.append(before)
    return load(net.SerializeToString()).graph


def test_words_with_numbers_and_slashes_are_scopes() -> None:
    blobs = [
        f"res{stage}_{block}_branch2{part}"
        for stage in (2, 3)
        for block in (0, 1)
        for part in ("a", "a_bn", "b")
    ]
    tree = build_group_tree(
        make_net("conv1", "conv1_bn", *blobs, "in_3a/1x1", "in_3a/3x3"), "names"
    )
    check_tree(tree)
    labels = [child.label for child in tree.root.children if isinstance(child, Group)]
    assert labels[0] == "conv1"
    assert labels[-1] == "in_3a"
    found = [repeat.path for repeat in repeats(tree)]
    assert found == ["main/res2-3/"] or found == ["main/res2/res2_0-1/", "main/res3/res3_0-1/"]


def test_names_that_say_nothing_make_no_scopes() -> None:
    tree = build_group_tree(make_net(*[f"blob{number}" for number in range(12)]), "names")
    assert "(" not in outline(tree)
    tree = build_group_tree(make_net("a", "b", "c", "d"), "names")
    assert outline(tree) == "Relu Relu Relu Relu"


@pytest.mark.parametrize(
    ("name", "truth"),
    [
        (name, truth)
        for net, truth in (("resnet50", [3, 4, 6, 3]), ("densenet121", [6, 12, 24, 16]))
        for name in (
            f"caffe2/{net}/predict_net.pbtxt",
            *beside(f"caffe2/caffe2__models/{net}/predict_net.pbtxt"),
        )
    ],
)
def test_layers_of_caffe2_nets(name: str, truth: list[int]) -> None:
    path = corpus_file(name)
    graph = load(path).graph
    for grouping in ("auto", "repeats"):
        tree = build_group_tree(graph, grouping)
        check_tree(tree)
        assert [len(repeat.children) for repeat in repeats(tree)] == truth
