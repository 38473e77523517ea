"""A stack tells in what its blocks differ: what some of them have and others have not."""

from __future__ import annotations

import pytest

from netloupe.explorer.grouping.end_differences import tell_lacking
from netloupe.explorer.grouping.stack_facts import (
    StackDetails,
    join_facts,
    write_each_number,
    write_entering,
)
from netloupe.explorer.patterns import Recognition, find_graph_context
from netloupe.explorer.patterns.transformer_details import AttentionDetails
from tests.onnx_text import load_text


def tell_kinds(*blocks: tuple[str, ...], are_all: bool = True) -> str:
    found = [Recognition("Block", "group", ("4 heads × 8", *facts)) for facts in blocks]
    joined = join_facts(found[-1], [((), one) for one in found], are_all=are_all)
    assert "4 heads × 8" in joined.facts
    return str(joined.details.to_mapping().get("kinds", ""))


@pytest.mark.parametrize("first", [1, 2, 7])
@pytest.mark.parametrize("others", [1, 4, 30])
def test_blocks_of_two_kinds(first: int, others: int) -> None:
    dense, experts = ("SwiGLU 8 → 32 → 8", "causal"), ("16 experts", "causal")
    told = tell_kinds(*[dense] * first, *[experts] * others)
    assert told == f"SwiGLU 8 → 32 → 8 in {first}, 16 experts in {others}"
    told = tell_kinds(*[experts] * others, *[dense] * first)
    assert told == f"16 experts in {others}, SwiGLU 8 → 32 → 8 in {first}"


@pytest.mark.parametrize("count", [2, 6, 12])
def test_what_only_some_blocks_have(count: int) -> None:
    blocks = [("window 64", "causal") if place else ("causal",) for place in range(count)]
    assert tell_kinds(*blocks) == f"window 64 in {count - 1} of {count}"
    assert tell_kinds(*blocks, are_all=False) == "window 64 in some"


def test_three_kinds() -> None:
    blocks = [("Mamba", "8 experts"), ("Mamba",), ("attention",), ("attention",)]
    assert tell_kinds(*blocks) == "Mamba and 8 experts in 1, Mamba in 1, attention in 2"


@pytest.mark.parametrize(
    "blocks",
    [
        [("causal",)] * 4,
        [("8 → 8",), ("8 → 16",), ("16 → 16",)],
        [("3×3",), ("5×5",)],
        [("kernel 3",), ("kernel 2",)],
        [("with projection",), (), ()],  # told by its place
        [(word,) for word in ("one", "two", "three", "four")],
    ],
)
def test_blocks_of_one_kind_or_of_many(blocks: list[tuple[str, ...]]) -> None:
    assert tell_kinds(*blocks) == ""


@pytest.mark.parametrize(
    ("windows", "kinds"),
    [
        ((512, 512, 0, 512, 512, 0), "1 global after 2 local, window 512"),
        ((512, 0, 512, 0), "1 global after 1 local, window 512"),
        ((512, 512, 0, 512, 0, 512), "window 512 in 4 of 6"),
        ((512, 512, 512), ""),
        ((0, 0, 0), ""),
    ],
)
def test_a_stack_says_in_which_order_attention_is_local_and_global(
    windows: tuple[int, ...], kinds: str
) -> None:
    members = [
        (
            (),
            Recognition(
                "Self-attention",
                "attention",
                (f"window {window}",) if window else (),
                AttentionDetails(window=window or None),
            ),
        )
        for window in windows
    ]
    found = join_facts(members[0][1], members, are_all=True)
    assert found.details.read_as(StackDetails).kinds == kinds


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([5, 3, 3, 1], "5, 3, 3, 1"),
        ([196, 256, 256], "196, then 256"),
        ([64, 64, 1256], "64, 64, 1,256"),
        ([28, 64, 112], "28, 64, 112"),
        ([28, 64, 112, 1372], "28 … 1,372"),
        ([8, 4, 2, 1], "8 … 1"),
        ([5, 3, 3, 3, 1, 1], "5, 3, 3, 3, 1, 1"),
        ([1, 8, 2, 4, 1, 8], "1, 8, 2, 4, 1, 8"),
        ([1, 8, 2, 4, 1, 8, 2, 4, 1], "1 to 8"),
        ([1024, 8192, 2048, 4096, 1024, 8192], "1,024 to 8,192"),
    ],
)
def test_numbers_of_blocks_are_told_so_that_each_has_its_own(numbers: list[int], told: str) -> None:
    assert write_each_number(numbers) == told


def test_only_where_all_later_ones_agree_it_is_told_what_they_take() -> None:
    assert write_entering([196, 256, 256]) == "196, then 256"
    assert write_entering([196, 256, 196]) == "196"
    assert write_entering([256, 256]) == "256"


_NORM = """q = Mul (x, x)  m = ReduceMean (q, axis)  e = Add (m, least)  r = Sqrt (e)
    n = Div (x, r)"""


@pytest.mark.parametrize(
    ("norm", "taken", "kinds"),
    [
        (_NORM, "n", ""),
        ("n = RMSNormalization (x, scale)", "n", ""),
        # a norm of something else, no norm, and nothing besides
        (_NORM.replace("(x", "(z").replace(", x", ", z"), "n", "pre-norm RMSNorm in 2 of 3"),
        ("n = Relu (x)", "n", "pre-norm RMSNorm in 2 of 3"),
        ("n = Mul (x, least)", "x", "pre-norm RMSNorm in 2 of 3"),
    ],
)
def test_a_norm_that_stands_elsewhere_is_not_lacking(norm: str, taken: str, kinds: str) -> None:
    text = f"""g (float[3, 4] x, float[3, 4] z) => (float[3, 4] y, float[3, 4] n)
        <int64[1] axis = {{1}}, float least = {{1e-5}}, float[4] scale = {{1, 1, 1, 1}},
         float[4, 4] w = {{{", ".join(["0.1"] * 16)}}}> {{
          {norm}  h = MatMul ({taken}, w)  y = Add (x, h)
        }}"""
    nodes = load_text(text).graph.nodes[-2:]
    own = Recognition("Block", "group", ("causal",))
    other = Recognition("Block", "group", ("causal", "pre-norm RMSNorm"))
    joined = join_facts(other, [(nodes, own), ((), other), ((), other)], are_all=True)
    assert str(joined.details.to_mapping().get("kinds", "")) == kinds
    assert ("pre-norm RMSNorm" in joined.facts) is (not kinds)


@pytest.mark.parametrize(("taken", "told"), [("n", ""), ("x", "the first without RMSNorm")])
def test_a_first_block_lacks_no_norm_that_it_takes(taken: str, told: str) -> None:
    weights = ", ".join(["0.1"] * 16)
    graph = load_text(
        f"""g (float[3, 4] x) => (float[3, 4] y, float[3, 4] n)
        <float[4] scale = {{1, 1, 1, 1}}, float[4, 4] w = {{{weights}}}> {{
          n = RMSNormalization (x, scale)  h = MatMul ({taken}, w)  b = Add (x, h)
          m = RMSNormalization (b, scale)  k = MatMul (m, w)  y = Add (b, k)
        }}"""
    ).graph
    odd, whole = graph.nodes[1:3], graph.nodes[3:]
    context = find_graph_context(graph)
    assert tell_lacking(odd, whole, is_last=False, context=context) == told
