"""What stands on a node's box where only facts are wanted: what a paper would print of it."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.grouping.shared_tables import tell_shared_table
from netloupe.explorer.model import Node
from netloupe.explorer.model.stored_tensors import find_stored_tensor
from netloupe.explorer.notation import write_number
from netloupe.explorer.patterns import Recognition, read_numbers, read_scalar, recognise
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.convolutions import describe_convolution
from netloupe.explorer.patterns.readings import read_ints
from netloupe.explorer.roles import Weight, find_weight
from netloupe.explorer.view.item import ConstantRow

from .box import MARGIN, MOST_FACTS_WIDTH
from .operator_words import tell_settings, tell_stored_operand
from .quantized_operators import list_computed_with, name_computed
from .rows import FaceRow, describe_attributes, describe_constants
from .size_words import tell_sizes
from .sizes import TEXT_STYLES
from .text import measure_text

#: the domain of operators that hold what was fitted to data in attributes
_FITTED = "ai.onnx.ml"
#: of the constants of a node without a weight so many are shown
_MOST_CONSTANTS = 2
#: a constant of so many elements may be one number, written for each example
_MOST_REPEATED = 4096
#: kinds of weights by which figures name an operator
_NAMED_KINDS = frozenset({"embedding", "linear", "normalization"})
#: how a node is written that computes with one number
_SIGNS = {"adds": "+", "subtracts": "−", "multiplies_elements": "×", "divides": "÷"}
_POWERS = {0.5: "√x", 2.0: "x²", 3.0: "x³"}
_IN_ORDER = {"−", "÷"}
_OPPOSITE = {"+": "−", "−": "+"}


class NodeFacts:
    """Tells the facts of nodes; nodes alike are looked at once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Recognition | None] = {}

    def name(self, node: Node) -> str:
        """Return what figures call an operator: ``Linear``, ``Embedding``, ``LayerNorm``.

        So groups of such a node alone are called. Operators without a weight of these kinds have
        their own names, or of what they do with quantized numbers.
        """
        weight = find_weight(node)
        if weight is None or weight.kind not in _NAMED_KINDS or node.function is not None:
            return name_computed(node)
        found = self._find(node, weight)
        return name_computed(node) if found is None else found.name

    def list_blocks(self, node: Node, constants: Sequence[ConstantRow]) -> list[list[FaceRow]]:
        """Return the rows on a node's box.

        One with kernel and widths for a node with a weight, which a click on it selects (none,
        where there is nothing to say, as of a norm); for a norm of learned tokens their size; for
        an operator that the field calls otherwise that name; for what was fitted to data how many
        trees, classes and the like there are; kernel and stride of a pool, as of a convolution;
        which part is taken, and what a number does (``× 8``); for all others one with the
        attributes, and the first constants. Scales and zero points of an operator on quantized
        numbers are not among them.
        """
        constants = list_computed_with(node, constants)
        told = _tell(node)
        if not told:
            told = _break_lines(tell_settings(node) or tell_sizes(node) or _tell_pool(node))
        if told:
            return [[FaceRow(line, "muted", ()) for line in told]]
        weight = find_weight(node)
        is_stored = weight is not None and weight.kind != "ml"
        found = self._find(node, weight) if weight is not None and is_stored else None
        if weight is not None and found is not None:
            facts = (*found.facts, *filter(None, [tell_shared_table([node])]))
            # the row stands for the weight where that is the first of the constants
            stands = bool(constants) and constants[0].index == weight.index
            return [[FaceRow(" · ".join(facts), "muted", (), stands)]] if facts else []
        number = tell_number(node) or tell_stored_operand(node)
        if number is not None:
            text, place = number
            stands = bool(constants) and constants[0].index == place
            return [[FaceRow(text, "muted", (), stands)]]
        if weight is not None and weight.kind == "normalization":
            # scale and shift are no news of a norm; what it is given may be learned
            return [describe_constants(node, [row for row in constants if row.index == 0])]
        rows = describe_constants(node, constants)
        if len(rows) > _MOST_CONSTANTS + 1:
            more = len(constants) - _MOST_CONSTANTS
            rows = [*rows[:_MOST_CONSTANTS], FaceRow(f"… {more} more", "muted", ())]
        return [_join(describe_attributes(node)) + rows]

    def _find(self, node: Node, weight: Weight) -> Recognition | None:
        """Return what a node with a weight is; None where it is of no known kind."""
        attributes = tuple((name, _sign(one.value)) for name, one in node.attributes.items())
        operator = node.domain, node.op_type, node.opset_version, len(node.inputs)
        # of what does not depend on the input nothing is told
        fixed = tuple(value is None or is_input_independent(value) for value in node.inputs)
        key = (*operator, weight.kind, weight.dims, attributes, fixed)
        if key not in self._known:
            self._known[key] = recognise([node])
        return self._known[key]


def _tell_pool(node: Node) -> tuple[str, ...]:
    """Return ``2×2`` and ``/2`` of what pools by a kernel; nothing for others.

    One whose kernel is all there is takes the largest over time, say (Y. Kim, Convolutional Neural
    Networks for Sentence Classification, 2014, section 2). A kernel may reach further where sizes
    are rounded up, as they are for classifiers of pictures of several sizes.
    """
    kernel = read_ints(node, "kernel_shape")
    if not kernel or not node.operator.has("pools"):
        return ()
    facts = find_value_facts(node.graph.model)
    places = (facts.find_dims(node.input(0)) or ())[-len(kernel) :]
    sizes = tuple(size for size in places if isinstance(size, int))
    strides = read_ints(node, "strides") or (1,)
    dilation = max(read_ints(node, "dilations") or (1,))
    is_whole = (
        len(sizes) == len(kernel)
        and all(0 < size <= reached for size, reached in zip(sizes, kernel, strict=True))
        and (sizes == kernel or dilation == 1)
    )
    if is_whole and not any(read_ints(node, "pads")) and max(kernel) > 1:
        return (f"over all {' × '.join(f'{size:,}' for size in sizes)} places",)
    stride = strides[0] if len({*strides}) == 1 else strides
    return describe_convolution(
        ConvolutionDetails(
            kernel=kernel,
            stride=stride if max(strides) > 1 else None,
            dilation=dilation if dilation > 1 else None,
        )
    )


def tell_number(node: Node) -> tuple[str, int] | None:
    """Return what a node does with a single number and its place: ``× 8``, ``1 − x``; else None."""
    power = read_scalar(node.input(1)) if node.operator.has("takes_power") else None
    if power is not None:
        return _POWERS.get(power, f"x^{write_number(power)}".replace("-", "−")), 1
    sign = next((sign for trait, sign in _SIGNS.items() if node.operator.has(trait)), "")
    if node.operator.form == "Max":
        sign = "≥"
    elif node.operator.form == "Min":
        sign = "≤"
    if not sign or len(node.inputs) != 2 or describe_attributes(node):
        return None
    numbers = [read_scalar(value) for value in node.inputs]
    if numbers == [None, None]:
        numbers = [_read_repeated(node, place) for place in range(2)]
    place = 0 if numbers[1] is None else 1
    number = numbers[place]
    if number is None:
        return None
    text = write_number(abs(number)).replace("-", "−")
    if place == 0 and sign in _IN_ORDER:
        return f"{'−' if number < 0 else ''}{text} {sign} x", place
    if number < 0 and sign in _OPPOSITE:
        return f"{_OPPOSITE[sign]} {text}", place
    return f"{sign} {'−' if number < 0 else ''}{text}", place


def _read_repeated(node: Node, place: int) -> float | None:
    """Return the number that all elements of a constant are, which has none for each channel."""
    value = node.inputs[place]
    tensor = find_stored_tensor(value) if value is not None else None
    if tensor is None or not 1 < tensor.size <= _MOST_REPEATED:
        return None
    stream = find_value_facts(node.graph.model).find_dims(node.inputs[1 - place])
    if stream is None or any(dim > 1 for dim in tensor.dims[-(len(stream) - 1) :][: len(stream)]):
        return None
    numbers = {*read_numbers(tensor, _MOST_REPEATED)}
    return numbers.pop() if len(numbers) == 1 else None


def _tell(node: Node) -> list[str]:
    """Return what is said of an operator whose attributes are too many, or have other names.

    What moves pixels the field calls otherwise.
    """
    is_named = node.operator.has("moves_pixels")
    if not is_named and node.domain != _FITTED:
        return []
    found = recognise([node])
    if found is None:
        return []
    return [found.text] if is_named else _break_lines(found.facts)


def _break_lines(facts: Sequence[str]) -> list[str]:
    """Return facts in as many lines as they need; none is cut while a line has room for it."""
    lines: list[str] = []
    for fact in facts:
        longer = f"{lines[-1]} · {fact}" if lines else fact
        if lines and not _is_too_wide(longer):
            lines[-1] = longer
        else:
            lines.append(fact)
    return lines


def _sign(value: object) -> object:
    """Return what tells values of attributes apart: themselves, or which object they are."""
    return value if isinstance(value, int | float | str | bytes | tuple) else id(value)


def _join(rows: Sequence[FaceRow]) -> list[FaceRow]:
    """Return rows of attributes as one, as many of them as fit."""
    texts = [" ".join((row.name, *(text for text, _ in row.pieces))) for row in rows]
    shown = list(texts)
    while len(shown) > 1 and _is_too_wide(_write(shown, len(texts))):
        shown.pop()
    return [FaceRow(_write(shown, len(texts)), "muted", ())] if shown else []


def _write(shown: Sequence[str], count: int) -> str:
    return " · ".join(shown) + (" …" if len(shown) < count else "")


def _is_too_wide(text: str) -> bool:
    return measure_text(text, *TEXT_STYLES["muted"]) > MOST_FACTS_WIDTH - 2 * MARGIN
