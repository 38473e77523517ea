"""Ideas whose operations stand in the code of a larger module are boxes of their own there."""

from __future__ import annotations

from random import Random

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

from netloupe.explorer.grouping import Group, GroupTree, build_group_tree
from netloupe.explorer.grouping.spilled_ideas import group_ideas
from netloupe.explorer.layout.opening_worth import is_told_by_face
from netloupe.explorer.model import Model, Node
from netloupe.explorer.readers.load import load
from tests.unrolled import Writer as UnrolledWriter

from .test_tree import check_tree

_ATTENTION = """
    spilled (float[1, 8, 16] x) => (float[1, 8, 16] y)
    <int64[2] square = {16, 16}, float root = {4}, int64[1] width = {16}>
    {
      [w] wq = ConstantOfShape (square)  [w2] wk = ConstantOfShape (square)
      [w3] wv = ConstantOfShape (square) [w4] wo = ConstantOfShape (square)
      [w5] s = ConstantOfShape (width)
      [before__MatMul] u = MatMul (x, wo)
      [query__MatMul] q = MatMul (u, wq)
      [key__MatMul] k = MatMul (u, wk)
      [value__MatMul] v = MatMul (u, wv)
      [Transpose] t = Transpose <perm = [0, 2, 1]> (k)
      [MatMul] m = MatMul (q, t)
      [Div] d = Div (m, root)
      [Softmax] p = Softmax <axis = -1> (d)
      [MatMul_1] c = MatMul (p, v)
      [norm__LayerNormalization] n = LayerNormalization (c, s)
      [norm__Relu] r = Relu (n)
      [Neg] y = Neg (r)
    }
"""


def find_blocks(tree: GroupTree) -> list[Group]:
    return [group for group in tree.groups.values() if group.kind == "block"]


def read(text: str) -> Model:
    """Return the model of a text, where ``__`` stands for a slash of a node's name."""
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]>' + text)
    for node in model.graph.node:
        node.name = "/" + node.name.replace("__", "/").replace("_at_", ".")
    return load(model)


def build(text: str) -> GroupTree:
    tree = build_group_tree(read(text).graph)
    check_tree(tree)
    return tree


def list_operators(group: Group) -> list[str]:
    found = []
    for child in group.children:
        found += [child.op_type] if isinstance(child, Node) else list_operators(child)
    return sorted(found)


def test_attention_between_the_layers_of_its_author_is_a_box_with_them() -> None:
    tree = build(_ATTENTION)
    (block,) = find_blocks(tree)
    assert block.label == "Self-attention"
    assert block.recognised is not None
    assert block.recognised.name == "Self-attention"
    assert list_operators(block) == ["Div", *["MatMul"] * 5, "Softmax", "Transpose"]
    assert block.parent is tree.root


_BLOCK = """
    block (float[1, 8, 16] x) => (float[1, 8, 16] y)
    <int64[2] square = {16, 16}, int64[2] wide = {16, 64}, int64[2] narrow = {64, 16},
     float root = {4}, int64[1] width = {16}>
    {
      [w1] wq = ConstantOfShape (square)  [w2] wk = ConstantOfShape (square)
      [w3] wv = ConstantOfShape (square) [w4] wo = ConstantOfShape (square)
      [w5] s = ConstantOfShape (width)  [w6] wi = ConstantOfShape (wide)
      [w7] wj = ConstantOfShape (narrow)
      [enter__MatMul] u = MatMul (x, wo)
      [block__norm1__LayerNormalization] n = LayerNormalization (u, s)
      [block__query__MatMul] q = MatMul (n, wq)
      [block__key__MatMul] k = MatMul (n, wk)
      [block__value__MatMul] v = MatMul (n, wv)
      [block__Transpose] t = Transpose <perm = [0, 2, 1]> (k)
      [block__MatMul] m = MatMul (q, t)
      [block__Div] d = Div (m, root)
      [block__Softmax] p = Softmax <axis = -1> (d)
      [block__MatMul_1] c = MatMul (p, v)
      [block__out__MatMul] o = MatMul (c, wo)
      [block__Add] r = Add (u, o)
      [block__norm2__LayerNormalization] l = LayerNormalization (r, s)
      [block__mlp__MatMul] i = MatMul (l, wi)
      [block__mlp__Relu] a = Relu (i)
      [block__mlp__MatMul_1] j = MatMul (a, wj)
      [block__Add_1] z = Add (r, j)
      [leave__MatMul] y = MatMul (z, wo)
    }
"""


def test_attention_in_a_block_that_is_known_as_a_whole_is_a_box_of_it() -> None:
    tree = build(_BLOCK)
    block = tree.groups["main/block/"]
    assert block.recognised is not None
    assert block.recognised.name == "Transformer block"
    (attention,) = [one for one in block.inner_groups() if one.label == "Self-attention"]
    assert list_operators(attention) == ["Div", *["MatMul"] * 6, "Softmax", "Transpose"]


def test_a_scale_computed_of_the_width_of_queries_is_in_the_box() -> None:
    """Only sizes go around it: what programs write as ``q.shape[-1] ** -0.5``."""
    scale = "[Shape] z = Shape (q) [Gather] f = Gather (z, last)"
    scale += " [Cast] a = Cast <to = 1> (f) [Pow] root = Pow (a, half)"
    text = _ATTENTION.replace("[Transpose]", f"{scale} [Transpose]")
    text = text.replace("[Div] d = Div (m, root)", "[Mul] d = Mul (m, root)")
    text = text.replace("float root = {4}", "int64 last = {2}, float half = {-0.5}")
    root = build_group_tree(read(text).graph, "names").root  # nothing is put aside yet
    group_ideas(root, lambda group, name: f"{group.path}{name}/")
    (block,) = (group for group in root.inner_groups() if group.kind == "block")
    assert block.label == "Self-attention"
    assert {"Cast", "Gather", "Pow", "Shape"} <= {*list_operators(block)}


def test_what_stands_in_a_circle_with_other_children_is_left() -> None:
    """A layer of the author takes the scores, and gives the values: a box would go round it."""
    text = _ATTENTION.replace("[value__MatMul]", "").replace("v = MatMul (u, wv)", "")
    text = text.replace(
        "[MatMul_1]",
        "[gate__Sigmoid] g = Sigmoid (d) [value__MatMul] v = MatMul (g, wl) [MatMul_1]",
    )
    text = text.replace("[w3] wv", "[w6] wl = ConstantOfShape (last) [w3] wv")
    text = text.replace("float root", "int64[2] last = {8, 16}, float root")
    assert not find_blocks(build(text))


def test_layers_of_the_author_are_not_cut() -> None:
    """The second product is in a module that does something else besides."""
    text = _ATTENTION.replace("[MatMul_1]", "[rest__MatMul]").replace("[Neg]", "[rest__Neg]")
    assert not find_blocks(build(text))


@pytest.mark.parametrize(("operator", "count"), [("Split", 1), ("Conv", 0)])
def test_the_layers_of_a_gate_stay_what_a_figure_shows(operator: str, count: int) -> None:
    """Halves of one value are a unit; two convolutions, of which one gates, are seen."""
    halves = {
        "Split": "[Split] a, b = Split <axis = 1, num_outputs = 2> (u)",
        "Conv": "[value__Conv] a = Conv (u, w)  [gate__Conv] b = Conv (u, w2)",
    }[operator]
    tree = build(f"""
        gated (float[1, 8, 16] x) => (float[1, 4, 16] y)
        <int64[3] whole = {{8, 8, 1}}, int64[3] half = {{4, 8, 1}},
         int64[3] square = {{4, 4, 1}}>
        {{
          [c] w0 = ConstantOfShape (whole)
          [c3] w4 = ConstantOfShape (square)
          [c1] w = ConstantOfShape (half)  [c2] w2 = ConstantOfShape (half)
          [before__Conv] u = Conv (x, w0)
          {halves}
          [Sigmoid] s = Sigmoid (b)
          [Mul] m = Mul (a, s)
          [last__Conv] n = Conv (m, w4)
          [last__Relu] y = Relu (n)
        }}
    """)
    found = [block.label for block in find_blocks(tree) if block.label in ("GLU", "Gate")]
    assert found == ["GLU"] * count


def test_the_blocks_of_a_stack_are_looked_at_alike() -> None:
    steps, taken = [], "x"
    for number in range(4):
        steps.append(f"""
          [b_at_{number}__proj__MatMul] u{number} = MatMul ({taken}, w{number})
          [b_at_{number}__Split]
          a{number}, b{number} = Split <axis = -1, num_outputs = 2> (u{number})
          [b_at_{number}__Sigmoid] s{number} = Sigmoid (b{number})
          [b_at_{number}__Mul] m{number} = Mul (a{number}, s{number})
          [b_at_{number}__Add] r{number} = Add ({taken}, m{number})
        """)
        taken = f"r{number}"
    weights = " ".join(f"[c{n}] w{n} = ConstantOfShape (dims)" for n in range(4))
    tree = build(f"""
        stack (float[1, 8, 16] x) => (float[1, 8, 16] y) <int64[2] dims = {{16, 32}}>
        {{ {weights} {"".join(steps)} [Relu] y = Relu ({taken}) }}
    """)
    assert [block.label for block in find_blocks(tree)] == ["GLU"] * 4


def test_an_idea_is_drawn_closed() -> None:
    """Its face says what it is: its nodes say no more."""
    model = read("""
        pairs (float[2, 1, 8] dense, float[2, 1, 8] user, float[2, 1, 8] item)
         => (float[2, 3, 3] y)
        <int64[2] dims = {8, 8}>
        {
          [c] w = ConstantOfShape (dims)
          [bottom__MatMul] low = MatMul (dense, w)
          [Concat] features = Concat <axis = 1> (low, user, item)
          [Transpose] turned = Transpose <perm = [0, 2, 1]> (features)
          [MatMul] all = MatMul (features, turned)
          [top__Relu] r = Relu (all)
          [top__Exp] y = Exp (r)
        }
    """)
    tree = build_group_tree(model.graph)
    (block,) = find_blocks(tree)
    assert block.label == "Dot interaction"
    assert is_told_by_face(block)


@pytest.mark.parametrize("displacements", [9, 4])
def test_of_a_long_program_only_what_joins_many_values_is_looked_at(displacements: int) -> None:
    """A cost volume is found among hundreds of nodes; few values may be joined for any reason."""
    choose = Random(0).choice  # nothing repeats
    chain = [
        f"[n{place}] s{place} = {choose(('Abs', 'Exp', 'Neg', 'Relu', 'Sin', 'Tanh'))} ({taken})"
        for place, taken in enumerate(("x", *(f"s{place}" for place in range(399))))
    ]
    compared, limits = [], []
    for place in range(displacements):
        limits.append(f"int64[1] a{place} = {{{place}}}, int64[1] b{place} = {{{place + 16}}}")
        compared.append(
            f"[Slice_{place}] m{place} = Slice (wide, a{place}, b{place}, axis) "
            f"[Mul_{place}] p{place} = Mul (s399, m{place}) "
            f"[ReduceMean_{place}] c{place} = ReduceMean (p{place}, over)"
        )
    joined = ", ".join(f"c{place}" for place in range(displacements))
    text = f"""
        <ir_version: 12, opset_import: ["": 24]>
        flow (float[1, 8, 16, 16] x) => (float[1, {displacements}, 16, 16] y)
        <int64[1] axis = {{3}}, int64[1] over = {{1}}, {", ".join(limits)},
         int64[8] pads = {{0, 0, 0, 0, 0, 0, 0, {displacements - 1}}}>
        {{ {" ".join(chain)} [Pad] wide = Pad (x, pads) {" ".join(compared)}
           [Concat] j = Concat <axis = 1> ({joined}) [Tanh] y = Tanh (j) }}
    """
    graph = load(onnx.parser.parse_model(text).SerializeToString()).graph
    names = [block.label for block in find_blocks(build_group_tree(graph))]
    assert ("Cost volume" in names) == (displacements > 8)


def _transport(count: int, last: str = "rows") -> str:
    """Return scores that are made 1 along rows and columns in turn, and what picks of them."""
    steps = []
    for step in range(count):
        before = f"moved{step - 1}" if step else "none"
        axis = "columns" if step % 2 else last
        steps.append(
            f"[A{step}] sum{step} = Add (m, {before})"
            f" [L{step}] all{step} = ReduceLogSumExp (sum{step}, {axis})"
            f" [S{step}] moved{step} = Sub (share, all{step})"
        )
    return f"""
        transport (float[1, 8, 16] x, float[1, 16, 9] z) => (int64[1, 8] y, float[1, 8, 9] s)
        <int64[2] square = {{16, 16}}, int64[1] rows = {{2}}, int64[1] columns = {{1}},
         float share = {{-2}}, float[1, 8, 1] none = {{0, 0, 0, 0, 0, 0, 0, 0}}>
        {{
          [w] w = ConstantOfShape (square)
          [mix__MatMul] u = MatMul (x, w)
          [MatMul] m = MatMul (u, z)
          {" ".join(steps)}
          [Add] s = Add (m, moved{count - 1})
          [ArgMax] y = ArgMax <axis = 2, keepdims = 0> (s)
        }}
    """


def test_iterations_in_a_large_module_are_one_box() -> None:
    (block,) = find_blocks(build(_transport(160)))
    assert (block.label, block.facts) == ("Sinkhorn normalization", ("80 iterations",))
    assert len(list_operators(block)) == 3 * 160 + 1
    assert not block.contents
    # along one axis alone no step is another than the one before
    names = {one.label for one in find_blocks(build(_transport(160, last="columns")))}
    assert "Sinkhorn normalization" not in names


def test_a_stack_of_single_nodes_iterates_nothing() -> None:
    """One node for each repetition, some thousands of them: nothing is in any."""
    steps = " ".join(
        f"[S{step}] s{step + 1} = ReduceSum <keepdims = 1> (s{step}, last)" for step in range(600)
    )
    tree = build(f"""
        chain (float[1, 8, 16] s0) => (float[1, 8, 1] y)
        <int64[1] last = {{2}}> {{ {steps} [T] y = Tanh (s600) }}
    """)
    assert "Sinkhorn normalization" not in {block.label for block in find_blocks(tree)}


@pytest.mark.parametrize("is_squashed", [True, False])
def test_a_step_of_an_idea_is_a_box_inside(*, is_squashed: bool) -> None:
    """What a round of routing gives is squashed (S. Sabour and others, 2017, procedure 1)."""
    tree = build(f"""
        capsules (float[1, 4, 9, 8] x) => (float[1, 4, 1, 8] y)
        <float[8, 8] w, float[8, 8] w2, float one = {{1}}, int64[1] last = {{-1}},
         int64[1] lower = {{2}}, float[1, 4, 9, 1] start>
        {{
          [votes__MatMul] v = MatMul (x, w)  [first__Relu] f = Relu (v)
          [ReduceSum] s0 = ReduceSum (f, lower)
          [Mul] m = Mul (f, s0)  [ReduceSum_1] a = ReduceSum (m, last)
          [Add] b = Add (start, a)  [Softmax] p = Softmax <axis = 1> (b)
          [Mul_1] k = Mul (p, f)  [ReduceSum_2] s = ReduceSum (k, lower)
          [Mul_2] q = Mul (s, s)  [ReduceSum_3] n = ReduceSum (q, last)
          [Add_1] above = Add (n, one)  [Sqrt] r = {"Sqrt" if is_squashed else "Exp"} (n)
          [Div] d = Div (r, above)  [Mul_3] o = Mul (s, d)
          [last__MatMul] l = MatMul (o, w2)  [last__Relu] y = Relu (l)
        }}
    """)
    routing = next(block for block in find_blocks(tree) if block.label == "Routing update")
    inner = [group.label for group in routing.inner_groups()]
    assert inner == (["Squash"] if is_squashed else [])


#: what finds neighbours comes before the first layer, so that it is preparation of that
_EDGES = """
    cloud (float[1, 64, 3] x) => (float[1, 64, 12] y)
    <float two = {2}, float minus = {-2}, int64[1] last = {-1}, int64[1] count = {8},
     int64[1] next = {2}, int64[2] dims = {6, 16}, int64[2] more = {16, 12},
     int64[4] all = {1, 64, 8, 3}>
    {
      [w] w = ConstantOfShape (dims)  [w2] w2 = ConstantOfShape (more)
      [Transpose] turned = Transpose <perm = [0, 2, 1]> (x)
      [Mul] twice = Mul (x, minus)
      [MatMul] products = MatMul (twice, turned)
      [Pow] squares = Pow (x, two)
      [ReduceSum] lengths = ReduceSum (squares, last)
      [Neg] below = Neg (lengths)
      [Sub] half = Sub (below, products)
      [Transpose_1] others = Transpose <perm = [0, 2, 1]> (lengths)
      [Sub_1] near = Sub (half, others)
      [TopK] distances, which = TopK (near, count)
      [Unsqueeze] places = Unsqueeze (which, last)
      [GatherND] found = GatherND <batch_dims = 1> (x, places)
      [Unsqueeze_1] own = Unsqueeze (x, next)
      [Sub_2] apart = Sub (found, own)
      [Expand] beside = Expand (own, all)
      [Concat] edges = Concat <axis = 3> (apart, beside)
      [conv__MatMul] projected = MatMul (edges, w)
      [conv__Relu] bent = Relu (projected)
      [ReduceMax] most = ReduceMax <keepdims = 0> (bent, next)
      [head__MatMul] scores = MatMul (most, w2)
      [head__Relu] y = Relu (scores)
    }
"""


def test_an_idea_may_begin_in_what_prepares_a_layer() -> None:
    found = {group.label: group for group in find_blocks(build(_EDGES))}
    assert "Edge convolution" in found
    told = found["Edge convolution"].recognised
    assert told is not None
    assert told.text == "Edge convolution 6 → 16, 8 neighbours"
    assert "Nearest neighbours" in found  # a step of it that is seen when it is opened


#: vectors of features, compared with each other (M. Naumov and others, 2019, section 2.1.3)
_PAIRS = """
    pairs (float[4, 16] x) => (float[4, 8] y)
    <int64[2] dims = {16, 16}, int64[2] more = {19, 8}, int64[3] lower = {3, 6, 7},
     int64[1] middle = {1}>
    {
      [w] w = ConstantOfShape (dims)  [w2] w2 = ConstantOfShape (more)
      [a__MatMul] a = MatMul (x, w)  [a__Relu] first = Relu (a)
      [b__MatMul] b = MatMul (x, w)  [b__Relu] second = Relu (b)
      [c__MatMul] c = MatMul (x, w)  [c__Relu] third = Relu (c)
      [Unsqueeze] u = Unsqueeze (first, middle)
      [Unsqueeze_1] v = Unsqueeze (second, middle)
      [Unsqueeze_2] z = Unsqueeze (third, middle)
      [Concat] vectors = Concat <axis = 1> (u, v, z)
      [Transpose] turned = Transpose <perm = [0, 2, 1]> (vectors)
      [MatMul] products = MatMul (vectors, turned)
      [Flatten] flat = Flatten (products)
      [Gather] below = Gather <axis = 1> (flat, lower)
      [Concat_1] joined = Concat <axis = 1> (x, below)
      [top__MatMul] scores = MatMul (joined, w2)
      [top__Relu] y = Relu (scores)
    }
"""


@pytest.mark.parametrize("text", [_EDGES, _PAIRS])
def test_no_box_holds_one_that_is_all_that_it_is_called(text: str) -> None:
    blocks = find_blocks(build(text))
    assert {block.label for block in blocks} & {"Nearest neighbours", "Dot interaction"}
    for block in blocks:
        assert all(inner.label != block.label for inner in block.inner_groups())


#: a residual block whose own code splits channels and convolves the parts in turn
_SCALES = """
    scales (float[1, 12, 8, 8] x) => (float[1, 6, 8, 8] y)
    <int64[4] dims = {3, 3, 3, 3}, int64[4] point = {12, 12, 1, 1}, int64[4] out = {6, 12, 1, 1}>
    {
      [w0] w0 = ConstantOfShape (point)  [w1] w1 = ConstantOfShape (dims)
      [w2] w2 = ConstantOfShape (out)
      [layer__conv1__Conv] h0 = Conv (x, w0)
      [layer__conv1__Relu] h = Relu (h0)
      [layer__Split] a, b, c, d = Split <axis = 1, num_outputs = 4> (h)
      [layer__convs.0__Conv] one = Conv <pads = [1, 1, 1, 1]> (a, w1)
      [layer__Add] b1 = Add (one, b)
      [layer__convs.1__Conv] two = Conv <pads = [1, 1, 1, 1]> (b1, w1)
      [layer__Add_1] c1 = Add (two, c)
      [layer__convs.2__Conv] three = Conv <pads = [1, 1, 1, 1]> (c1, w1)
      [layer__Concat] j = Concat <axis = 1> (one, two, three, d)
      [layer__conv3__Conv] k = Conv (j, w0)
      [layer__Add_2] t = Add (k, x)
      [head__Conv] s = Conv (t, w2)
      [head__Relu] y = Relu (s)
    }
""".replace("convs.", "convs_at_")


def test_the_unit_that_a_residual_block_is_named_after_is_one_box() -> None:
    tree = build(_SCALES)
    whole = tree.groups["main/layer/"].recognised
    assert whole is not None
    assert whole.name == "Residual block with Res2Net module"
    (block,) = (group for group in find_blocks(tree) if group.label == "Res2Net module")
    assert sorted(list_operators(block)) == ["Add"] * 2 + ["Concat"] + ["Conv"] * 3 + ["Split"]
    assert block.recognised is not None
    assert block.recognised.facts == ("scale 4",)


@pytest.mark.parametrize("has_base", [True, False])
@pytest.mark.parametrize("module", ["conv/reduce", "conv"])
def test_graph_attention_takes_in_modules_that_only_reduce_or_add_up(
    module: str, *, has_base: bool
) -> None:
    """Exporters fill what the largest of each node begins with in the module that finds it."""
    writer = UnrolledWriter()
    writer.inputs = {"x": [40, 8], "scores": [40, 1], "of_nodes": [5, 1]}
    writer.tensors += [
        numpy_helper.from_array(np.arange(40).reshape(40, 1) % 5, "ends"),
        numpy_helper.from_array(np.arange(40) % 5, "nodes"),
        numpy_helper.from_array(np.repeat(np.arange(40).reshape(40, 1) % 5, 8, 1), "places"),
        numpy_helper.from_array(np.array([5, 8]), "wide"),
    ]
    x = writer.add("conv/lin", "MatMul", "x", writer.weight("w", 8, 8))
    scores = writer.add("conv/score", "LeakyRelu", "scores")
    sizes = writer.add("conv", "Shape", "of_nodes")
    base = writer.add(module, "ConstantOfShape", sizes)
    if has_base:
        base = writer.add(module, "ScatterElements", base, "ends", scores, axis=0)
    largest = writer.add(module, "ScatterElements", base, "ends", scores, axis=0, reduction="max")
    largest = writer.add("conv", "Gather", largest, "nodes", axis=0)
    raised = writer.add("conv", "Exp", writer.add("conv", "Sub", scores, largest))
    zeros = writer.add("conv", "ConstantOfShape", sizes)
    total = writer.add("conv", "ScatterElements", zeros, "ends", raised, axis=0, reduction="add")
    total = writer.add("conv", "Gather", total, "nodes", axis=0)
    shares = writer.add("conv", "Div", raised, total)
    sent = writer.add("conv", "Mul", x, shares)
    zeros = writer.add("conv/aggr", "ConstantOfShape", "wide")
    given = writer.add(
        "conv/aggr", "ScatterElements", zeros, "places", sent, axis=0, reduction="add"
    )
    given = writer.add("conv", "Add", given, writer.weight("bias", 8))
    writer.outputs = [writer.add("head", "Sigmoid", given)]
    root = build_group_tree(writer.load().graph, "names").root  # nothing is put aside yet
    group_ideas(root, lambda group, name: f"{group.path}{name}/")
    conv = next(one for one in root.inner_groups() if one.label == "conv")
    labels = [one.label for one in conv.inner_groups()]
    assert "Graph attention" in labels
    assert not {"reduce", "aggr"} & {*labels}
