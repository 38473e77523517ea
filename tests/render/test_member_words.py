"""In what members of a fold differ is said on its box, in few words that hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from onnx import TensorProto, helper

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_differences import find_differences
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.member_words import tell_unsaid

#: writes one member: of its number and what it takes, it returns what it gives
Block = Callable[["Writer", int, str], str]


class Writer:
    """Writes a stack whose members are known from the start."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.weights: list[object] = []

    def add(self, op: str, *operands: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, operands, [f"t{len(self.nodes)}"], **attributes))
        return f"t{len(self.nodes) - 1}"

    def weight(self, *dims: int) -> str:
        size = 1
        for dim in dims:
            size *= dim
        name = f"w{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, TensorProto.FLOAT, dims, [0.5] * size))
        return name

    def linear(self, x: str, taken: int = 8, given: int = 8) -> str:
        return self.add("MatMul", x, self.weight(taken, given))

    def attend(self, x: str, y: str) -> str:
        keys = self.add("Transpose", self.linear(y), perm=[0, 2, 1])
        scores = self.add("Softmax", self.add("MatMul", self.linear(x), keys))
        return self.add("Add", x, self.add("MatMul", scores, self.linear(y)))

    def norm(self, x: str) -> str:
        return self.add("LayerNormalization", x, self.weight(8))


def make_fold(block: Block, count: int, *, exemplar: int = 1) -> Group:
    """Return a fold of members that a function writes one after the other."""
    writer, x, ends = Writer(), "x", [0]
    for number in range(count):
        x = block(writer, number, x)
        ends.append(len(writer.nodes))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 5, 8]) for n in ("x", "z")]
    result = [helper.make_tensor_value_info(x, TensorProto.FLOAT, None)]
    graph = helper.make_graph(writer.nodes, "", info, result, writer.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    nodes = load(model.SerializeToString()).graph
    fold = Group("repeat", nodes, "main/fold/", "fold")
    fold.exemplar = exemplar
    for number in range(count):
        member = Group("block", nodes, f"main/fold/{number}/", str(number), parent=fold)
        member.children = [nodes.nodes[place] for place in range(ends[number], ends[number + 1])]
        fold.add(member)
    fold.node_count = len(writer.nodes)
    return fold


def write_plain(writer: Writer, number: int, x: str) -> str:
    return writer.add("Add", x, writer.linear(writer.norm(x)))


def lack_norm(writer: Writer, number: int, x: str) -> str:
    return writer.add("Add", x, writer.linear(writer.norm(x) if number else x))


def lack_sum(writer: Writer, number: int, x: str) -> str:
    y = writer.linear(writer.norm(x))
    return writer.add("Add", x, y) if number else y


def join_instead(writer: Writer, number: int, x: str) -> str:
    y, z = writer.linear(x, 8, 4), writer.linear(x, 8, 4)
    if number:
        return writer.add("Add", x, writer.add("Concat", y, z, axis=2))
    return writer.add("Concat", writer.add("Add", y, z), z, axis=2)


def have_more(writer: Writer, number: int, x: str) -> str:
    y = writer.linear(writer.norm(x))
    return writer.add("Add", x, writer.linear(y) if number == 3 else y)


def have_another(writer: Writer, number: int, x: str) -> str:
    return writer.add("Relu" if number % 2 else "Tanh", writer.linear(x))


def take_more(writer: Writer, number: int, x: str) -> str:
    return writer.linear(x, 8 if number else 3)


def grow(writer: Writer, number: int, x: str) -> str:
    return writer.add("Concat", x, writer.linear(x, 8 + 4 * number, 4), axis=2)


def hide(writer: Writer, number: int, x: str) -> str:
    return writer.linear(writer.add("Relu", writer.linear(x, 8, 16 + number)), 16 + number, 8)


def give_more(writer: Writer, number: int, x: str) -> str:
    writer.linear("z", 8, 4 + number)
    return x


def look_up(writer: Writer, number: int, x: str) -> str:
    """Each member adds a row of its own table: there is one more in each."""
    ids = writer.add("Cast", "z", to=TensorProto.INT64)
    rows = writer.add("Gather", writer.weight(10 + number, 8), ids, axis=0)
    return writer.add("Add", x, writer.add("ReduceMean", rows, axes=[2, 3], keepdims=0))


def cross(writer: Writer, number: int, x: str) -> str:
    return writer.attend(x, "z" if number % 2 else x)


def attend_both(writer: Writer, number: int, x: str) -> str:
    return writer.attend(writer.attend(x, x), "z")


def begin_stored(writer: Writer, number: int, x: str) -> str:
    if not number:
        return writer.add("Add", writer.weight(1, 5, 8), writer.linear("z"))
    return writer.add("Add", x, writer.linear(writer.add("Add", "z", writer.linear(x))))


def begin_sum(writer: Writer, number: int, x: str) -> str:
    return writer.add("Add", x if number else writer.weight(1, 5, 8), writer.linear("z"))


def begin_product(writer: Writer, number: int, x: str) -> str:
    return writer.add("Mul", x if number else writer.weight(1, 5, 8), writer.linear("z"))


def work_on_stored(writer: Writer, number: int, x: str) -> str:
    """All members have all nodes, though the first one's layer has nothing to do with inputs."""
    return writer.add("Add", "z", writer.linear(x if number else writer.weight(1, 5, 8)))


def put_together(writer: Writer, number: int, x: str) -> str:
    y = writer.linear(x)
    return writer.add("Concat", y, axis=2) if number else y


def lack_two(writer: Writer, number: int, x: str) -> str:
    for _ in range(2 if number else 1):
        x = writer.add("Add", x, writer.add("Tanh", writer.add("Mul", x, "z")))
    return writer.linear(x)


def begin_learned(writer: Writer, number: int, x: str) -> str:
    if not number:
        values = [place / 8 for place in range(40)]
        writer.weights.append(helper.make_tensor("tokens", TensorProto.FLOAT, (1, 5, 8), values))
        return writer.add("Add", "tokens", writer.linear("z"))
    return begin_stored(writer, number, x)


def rewire(writer: Writer, number: int, x: str) -> str:
    first = writer.linear(x)
    return writer.add("Sub", x if number % 2 else first, writer.linear(first))


def guard(writer: Writer, number: int, x: str) -> str:
    """The first member alone makes numbers that are none 0."""
    shares = writer.add("Softmax", writer.linear(x))
    if not number:
        test = writer.add("IsNaN", shares)
        shares = writer.add("Where", test, writer.weight(1), shares)
    return writer.add("Add", x, writer.linear(shares))


def route(writer: Writer, number: int, x: str) -> str:
    """One member met two of its experts, all others three, each with tokens of its own."""
    total = writer.weight(1, 5, 8)
    for _ in range(2 if number == 1 else 3):
        tokens = writer.add("Transpose", writer.add("NonZero", x), perm=[1, 0])
        given = writer.linear(writer.add("GatherND", x, tokens))
        put = writer.add("ScatterND", writer.weight(1, 5, 8), tokens, given)
        total = writer.add("Add", total, put)
    return writer.add("Add", x, total)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (write_plain, []),
        (guard, []),
        (route, []),
        (lack_norm, ["the first without LayerNorm"]),
        (lack_sum, ["the first without sum"]),
        (join_instead, ["the first without sum"]),  # as many operators, joined otherwise
        (have_more, ["the last with one more linear"]),
        (have_another, ["every second with tanh instead of ReLU"]),
        (take_more, ["takes 3, then 8"]),
        (grow, ["takes 8 … 20"]),
        (look_up, ["10 … 13 rows"]),
        (hide, ["different inner widths"]),
        (give_more, ["different widths"]),
        (cross, ["self and cross alternate"]),
        (attend_both, []),  # in all of them alike
        (begin_stored, ["the first from stored values"]),
        (begin_sum, []),  # side by side and summed, as is said: with one of them the sum begins
        (begin_product, ["the first from stored values"]),
        (work_on_stored, []),
        (put_together, ["the first arranged differently"]),
        (lack_two, ["the first without product, tanh, …"]),
        (begin_learned, ["the first from 5 learned tokens"]),
        (rewire, ["every second wired differently"]),
    ],
)
def test_a_box_says_in_what_members_differ(block: Block, told: Sequence[str]) -> None:
    assert tell_unsaid(make_fold(block, 4), None, ()) == told


@pytest.mark.parametrize(
    ("block", "said", "is_told"),
    [
        (lack_norm, "the first without LayerNorm", True),
        (lack_norm, "the last without LayerNorm", False),
        (lack_norm, "dilation 1 … 8 in 3 cycles", False),
        (lack_norm, "LayerNorm in 3 of 4", True),
        (take_more, "3 → 8", True),
        (take_more, "kernel 3", False),
        (have_another, "tanh in 2 of 4, ReLU in 2 of 4", True),
    ],
)
def test_what_is_said_is_not_said_again(block: Block, said: str, *, is_told: bool) -> None:
    assert (tell_unsaid(make_fold(block, 4), None, (said,)) == []) is is_told


@pytest.mark.parametrize(
    ("shown", "told"),
    [(0, "only the first without LayerNorm"), (2, "the first without LayerNorm")],
)
def test_members_are_compared_with_the_one_that_is_shown(shown: int, told: str) -> None:
    assert tell_unsaid(make_fold(lack_norm, 4), shown, ()) == [told]


def test_members_that_differ_in_operators_are_not_told_to_differ_in_widths() -> None:
    fold = make_fold(have_more, 4)
    members = [list_member_nodes(child, 99) for child in fold.inner_groups()]
    (found,) = find_differences(members, 0)
    assert (found.kind, found.odd) == ("operators", (3,))
    assert [node.op_type for node in found.more] == ["MatMul"]


@pytest.mark.parametrize(("lengths", "told"), [((5, 5, 5), []), ((5, 3, 2), ["length 5, 3, 2"])])
def test_of_members_with_the_same_weights_lengths_are_told(
    lengths: Sequence[int], told: list[str]
) -> None:
    """Positions of shorter sequences are stored shorter, which are no inner widths (Informer)."""

    def write_shorter(writer: Writer, number: int, x: str) -> str:
        places = writer.weight(lengths[number], 8)
        y = writer.add("Add", writer.linear(writer.norm(x)), places)
        following = [*lengths[1:], lengths[-1]][number]
        name = f"kept{number}"
        writer.weights.append(
            helper.make_tensor(name, TensorProto.INT64, [following], range(following))
        )
        return writer.add("Gather", y, name, axis=1)

    fold = make_fold(write_shorter, len(lengths))
    assert not any("inner" in one for one in tell_unsaid(fold, None, []))
    assert [one for one in tell_unsaid(fold, None, ["the last"]) if "length" in one] == told
