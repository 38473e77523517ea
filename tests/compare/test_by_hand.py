"""Pairs that a person makes or breaks hold, whatever they look like."""

from __future__ import annotations

import pytest

from netloupe.explorer.compare import diff, match_models, split_pair
from netloupe.explorer.errors import CompareError, NotFoundError
from netloupe.explorer.progress import watched
from netloupe.explorer.readers.load import load
from tests.compare.networks import make_layers, make_normed
from tests.onnx_text import load_text

LEFT = "g (float[n] x) => (float[n] y) { [a] p = Relu (x) [b] q = Tanh (p) [c] y = Neg (q) }"
RIGHT = "g (float[n] x) => (float[n] y) { [d] p = Sin (x) [e] q = Tanh (p) [f] y = Exp (q) }"


def list_pairs(pairs: list[object]) -> set[tuple[str, str, str]]:
    return {
        ("+".join(n.name for n in pair.left), "+".join(n.name for n in pair.right), pair.key)  # type: ignore[attr-defined]
        for pair in pairs
    }


def test_what_is_pinned_is_a_pair_and_its_neighbours_follow() -> None:
    left, right = load_text(LEFT), load_text(RIGHT)
    found = match_models(left, right, pin=[("b", "f")])
    assert ("b", "f", "by hand") in list_pairs([*found.pairs])
    assert all(pair.right[0].name != "f" for pair in found.pairs if pair.left[0].name != "b")


def test_what_is_broken_is_no_pair() -> None:
    left, right = load_text(LEFT), load_text(RIGHT)
    assert ("b", "e") in {pair[:2] for pair in list_pairs([*match_models(left, right).pairs])}
    found = diff(left, right, unpin=[("main/b", right.node("e"))])
    assert ("b", "e") not in {pair[:2] for pair in list_pairs([*found.matching.pairs])}
    assert left.node("b") in found.left_alone
    assert right.node("e") in found.right_alone


def test_equal_models_can_be_paired_in_another_way() -> None:
    left, right = load(make_layers(3)), load(make_layers(3))
    pins = [("/layers.0/act/Tanh", "/layers.1/act/Tanh")]
    found = match_models(left, right, pin=pins)
    pairs = {pair.left[0].name: pair.right[0].name for pair in found.pairs}
    assert pairs["/layers.0/act/Tanh"] == "/layers.1/act/Tanh"
    assert len({*pairs.values()}) == len(pairs)


def test_parts_of_blocks_can_be_taken_out() -> None:
    left, right = load(make_normed()), load(make_normed())
    found = match_models(left, right, pin=[("norm1", "norm2")], unpin=[("conv1", "conv1")])
    names = list_pairs([*found.pairs])
    assert ("norm1", "norm2", "by hand") in names
    assert all(pair[:2] != ("conv1", "conv1") for pair in names)
    taken = [node for pair in found.pairs for node in pair.left]
    assert len(taken) == len({*taken})


def test_nodes_of_other_graphs_can_be_pinned() -> None:
    text = """g (float[n] x, bool b) => (float[n] y) {
        y = If (b) <then_branch = t () => (float[n] z) { [inner] z = Relu (x) },
                    else_branch = e () => (float[n] z) { [other] z = Tanh (x) }> }"""
    left, right = load_text(text), load_text(text)
    found = match_models(left, right, pin=[("inner", "other")])
    assert ("inner", "other", "by hand") in list_pairs([*found.pairs])


@pytest.mark.parametrize(
    ("pin", "unpin", "told"),
    [
        ([("a", "d"), ("a", "e")], [], "another partner"),
        ([("a", "d"), ("b", "d")], [], "another partner"),
        ([("a", "d")], [("a", "d")], "both pinned and broken"),
        (["a=d"], [], "Give two nodes"),
    ],
)
def test_what_cannot_be_is_said(
    pin: list[tuple[str, str]], unpin: list[tuple[str, str]], told: str
) -> None:
    with pytest.raises(CompareError, match=told):
        diff(load_text(LEFT), load_text(RIGHT), pin=pin, unpin=unpin)


def test_nodes_that_are_not_there_are_named() -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        diff(load_text(LEFT), load_text(RIGHT), pin=[("nothing", "d")])
    other = load_text(LEFT)
    with pytest.raises(CompareError, match="is not a node of"):
        diff(load_text(LEFT), load_text(RIGHT), pin=[(other.node("a"), "d")])


def test_a_pair_is_read_from_one_text() -> None:
    left = load_text('g (float[n] x) => (float[n] y) { ["a=b"] y = Relu (x) }')
    right = load_text("g (float[n] x) => (float[n] y) { [c] y = Tanh (x) }")
    one, other = split_pair("a=b=c", left, right)
    assert (one.name, other.name) == ("a=b", "c")
    with pytest.raises(CompareError, match="LEFT=RIGHT"):
        split_pair("a", left, right)
    with pytest.raises(NotFoundError):
        split_pair("a=b=d", left, right)


def test_how_far_it_is_is_told_and_never_goes_back() -> None:
    shares: list[float] = []
    left, right = load(make_layers(6)), load(make_layers(5))
    with watched(lambda _what, share: shares.append(share) if share is not None else None):
        diff(left, right)
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.2
    assert 0.5 < shares[-1] <= 1
