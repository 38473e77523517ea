"""Scopes that hold a stack and no more, or nearly everything, are no frames of their own."""

from __future__ import annotations

import pytest

from netloupe import load as load_model
from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.small_blocks import wrap
from netloupe.explorer.grouping.wrappers import dissolve_wrappers
from netloupe.explorer.model import Node
from netloupe.explorer.view import View
from tests.corpus import corpus_file
from tests.grouping.test_spilled_ideas import read
from tests.grouping.test_tree import check_tree, make_chain
from tests.unrolled import Writer


def make_layers(scope: str, count: int) -> list[str]:
    """Return the names of the nodes of so many layers, six nodes each."""
    names = ("norm", "query", "key", "value", "out", "sum")
    return [f"/{scope}.{layer}/{name}" for layer in range(count) for name in names]


def make_tree(*names: str, grouping: str = "auto") -> GroupTree:
    tree = build_group_tree(make_chain(*names), grouping)
    check_tree(tree)
    return tree


def labels(group: Group) -> list[str]:
    return [child.label for child in group.inner_groups()]


def test_what_holds_a_stack_and_no_more_leaves_its_name_to_the_stack() -> None:
    tree = make_tree("/stem/a", "/stem/b", *make_layers("encoder/layer", 12), "/head/a", "/head/b")
    assert labels(tree.root) == ["stem", "encoder / layer.0 … layer.11", "head"]


def test_where_both_names_are_too_long_that_of_the_stage_stays() -> None:
    stages = [*make_layers("stages.0/resnet_blocks", 3), "/reduction/down/a", "/reduction/down/b"]
    stages += make_layers("reduction/resnet_blocks", 5)
    tree = make_tree("/stem/a", "/stem/b", *stages, "/head/a", "/head/b")
    assert labels(tree.root) == ["stem", "stages.0", "reduction", "head"]
    kinds = [group.kind for group in tree.root.inner_groups()]
    assert kinds == ["scope", "repeat", "scope", "scope"]


def test_stages_of_one_name_are_drawn_alike_where_only_some_hold_more_than_a_stack() -> None:
    stages = [*make_layers("stages.0/layers", 3), "/stages.1/down/a", "/stages.1/down/b"]
    stages += make_layers("stages.1/layers", 5)
    tree = make_tree("/stem/a", "/stem/b", *stages, "/head/a", "/head/b")
    assert labels(tree.root) == ["stem", "stages.0", "stages.1", "head"]
    assert [group.kind for group in tree.root.inner_groups()] == ["scope"] * 4
    stages = [*make_layers("stages.0/layers", 3), *make_layers("stages.1/layers", 5)]
    tree = make_tree("/stem/a", "/stem/b", *stages, "/head/a", "/head/b")
    kinds = [group.kind for group in tree.root.inner_groups()]
    assert kinds == ["scope", "repeat", "repeat", "scope"]


def test_what_holds_nearly_everything_goes() -> None:
    inner = ["/transformer/wte/a", "/transformer/wte/b", *make_layers("transformer/h", 6)]
    tree = make_tree(*inner, "/transformer/ln_f/a", "/transformer/ln_f/b", "/head/a", "/head/b")
    assert labels(tree.root) == ["wte", "h.0 … h.5", "ln_f", "head"]
    assert tree.root.inner_groups()[0].path == "main/transformer/wte/"


@pytest.mark.parametrize("rows", [3, 2])
def test_what_holds_nearly_everything_goes_where_it_is_a_row_of_other_modules(rows: int) -> None:
    stages = [
        f"/features/stage{stage}/{kind}"
        for stage in range(rows)
        for kind in ("a", "b", "c", "d", "e", "f", "g")[: stage + 5]
    ]
    tree = make_tree("/features/stem/a", "/features/stem/b", *stages, "/head/a", "/head/b")
    inner = ["stem", *(f"stage{number}" for number in range(rows))]
    assert labels(tree.root) == [*(inner if rows > 2 else ["features"]), "head"]


@pytest.mark.parametrize("is_chain", [False, True])
def test_small_modules_are_a_row_where_they_are_branches(is_chain: bool) -> None:
    """A closed box tells layers one behind another, and not which of them stand beside others."""
    writer = Writer()
    writer.inputs = {"x": [1, 8, 4, 4]}
    x, given = "x", []
    for number in range(4):
        scope = f"pyramid/convs.{number}"
        taken = 8 + 8 * number if is_chain else 8  # of one width they would be a stack
        weight = writer.weight(f"w{number}", 16 + 8 * number, taken, 1, 1)
        given.append(writer.add(scope, "Relu", writer.add(scope, "Conv", x, weight)))
        x = given[-1] if is_chain else x
    joined = given[-1] if is_chain else writer.add("pyramid", "Concat", *given, axis=1)
    writer.outputs = [writer.add("head", "Tanh", writer.add("head", "Neg", joined))]
    tree = build_group_tree(writer.load().graph)
    assert ("pyramid" in labels(tree.root)) is is_chain
    assert ("convs.0" in labels(tree.root)) is not is_chain


def test_what_goes_is_still_found_with_all_that_it_held() -> None:
    model = load_model(str(corpus_file("exported/gpt2.legacy.onnx")))
    group = model.group("transformer")
    assert group.path == "main/model/transformer/"
    assert group not in model.groups.groups
    assert {one.label for one in group.groups} <= {one.label for one in model.groups.groups}
    assert group.node_count == len(group.nodes) < model.groups.node_count
    assert group.parameters < model.groups.parameters


def test_its_path_leads_to_the_stack_in_it() -> None:
    model = load_model(str(corpus_file("exported/bert.legacy.onnx")))
    view = View(model)
    (stack,) = (item for item in view.root.children if item.repeat is not None)
    path = stack.path.rsplit("/", 2)[0] + "/"
    assert path.endswith("/encoder/")
    assert view.shown(path) is stack
    assert view.reveal(path) is stack
    found = view.group_at(path)
    assert found is not None
    assert found.label == "encoder"


@pytest.mark.parametrize(
    "names",
    [
        # two towers
        [
            *make_layers("encoder/layer", 4),
            *("/encoder/n/a", "/encoder/n/b"),
            *make_layers("decoder/layer", 4),
            *("/decoder/n/a", "/decoder/n/b"),
        ],
        # no stack in it
        ["/mlp/fc1/a", "/mlp/fc1/b", "/mlp/act/a", "/mlp/act/b", "/mlp/x", "/mlp/y", "/z/a"],
    ],
)
def test_others_stay(names: list[str]) -> None:
    tree = make_tree(*names)
    named = build_group_tree(make_chain(*names), "names")
    assert labels(tree.root) == labels(named.root)
    assert all(group.stand_in is None for group in tree.groups.values())


def test_a_scope_of_very_many_things_stays() -> None:
    parts = [f"/body/{chr(96 + part)}/{node}" for part in range(1, 26) for node in range(part + 1)]
    tree = make_tree(*parts, *make_layers("body/layer", 30), "/head/a", "/head/b")
    assert "body" in labels(tree.root)


def test_inside_of_blocks_nothing_goes() -> None:
    names = [f"h.{head}/{op}" for head in range(3) for op in "abcdef"] + ["out"]
    layers = [f"/layer.{layer}/attention/{name}" for layer in range(4) for name in names]
    tree = make_tree(*layers, "/head/a", "/head/b")
    (stack,) = (group for group in tree.root.inner_groups() if group.kind == "repeat")
    block = stack.children[0]
    assert isinstance(block, Group)
    assert "attention" in block.label


def test_other_groupings_keep_what_is_named() -> None:
    names = ["/m/stem/a", "/m/stem/b", *make_layers("m/layer", 6), "/head/a", "/head/b"]
    assert labels(make_tree(*names, grouping="names").root)[0] == "m"
    assert labels(make_tree(*names).root)[0] == "stem"


def test_every_node_is_still_in_one_group() -> None:
    tree = build_group_tree(load_model(str(corpus_file("exported/vit.legacy.onnx"))).graph)
    found: list[Node] = []
    pending = [tree.root]
    for group in pending:
        assert all(inner.parent is group for inner in group.inner_groups())
        found += [child for child in group.children if isinstance(child, Node)]
        pending += group.inner_groups()
    assert sorted(node.index for node in found) == sorted(node.index for node in tree.order)
    assert all(tree.group_of(node) in pending for node in tree.order)


_ATTENTION = """
    attention (float[1, 8, 16] x) => (float[1, 8, 16] y) <int64[2] square = {16, 16}>
    {
      [w] w = ConstantOfShape (square)
      [before__MatMul] b = MatMul (x, w)  [before__Relu] r = Relu (b)
      [own__MatMul] q = MatMul (r, w)  [own__MatMul_1] k = MatMul (r, w)
      [own__MatMul_2] v = MatMul (r, w)
      [own__Transpose] t = Transpose <perm = [0, 2, 1]> (k)
      [own__MatMul_3] s = MatMul (q, t)  [own__Softmax] p = Softmax <axis = -1> (s)
      [own__MatMul_4] c = MatMul (p, v)
      [after__MatMul] a = MatMul (c, w)  [after__Relu] y = Relu (a)
    }
"""


@pytest.mark.parametrize("label", ["Self-attention", "own"])
def test_a_module_that_is_all_of_a_block_stands_for_it(label: str) -> None:
    root = build_group_tree(read(_ATTENTION).graph).root
    own = next(inner for inner in root.inner_groups() if inner.label == "own")
    assert own.recognised is not None
    wrap(root, [own], label, "frame", label, lambda group, name: f"{group.path}{name}/")
    dissolve_wrappers(root)
    assert labels(root) == ["before", "own", "after"]
    assert own.parent is root


def test_a_block_that_is_more_than_its_module_stays() -> None:
    root = build_group_tree(read(_ATTENTION).graph).root
    own, after = root.inner_groups()[1:]
    wrap(root, [own, after], "all", "frame", "all", lambda group, name: f"{group.path}{name}/")
    dissolve_wrappers(root)
    assert labels(root) == ["before", "all"]


@pytest.mark.parametrize(("count", "label"), [(4, "pool / both"), (2, "pool")])
def test_a_module_around_one_module_and_what_arranges_for_it_is_one_with_it(
    count: int, label: str
) -> None:
    inner = [f"/head/pool/both/{name}" for name in "abcd"[:count]]
    names = ("/stem/a", "/stem/b", *inner, "/head/pool/last", "/head/x", "/head/y")
    kinds = ("Exp", "MatMul", "Sin", "Conv", "Cos", "LSTM", "Softmax")
    tree = build_group_tree(make_chain(*names, op_type=kinds), "names")
    pool, both = (tree.groups[f"main/head/{path}/"] for path in ("pool", "pool/both"))
    pool.children = [both]
    dissolve_wrappers(tree.root)
    assert labels(tree.groups["main/head/"]) == [label]
    assert (pool.stand_in is both) == (label != "pool")


def test_blocks_of_a_stack_around_one_module_each_are_one_frame_with_it() -> None:
    names = [f"layer{number}" for number in range(4)]
    root = build_group_tree(read(_write_layers(names)).graph).root
    (repeat,) = (one for one in root.inner_groups() if one.kind == "repeat")
    held = [[*one.children] for one in repeat.inner_groups()]
    for one in repeat.inner_groups():
        wrap(repeat, [one], one.label, "frame", "", lambda group, name: f"{group.path}{name}/")
    assert all(len(one.children) == 1 for one in repeat.inner_groups())
    dissolve_wrappers(root)
    assert [one.children for one in repeat.inner_groups()] == held


@pytest.mark.parametrize(
    ("beside", "stays"), [("", False), ("Slice", False), ("Add", False), ("Exp", True)]
)
def test_a_module_of_the_kind_of_its_block_is_no_second_frame(beside: str, stays: bool) -> None:
    """Block ``layer0`` of an author holds ``layer0/body`` and what stands beside that."""
    rows, x = [], "x"
    for n in range(3):
        scope = f"layer{n}__body__"
        rows.append(
            f"[{scope}Conv] a{n} = Conv ({x}, wide)  [{scope}Relu] b{n} = Relu (a{n})"
            f"[{scope}Conv_1] c{n} = Conv <group = 16> (b{n}, deep)"
            f"[{scope}Relu_1] d{n} = Relu (c{n})"
            f"[{scope}Conv_2] e{n} = Conv (d{n}, narrow)"
        )
        rest = {"Slice": f"Slice (e{n}, zero, eight, one)", "Add": f"Add ({x}, e{n})"}
        rows.append(
            f"[layer{n}__{beside}] y{n} = {rest.get(beside, f'{beside} (e{n})')}" if beside else ""
        )
        x = f"y{n}" if beside else f"e{n}"
    text = f"""
        stack (float[1, 8, 4, 4] x) => ({x}) <int64[4] up = {{16, 8, 1, 1}},
         int64[4] each = {{16, 1, 1, 1}}, int64[4] down = {{8, 16, 1, 1}},
         int64[1] zero = {{0}}, int64[1] eight = {{8}}, int64[1] one = {{1}}>
        {{ [u] wide = ConstantOfShape (up) [v] deep = ConstantOfShape (each)
           [w] narrow = ConstantOfShape (down) {" ".join(rows)} }}
    """
    root = build_group_tree(read(text).graph).root
    (repeat,) = (one for one in root.inner_groups() if one.kind == "repeat")
    assert stays is any("body" in labels(one) for one in repeat.inner_groups())


def _write_layers(names: list[str]) -> str:
    layers = "".join(
        f"[{name}__a__MatMul] a{n} = MatMul (x{n}, w)  [{name}__b__Relu] b{n} = Relu (a{n})"
        f"[{name}__c__MatMul] c{n} = MatMul (b{n}, w)  [{name}__Add] x{n + 1} = Add (x{n}, c{n})"
        for n, name in enumerate(names)
    )
    return f"""
        stack (float[1, 8] x0) => (float[1, 8] x{len(names)}) <int64[2] square = {{8, 8}}>
        {{ [w] w = ConstantOfShape (square)  {layers} }}
    """
