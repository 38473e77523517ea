"""An input that is put beside streams is told with them, whatever else it enters."""

from __future__ import annotations

import pytest

from .networks import Network


def _rank(*, enters: bool, is_joined: bool) -> str:
    """Return the sentence of a ranker: a candidate may enter the stream of a history, too.

    G. Zhou and others, Deep Interest Network, 2018, figure 2.
    """
    net = Network()
    user, history, candidate = (net.take(name, (1, 8)) for name in ("user", "history", "candidate"))
    left = net.add("Relu", net.linear(user, 8, 8))
    right = net.linear(history, 8, 8)
    right = net.linear(net.add("Mul", right, candidate), 8, 8) if enters else right
    parts = [left, right, candidate] if is_joined else [left, right]
    joined = net.add("Concat", *parts, axis=1)
    y = net.add("Relu", net.linear(joined, 8 * len(parts), 16))
    return net.finish(net.linear(y, 16, 1)).architecture.sentence


@pytest.mark.parametrize("enters", [True, False])
def test_an_input_beside_streams_is_concatenated_with_them(*, enters: bool) -> None:
    sentence = _rank(enters=enters, is_joined=True)
    assert "concatenated" in sentence
    assert "and with candidate" in sentence


def test_an_input_that_only_enters_a_stream_is_not_joined_with_others() -> None:
    sentence = _rank(enters=True, is_joined=False)
    assert "and with candidate" not in sentence
    assert "concatenated" in sentence
