"""Activations, as operators and as they are written out."""

from __future__ import annotations

import math
from collections.abc import Iterator

from netloupe.explorer.model import Node, Value

from .dice import find_dice
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations
from .readings import read_float, read_scalar, read_str
from .squared_relu import find_squared

#: operators that are activations, and how the field writes them
ACTIVATIONS = {
    "BiasGelu": "GELU",
    "Celu": "CELU",
    "Elu": "ELU",
    "FastGelu": "GELU (tanh)",
    "Gelu": "GELU",
    "HardSigmoid": "HardSigmoid",
    "HardSwish": "HardSwish",
    "LeakyRelu": "LeakyReLU",
    "LogSoftmax": "LogSoftmax",
    "Mish": "Mish",
    "PRelu": "PReLU",
    "QuickGelu": "quick GELU",
    "Relu": "ReLU",
    "Selu": "SELU",
    "Sigmoid": "Sigmoid",
    "Softmax": "Softmax",
    "Softplus": "Softplus",
    "Softsign": "Softsign",
    "Swish": "SiLU",
    "Tanh": "tanh",
    "ThresholdedRelu": "ThresholdedReLU",
}
#: the factor of x inside of the sigmoid, where an operator does not state it
_USUAL_FACTORS = {"QuickGelu": 1.702, "Swish": 1.0}
#: what the logistic function is scaled by in the approximation of GELU
_QUICK = 1.702
#: numbers in a narrow type are rounded by less
_ROUNDING = 1e-3
_MOST_STEPS = 12


def find_activations(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find activations.

    * GELU: x·Φ(x) by erf, and its approximations by tanh and by x·σ(1.702x) (D. Hendrycks and
      K. Gimpel, Gaussian Error Linear Units, 2016, section 2).
    * SiLU: x·σ(x) (S. Elfwing and others, 2017, equation 3).
    * HardSwish: x·ReLU6(x + 3)/6, and HardSigmoid without the x (A. Howard and others, Searching
      for MobileNetV3, 2019, section 5.2).
    * Mish: x·tanh(softplus(x)) (D. Misra, 2019, equation 1).
    * Shifted softplus: softplus(x) − ln 2 (K. Schütt and others, SchNet, 2017, section 3).
    * Dice: x·p + α·x·(1 − p) with p = σ(BatchNorm(x)) (G. Zhou and others, Deep Interest Network
      for Click-Through Rate Prediction, 2018, equation 10).
    * Sine: sin(ω·x) of what a linear layer gives (V. Sitzmann and others, Implicit Neural
      Representations with Periodic Activation Functions, 2020, equation 12).
    """
    return _find_all(blocks, with_numbers=True)


def find_activations_by_form(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find activations as :func:`find_activations` does, a GELU whatever its numbers are.

    Two models are compared block by block, and that then tells in which numbers these differ.
    """
    return _find_all(blocks, with_numbers=False)


def _find_all(blocks: FoundBlocks, *, with_numbers: bool) -> Iterator[FoundBlock]:
    operations = blocks.operations
    for number, kind in enumerate(operations.kinds):
        found = None
        if kind in ("Erf", "Tanh"):
            found = _find_gelu(operations, number, with_numbers) or _find_mish(operations, number)
        elif kind in ("Sigmoid", "HardSigmoid"):
            found = _find_gated(operations, number) or find_dice(blocks, number)
        elif kind == "Clip":
            found = _find_hard(operations, number)
        elif kind == "Softplus":
            found = _find_soft(operations, number)
        elif kind == "Sin":
            found = _find_sine(blocks, number)
        elif kind == "Relu":
            found = find_squared(operations, number)
        if found is not None:
            yield found
    for number, kind in enumerate(operations.kinds):
        if kind in ACTIVATIONS and blocks.owner[number] is None:
            name = _name_operator(operations.nodes[number], kind)
            yield FoundBlock("activation", name, frozenset({number}), number)
        elif kind == "Clip" and blocks.owner[number] is None and _is_six(operations, number):
            yield FoundBlock("activation", "ReLU6", frozenset({number}), number)


def spell_as_operator(operations: Operations, found: FoundBlock) -> FoundBlock:
    """Return an activation that is a single operator under the name that this operator has.

    A group of nothing but a Relu stands beside the node in another model, or within it, and both
    are then called Relu. Blocks of several operators have the field's names: ``Conv · ReLU``.
    """
    if found.kind != "activation" or len(found.numbers) != 1:
        return found
    kind = operations.kinds[found.end]
    if kind not in ACTIVATIONS:
        return found
    return found._replace(name=kind, facts=("tanh",) if found.name == "GELU (tanh)" else ())


def _make(name: str, numbers: set[int], end: int) -> FoundBlock:
    return FoundBlock("activation", name, frozenset(numbers), end)


def _find_gelu(operations: Operations, anchor: int, with_numbers: bool) -> FoundBlock | None:
    """Find x·½·(1 + f(x)) around f, the error function or tanh, with these numbers or others."""
    before, start = _walk_to_start(operations, anchor)
    if start is None:
        return None
    is_tanh = operations.kinds[anchor] == "Tanh"
    if is_tanh and not any(_is_cube(operations, number, before) for number in before):
        return None
    if not all(_is_divided(operations, number) for number in before):
        return None
    factor = None if is_tanh else _read_factor(operations, before)
    if with_numbers and not _is_about(factor, math.sqrt(0.5)):
        return None
    plus = operations.only_user(anchor)
    if plus is None or operations.kinds[plus] != "Add" or len(operations.operands[plus]) != 1:
        return None
    numbers = {anchor, *before, plus}
    end, seen, is_halved = plus, False, False
    for _ in range(3):
        user = operations.only_user(end)
        if user is None or operations.kinds[user] not in ("Mul", "Div"):
            break
        others = [v for v in operations.operands[user] if operations.giver(v) != end]
        if others:
            half = operations.given_by(others[0], "Mul", "Div")
            if others[0] is start and not seen:
                pass
            elif (
                half is not None
                and not seen
                and operations.operands[half] == [start]
                and operations.only_user(half) == user
            ):
                numbers.add(half)
                is_halved = _is_about(operations.scalar(half), 0.5, 2.0)
            else:
                break
            seen = True
        elif is_halved or not operations.fixed(user):
            break
        elif with_numbers and not _is_about(operations.scalar(user), 0.5, 2.0):
            return None  # another number in its place
        else:
            is_halved = True
        numbers.add(user)
        end = user
    # half of it may be in the weights behind
    if not seen or not operations.is_closed(numbers, end):
        return None
    return _make("GELU (tanh)" if is_tanh else "GELU", numbers, end)


def _is_divided(operations: Operations, number: int) -> bool:
    """Return whether what a quotient or difference begins with is computed: x / √2, not √2 / x."""
    first = operations.nodes[number].input(0)
    return operations.kinds[number] not in ("Div", "Sub") or not operations.is_fixed(first)


def _read_factor(operations: Operations, numbers: set[int]) -> float | None:
    """Return what products and quotients multiply a value by; None where some is not known."""
    factor = 1.0
    for number in numbers:
        scalar = operations.scalar(number)
        if scalar is None or operations.kinds[number] not in ("Div", "Mul"):
            return None
        if operations.kinds[number] == "Mul":
            factor *= scalar
        elif scalar:
            factor /= scalar
    return factor


def _is_about(number: float | None, *wanted: float) -> bool:
    """Return whether a number, which may be rounded, is one of some; what is not known may be."""
    return number is None or any(abs(number / one - 1) < _ROUNDING for one in wanted)


def _walk_to_start(operations: Operations, anchor: int) -> tuple[set[int], Value | None]:
    """Return what leads to a function from the one value that it is of."""
    numbers: set[int] = set()
    pending = [*operations.operands[anchor]]
    starts: dict[Value, None] = {}
    while pending and len(numbers) < _MOST_STEPS:
        value = pending.pop()
        giver = operations.given_by(value, "Add", "Div", "Mul", "Pow")
        inside = {anchor, *numbers}
        if giver in numbers:
            continue
        if giver is None or not inside.issuperset(operations.users[giver]):
            starts[value] = None
            continue
        is_shift = operations.kinds[giver] == "Add" and len(operations.operands[giver]) == 1
        if is_shift and operations.scalar(giver) != 1.0:  # as 1 + 0.044715x² has it
            starts[value] = None  # the bias of what comes before
            continue
        numbers.add(giver)
        pending += operations.operands[giver]
    # what is used again further down is met as a start first
    found = [
        value
        for value in starts
        if (giver := operations.giver(value)) is None or giver not in numbers
    ]
    return (numbers, found[0]) if len(found) == 1 and not pending else (numbers, None)


def _is_cube(operations: Operations, number: int, among: set[int]) -> bool:
    kind = operations.kinds[number]
    if kind == "Pow":
        return operations.scalar(number) in (3.0, None)
    if kind != "Mul":
        return False
    taken = operations.operands[number]
    if len(taken) != 2:
        return False
    squares = [operations.given_by(value, "Mul", "Pow") for value in taken]
    return any(square is not None and square in among for square in squares) or taken[0] is taken[1]


def _find_mish(operations: Operations, tanh: int) -> FoundBlock | None:
    taken = operations.operands[tanh]
    soft = operations.given_by(taken[0], "Softplus") if len(taken) == 1 else None
    product = operations.only_user(tanh)
    if soft is None or product is None or operations.kinds[product] != "Mul":
        return None
    if operations.only_user(soft) != tanh:
        return None
    if operations.operands[soft][0] not in operations.operands[product]:
        return None
    return _make("Mish", {soft, tanh, product}, product)


def _find_soft(operations: Operations, soft: int) -> FoundBlock | None:
    """Find softplus(x) that stays x where that is large, and what is taken off softplus."""
    users = {user for user in operations.users[soft] if user >= 0}
    chosen = users.pop() if len(users) == 1 else None
    if chosen is None or operations.kinds[chosen] != "Where":
        return _find_shifted(operations, soft, {soft})
    start = operations.operands[soft][0]
    compared = operations.operands[chosen][0]
    greater = operations.given_by(compared, "Greater")
    if greater is None or operations.operands[greater] != [start]:
        return None
    if operations.only_user(greater) != chosen or operations.only_user(soft) != chosen:
        return None
    if operations.operands[chosen][1:2] != [start] or len(operations.operands[chosen]) <= 2:
        return None
    numbers = {soft, greater, chosen}
    return _find_shifted(operations, chosen, numbers) or _make("Softplus", numbers, chosen)


def _find_shifted(operations: Operations, soft: int, numbers: set[int]) -> FoundBlock | None:
    shift = operations.only_user(soft)
    if shift is None or operations.kinds[shift] not in ("Add", "Sub"):
        return None
    if len(operations.operands[shift]) != 1 or operations.is_fixed(
        operations.nodes[shift].input(0)
    ):
        return None
    number = operations.scalar(shift)
    wanted = math.log(2) if operations.kinds[shift] == "Sub" else -math.log(2)
    if number is None or not _is_about(number, wanted):
        return None
    return _make("shifted softplus", {*numbers, shift}, shift)


def _find_sine(blocks: FoundBlocks, sine: int) -> FoundBlock | None:
    """Find sin(ω·x) of a linear layer, where no cosine is taken of the same."""
    operations = blocks.operations
    (angle,) = operations.operands[sine] if len(operations.operands[sine]) == 1 else (None,)
    giver = operations.giver(angle) if angle is not None else None
    numbers = {sine}
    if giver is not None and operations.kinds[giver] == "Mul":
        if operations.scalar(giver) is None or operations.only_user(giver) != sine:
            return None
        numbers.add(giver)
        giver = operations.giver(operations.operands[giver][0])
    if blocks.ending(giver, "linear") is None or giver is None:
        return None
    is_alone = numbers.issuperset(operations.users[giver])
    return _make("sine", numbers, sine) if is_alone else None


def _find_gated(operations: Operations, gate: int) -> FoundBlock | None:
    """Find x times a squashed x."""
    product = operations.only_user(gate)
    if product is None or operations.kinds[product] != "Mul":
        return None
    start = operations.operands[gate][0] if operations.operands[gate] else None
    if len(operations.operands[product]) != 2 or start is None:
        return None
    # where both take a quantized value, what makes numbers of it for one may stand outside
    outer = start.producer if operations.giver(start) is None else None
    quantized = (
        outer.input(0) if outer is not None and outer.op_type == "DequantizeLinear" else None
    )
    if start in operations.operands[product] or quantized in operations.operands[product]:
        name = "SiLU" if operations.kinds[gate] == "Sigmoid" else "HardSwish"
        return _make(name, {gate, product}, product)
    scaled = operations.given_by(start, "Mul")
    if scaled is None or operations.only_user(scaled) != gate:
        return None
    taken = operations.operands[scaled]
    if len(taken) != 1 or taken[0] not in operations.operands[product]:
        return None
    return _make(_name_swish(operations.scalar(scaled)), {scaled, gate, product}, product)


def _name_operator(node: Node, kind: str) -> str:
    """Return what the field calls an operator that is an activation, by its attributes, too."""
    if kind == "Gelu" and read_str(node, "approximate") == "tanh":
        return "GELU (tanh)"
    if kind in _USUAL_FACTORS:
        factor = read_float(node, "alpha")
        return _name_swish(_USUAL_FACTORS[kind] if factor is None else factor)
    return ACTIVATIONS[kind]


def _name_swish(factor: float | None) -> str:
    """Return what ``x · sigmoid(factor · x)`` is called.

    With a factor of 1 it is SiLU, with 1.702 an approximation of GELU (D. Hendrycks and K. Gimpel,
    Gaussian Error Linear Units, 2016, section 2); else Swish (P. Ramachandran and others, Searching
    for Activation Functions, 2017, section 4).
    """
    if factor is None:
        return "Swish"
    if factor == 1:
        return "SiLU"
    return "quick GELU" if abs(factor - _QUICK) < 0.01 else "Swish"


def _find_hard(operations: Operations, clip: int) -> FoundBlock | None:
    """Find ReLU6(x + 3) / 6, perhaps times x."""
    plus = (
        operations.given_by(operations.operands[clip][0], "Add")
        if operations.operands[clip]
        else None
    )
    if plus is None or len(operations.operands[plus]) != 1 or operations.scalar(plus) != 3.0:
        return None
    if not _is_six(operations, clip) or operations.only_user(plus) != clip:
        return None
    start = operations.operands[plus][0]
    numbers, end, divided, multiplied = {plus, clip}, clip, False, False
    for _ in range(2):
        user = operations.only_user(end)
        if user is None or operations.kinds[user] not in ("Div", "Mul"):
            break
        taken = operations.operands[user]
        if len(taken) == 2 and start in taken and not multiplied:
            multiplied = True
        elif len(taken) == 1 and not divided:
            divided = True
        else:
            break
        numbers.add(user)
        end = user
    if not divided:
        return None
    return _make("HardSwish" if multiplied else "HardSigmoid", numbers, end)


def _is_six(operations: Operations, clip: int) -> bool:
    """Return whether a Clip is to 0 … 6."""
    node = operations.nodes[clip]
    limits = []
    for place, name in ((1, "min"), (2, "max")):
        attribute = node.attributes.get(name)
        if attribute is not None and isinstance(attribute.value, (int, float)):
            limits.append(float(attribute.value))
        else:
            limits.append(_read(node.input(place)))
    return limits == [0.0, 6.0]


def _read(value: Value | None) -> float:
    found = read_scalar(value)
    return float("nan") if found is None else found
