"""What a piece of preparation does, where its nodes and what they feed leave no doubt.

* attention mask: all that it gives is added to scores before a Softmax, or chosen there, or is the
  mask of a fused operator. *Causal* where positions are compared with positions, or a triangle is
  cut; *padding* where the elements of an input of two axes tell what is left out.
* ALiBi: positions times a slope for each head, added to the scores (O. Press and others, Train
  Short, Test Long, 2022, section 3).
* position ids: numbers counted by Range or CumSum that choose rows of a table.
* rotary cos/sin: cosine and sine of the same angles, each a factor (J. Su and others, RoFormer,
  2021, section 3.4).
* sinusoidal embedding: cosine and sine of the same angles side by side (A. Vaswani and others,
  Attention Is All You Need, 2017, section 3.5).
* relative position bias: see :mod:`netloupe.explorer.roles.unlearned`; also what is looked up in a
  table, and added to scores, where the difference of places with themselves tells the row (Z. Liu
  and others, Swin Transformer, 2021, section 3.2). *Attention bias* where something else does.
* initial state: what recurrent operators begin with.
* pixel normalization: shifting and scaling an image before the first convolution.
* positional encoding: sines and cosines of an input times several frequencies, side by side (B.
  Mildenhall and others, NeRF, 2020, section 5.1).
* learned tokens: stored vectors, given to each element of a batch: class tokens, queries, latents;
  also a sum of such, as a class token with its position.
* position embedding: a stored table that is made as large as a map, and added to that (A.
  Dosovitskiy and others, An Image Is Worth 16x16 Words, 2021, section 3.2).
* feature tokenizer: a vector for each number, which it is multiplied with, and another that is
  added (Y. Gorishniy and others, Revisiting Deep Learning Models for Tabular Data, 2021,
  section 3.3).
* sampling grid: places at which something is sampled.
* mask: truth values of what comes in, which tell where a computed value is replaced by a number.
* ends of edges: see :mod:`netloupe.explorer.roles.edge_ends`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from math import prod

from netloupe.explorer.dataflow import is_input_independent, is_of_shapes
from netloupe.explorer.model import Graph, Node, TensorType, Value
from netloupe.explorer.operators import ARITHMETIC_TRAITS, HANDING_TRAITS, PASSING_TRAITS

from .edge_ends import find_edge_ends
from .masks import RELATIVE_BIAS, find_mask, list_mask_facts, masks_scores
from .origins import find_origin
from .position_indices import COUNTING_TRAITS, comes_from_range_or_cumsum
from .preparation_pieces import PreparationNodes, PreparationUse, Purpose, list_places
from .unlearned import is_relative_bias
from .weights import find_weight

_LAYOUT = ("joins", *PASSING_TRAITS)
_BOTH = "cosine and sine"
_MOST_STEPS = 16
_MOST_LOOKED = 40
_MOST_USES = 200
#: batch, features, height, width
_RANK_OF_MAPS = 4
#: what is computed, and the number in its place where a mask says so
_CHOSEN = ("then", "else")
MASKED = "mask"


def find_purpose(graph: Graph, shapes: Container[int], nodes: Sequence[int]) -> Purpose | None:
    """Return what some nodes of preparation do; None where that is not certain.

    Parameters
    ----------
    graph
        The graph.
    shapes
        Indices of the nodes that only compute with shapes.
    nodes
        Indices of the nodes of preparation.
    """
    piece = PreparationNodes(graph, shapes, nodes)
    for search in (
        _find_relative_bias,
        _find_rotary,
        find_mask,
        _find_positions,
        _find_state,
        _find_pixels,
        _find_encoding,
        _find_tokens,
        _find_resized,
        _find_tokenizer,
        _find_grid,
        find_edge_ends,
        _find_choice,
    ):
        purpose = search(piece)
        if purpose is not None:
            return purpose
    return None


def _find_relative_bias(piece: PreparationNodes) -> Purpose | None:
    for node in piece.nodes:
        is_table = node.operator.form == "Gather" and find_weight(node) is not None
        if is_table and is_relative_bias(node):
            return Purpose(RELATIVE_BIAS, list_mask_facts(piece))
    return None


def _find_rotary(piece: PreparationNodes) -> Purpose | None:
    if "takes_sine" not in piece.traits or not piece.uses:
        return None
    given = dict.fromkeys(use.value for use in piece.uses)
    functions = {_trace_function(value) for value in given}
    if len(functions) == 2 and "" not in functions:
        is_factor = all(_is_factor(use) for use in piece.uses[:_MOST_USES])
        return Purpose("rotary cos/sin") if is_factor else None
    joined = {_trace_function(value, joins=True) for value in given}
    return Purpose("sinusoidal embedding") if joined == {_BOTH} else None


def _trace_function(value: Value, *, joins: bool = False) -> str:
    """Return ``Cos`` or ``Sin`` where a value is such, in some layout and perhaps scaled.

    With ``joins`` a Concat of one of each counts as both.
    """
    node = value.producer
    for _ in range(_MOST_STEPS):
        if node is None:
            return ""
        operator = node.operator
        if operator.has("takes_sine"):
            return operator.form
        if operator.has("joins") and joins:
            parts = [_trace_function(v) for v in node.inputs if v is not None]
            return _BOTH if len(parts) == 2 == len({*parts} - {""}) else ""
        data = node.input(0)
        if operator.has("multiplies_elements"):
            computed = [v for v in node.inputs if v is not None and not is_input_independent(v)]
            data = computed[0] if len(computed) == 1 else None
        elif not operator.has(*_LAYOUT):
            return ""
        node = data.producer if data is not None else None
    return ""


def _is_factor(use: PreparationUse) -> bool:
    """Return whether a use multiplies by a value, after a change of layout perhaps."""
    pending = [use.user]
    looked = 0
    while pending:
        user = pending.pop()
        looked += 1
        operator = user.operator
        if operator.has(*_LAYOUT) and looked < _MOST_LOOKED:
            following = [u for value in user.outputs if value is not None for u in value.users]
            if not following:
                return False
            pending += following
        elif not operator.has("multiplies_elements") and operator.operands.find("cos") is None:
            return False
    return True


def _find_positions(piece: PreparationNodes) -> Purpose | None:
    uses = [use for use in piece.uses[:_MOST_USES] if not _passes(use.value)]
    if piece.traits.isdisjoint(COUNTING_TRAITS) or not all(
        comes_from_range_or_cumsum(use.value) for use in uses
    ):
        return None
    tables = [use for use in uses if use.user.operator.form == "Gather"]
    if any(list_places(use) != {1} or find_weight(use.user) is None for use in tables):
        return None
    # a mask, or angles, may be made of the same numbers
    plain = ("adds", "multiplies_elements", "subtracts", *COUNTING_TRAITS, *_LAYOUT)
    is_plain = all(node.operator.has(*plain) or _tells_size(node) for node in piece.nodes)
    return Purpose("position ids") if uses and (tables or is_plain) else None


def _passes(value: Value) -> bool:
    """Return whether a value is a size, or an input as it was given: what positions begin with."""
    node = value.producer
    if node is None or _tells_size(node):
        return node is not None
    given = [operand for operand in node.inputs if operand is not None]
    return node.operator.has(*_LAYOUT) and len(given) == 1 and given[0].is_input


def _tells_size(node: Node) -> bool:
    """Return whether a node gives a shape, or chooses from one."""
    sizes = node.input(0) if node.operator.has("looks_up", "picks") else None
    if sizes is not None:
        chosen = sizes.producer
        return chosen is not None and chosen.operator.has("reads_shape")
    return node.operator.has("reads_shape")


def _find_state(piece: PreparationNodes) -> Purpose | None:
    uses = piece.uses
    if len(uses) <= _MOST_LOOKED:  # one state for all layers is cut into one for each
        uses = [inner for use in uses for inner in _list_uses_of_slices(use)]
    for use in uses:
        states = use.user.operator.operands.list_of("initial_state", "initial_cell")
        if not list_places(use) <= {*states}:
            return None
    return Purpose("initial state") if uses else None


def _list_uses_of_slices(use: PreparationUse) -> list[PreparationUse]:
    """Return the uses of what is cut out of a value; of another use, itself."""
    if not use.user.operator.has("picks") or use.user.input(0) is not use.value:
        return [use]
    results = [value for value in use.user.outputs if value is not None]
    return [PreparationUse(value, user) for value in results for user in value.users] or [use]


def _find_pixels(piece: PreparationNodes) -> Purpose | None:
    inputs = piece.list_inputs()
    plain = ("repeats", *ARITHMETIC_TRAITS, *HANDING_TRAITS)
    is_plain = all(node.operator.has(*plain) for node in piece.nodes)
    if len(inputs) != 1 or not is_plain or not piece.uses:
        return None
    shape = inputs[0].type.shape if isinstance(inputs[0].type, TensorType) else None
    if shape is None or len(shape) not in (3, 4):
        return None
    shifting = [node for node in piece.nodes if node.operator.has(*ARITHMETIC_TRAITS)]
    if not shifting or not all(
        any(v is not None and is_input_independent(v) for v in node.inputs) for node in shifting
    ):
        return None
    weights = [find_weight(use.user) for use in piece.uses]
    if all(weight is not None and weight.kind == "convolution" for weight in weights):
        return Purpose("pixel normalization")
    return None


def _find_encoding(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece puts sines and cosines of what comes in side by side."""
    given = [*dict.fromkeys(use.value for use in piece.uses)]
    if not given or len(given) > _MOST_LOOKED or "takes_sine" not in piece.traits:
        return None
    values: Sequence[Value | None] = given
    joining = given[0].producer if len(given) == 1 else None
    if joining is not None and joining.operator.has("joins"):
        values = joining.inputs[:_MOST_LOOKED]
    elif len({use.user for use in piece.uses}) > 1 or not piece.uses[0].user.operator.has("joins"):
        return None
    parts = Counter(_trace_function(value) for value in values if value is not None)
    plain = ("joins", "repeats", "takes_sine", *ARITHMETIC_TRAITS, *HANDING_TRAITS)
    if parts["Sin"] != parts["Cos"] or parts["Sin"] < 2 or parts[""] > 1:
        return None
    if not all(inner.operator.has(*plain) for inner in piece.nodes):
        return None
    # where they are joined inside, the whole is recognised by itself
    facts = () if len(given) == 1 else (f"{parts['Sin']} frequencies",)
    return Purpose("positional encoding", facts, is_idea=True)


def _find_tokens(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece gives stored vectors several times, for each element of a batch."""
    counts: set[int | None] = set()
    for value in dict.fromkeys(use.value for use in piece.uses):
        node = value.producer
        repeated = node.input(0) if node is not None and node.operator.has("repeats") else None
        dims = _find_stored_dims(repeated)
        if not dims or dims[-1] is None or dims[-1] < 2:
            return None
        before = [dim for dim in dims[:-1] if dim is not None]
        counts.add(prod(before) if len(before) == len(dims) - 1 else None)
    if len(counts) != 1 or (count := counts.pop()) is None:
        return None
    name = "learned token" if count == 1 else f"{count:,} learned tokens"
    return Purpose(name, is_idea=True)


def _find_stored_dims(value: Value | None) -> tuple[int | None, ...] | None:
    """Return the sizes of stored numbers, of a part of them or of a sum of several; else None."""
    node = value.producer if value is not None else None
    if node is not None and node.operator.has("adds"):
        sizes = {_find_stored_dims(operand) for operand in node.inputs}
        return sizes.pop() if len(sizes) == 1 else None
    if node is not None and node.operator.has("slices") and _find_stored_dims(node.input(0)):
        return _read_type(value)
    origin = find_origin(value) if value is not None else None
    tensor = origin.tensor if origin is not None else None
    return origin.dims if origin and tensor is not None and tensor.dtype.is_float else None


def _read_type(value: Value | None) -> tuple[int | None, ...] | None:
    """Return the sizes that a file states for a value."""
    shape = value.type.shape if value is not None and isinstance(value.type, TensorType) else None
    sizes = [dim.value for dim in shape or ()]
    return tuple(size if isinstance(size, int) else None for size in sizes) or None


def _find_resized(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece makes a stored table as large as the map that it is added to."""
    resizing = [node for node in piece.nodes if node.operator.has("resamples")]
    if len(resizing) != 1 or not piece.uses:
        return None
    if not all(use.user.operator.has("adds") and not masks_scores(use) for use in piece.uses):
        return None
    if not all(_only_hands_on(node) for node in piece.nodes if node is not resizing[0]):
        return None
    dims = _find_stored_dims(resizing[0].input(0))
    if dims is None or len(dims) != _RANK_OF_MAPS or None in dims:
        return None
    return Purpose("position embedding", (f"resized from {dims[2]} × {dims[3]}",), is_idea=True)


def _only_hands_on(node: Node) -> bool:
    """Return whether a node gives elements as they are, or computes sizes."""
    return node.operator.has("repeats", "reads_shape", *_LAYOUT) or all(
        value is not None and is_of_shapes(value) for value in node.outputs
    )


def _find_tokenizer(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece makes a vector of each of several numbers."""
    inputs = piece.list_inputs()
    scaling = [node for node in piece.nodes if node.operator.has("multiplies_elements")]
    shifting = [node for node in piece.nodes if node.operator.has("adds")]
    plain = ("repeats", *ARITHMETIC_TRAITS, *HANDING_TRAITS)
    if len(inputs) != 1 or len(scaling) != 1 or len(shifting) > 1:
        return None
    if not all(node.operator.has(*plain) for node in piece.nodes):
        return None
    shape = inputs[0].type.shape if isinstance(inputs[0].type, TensorType) else None
    stored = [origin for value in scaling[0].inputs if value and (origin := find_origin(value))]
    dims = stored[0].dims if len(stored) == 1 else None
    if shape is None or len(shape) != 2 or not dims or len(dims) < 2:
        return None
    features, width = dims[-2:]
    if features != shape[1].value or features in (None, 1) or width in (None, 1):
        return None
    return Purpose("feature tokenizer", (f"{features} numbers to {width} each",), is_idea=True)


def _find_grid(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece tells at which places something is sampled."""
    for use in piece.uses:
        operator = use.user.operator
        if not operator.has("samples") or list_places(use) != {*operator.operands.list_of("grid")}:
            return None
    return Purpose("sampling grid") if piece.uses else None


def _find_choice(piece: PreparationNodes) -> Purpose | None:
    """Return whether a piece tells where a number stands in the place of what is computed."""
    for use in piece.uses:
        operator, chosen = use.user.operator, use.user.inputs[1:]
        if not operator.has("chooses") or list_places(use) != {0} or len(chosen) != len(_CHOSEN):
            return None
        if [value is not None and is_input_independent(value) for value in chosen].count(True) != 1:
            return None
    is_told = not piece.traits.isdisjoint(("compares", "logical"))
    return Purpose(MASKED) if piece.uses and is_told and piece.list_inputs() else None
