"""Whether a batch normalization that another model has folded into a convolution is still there.

With γ and β as scale and shift, μ and σ² as mean and variance of the normalization, a convolution
with weights w and bias b, followed by it, is one with the weights w γ / √(σ² + ε) and the bias
(b - μ) γ / √(σ² + ε) + β (B. Jacob and others, Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference, 2018, section 3.2; the normalization is that of
S. Ioffe and C. Szegedy, 2015, algorithm 2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Node, Tensor
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.operators import find_schema
from netloupe.explorer.progress import is_ending, step

from .activations import takes_summand
from .changes import Change
from .digests import have_other_numbers
from .fused_pairs import compare_fused
from .pair import Pair
from .rewiring import compare_taken

if TYPE_CHECKING:
    from .matching import Matching

Numbers = npt.NDArray[np.float64]

_EPSILON = 1e-5
#: what a normalization by stored numbers states, or has as default
_INFERENCE = {"training_mode": 0, "is_test": 1, "spatial": 1}
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
        The largest difference of weights or bias, as a share of what is largest in the output
        channel that it is in.
    has_equal_weights
        Whether it is no more than rounding.
    factor
        How many times as large as they should be nearly all of the weights are; None where they
        are right, or have no factor in common.
    tensors
        The weights of both models that take part.
    changes
        In what both sides differ otherwise: how the convolutions go over what they take, what is
        done behind them, and whether the normalization is one by stored numbers.
    """

    error: float
    has_equal_weights: bool
    factor: float | None
    tensors: tuple[Tensor, ...]
    changes: tuple[Change, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether the convolution does what it did with the normalization behind it."""
        return self.has_equal_weights and not self.changes


def check_fold(pair: Pair, matching: Matching) -> Fold | None:
    """Return how well a convolution holds the normalization that the other model has behind it.

    Parameters
    ----------
    pair
        The convolution and the normalization, and what stands for both.
    matching
        What else is paired.

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
    is_left = norm is not None
    norm = norm or other_norm
    assert norm is not None  # noqa: S101 - one of both is there
    try:
        fold = _compare(first, norm, second) if is_left else _compare(second, norm, first)
        if fold is None:
            return None
        changes = [*compare_fused(pair), *_compare_norm(norm, is_left=is_left)]
        changes += _compare_summands(pair, first, second)
        changes += (
            change
            for change in compare_taken(pair, matching)
            if change.what in ("input", "input 0")
        )
        return fold._replace(changes=(*changes,))
    except NetloupeError as error:
        if is_ending(error):
            raise
        return None


def find_taken_beside(
    pairs: Iterable[Pair], folded: Collection[Pair], tensors: Collection[Tensor]
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield tensors of folds that other nodes take as well, with what their partners take.

    They are compared for these: what is equal by calculation in a fold may be another weight there.

    Parameters
    ----------
    pairs
        All pairs of nodes.
    folded
        Those of them that are equal folds.
    tensors
        The weights of both models that take part in these.
    """
    for pair in pairs if tensors else ():
        if pair in folded:
            continue
        lefts, rights = (
            [
                tensor
                for node in nodes
                for value in node.inputs
                if value is not None and (tensor := find_stored_tensor(value)) is not None
            ]
            for nodes in (pair.left, pair.right)
        )
        for left in lefts:
            yield from ((left, right) for right in rights if left in tensors or right in tensors)


def _compare_norm(norm: Node, *, is_left: bool) -> Iterator[Change]:
    """Yield what says that a normalization is by the mean and variance of what it takes.

    Before operator set 7 ``is_test`` says that it is not, from then on that there is one output,
    and since 14 ``training_mode``.
    """
    schema = find_schema(norm.domain, norm.op_type, norm.opset_version)
    if schema is None:
        return
    wrong: list[tuple[str, object, object]] = []
    for name, wanted in _INFERENCE.items():
        stated = norm.attributes.get(name)
        declared = schema.attributes.get(name)
        if stated is None and declared is None:
            continue
        value = stated.value if stated is not None else declared.default if declared else None
        if value != wanted or (stated is not None and stated.reference):
            wrong.append((f"attribute {name}", value, wanted))
    outputs = sum(value is not None for value in norm.outputs)
    if outputs > 1:
        wrong.append(("number of outputs", outputs, 1))
    for what, *sides in wrong:  # what was folded is as if it were stated so
        one, other = sides if is_left else sides[::-1]
        yield Change(f"{what} of BatchNormalization", one, other)


def _compare_summands(pair: Pair, left: Node, right: Node) -> Iterator[Change]:
    """Yield what one convolution adds to what it gives, where the other side adds nothing."""
    sides = ((left, pair.left), (right, pair.right))
    added = [
        takes_summand(node) or any(each.operator.has("adds") for each in nodes)
        for node, nodes in sides
    ]
    if added[0] != added[1]:
        one, other = ("yes" if each else "no" for each in added)
        yield Change("sum with another value", one, other)


def has_other_numbers(left: Node, right: Node) -> bool:
    """Return whether of two convolutions one has weights or a bias that the other has not.

    Then what stood behind it was put into them: else it is gone, or was put there.
    """
    if not _is_convolution(left) or not _is_convolution(right):
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
    convolutions = [node for node in nodes if _is_convolution(node)]
    norms = [node for node in nodes if node.operator.form == "BatchNormalization"]
    if len(convolutions) != 1 or len(norms) > 1:
        return None
    # what else multiplies or adds is not calculated
    for node in nodes:
        operator = node.operator
        if operator.has("multiplies_elements") or (operator.has("adds") and _adds_constant(node)):
            return None
    return convolutions[0], norms[0] if norms else None


def _is_convolution(node: Node) -> bool:
    """Return whether a node is a convolution on floats."""
    return node.operator.form == "Conv" and not node.operator.is_quantized


def _adds_constant(node: Node) -> bool:
    return any(value is not None and find_stored_tensor(value) is not None for value in node.inputs)


def _list_tensors(node: Node, places: range) -> list[Tensor | None]:
    values = [node.input(place) for place in places]
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
        len(node.inputs) <= 2 or node.input(2) is None or tensors[1] is not None
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
    # what these are the rounded sum of may be much larger than they are
    size_of_bias = np.abs(bias * factor) + np.abs(mean * factor) + np.abs(shift)
    given = _read(made).reshape(made.dims)
    given_bias = _read(other[1]) if other[1] is not None else np.zeros(channels)
    least = _find_least(made)
    sizes = np.abs(wanted).reshape(channels, -1).max(axis=1, initial=0.0)
    error = max(
        _measure(wanted, given, sizes, least),
        _measure(wanted_bias, given_bias, size_of_bias, least),
    )
    is_half = any(t.dtype.bits is not None and t.dtype.bits < 32 for t in used)
    is_equal = error <= (_EQUAL_IN_HALF if is_half else _EQUAL)
    return Fold(error, is_equal, None if is_equal else _find_factor(wanted, given), (*used,))


def _read(tensor: Tensor) -> Numbers:
    return np.asarray(tensor.numpy()).astype(np.float64).reshape(-1)


def _find_least(tensor: Tensor) -> float:
    """Return the smallest number that a tensor holds with all its digits."""
    is_narrow = tensor.dtype.name == "float16"
    return float(np.finfo(np.float16 if is_narrow else np.float32).tiny)


def _measure(wanted: Numbers, given: Numbers, sizes: Numbers, least: float) -> float:
    """Return the largest difference as a share of the size of its channel; infinite for NaN."""
    apart = np.abs(wanted - given).reshape(len(sizes), -1).max(axis=1, initial=0.0)
    if not np.isfinite(apart).all() or not np.isfinite(sizes).all():
        return float("inf")
    return float((apart / np.maximum(sizes, least)).max(initial=0.0))


def _find_factor(wanted: Numbers, given: Numbers) -> float | None:
    ratios = (given / wanted)[wanted != 0]
    ratios = ratios[np.isfinite(ratios)]
    if not ratios.size:
        return None
    middle = float(np.median(ratios))
    share = float(np.mean(np.abs(ratios - middle) <= _NEAR * abs(middle)))
    is_telling = share >= _LEAST_SHARE and abs(middle - 1) > _NEAR
    return middle if is_telling else None
