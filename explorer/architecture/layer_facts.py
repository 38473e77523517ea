"""What is so of all layers of a transformer: heads, widths, norms, masks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from netloupe.explorer.model import Value
from netloupe.explorer.operators import ARRANGING_TRAITS, MASKING_TRAITS
from netloupe.explorer.patterns import BlockDetails, Detail, count_queries, read_dims
from netloupe.explorer.patterns.operations import Operations
from netloupe.explorer.patterns.transformer_details import (
    AttentionDetails,
    ExpertsDetails,
    MlpDetails,
)

from .layer_words import write_attention, write_feeding, write_sight
from .layers import Layer, Stack, find_stream, find_sum
from .outline import Outline, OutlinePart
from .sizes import list_matrices, read_stated_shape
from .sketch import BlockSketch

_MOST_OF_MASK = 300
#: layers that attend along more axes in turn are not told
_MOST_ALONG = 3
#: what attention is called where its kind is not known
_NAMELESS = frozenset({"", "Attention", "Cross-attention"})
#: and how what it says begins of queries, keys and scores that are made in a way of their own
_MARKS = (
    *("convolutional projections", "keys ", "query pooled", "spatial reduction"),
    "talking heads",
)
#: and how it says along which axis of a map it goes
_ALONG = ("across chunks", "along ", "within chunks")
_NORMS = frozenset({"adaptive norm", "norm"})
_WEIGHTED = frozenset({"conv", "excitation", "inverted", "linear", "mixer", "recurrent"})
_WEIGHTED_WHOLES = _WEIGHTED | {"experts", "mlp", "residual", "separable"}


def describe_layers(outline: Outline, layers: Sequence[Layer]) -> dict[str, Detail]:
    """Return what is so of every one of some layers: heads, widths, norms, activation."""
    facts = [_describe_layer(outline, layer) for layer in layers]
    shared = _list_shared(facts)
    if "attention" not in shared:
        mixture = _write_mixture(facts)
        if mixture:
            shared["mixture"] = mixture
    if "feeding" not in shared and all("feeding" in one for one in facts):
        told = [f"{number} with {write_feeding(a)}" for number, a in _list_kinds(facts, "feeding")]
        shared["feedings"] = " and ".join(told)
        mixed = [one for one in facts if "experts" in one]
        shared |= {
            key: value
            for key, value in (_list_shared(mixed) if mixed else {}).items()
            if key in ("experts", "top", "shared_experts")
        }
    if "marks" not in shared and (marks := _write_marks(facts)):
        shared["marks"] = marks
    if "along" not in shared and (along := _write_along(facts)):
        shared["along"] = along
    if "window" not in shared:
        windows = _write_windows([one.get("window", 0) for one in facts])
        if windows:
            shared["windows"] = windows
    if len(layers) > 2:
        weights = [list_matrices(outline, layer.parts) for layer in layers]
        own = len({*weights})
        if all(weights) and own < len(weights):
            in_turn = all(one == weights[place % own] for place, one in enumerate(weights))
            shared |= {"shared": True if own == 1 else own} if in_turn else {}
            if in_turn and own > 1 and len(layers) % own == 0:
                shared["turns"] = len(layers) // own
            if not in_turn:
                shared["used_again"] = own
    return shared


def _list_shared(facts: Sequence[Mapping[str, Detail]]) -> dict[str, Detail]:
    """Return what is so of all of some layers."""
    return {
        key: value for key, value in facts[0].items() if all(one.get(key) == value for one in facts)
    }


def _list_kinds(
    facts: Sequence[Mapping[str, Detail]], key: str
) -> list[tuple[int, dict[str, Detail]]]:
    """Return for each value of a fact how many layers have it, and what is so of all of them."""
    names = dict.fromkeys(one[key] for one in facts)
    kinds = [[one for one in facts if one[key] == name] for name in names]
    return [(len(kind), _list_shared(kind)) for kind in kinds]


def _write_mixture(facts: Sequence[Mapping[str, Detail]]) -> str:
    """Return how many layers have which attention, in turn where that repeats; "" for unknown."""
    names = [one.get("attention") for one in facts]
    if not all(isinstance(name, str) and name not in _NAMELESS for name in names):
        return ""  # of one that has no better name it is not known whether it is another
    count = len(names)
    repeating = (
        length
        for length in range(2, count // 2 + 1)
        if all(name == names[place % length] for place, name in enumerate(names))
    )
    period = next(repeating, 0)
    runs = [(str(name), len([*run])) for name, run in groupby(names[:period])]
    if not runs:
        runs = [(str(name), number) for name, number in Counter(names).items()]
    seen = {key: value for key, value in _list_shared(facts).items() if key in ("causal", "past")}
    alike = {str(one["attention"]): one for _, one in _list_kinds(facts, "attention")}
    told = []
    for name, number in runs:
        words = {key: value for key, value in alike[name].items() if key not in seen}
        told.append(f"{number} with {write_attention(words)}")
    sight = ", ".join(write_sight(seen))
    kinds = " and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
    return f"{'in turn ' if period else ''}{kinds}{', all ' if sight else ''}{sight}"


def _write_marks(facts: Sequence[Mapping[str, Detail]]) -> str:
    """Return what most layers have of their own in their attention, by how much is not told."""
    names = [re.split(" /|,", str(one.get("marks", "")))[0] for one in facts]
    counts = Counter(name for name in names if name)
    if len(counts) != 1:
        return ""
    ((name, count),) = counts.items()
    return name if count == len(facts) else f"{name} in {count} of {len(facts)}"


def _write_along(facts: Sequence[Mapping[str, Detail]]) -> str:
    """Return along which axes layers attend, where they differ: ``4 along height, 4 along width``.

    In turn where the second begins again; nothing where that is not known of each.
    """
    told = [str(one.get("along", "")) for one in facts]
    kinds = [*dict.fromkeys(told)]
    if not all(told) or not 1 < len(kinds) <= _MOST_ALONG:
        return ""
    if all(one == kinds[place % len(kinds)] for place, one in enumerate(told)):
        return f"in turn {' and '.join(kinds)}" if len(kinds) == 2 else ""
    return ", ".join(f"{count} {kind}" for kind, count in Counter(told).items())


def _write_windows(windows: Sequence[Detail]) -> str:
    """Return in how many layers attention sees a window; of those that repeat where they do."""
    known = sorted({window for window in windows if isinstance(window, int) and window})
    if len(known) != 1:
        return ""
    count = len(windows)
    repeating = (
        length
        for length in range(2, count // 2 + 1)
        if all(window == windows[place % length] for place, window in enumerate(windows))
    )
    period = next(repeating, count)
    inside = sum(window == known[0] for window in windows[:period])
    return f"window {known[0]:,} in {inside} of {period}"


def _describe_layer(outline: Outline, layer: Layer) -> dict[str, Detail]:
    found: dict[str, Detail] = {}
    attentions = layer.attentions
    if attentions:
        first = attentions[0]
        found = _describe_attention(first.details.read_as(AttentionDetails))
        found["attention"] = first.name
        marks = [fact for fact in first.facts if fact.startswith(_MARKS) or fact == "shifted"]
        if marks:
            found["marks"] = ", ".join(marks)
        along = next((fact for fact in first.facts if fact.startswith(_ALONG)), "")
        if along:
            found["along"] = along
        queries = next((fact for fact in first.facts if count_queries([fact])), "")
        if queries:
            found["queries"] = queries
        if has_past(outline, first):
            found["past"] = True
    if len(attentions) == 2 and attentions[1].name == "Cross-attention":
        found["cross"] = True
        crossing = attentions[1].details.read_as(AttentionDetails)
        if crossing.deformable:
            found["deformable"] = True
        elif crossing.heads != found.get("heads"):
            found.pop("heads", None)
            found.pop("head_width", None)
    feeding = layer.feeding
    if feeding:
        fed = feeding[0]
        names = {(part.name, part.widths) for part in feeding}
        if fed.widths and len(names) == 1:
            found["widths"] = fed.widths
        found |= _describe_feeding(fed.details)
        found["feeding"] = fed.name
        if layer.shape == ("mlp", "attention", "mlp") and len(names) == 1:
            found["around"] = all(_is_halved(outline, part) for part in feeding)
        if len(attentions) == len(feeding) == 1:
            # where one takes from the other, a norm that adds only gives both the same sum
            is_after = fed.follows(attentions[0])
            if not is_after and outline.share_start(attentions[0], fed):
                found["parallel"] = True
    found |= _describe_norms(outline, layer)
    return found


def _is_halved(outline: Outline, part: OutlinePart) -> bool:
    """Return whether half of what a part gives is added to a stream.

    Y. Lu and others, Understanding and Improving Transformer From a Multi-Particle Dynamic System
    Point of View, 2019, section 4 (Macaron); A. Gulati and others, Conformer, 2020, section 2.4.
    """
    operations = outline.operations
    half = operations.only_user(part.end)
    return half is not None and any(
        operator.has(trait) and operations.scalar(half) == factor
        for operator in (operations.nodes[half].operator,)
        for trait, factor in (("multiplies_elements", 0.5), ("divides", 2.0))
    )


def _describe_attention(details: AttentionDetails) -> dict[str, Detail]:
    return _keep_known(
        heads=details.heads,
        head_width=details.head_width,
        kv_heads=details.kv_heads,
        latent=details.latent,
        landmarks=details.landmarks,
        causal=details.causal or None,
        positions=details.positions,
        window=details.window,
        side=details.side,
        rule=details.rule,
    )


def _describe_feeding(details: BlockDetails) -> dict[str, Detail]:
    """Return what is told of an MLP or of experts, besides widths."""
    experts = details.read_as(ExpertsDetails)
    return _keep_known(
        experts=experts.experts,
        top=experts.top,
        shared_experts=experts.shared_experts,
        unit=experts.unit,
        activation=details.read_as(MlpDetails).activation,
    )


def _keep_known(**facts: Detail | None) -> dict[str, Detail]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def _describe_norms(outline: Outline, layer: Layer) -> dict[str, Detail]:
    """Tell which norm there is and where it stands.

    Post-norm: what is added to a block's result is the value that the block takes, and the sum is
    normalized (A. Vaswani and others, 2017, section 3.1). Pre-norm: the block takes a norm of what
    is added (R. Xiong and others, On Layer Normalization in the Transformer Architecture, 2020,
    figure 1).
    """
    orders: set[str] = set()
    kinds: set[str] = set()
    for part in (*layer.attentions[:1], *layer.feeding[:1]):
        order, norm = _order_norm(outline, part)
        orders.add(order)
        if norm is not None:
            adaptive = "adaptive " if norm.kind == "adaptive norm" else ""
            kinds.add(adaptive + norm.name.rsplit(" ", 1)[-1])
    found: dict[str, Detail] = {}
    if len(orders) == 1 and len(kinds) == 1 and "" not in orders:
        found = {"order": orders.pop(), "norm": kinds.pop()}
    return found


def _order_norm(outline: Outline, part: OutlinePart) -> tuple[str, OutlinePart | None]:
    residual = find_sum(outline, part)
    if residual is None:
        return "", None
    behind = residual if residual.kind == "norm" else None
    if behind is None:
        users = [user for user in outline.users(residual) if user.kind == "norm"]
        is_only = len(outline.users(residual)) == 1
        behind = users[0] if users and is_only else None
    stream = find_stream(outline, part)
    before = _find_norm_before(outline, part)
    if before is not None and (before is not stream or not _adds_norm(outline, residual, before)):
        users = outline.users(part)
        is_normal = bool(users) and all(user.kind == "norm" for user in users)
        return ("pre-norm" if residual in users or not is_normal else "pre- and post-norm"), before
    if behind is not None and (stream is None or before is None or before is stream):
        # the stream itself is what the block takes
        return "post-norm", behind
    return "", None


def _adds_norm(outline: Outline, residual: OutlinePart, norm: OutlinePart) -> bool:
    """Return whether a residual sum adds what a norm gives, and not the sum that it is of.

    Norms that add give their sum besides.
    """
    results = outline.operations.nodes[norm.end].outputs[:1]
    return any(value in results for value in outline.operands(residual))


def _find_norm_before(outline: Outline, part: OutlinePart) -> OutlinePart | None:
    """Return the norm that a part takes its stream from, through padding and cutting of windows."""
    current = part
    for _ in range(12):
        values = outline.operands(current)
        givers = [outline.giver(value) for value in values]
        known = [giver for giver in givers if giver is not None]
        if not known:
            return None
        norm = next((giver for giver in known if giver.kind in _NORMS), None)
        if norm is not None:
            return norm
        passed = [giver for giver in known if giver.has(*ARRANGING_TRAITS)]
        if not passed:
            return None
        current = passed[0]
    return None


def has_past(outline: Outline, attention: OutlinePart) -> bool:
    """Return whether keys and values of earlier steps come in and are put before new ones."""
    for number in attention.numbers:
        node = outline.operations.nodes[number]
        operator = node.operator
        if operator.has("joins") and _is_input(node.input(0)):
            return True
        if operator.has("attends"):
            places = operator.operands.list_of("past", "past_key", "past_value")
            if any(_is_input(node.input(place)) for place in places):
                return True
    return False


def _is_input(value: Value | None) -> bool:
    return value is not None and value.producer is None and value.initializer is None


def sees_all(outline: Outline, attention: OutlinePart) -> bool:
    """Return whether it is plain that attention is not causal.

    Nothing is added to its scores but a bias of positions and a mask that a graph takes for each
    token; not a stored square that hides some or may, nor a mask of unknown form.
    """
    if attention.details.read_as(AttentionDetails).causal:
        return False
    operations = outline.operations
    inner = {number for part in attention.parts for number in part.numbers}
    for number in attention.numbers - inner:
        node = operations.nodes[number]
        values = node.inputs if node.operator.has(*MASKING_TRAITS) else ()
        if not all(_is_for_tokens(operations, value) for value in values):
            return False
        if node.operator.has("attends"):
            masks = [value for value in node.inputs[3:] if value is not None]
            if not all(_is_for_tokens(operations, value) for value in masks):
                return False
    return True


def _is_for_tokens(operations: Operations, value: Value | None) -> bool:
    """Return whether a mask is made of what a graph takes for each token, and of single numbers."""
    pending, seen = [value], 0
    while pending and seen < _MOST_OF_MASK:
        current = pending.pop()
        seen += 1
        if current is None:
            continue
        tensor = current.initializer
        node = current.producer
        if tensor is not None or (node is not None and not node.inputs):
            mask = operations.context.read_mask(current)
            dims = [dim for dim in read_dims(current) if dim > 1]
            if len(dims) > 1 and dims[-1] == dims[-2] and (mask is None or mask.is_odd):
                return False
            if mask is not None and mask.hides:
                return False
        elif node is None:
            shape = read_stated_shape(current)
            if shape is None or any(dim != 1 for dim in shape[1:-1]):
                return False
            if len(shape) == 2 and shape[0] == shape[1]:
                return False
        elif node.operator.has("masks"):
            return False
        elif node.operator.has(*_OF_MASKS):
            pending += node.inputs
    return True


#: of what masks are made with; at anything else the data begin
_OF_MASKS = (
    *(*ARRANGING_TRAITS, *MASKING_TRAITS),
    *("accumulates", "compares", "fills", "logical", "looks_up"),
)


def list_strays(outline: Outline, stack: Stack) -> list[OutlinePart]:
    """Return parts with weights between the layers of a stack that belong to none of them."""
    own = set(map(id, stack.parts))
    return [
        part
        for part in outline.parts
        if part.kind in _WEIGHTED_WHOLES
        and id(part) not in own
        and part.follows(stack.first)
        and stack.last.follows(part)
    ]


def sketch_blocks(
    outline: Outline, name: str, layers: Sequence[Layer], facts: Mapping[str, Detail]
) -> BlockSketch:
    """Return what is told of some layers as of blocks."""
    nodes = outline.nodes(part for layer in layers for part in layer.parts)
    return BlockSketch(name, len(layers), nodes, dict(facts))
