"""The last nodes of a mask, which several layers take, belong to what makes it."""

from __future__ import annotations

import pytest

from netloupe.explorer.roles import find_roles
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"
#: two layers that both mask their scores
_LAYERS = "".join(
    f"""
    q{n} = MatMul (x{n}, w)
    t{n} = Transpose <perm = [0, 2, 1]> (q{n})
    s{n} = MatMul (q{n}, t{n})
    m{n} = Add (s{n}, bias)
    a{n} = Softmax (m{n})
    x{n + 1} = MatMul (a{n}, q{n})
    """
    for n in range(2)
)


def _list_pieces(end: str) -> list[set[str]]:
    """Return the names of what the nodes of each piece of preparation give."""
    graph = load_text(f"""
        net (int64[1, 4] ids, float[1, 1, 4] given) => (float[1, 4, 3] y, float[1, 4, 4] late)
        <float[3, 3] w = {_NINE}, int64 zero = {{0}}, float one = {{1}}, float much = {{-1000}}>
        {{
            padded = Equal (ids, zero)
            kept = Not (padded)
            cast = Cast <to = 1> (kept)
            off = Sub (one, cast)
            {end}
            x0 = Gather (w, ids)
            {_LAYERS}
            last = MatMul (x2, t1)
            late = Add (last, off)
            y = Tanh (x2)
        }}
    """).graph
    return [
        {value.name for index in piece.nodes for value in graph.nodes[index].outputs if value}
        for piece in find_roles(graph).pieces
    ]


@pytest.mark.parametrize(
    "end",
    [
        "bias = Mul (off, much)",
        "far = Mul (off, much)  bias = Neg (far)",
    ],
)
def test_what_several_layers_take_of_a_mask_belongs_to_it(end: str) -> None:
    (piece,) = [names for names in _list_pieces(end) if "padded" in names]
    assert piece >= {"padded", "kept", "cast", "off", "bias"}


def test_what_takes_something_else_too_is_none_of_it() -> None:
    assert not any("bias" in names for names in _list_pieces("bias = Add (off, given)"))
