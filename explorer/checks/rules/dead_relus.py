"""A Relu that gives nothing but zeros, since what it takes never gets above 0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from netloupe.explorer.checks.known_ranges import KNOWN_RANGES
from netloupe.explorer.checks.operands import (
    find_only_user,
    find_output_channel_axis,
    is_operator,
    list_own_nodes,
    read_constant,
)
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Node, Tensor, Value
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_number

Numbers = npt.NDArray[np.float64]

#: what is not known to be bounded is taken to stay below this: pixels end at 255, and what layers
#: give one another is far smaller; of what may be negative too
_MOST_POSITIVE, _MOST_EITHER = 256.0, 1024.0
#: larger weights are not read for it
_MOST_READ = 2**24


def _find_dead(subject: Subject) -> Iterator[Occurrence]:
    for node in list_own_nodes(subject.graphs, "Relu") if subject.is_onnx else ():
        value = node.input(0)
        before = value.producer if value is not None else None
        if find_only_user(value) is not node or before is None:
            continue
        if is_operator(before, "BatchNormalization"):
            yield from _judge_norm(node, before)
        else:
            yield from _judge_product(node, before, subject)


def _judge_norm(relu: Node, norm: Node) -> Iterator[Occurrence]:
    """Yield channels that a norm multiplies by 0, and to which it adds nothing above 0."""
    scale, bias = (_read(norm.input(place)) for place in (1, 2))
    if scale is None or bias is None or scale.shape != bias.shape or not scale.size:
        return
    dead = (scale == 0) & (bias <= 0)
    if dead.any():
        yield _tell(relu, dead, f"{norm.label[:100]} multiplies by 0, and adds nothing above 0")


def _judge_product(relu: Node, before: Node, subject: Subject) -> Iterator[Occurrence]:
    """Yield channels whose bias is further below 0 than all products can reach."""
    product, bias_value = before, before.input(2)
    if is_operator(before, "Add"):
        sides = [before.input(place) for place in (0, 1)]
        makers = [value.producer if value is not None else None for value in sides]
        found = next((place for place in (0, 1) if is_operator(makers[place], "MatMul")), None)
        maker = None if found is None else makers[found]
        if found is None or maker is None or find_only_user(sides[found]) is not before:
            return
        product, bias_value = maker, sides[1 - found]
    if product.domain or not product.operator.has("convolves", "multiplies"):
        return
    tensor, bias = _find_tensor(product.input(1)), _read(bias_value)
    if tensor is None or bias is None or len(tensor.dims) < 2 or tensor.size > _MOST_READ:
        return
    axis = find_output_channel_axis(product, len(tensor.dims))
    bias = bias.reshape(-1)
    if axis is None or bias.size != tensor.dims[axis] or not bias.size or not (bias < 0).any():
        return
    least, most, words = _find_range(product.input(0))
    facts = subject.numbers.facts.get(tensor)
    depth = tensor.size // bias.size
    # of weights that are all as usual the sum of magnitudes is near this; only then they are read
    if facts is None or -float(bias.min()) < facts.rms * depth * most / 4:
        return
    weight = _read(product.input(1), _MOST_READ)
    if weight is None:
        return
    rows = np.moveaxis(weight, axis, 0).reshape(bias.size, -1)
    with np.errstate(all="ignore"):
        highest = np.where(rows > 0, rows * most, rows * least).sum(axis=1) + bias
    dead = highest <= 0
    if dead.any():
        lowest = int(np.where(dead, bias, np.inf).argmin())
        message = f"the bias of {product.label[:100]} is {write_number(bias[lowest])}, and {words}"
        yield _tell(relu, dead, message)


def _find_range(value: Value | None) -> tuple[float, float, str]:
    """Return between what numbers a value lies, and how that is known."""
    node = value.producer if value is not None else None
    known = KNOWN_RANGES.get(node.operator.form) if node is not None else None
    if node is not None and known is not None:
        least, most = known
        return least, most, f"what it takes is {node.op_type}'s, from {least:g} to {most:g}"
    if is_operator(node, "Relu"):
        far = f"what it takes, from 0 on, would have to be above {_MOST_POSITIVE:g}"
        return 0.0, _MOST_POSITIVE, far
    far = f"what it takes would have to be above {_MOST_EITHER:g} in magnitude"
    return -_MOST_EITHER, _MOST_EITHER, far


def _tell(relu: Node, dead: npt.NDArray[np.bool_], reason: str) -> Occurrence:
    count, is_all = int(np.count_nonzero(dead)), bool(dead.all())
    what = "all it gives is 0" if is_all else f"{count:,} of its {dead.size:,} channels are 0"
    return Occurrence(
        relu.path,
        f"{what}: {reason}",
        {"dead": count, "channels": int(dead.size), "first": int(dead.argmax())},
        "all" if is_all else "some",
        severity=None if is_all else "note",
    )


def _find_tensor(value: Value | None) -> Tensor | None:
    return find_stored_tensor(value) if value is not None else None


def _read(value: Value | None, most: int = 2**20) -> Numbers | None:
    found = read_constant(value, most)
    return None if found is None else _widen(found)


def _widen(found: npt.NDArray[Any]) -> Numbers | None:
    if found.dtype.kind not in "fV":
        return None
    with np.errstate(all="ignore"):
        return np.asarray(found.astype(np.float64))


RULES = (
    Rule(
        "NL-N12",
        "dead-relu",
        "warning",
        "A Relu that gives nothing but zeros",
        "All behind it is the same for every input: another layer's bias was loaded, or training "
        "has pushed the channels where no gradient reaches them.",
        "Compare the bias with that of the checkpoint; prune channels that are dead for good.",
        "L. Lu and others, Dying ReLU and Initialization, 2019 (arXiv:1903.06733); practice",
        _find_dead,
        reads_values=True,
    ),
)
