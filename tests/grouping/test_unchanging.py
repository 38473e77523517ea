"""What follows from constants and shapes alone is hidden; what is made of weights is not."""

from __future__ import annotations

from netloupe.explorer.grouping import Group, build_group_tree
from netloupe.explorer.grouping.unchanging import group_unchanging
from netloupe.explorer.model import Graph

from .test_spilled_ideas import list_operators, read

_MASKED = """
    masked (float[1, 8, 16] x) => (float[1, 8, 16] y)
    <int64[2] square = {16, 16}, float one = {1}, float most = {-10000}, int64[1] two = {2}>
    {
      [a] w = ConstantOfShape (square)
      [first__MatMul] h = MatMul (x, w)  [first__Relu] r = Relu (h)
      [Constant] ones = Constant <value = float[1, 8] {1, 1, 1, 1, 1, 1, 1, 1}> ()
      [Sub] away = Sub (one, ones)
      [Mul] mask = Mul (away, most)
      [Exp] kept = Exp (mask)
      [Unsqueeze] wide = Unsqueeze (kept, two)
      [Mul_1] some = Mul (r, wide)
      [last__MatMul] l = MatMul (some, w)  [last__Relu] s = Relu (l)
      [Neg] t = Neg (s)  [Abs] u = Abs (t)  [Sqrt] v = Sqrt (u)  [Floor] y = Floor (v)
    }
"""


def _find(text: str) -> list[list[str]]:
    """Return the operators of each hidden piece that there is beside what roles tell."""
    root = build_group_tree(read(text).graph, "names").root
    group_unchanging(root, lambda group, name: f"{group.path}{name}/")
    found = [group for group in root.inner_groups() if group.kind == "shape"]
    assert all(isinstance(group, Group) for group in found)
    return [list_operators(group) for group in found]


def test_a_mask_of_ones_is_hidden() -> None:
    assert _find(_MASKED) == [["Exp", "Mul", "Sub", "Unsqueeze"]]


def test_what_follows_from_what_may_be_learned_is_none() -> None:
    text = _MASKED.replace("{1, 1, 1,", "{1, 2, 1,")
    assert not _find(text)


def test_what_follows_from_what_may_be_learned_is_none_where_that_is_hidden() -> None:
    for first, is_learned in (("{1, 1, 1,", False), ("{1, 2, 1,", True)):
        graph = read(_MASKED.replace("{1, 1, 1,", first)).graph
        root = build_group_tree(graph, "names").root
        nodes = {node.op_type: node for node in graph.nodes}
        hidden = Group("shape", graph, f"{root.path}hidden/", "hidden", "", root)
        hidden.children = [nodes["Sub"]]
        root.children = [hidden if child is nodes["Sub"] else child for child in root.children]
        group_unchanging(root, lambda group, name: f"{group.path}{name}/")
        others = [one for one in root.inner_groups() if one.kind == "shape" and one is not hidden]
        told = [list_operators(group) for group in others]
        assert told == ([] if is_learned else [["Exp", "Mul", "Unsqueeze"]])


def test_a_single_node_without_input_is_hidden_and_drawn_nowhere() -> None:
    graph = read(_MASKED.replace("kept = Exp (mask)", "kept = Sub (mask, one)")).graph
    tree = build_group_tree(graph)
    assert not [group for group in tree.root.inner_groups() if group.kind == "preparation"]
    one = read(_MASKED.replace("[Exp] kept = Exp (mask)", "[Exp] kept = Exp (r)")).graph
    assert list_operators(one_hidden(one)) == ["Mul", "Sub"]


def one_hidden(graph: Graph) -> Group:
    """Return the one hidden group of a graph."""
    (found,) = (g for g in build_group_tree(graph).root.inner_groups() if g.kind == "shape")
    return found


def test_what_a_quantizer_measures_is_not_hidden() -> None:
    scaled = _MASKED.replace(
        "[Mul] mask = Mul (away, most)",
        """
      [Dyn] q, scale, zero = DynamicQuantizeLinear (r)
      [Mul] mask = Mul (away, scale)""",
    )
    assert all("Mul" not in operators for operators in _find(scaled))


def test_the_row_of_one_layer_is_hidden_and_what_is_looked_up_is_not() -> None:
    text = """
        layers (float[1, 8, 16] x) => (float[1, 8, 16] y)
        <int64[3] dims = {3, 16, 16}, int64 second = {1}, int64[1] listed = {1}>
        {
          [w] stored = ConstantOfShape (dims)
          [a__Relu] a = Relu (x)
          [Gather] row = Gather (stored, second)
          [Transpose] turned = Transpose <perm = [1, 0]> (row)
          [Exp] other = Exp (turned)
          [b__MatMul] b = MatMul (a, other)  [b__Relu] c = Relu (b)
          [Neg] y = Neg (c)
        }
    """
    assert _find(text) == [["Exp", "Gather", "Transpose"]]
    listed = text.replace("second)", "listed)").replace("<perm = [1, 0]>", "<perm = [0, 2, 1]>")
    assert not _find(listed)


def test_one_number_that_is_repeated_was_not_learned() -> None:
    text = """
        biased (float[1, 8, 16] x) => (float[1, 8, 16] y)
        <int64[2] square = {16, 16}, float none = {0}, int64[3] all = {1, 8, 16}, float two = {2}>
        {
          [a] w = ConstantOfShape (square)
          [first__MatMul] h = MatMul (x, w)  [first__Relu] r = Relu (h)
          [Expand] zeros = Expand (none, all)
          [Mul] scaled = Mul (zeros, two)
          [Add] some = Add (r, scaled)
          [last__MatMul] l = MatMul (some, w)  [last__Relu] s = Relu (l)
          [Neg] t = Neg (s)  [Abs] u = Abs (t)  [Sqrt] v = Sqrt (u)  [Floor] y = Floor (v)
        }
    """
    assert _find(text) == [["Expand", "Mul"]]
    row = "float[16] none = {1, 2, 3, 5, 8, 13, 21, 34, 1, 2, 3, 5, 8, 13, 21, 34}"
    assert _find(text.replace("float none = {0}", row)) == [["Expand"]]  # the row, wider


def _find_mask_of_steps(*, module: str = "") -> tuple[int, list[str]]:
    """Return how many boxes are drawn, and the labels of hidden groups.

    A mask is written place by place into zeros, as exporters write what assigns to slices.
    """
    steps = "\n".join(
        f"""
        [{module}Transpose_{place}] t{place} = Transpose <perm = [0, 1]> (m{place})
        [{module}Slice_{place}] s{place} = Slice (t{place}, from{place}, to{place})
        [{module}ScatterND_{place}] m{place + 1} = ScatterND (t{place}, at{place}, ones)
        """
        for place in range(6)
    )
    stored = "".join(
        f", int64[1] from{place} = {{{place}}}, int64[1] to{place} = {{{place + 1}}},"
        f" int64[1, 1] at{place} = {{{place}}}"
        for place in range(6)
    )
    text = f"""
        steps (float[16, 16] x) => (float[16, 16] y)
        <int64[2] square = {{16, 16}}, float[1, 16] ones = {{{", ".join(["1"] * 16)}}}{stored}>
        {{
          [a] w = ConstantOfShape (square)  [b] m0 = ConstantOfShape (square)
          [first__MatMul] h = MatMul (x, w)  [first__Relu] r = Relu (h)
          {steps}
          [Mul] k = Mul (r, m6)  [last__MatMul] l = MatMul (k, w)  [last__Tanh] y = Tanh (l)
        }}
    """
    root = build_group_tree(read(text).graph, "auto").root
    hidden = [one.label for one in root.inner_groups() if one.kind == "shape"]
    return len(root.children) - len(hidden), hidden


def test_a_mask_that_is_written_in_steps_is_hidden_too() -> None:
    drawn, hidden = _find_mask_of_steps()
    assert (drawn, hidden) == (3, ["constants"])


_COMPOSED = """
    composed (float[1, 8, 16] x) => (float[1, 8, 16] y)
    <int64[2] square = {16, 16}, int64[1] width = {16}, float[1] few = {0.1}>
    {
      [a] w = ConstantOfShape (square)  [b] l = ConstantOfShape (square)
      [c] u = ConstantOfShape (square)  [d] s = ConstantOfShape (width)
      [first__MatMul] h = MatMul (x, w)  [first__Relu] r = Relu (h)
      [Softplus] kept = Softplus (l)  [Add] lower = Add (kept, few)
      [Exp] upper = Exp (u)
      [MatMul] both = MatMul (lower, upper)
      [layer__MatMul] m = MatMul (r, both)
      [Sqrt] scale = Sqrt (s)
      [Mul] n = Mul (m, scale)
      [last__MatMul] o = MatMul (n, w)  [last__Relu] p = Relu (o)
      [Neg] t = Neg (p)  [Abs] v = Abs (t)  [Floor] y = Floor (v)
    }
"""


def test_what_only_makes_the_weight_of_a_layer_is_hidden() -> None:
    assert sorted(_find(_COMPOSED)) == [["Add", "Exp", "MatMul", "Softplus"], ["Sqrt"]]


def test_what_else_takes_a_weight_is_seen_with_what_it_is_of() -> None:
    both = _COMPOSED.replace("t = Neg (p)", "e = ReduceSum (lower)  t = Add (p, e)")
    assert [name for piece in _find(both) for name in piece].count("Softplus") == 1
    given = _COMPOSED.replace("(float[1, 8, 16] y)", "(float[1, 8, 16] y, float[16, 16] both)")
    assert _find(given) == [["Sqrt"]]


def test_learned_queries_and_their_layers_are_seen() -> None:
    queries = _COMPOSED.replace("both = MatMul (lower, upper)", "both = MatMul (lower, w)")
    assert _find(queries) == [["Sqrt"]]


def test_a_scale_of_tokens_is_seen_and_one_of_the_channels_of_a_map_is_not() -> None:
    tokens = _COMPOSED.replace("{16}, float[1]", "{8}, float[1]")
    tokens = tokens.replace("Mul (m, scale)", "Mul (m, wide)")
    tokens = tokens.replace(
        "[Mul] n", "one = Constant <value_ints = [1]> ()  wide = Unsqueeze (scale, one)  [Mul] n"
    )
    assert all("Sqrt" not in piece for piece in _find(tokens))
