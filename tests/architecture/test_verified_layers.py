"""What multiplies inside of an attention is no layer that a sentence counts."""

from __future__ import annotations

import numpy as np
import pytest

from netloupe.explorer.architecture.layers import find_stacks
from netloupe.explorer.architecture.outline import Outline
from netloupe.explorer.architecture.pieces import list_pieces
from tests.architecture.networks import Network

_TOKENS = 6


@pytest.mark.parametrize("is_inside", [True, False])
def test_shares_that_weigh_positions_make_no_layer(*, is_inside: bool) -> None:
    net = Network()
    x = net.take("x", (1, _TOKENS, 8))
    split = net.numbers(1, _TOKENS, 2, 4)
    query, key, value = (
        net.add("Transpose", net.add("Reshape", net.linear(x, 8, 8), split), perm=perm)
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    scores = net.add("Mul", net.add("MatMul", query, key), net.store(np.float32(0.5)))
    shares = net.add("Softmax", scores, axis=-1)
    result = net.add("MatMul", shares, value)
    taken, width = (shares, _TOKENS) if is_inside else (result, 4)
    result = net.add("Add", result, net.add("MatMul", taken, net.weight(width, 4)))
    joined = net.add("Transpose", result, perm=[0, 2, 1, 3])
    joined = net.add("Reshape", joined, net.numbers(1, _TOKENS, 8))
    model = net.finish(net.linear(joined, 8, 8))
    outline = Outline(model.graph, [*model.graph.nodes])
    kinds = [piece.kind for piece in list_pieces(outline, find_stacks(outline))]
    assert kinds.count("attention") == 1
    assert kinds.count("linear") == (1 if is_inside else 2)
