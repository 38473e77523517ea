"""What all blocks share stands before them, though an exporter left it in the first."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.model import Graph, Node

from .test_repeats import Builder, counts
from .test_tree import check_tree


def write_conditioned(blocks: int, *, own: int = 0, skipped: int = -1) -> Graph:
    """Write blocks that each scale by a projection of an activated condition.

    Some of them compute the activation themselves; one may not take it at all.
    """
    builder = Builder()
    condition = builder.add("MatMul", "x", builder.weight(size=4), name="/embed/MatMul")
    stream = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    shared = ""
    for number in range(blocks):
        scope = f"/blocks.{number}"
        normed = builder.add("Softmax", stream, name=f"{scope}/norm/Softmax")
        if not shared or blocks - number <= own:
            gate = builder.add("Sigmoid", condition, name=f"{scope}/ada/ada.0/Sigmoid")
            shared = builder.add("Mul", condition, gate, name=f"{scope}/ada/ada.0/Mul")
        taken = normed if number == skipped else shared
        scale = builder.add("MatMul", taken, builder.weight(), name=f"{scope}/ada/ada.1/MatMul")
        inner = builder.add("Mul", normed, scale, name=f"{scope}/Mul")
        inner = builder.add("MatMul", inner, builder.weight(), name=f"{scope}/mlp/MatMul")
        stream = builder.add("Add", stream, inner, name=f"{scope}/Add")
    return builder.load(builder.add("MatMul", stream, builder.weight(), name="/head/MatMul"))


def list_outer(graph: Graph) -> list[str]:
    """Return what stands at the top, groups by their kind."""
    tree = build_group_tree(graph)
    check_tree(tree)
    return [
        child.op_type if isinstance(child, Node) else child.kind for child in tree.root.children
    ]


def test_what_all_others_take_stands_before_the_stack() -> None:
    graph = write_conditioned(5)
    assert counts(graph, "auto") == [("blocks.0 … blocks.4", 5)]
    children = build_group_tree(graph).root.children
    stack = next(c for c in children if isinstance(c, Group) and c.kind == "repeat")
    before = [c for c in children[: children.index(stack)] if isinstance(c, Group)]
    held = [[node.op_type for node in group.nodes_alone()] for group in before]
    assert ["Sigmoid", "Mul"] in held
    assert {len(block.children) for block in stack.inner_groups()} == {5}


@pytest.mark.parametrize(
    ("own", "skipped"),
    [
        (4, -1),  # each has its own
        (1, -1),  # the last has its own
        (0, 3),  # one takes nothing of it
    ],
)
def test_what_not_all_others_take_stays(own: int, skipped: int) -> None:
    graph = write_conditioned(5, own=own, skipped=skipped)
    for node in graph.nodes:
        if node.op_type == "Sigmoid":
            group = build_group_tree(graph).group_of(node)
            assert group is not None
            assert "blocks." in group.path


def write_levels(*, weighted: bool = False) -> Graph:
    """Write levels of three names; some blocks take what the first of them computes."""
    builder = Builder()
    condition = builder.add("MatMul", "x", builder.weight(size=4), name="/embed/MatMul")
    stream = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    shared = ""
    for name in ("down.0.0", "down.0.1", "down.1.0", "mid.0", "up.0.0"):
        normed = builder.add("Softmax", stream, name=f"/{name}/norm/Softmax")
        if not shared:
            shared = builder.add("Tanh", condition, name=f"/{name}/act/Tanh")
            if weighted:
                shared = builder.add("MatMul", shared, builder.weight(), name=f"/{name}/act/MatMul")
        scale = builder.add("MatMul", shared, builder.weight(), name=f"/{name}/scale/MatMul")
        inner = builder.add("Mul", normed, scale, name=f"/{name}/Mul")
        inner = builder.add("MatMul", inner, builder.weight(), name=f"/{name}/mlp/MatMul")
        stream = builder.add("Add", stream, inner, name=f"/{name}/Add")
        if name == "down.0.1":  # takes nothing of it
            stream = builder.add("Exp", stream, name="/down.0.2/act/Exp")
            stream = builder.add("MatMul", stream, builder.weight(), name="/down.0.2/MatMul")
    return builder.load(builder.add("MatMul", stream, builder.weight(), name="/head/MatMul"))


def test_what_levels_of_several_names_take_stands_before_the_first() -> None:
    graph = write_levels()
    node = next(node for node in graph.nodes if node.op_type == "Tanh")
    tree = build_group_tree(graph)
    check_tree(tree)
    assert tree.group_of(node) is tree.root
    sizes = {child.label: child.node_count for child in tree.root.inner_groups()}
    assert sizes["down.0.0"] == sizes["down.0.1"] == sizes["up.0.0"]
    assert tree.root.children.index(node) < next(
        place for place, child in enumerate(tree.root.children) if isinstance(child, Group)
    )


def test_what_has_weights_stays_where_not_all_take_it() -> None:
    graph = write_levels(weighted=True)
    node = next(node for node in graph.nodes if node.op_type == "Tanh")
    group = build_group_tree(graph).group_of(node)
    assert group is not None
    assert "down.0" in group.path


def test_what_all_blocks_have_stays_though_all_others_take_it() -> None:
    """As layers of a DenseNet do: each takes what all before it gave."""
    builder = Builder()
    given = [builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")]
    for number in range(4):
        scope = f"/layers.{number}"
        inner = builder.add("Concat", *given, axis=0, name=f"{scope}/Concat")
        inner = builder.add("Relu", inner, name=f"{scope}/Relu")
        inner = builder.add("MatMul", inner, builder.weight(), name=f"{scope}/MatMul")
        given.append(builder.add("Relu", inner, name=f"{scope}/out/Relu"))
    graph = builder.load(builder.add("Concat", *given, axis=0, name="/head/Concat"))
    assert counts(graph, "auto") == [("layers.0 … layers.3", 4)]


def test_two_blocks_share_nothing_that_is_worth_a_place_of_its_own() -> None:
    assert list_outer(write_conditioned(2)).count("scope") >= 2


def write_cell(*, is_series: bool = False, is_other: bool = False) -> Graph:
    """Write two branches of the same activated value, the activation in the first of them."""
    builder = Builder()
    x = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    given = [x]
    shared = ""
    for number in range(2):
        scope = f"/cell/branch_{number}"
        shared = shared or builder.add("Relu", x, name=f"{scope}/act/Relu")
        inner = builder.add("MatMul", shared, builder.weight(), name=f"{scope}/a/MatMul")
        inner = builder.add("Tanh", inner, name=f"{scope}/act_1/Tanh")
        if number and is_series:
            inner = builder.add("Add", inner, given[-1], name=f"{scope}/Add")
        if number and is_other:
            inner = builder.add("Exp", inner, name=f"{scope}/Exp")
        given.append(builder.add("MatMul", inner, builder.weight(), name=f"{scope}/b/MatMul"))
    joined = builder.add("Add", *given[1:], name="/cell/Add")
    return builder.load(builder.add("MatMul", joined, builder.weight(), name="/head/MatMul"))


@pytest.mark.parametrize(
    ("graph", "is_before"),
    [
        (write_cell(), True),
        (write_cell(is_series=True), False),  # the second takes what the first gives, too
        (write_cell(is_other=True), False),  # and is no branch like it
    ],
)
def test_an_activation_that_branches_share_stands_before_both(
    graph: Graph, is_before: bool
) -> None:
    node = next(node for node in graph.nodes if node.op_type == "Relu")
    tree = build_group_tree(graph)
    check_tree(tree)
    group = tree.group_of(node)
    assert group is not None
    assert ("branch_0" in group.path) is not is_before


def write_resampler(layers: int, *, own: bool = False, weighted: bool = False) -> Graph:
    """Write layers that attend to one value, whose norm the first computes for all.

    Parameters
    ----------
    layers
        How many there are, of attention ``layers.#.0`` and an MLP ``layers.#.1``.
    own
        Whether the last layer has a norm of its own.
    weighted
        Whether the first projects the norm for all, too.
    """
    builder = Builder()
    features = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    stream = builder.add("MatMul", "x", builder.weight(size=4), name="/latents/MatMul")
    scale, shared = builder.weight(size=4), ""
    for number in range(layers):
        scope = f"/layers.{number}.0"
        if not shared or (own and number == layers - 1):
            name = f"{scope}/norm_media/LayerNormalization"
            shared = builder.add("LayerNormalization", features, scale, name=name)
            if weighted:
                name = f"{scope}/media/MatMul"
                shared = builder.add("MatMul", shared, builder.weight(), name=name)
        name = f"{scope}/norm/LayerNormalization"
        normed = builder.add("LayerNormalization", stream, scale, name=name)
        both = builder.add("Concat", shared, normed, axis=0, name=f"{scope}/Concat")
        mixed = builder.add("MatMul", both, builder.weight(), name=f"{scope}/to_kv/MatMul")
        stream = builder.add("Add", stream, mixed, name=f"/add{number}/Add")
        scope = f"/layers.{number}.1"
        inner = builder.add("MatMul", stream, builder.weight(), name=f"{scope}/0/MatMul")
        inner = builder.add("Relu", inner, name=f"{scope}/1/Relu")
        inner = builder.add("MatMul", inner, builder.weight(), name=f"{scope}/2/MatMul")
        stream = builder.add("Add", stream, inner, name=f"/added{number}/Add")
    return builder.load(builder.add("MatMul", stream, builder.weight(), name="/head/MatMul"))


def find_around_norm(graph: Graph) -> str:
    """Return the path of the group that has the norm of what all layers attend to."""
    node = next(node for node in graph.nodes if "norm_media" in node.name)
    tree = build_group_tree(graph)
    check_tree(tree)
    group = tree.group_of(node)
    assert group is not None
    return group.path


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_a_norm_that_all_layers_take_is_of_none_of_them(layers: int) -> None:
    assert "layers." not in find_around_norm(write_resampler(layers))


@pytest.mark.parametrize("layers", [2, 3])
def test_a_norm_that_one_layer_has_itself_is_of_the_layer(layers: int) -> None:
    assert "layers.0.0" in find_around_norm(write_resampler(layers, own=True))


def test_a_projection_that_the_second_layer_takes_is_of_the_first() -> None:
    assert "layers.0.0" in find_around_norm(write_resampler(2, weighted=True))


def write_classifiers(*, has_more: bool = False) -> Graph:
    """Write two modules of other names whose equal norms an exporter merged, and their mean.

    Parameters
    ----------
    has_more
        Whether the second has another activation, so that the two are not alike.
    """
    builder = Builder()
    features = builder.add("MatMul", "x", builder.weight(size=4), name="/stem/MatMul")
    name = "/head/norm_media/LayerNormalization"
    normed = builder.add("LayerNormalization", features, builder.weight(size=4), name=name)
    one = builder.add("MatMul", normed, builder.weight(), name="/head/linear/MatMul")
    two = builder.add("MatMul", normed, builder.weight(), name="/head_dist/linear/MatMul")
    if has_more:
        two = builder.add("Relu", two, name="/head_dist/act/Relu")
    return builder.load(builder.add("Add", one, two, name="/Add"))


@pytest.mark.parametrize("has_more", [True, False])
def test_a_norm_of_two_modules_that_lack_just_it_stands_before_both(*, has_more: bool) -> None:
    assert ("head" in find_around_norm(write_classifiers(has_more=has_more))) == has_more
