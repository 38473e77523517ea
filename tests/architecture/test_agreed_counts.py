"""Counts that an author's lists, the weights or the scores of a graph do not agree with."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netloupe.explorer.architecture.agreed_counts import AgreedCounts
from netloupe.explorer.architecture.agreed_rows import AgreedRows
from netloupe.explorer.architecture.clause import Clause
from netloupe.explorer.architecture.counted_words import write_plural
from netloupe.explorer.architecture.located_pieces import LocatedPieces
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.piece_words import name_kind
from netloupe.explorer.architecture.pieces import Piece, leave_out_distances, list_pieces
from netloupe.explorer.architecture.weighted_layers import WeightedLayers
from netloupe.explorer.model import Model
from tests.architecture.networks import Network
from tests.architecture.test_modules import Named


class Authored(Named):
    """A network of modules in modules."""

    def call(self, path: str, x: str, kind: str, *sizes: int, **attributes: int) -> str:
        start = len(self.nodes)
        x = self.conv(x, *sizes, **attributes) if kind == "conv" else self.linear(x, *sizes)
        self.within(start, path)
        return x


def _tell(model: Model) -> str:
    return model.architecture.sentence


def test_blocks_are_as_many_as_their_authors_list_has() -> None:
    net = Authored()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for number in range(6):
        start = len(net.nodes)
        y = net.add("Relu", net.call("one", x, "conv", 8, 8))
        y = net.call("two", y, "conv", 8, 8)
        # the pattern does not know the other half: their shortcut is scaled by a convolution
        other = net.add("Mul", x, net.add("Tanh", x)) if number % 2 else x
        x = net.add("Relu", net.add("Add", y, other))
        net.within(start, f"blocks.{number}")
    told = _tell(net.finish(net.conv(x, 8, 3)))
    assert "3 residual blocks" not in told
    assert "6 residual blocks" in told


def test_a_block_of_two_sums_is_one_block() -> None:
    net = Authored()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    width = 8
    for stage, count in enumerate((2, 3)):
        for number in range(count):
            start = len(net.nodes)
            y = net.call("mixer/deep", x, "conv", width, width, 3, group=width)
            x = net.add("Add", x, net.call("mixer/wide", y, "conv", width, width, 1))
            y = net.add("Relu", net.call("mlp/one", x, "conv", width, 2 * width, 1))
            x = net.add("Add", x, net.call("mlp/two", y, "conv", 2 * width, width, 1))
            net.within(start, f"stages.{stage}/blocks.{number}")
        if not stage:
            start = len(net.nodes)
            x, width = net.conv(x, 8, 16, strides=[2, 2]), 16
            net.within(start, "stages.1/down")
    told = _tell(net.finish(net.conv(x, 16, 3)))
    assert "4, 6 residual" not in told
    assert "10 residual" not in told


def test_a_plain_row_of_layers_has_no_stages() -> None:
    net = Authored()
    x = net.take("x", (1, 16, 8))
    for number in range(8):
        start = len(net.nodes)
        x = net.block(x)
        if number in (1, 4):
            x = net.add("Add", x, net.add("Tanh", net.linear(x, 8, 8)))
        net.within(start, f"layer.{number}")
    told = _tell(net.finish(x))
    assert "8 transformer blocks" in told
    assert "stages" not in told


def test_a_last_layer_that_is_told_as_outputs_is_counted() -> None:
    net = Network()
    x, width = net.take("x", (1, 8)), 8
    for _ in range(4):
        x = net.add("Concat", net.linear(x, width, 4), net.linear(x, width, 6), axis=1)
        x, width = net.add("Cos", x), 10
    told = _tell(net.finish(net.linear(x, 10, 5), shape=(1, 5)))
    assert "9 linear layers, 5 outputs" in told


def test_attention_of_learned_queries_alone_is_counted() -> None:
    net = Authored()
    taken = net.take("x", (1, 4, 8))
    x = net.weight(1, 4, 8)
    for number in range(4):
        start = len(net.nodes)
        begin = len(net.nodes)
        x = net.norm(net.add("Add", x, net.attend(x, x)), 8)
        net.within(begin, "own")
        deep = net.add("Cos", net.linear(taken, 8, 4))
        x = net.norm(net.add("Mul", x, net.linear(deep, 4, 8)), 8)
        net.within(start, f"decoder/layers.{number}")
    x = net.conv(net.add("Unsqueeze", x, net.numbers(0)), 1, 3)
    told = _tell(net.finish(x))
    assert "4 self-attentions" in told
    assert "2 linear layers" not in told


def test_widths_of_layers_are_told_where_they_stay_the_same() -> None:
    net = Network()
    x = net.take("x", (1, 7))
    for taken, given in ((7, 12), (12, 12), (12, 5)):
        x = net.add("Cos", net.linear(x, taken, given))
    assert "7 → 12 → 12 → 5" in _tell(net.finish(x, shape=(1, 5)))


def test_outputs_are_those_of_an_output() -> None:
    net = Network()
    x = net.take("x", (1, 4, 8))
    x = net.add("Cos", net.linear(net.add("Cos", net.linear(x, 8, 16)), 16, 24))
    x = net.add("Reshape", x, net.numbers(1, 4, 6, 4))
    told = _tell(net.finish(x, shape=(1, 4, 6, 4)))
    assert "24 outputs" not in told


def _tell_row(lists: Sequence[int], *, is_behind: bool = False) -> list[str]:
    """Return what is told of three blocks of two layers whose lists have so many members.

    And of a layer before them, or behind them.
    """
    net = Authored()
    x = net.conv(net.take("x", (1, 3, 32, 32)), 3, 8)
    for number in range(4):
        for path, size, count in zip(("deep", "wide"), (3, 1), lists, strict=True):
            start = len(net.nodes)
            x = net.add("Cos", net.conv(x, 8, 8, size))
            net.within(start, f"{path}.{number}" if number < count else "other")
    model = net.finish(net.conv(x, 8, 3))
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    first, *pieces, last = list_pieces(outline, [])
    located = LocatedPieces(outline, [first, *pieces, last], WeightedLayers(model, nodes))
    start = 8 - 2 * 3
    members = tuple(tuple(pieces[at : at + 2]) for at in range(start, 8, 2))
    row = Clause("", tuple(pieces[start:]), "3 blocks", members=members)
    other = last if is_behind else first
    beside = Clause("3 convolutions", (*pieces[:start], other), is_plain=True)

    def tell(scope: Sequence[Piece]) -> list[Clause]:
        return [Clause(f"{len(scope)} left", tuple(scope))]

    return [one.write() for one in AgreedRows(located, tell).agree([beside, row])]


def test_blocks_are_as_many_as_all_lists_of_their_parts_have() -> None:
    assert _tell_row((4, 4)) == ["1 left", "4 blocks"]
    assert _tell_row((4, 4), is_behind=True) == ["4 blocks", "1 left"]


@pytest.mark.parametrize("lists", [(4, 3), (3, 3), (4, 0)])
def test_blocks_are_not_counted_by_lists_that_differ(lists: Sequence[int]) -> None:
    assert "3 blocks" in _tell_row(lists)


def _count_used(kind: str, *uses: int) -> str:
    """Return what is told of so many blocks of a kind, each used as often as is given."""
    net = Network()
    x = net.take("x", (1, 8, 16, 16) if kind == "GridSample" else (1, 4, 8))
    grid = net.take("grid", (1, 16, 16, 2))
    for _ in uses:
        if kind == "GridSample":
            x = net.add("Cos", net.add("GridSample", x, grid))
        else:
            x = net.add("Cos", net.linear(net.add("Relu", net.linear(x, 8, 24)), 24, 8))
    model = net.finish(x)
    nodes = [*model.graph.nodes]
    outline = Outline(model.graph, nodes)
    pieces = list_pieces(outline, [])
    assert len(pieces) == len(uses)
    for piece, often in zip(pieces, uses, strict=True):
        piece.uses = often
    noun = name_kind(outline, [pieces[0]])
    clause = Clause(f"{len(uses)} {write_plural(noun)}", tuple(pieces), is_plain=True)
    located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
    (told,) = AgreedCounts(located, lambda scope: []).agree([clause])
    return told.text


def test_blocks_that_are_used_unlike_often_are_not_counted_together() -> None:
    assert _count_used("MLP", 1, 1, 1) == "3 MLPs"
    assert _count_used("MLP", 1, 3, 1) == "MLPs"


def test_what_has_no_weights_is_counted_as_often_as_it_is_there() -> None:
    assert _count_used("GridSample", 1, 1) == "2 grid samplings"
    assert _count_used("GridSample", 4, 4, 4) == "12 grid samplings"


def test_layers_that_are_used_together_are_told_together() -> None:
    two = Clause("", (), parts=(Clause("7 convolutions", ()), Clause("1×1 convolution", ())))
    assert Clause("", (), uses=3, parts=(two,)).write() == (
        "3 times with shared weights (7 convolutions, 1×1 convolution)"
    )
    one = Clause("", (), parts=(Clause("7 convolutions", ()),))
    assert Clause("", (), uses=3, parts=(one,)).write() == "7 convolutions used 3 times"


def test_two_layers_that_are_no_known_mlp_leave_mlps_uncounted() -> None:
    def tell(near: str) -> str:
        net = Authored()
        x = net.take("x", (1, 4, 8))
        for number in range(3):
            start = len(net.nodes)
            y = net.linear(x, 8, 16)
            y = net.add("Relu", net.norm(y, 16) if near and number == 2 else y)
            x = net.add("Cos", net.linear(y, 16, 8))
            net.within(start, f"head/part{'abc'[number]}")
        x = net.conv(net.add("Unsqueeze", x, net.numbers(0)), 1, 3)
        return _tell(net.finish(x))

    assert "3 MLPs" in tell("")
    assert "2 MLPs" not in tell("norm")


def _tell_inverted(*, is_linear: bool) -> str:
    """Return what is told of five inverted residuals behind one that does not widen."""
    net = Authored()
    x = net.add("Relu", net.conv(net.take("x", (1, 3, 32, 32)), 3, 8))
    for number in range(6):
        start = len(net.nodes)
        y, inner = x, 32 if number else 8
        if number:
            y = net.add("Relu", net.conv(y, 8, inner, 1))
        y = net.add("Relu", net.conv(y, inner, inner, group=inner))
        y = net.conv(y, inner, 8, 1)
        x = net.add("Add", x, y)
        x = x if number or is_linear else net.add("Relu", x)
        net.within(start, f"{'early' if number < 3 else 'late'}.{number % 3}")
        x = net.add("Mul", x, net.add("Tanh", net.linear(net.take(f"text{number}", (8,)), 8, 1)))
    return _tell(net.finish(net.conv(x, 8, 3)))


def test_an_inverted_residual_that_does_not_widen_is_counted_with_the_others() -> None:
    assert "6 inverted residuals" in _tell_inverted(is_linear=True)
    assert "6 inverted residuals" not in _tell_inverted(is_linear=False)


def _tell_rows(*, is_chain: bool) -> str:
    net = Authored()
    other, x = net.take("other", (1, 8, 16, 16)), net.take("x", (1, 8, 16, 16))
    given = []
    for number in range(3):
        start = len(net.nodes)
        deep = net.add("Cos", net.conv(other, 8, 8))
        deep = net.add("Tan", net.conv(net.add("Mul", net.add("Sin", x), deep), 8, 8))
        given.append(net.add("Tan", net.conv(deep, 8, 8)))
        net.within(start, f"parts.{number}")
        x = given[-1] if is_chain else x
    return _tell(net.finish(*given))


def test_rows_of_layers_are_side_by_side_where_none_takes_what_another_gives() -> None:
    assert "side by side" in _tell_rows(is_chain=False)
    assert "side by side" not in _tell_rows(is_chain=True)


def test_counts_of_one_kind_are_told_together_unless_other_blocks_are_between() -> None:
    def tell(between: str) -> list[str]:
        net = Network()
        x = net.add("Relu", net.conv(net.take("x", (1, 3, 32, 32)), 3, 8))
        for _ in range(4):
            y = net.add("Relu", net.conv(net.add("Relu", net.conv(x, 8, 32, 1)), 32, 32, group=32))
            x = net.add("Add", x, net.conv(y, 32, 8, 1))
        x = net.add("Cos", net.conv(x, 8, 8))
        model = net.finish(net.conv(x, 8, 3))
        nodes = [*model.graph.nodes]
        outline = Outline(model.graph, nodes)
        pieces = list_pieces(outline, [])
        blocks = [one for one in pieces if one.kind == "residual"]
        assert len(blocks) == 4
        other = Piece(between, "", [pieces[-1].part])
        clauses = [
            Clause("3 inverted residuals", tuple(blocks[:3]), is_plain=True),
            Clause("between", (other,)),
            Clause("2 inverted residuals", tuple(blocks[2:]), is_plain=True),
        ]
        located = LocatedPieces(outline, pieces, WeightedLayers(model, nodes))
        agreed = AgreedCounts(located, lambda scope: []).agree(clauses)
        return [one.write() for one in agreed]

    assert [one.split(" of ")[0] for one in tell("linear")] == ["5 inverted residuals", "between"]
    assert len(tell("transformer")) == 3


def test_several_bases_are_no_basiss() -> None:
    assert write_plural("Gaussian basis") == "Gaussian bases"
    assert write_plural("interaction of even and odd places").startswith("interactions of even ")
    assert write_plural("MLP over tokens") == "MLPs over tokens"
    assert write_plural("message passing") == "message passing"
    assert write_plural("transformer block") == "transformer blocks"


@pytest.mark.parametrize("search", ["ArgMin", "ArgMax"])
def test_distances_of_which_the_least_is_searched_are_no_layer(search: str) -> None:
    net = Network()
    x = net.linear(net.add("Cos", net.linear(net.take("x", (2, 6, 8)), 8, 16)), 16, 8)
    far = net.add("Sqrt", net.linear(net.add("Cos", x), 8, 32))
    y = net.add(search, far, axis=-1)
    model = net.finish(net.add("Cast", y, to=1))
    outline = Outline(model.graph, [*model.graph.nodes])
    kept = leave_out_distances(outline, list_pieces(outline, []))
    assert len(kept) == (2 if search == "ArgMin" else 3)
