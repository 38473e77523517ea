"""Whether a batch normalization that another model has folded into a convolution is still there.

With γ and β as scale and shift, μ and σ² as mean and variance of the normalization, a convolution
with weights w and bias b, followed by it, is one with the weights w γ / √(σ² + ε) and the bias
(b - μ) γ / √(σ² + ε) + β (B. Jacob and others, Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference, 2018, section 3.2; the normalization is that of
S. Ioffe and C. Szegedy, 2015, algorithm 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.progress import is_ending, step

from .digests import have_other_numbers

if TYPE_CHECKING:
    from .pair import Pair

Numbers = npt.NDArray[np.float64]

_CONVOLUTIONS = frozenset({"Conv", "FusedConv"})
_EPSILON = 1e-5
#: what is folded in float32 differs by rounding alone; in 16 bits by more
_EQUAL, _EQUAL_IN_HALF = 1e-5, 4e-3
#: larger weights are not folded anew
_MOST_ELEMENTS = 2**25
#: so much of the numbers is so many times as large, where one factor is told
_NEAR, _LEAST_SHARE = 1e-3, 0.9


class Fold(NamedTuple):
    """What a folded convolution has beside what the formula gives.

    Parameters
    ----------
    error
        The largest difference of weights or bias, as a share of the largest magnitude of these.
    is_equal
        Whether it is no more than rounding.
    factor
        How many times as large as they should be nearly all of the weights are; None where they
        are right, or have no factor in common.
    tensors
        The weights of both models that take part.
    """

    error: float
    is_equal: bool
    factor: float | None
    tensors: tuple[Tensor, ...]


def check_fold(pair: Pair) -> Fold | None:
    """Return how well a convolution holds the normalization that the other model has behind it.

    Returns
    -------
    Fold or None
        None where it is no such pair, or its numbers cannot be read, are no floats or too many.
    """
    left, right = _read_side(pair.left), _read_side(pair.right)
    if left is None or right is None:
        return None
    (first, norm), (second, other_norm) = left, right
    if (norm is None) == (other_norm is None):
        return None
    try:
        if norm is not None:
            return _compare(first, norm, second)
        assert other_norm is not None  # noqa: S101 - one of both is there
        return _compare(second, other_norm, first)
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None


def has_other_numbers(left: Node, right: Node) -> bool:
    """Return whether of two convolutions one has weights or a bias that the other has not.

    Then what stood behind it was put into them: else it is gone, or was put there.
    """
    if left.op_type not in _CONVOLUTIONS or right.op_type not in _CONVOLUTIONS:
        return False
    sides = [_list_tensors(node, range(1, 3)) for node in (left, right)]
    for one, other in zip(*sides, strict=True):
        if one is None and other is None:
            continue
        if one is None or other is None or have_other_numbers(one, other):
            return True
    return False


def _read_side(nodes: tuple[Node, ...]) -> tuple[Node, Node | None] | None:
    """Return the convolution of some nodes, and the normalization behind it."""
    convolutions = [node for node in nodes if node.op_type in _CONVOLUTIONS]
    norms = [node for node in nodes if node.op_type == "BatchNormalization"]
    if len(convolutions) != 1 or len(norms) > 1:
        return None
    return convolutions[0], norms[0] if norms else None


def _list_tensors(node: Node, places: range) -> list[Tensor | None]:
    values = [node.inputs[place] if place < len(node.inputs) else None for place in places]
    return [None if value is None else find_stored_tensor(value) for value in values]


@np.errstate(all="ignore")
def _compare(convolution: Node, norm: Node, folded: Node) -> Fold | None:
    step()
    own, other = _list_tensors(convolution, range(1, 3)), _list_tensors(folded, range(1, 3))
    params = _list_tensors(norm, range(1, 5))
    weight, made = own[0], other[0]
    used = [t for t in (*own, *params, *other) if t is not None]
    if weight is None or made is None or None in params or weight.dims != made.dims:
        return None
    if any(not t.dtype.is_float or t.size > _MOST_ELEMENTS for t in used) or not weight.dims:
        return None
    channels = weight.dims[0]
    vectors = [t for t in (own[1], *params, other[1]) if t is not None]
    is_given = all(
        len(node.inputs) <= 2 or node.inputs[2] is None or tensors[1] is not None
        for node, tensors in ((convolution, own), (folded, other))
    )
    if not is_given or any(t.size != channels for t in vectors):
        return None
    scale, shift, mean, variance = (_read(t) for t in params if t is not None)
    attribute = norm.attributes.get("epsilon")
    epsilon = attribute.value if attribute is not None else _EPSILON
    if not isinstance(epsilon, int | float):
        return None
    factor = scale / np.sqrt(variance + epsilon)
    spread = factor.reshape(-1, *[1] * (len(weight.dims) - 1))
    wanted = _read(weight).reshape(weight.dims) * spread
    bias = _read(own[1]) if own[1] is not None else np.zeros(channels)
    wanted_bias = (bias - mean) * factor + shift
    given = _read(made).reshape(made.dims)
    given_bias = _read(other[1]) if other[1] is not None else np.zeros(channels)
    error = max(_measure(wanted, given), _measure(wanted_bias, given_bias))
    is_half = any(t.dtype.bits is not None and t.dtype.bits < 32 for t in used)
    is_equal = error <= (_EQUAL_IN_HALF if is_half else _EQUAL)
    return Fold(error, is_equal, None if is_equal else _find_factor(wanted, given), (*used,))


def _read(tensor: Tensor) -> Numbers:
    return np.asarray(tensor.numpy()).astype(np.float64).reshape(-1)


def _measure(wanted: Numbers, given: Numbers) -> float:
    """Return the largest difference as a share of the largest magnitude; infinite for NaN."""
    apart = float(np.abs(wanted - given).max(initial=0.0))
    largest = float(np.abs(wanted).max(initial=0.0))
    if not np.isfinite(apart) or not np.isfinite(largest):
        return float("inf")
    return apart / largest if largest else (0.0 if not apart else float("inf"))


def _find_factor(wanted: Numbers, given: Numbers) -> float | None:
    ratios = (given / wanted)[wanted != 0]
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return None
    middle = float(np.median(ratios))
    share = float(np.mean(np.abs(ratios - middle) <= _NEAR * abs(middle)))
    is_telling = share >= _LEAST_SHARE and abs(middle - 1) > _NEAR
    return middle if is_telling else None
