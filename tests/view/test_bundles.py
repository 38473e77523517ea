"""Very many values between two boxes: one port and one edge; hubs stay apart."""

from __future__ import annotations

import pytest

from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.view import View
from netloupe.explorer.view.bundles import MOST_SINGLE
from netloupe.proto import onnx_pb2
from tests.wiring_check import check_items, find_lost_edges


def make_pair(count: int, users: int = 1) -> Model:
    """Return a group that gives so many values to others, and a mask to all of them."""
    return load(make_file(count, users))


def make_file(count: int, users: int = 1) -> bytes:
    """Return the file of that model."""
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    graph.node.add(op_type="Tanh", name="give/mask", input=["x"], output=["mask"])
    for number in range(count):
        graph.node.add(op_type="Relu", name=f"give/r{number}", input=["x"], output=[f"v{number}"])
    for user in range(users):
        letter = "abcdefghijklmnop"[user]
        for number in range(count):
            graph.node.add(
                op_type=f"Op{letter}",
                name=f"{letter}/n{number}",
                input=[f"v{number}", "mask"],
                output=[f"{letter}{number}"],
            )
        graph.node.add(
            op_type="Sum",
            name=f"{letter}/sum",
            input=[f"{letter}{number}" for number in range(count)],
            output=[f"y{user}"],
        )
        graph.output.add(name=f"y{user}")
    return proto.SerializeToString()


def between(view: View, source: str, target: str) -> list[int]:
    """Return how many values the edges from one child of the root to another stand for."""
    children = view.root.children
    return [
        link.count
        for link in view.links(view.root)
        if link.source >= 0
        and link.target >= 0
        and (children[link.source].label, children[link.target].label) == (source, target)
    ]


def test_few_values_are_drawn_one_by_one() -> None:
    view = View(make_pair(MOST_SINGLE - 1), grouping="names")
    assert between(view, "give", "a") == [1] * MOST_SINGLE  # the mask too


@pytest.mark.parametrize("users", [1, 3])
def test_many_values_are_one_edge(users: int) -> None:
    view = View(make_pair(30, users), grouping="names")
    for user in range(users):
        assert between(view, "give", "abc"[user]) == [31]
    assert len(view.items["main/give/"].outputs) == 1
    assert find_lost_edges(view) == []


@pytest.mark.parametrize("opened", [["give"], ["a"], ["give", "a"]])
def test_bundles_end_at_one_port_of_open_groups(opened: list[str]) -> None:
    view = View(make_pair(30, 2), grouping="names")
    for name in opened:
        view.open(f"main/{name}/")
    check_items(view)
    assert find_lost_edges(view) == []
    assert between(view, "give", "a") == [31]
    if "a" in opened:
        item = view.items["main/a/"]
        assert len(item.inputs) == 1
        entering = [link for link in view.links(item) if link.source < 0]
        assert {link.source_value for link in entering} == set(item.inputs)
        # each node inside takes its own value from the port; the mask has become a hub
        taken = {link.value.name for link in entering}
        assert taken == {"mask", *(f"v{number}" for number in range(30))}


def test_a_node_with_many_operands_takes_them_by_one_edge() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    names = [f"v{number}" for number in range(40)]
    graph.node.add(op_type="Split", name="split", input=["x"], output=names)
    graph.node.add(op_type="Concat", name="join", input=names, output=["y"])
    graph.output.add(name="y")
    view = View(load(proto.SerializeToString()), grouping="none")
    (link,) = [link for link in view.links(view.root) if link.count > 1]
    assert link.count == 40
    assert find_lost_edges(view) == []


def test_hubs_are_left_out_of_bundles() -> None:
    proto = onnx_pb2.ModelProto.FromString(make_file(30))
    for number in range(MOST_SINGLE + 1):
        letter = "qrstuvwxyz"[number]
        proto.graph.node.add(
            op_type=f"Op{letter}", name=f"{letter}/node", input=["mask"], output=[f"z{number}"]
        )
        proto.graph.output.add(name=f"z{number}")
    view = View(load(proto.SerializeToString()), grouping="names")
    assert between(view, "give", "a") == [30]
    stubs = {item.key: item for item in view.root.children if item.kind == "stub"}
    assert {stub.label for stub in stubs.values()} == {"mask"}
    assert "main/%mask to main/a/" in stubs
    assert len(stubs) == 2 + MOST_SINGLE + 1  # and one beside the group that gives it
    assert find_lost_edges(view) == []


def test_what_a_row_of_a_grid_gives_to_others_is_one_stub() -> None:
    size = 12
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    for row in range(size):
        for column in range(size):
            taken = [f"g_{row - 1}_{column}"] if row else ["x"]
            taken.append(f"g_{row}_{column - 1}" if column else "x")
            graph.node.add(
                op_type="Add",
                name=f"row.{row}/col.{column}/Add",
                input=taken,
                output=[f"g_{row}_{column}"],
            )
    graph.output.add(name=f"g_{size - 1}_{size - 1}")
    view = View(load(proto.SerializeToString()), grouping="names")
    (repeat,) = [item for item in view.root.children if item.repeat is not None]
    for shown in (0, 5, size - 1):
        view.show_repetition(repeat.key, shown)
        stubs = [child for child in repeat.children if child.kind == "stub"]
        assert len(stubs) <= 2
        assert all(stub.label.startswith("g_") and "*" in stub.label for stub in stubs)
        assert find_lost_edges(view) == []


def test_a_node_that_takes_many_hubs_has_one_stub() -> None:
    proto = onnx_pb2.ModelProto(ir_version=8)
    graph = proto.graph
    graph.input.add(name="x")
    for number in range(24):
        taken = ["x", *(f"s{other}" for other in range(number))]
        graph.node.add(op_type="Sum", name=f"n{number}", input=taken, output=[f"s{number}"])
    graph.output.add(name="s23")
    view = View(load(proto.SerializeToString()), grouping="none")
    stubs = [child for child in view.root.children if child.kind == "stub" and child.outputs]
    assert max(len(stub.members(stub.outputs[0])) for stub in stubs) == 16
    takers = [stub.key.partition(" to ")[2] for stub in stubs]
    assert max(map(takers.count, takers)) <= 8
    assert "x · from x" in {stub.label for stub in stubs}
    check_items(view)
    assert find_lost_edges(view) == []


def test_hubs_with_the_same_users_have_one_stub_at_their_source() -> None:
    view = View(make_pair(30, MOST_SINGLE + 2), grouping="names")
    stubs = [item for item in view.root.children if item.kind == "stub"]
    assert [len(stub.members(port)) for stub in stubs for port in stub.inputs] == [31]
    assert len(stubs) == 1 + MOST_SINGLE + 2
    # one edge at each, which goes on inside
    assert [link.count for link in view.links(view.root) if link.count > 1] == [31] * len(stubs)
    assert find_lost_edges(view) == []
    view.open("main/c/")
    view.open("main/give/")
    assert len(view.items["main/c/"].inputs) == 1
    check_items(view)
    assert find_lost_edges(view) == []
