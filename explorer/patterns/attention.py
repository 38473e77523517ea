"""Attention: fused operators, and what exporters write out."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.costs.value_facts import find_value_facts

from .attended_axes import find_attended_axis
from .attended_windows import find_windows
from .attention_cores import (
    find_scores,
    find_second_product,
    find_value_operand,
    mixes_heads,
)
from .attention_extent import add_convolved, add_feeders, add_projections
from .attention_forms import (
    add_pointwise_projections,
    find_gate,
    has_latents,
    read_latent,
    write_queries,
)
from .attention_heads import count_heads, list_attended, read_fused, read_stated_window
from .attention_scores import (
    has_linear_biases,
    is_causal,
    is_relative,
    is_rotary,
    read_masked_window,
)
from .attention_sources import (
    find_uncut,
    is_class_attention,
    name_by_sources,
    trace_projection,
)
from .attention_streams import (
    ASKS_ONCE,
    Form,
    compares_directions,
    count_compared,
    find_common_form,
    read_channel_heads,
    write_forms,
)
from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .operations import Operations, list_data
from .position_scores import are_of_distances, find_position_scores
from .projected_places import ProjectedPlaces, find_projected_places
from .readings import read_str
from .routings import read_routing
from .score_axes import find_compared_axis, find_summed_axis
from .transformer_details import CLASS_ATTENTION, AttentionDetails

#: of LinearAttention: how the state takes up a token, where that is not by a sum alone
_UPDATE_RULES = {"gated": "gated", "delta": "delta rule", "gated_delta": "gated delta rule"}
#: what gives LinearAttention its decay and rate, of projections of their own, and what mixes each
#: channel with those before it
_BEFORE_STATES = frozenset({"CausalConvWithState", "Exp", "Log", "Sigmoid", "Softplus"})
#: how the fact begins that keys are fewer than the places that they are made of
KEYS = "keys"
#: what attention is called of which queries and keys are of one value
_OF_ONE_VALUE = frozenset({"Grouped-query attention", "Multi-query attention", "Self-attention"})


def find_attentions(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find softmax(q·kᵀ/√d + mask)·v with its projections (A. Vaswani and others, 2017, 3.2).

    Self-attention takes q, k and v from one value, cross-attention k and v from another one than
    q. In grouped-query attention several heads of q share one of k and v (J. Ainslie and others,
    GQA, 2023, figure 2). Places of an image may attend to those of the same window alone (Z. Liu
    and others, Swin Transformer, 2021, section 3.2), and channels to one another over all places
    (M. Ding and others, DaViT, 2022, equation 4). Fused operators are com.microsoft's
    ``Attention``, ``MultiHeadAttention``, ``GroupQueryAttention`` and others, ``Attention`` of
    opset 23, and
    ``LinearAttention`` of opset 27, which has a state in place of scores (A. Katharopoulos and
    others, Transformers are RNNs, 2020; S. Yang and others, Gated Delta Networks, 2024).
    """
    operations = blocks.operations

    def is_taken(number: int) -> bool:
        return blocks.holding(number, "attention") is not None

    for number, kind in enumerate(operations.kinds):
        if operations.nodes[number].operator.has("attends"):
            core: set[int] = {number}
            end = number
            scores: list[int] = []
        elif kind == "Softmax":
            found = find_scores(operations, number, is_taken)
            if found is None or read_routing(operations, number) is not None:
                continue
            core, end, scores = found
        else:
            continue
        if any(map(is_taken, core)):
            continue
        yield _complete(blocks, core, end, scores, number)


def _complete(
    blocks: FoundBlocks, core: set[int], end: int, scores: list[int], anchor: int
) -> FoundBlock:
    """Add the projections before and behind a core, and tell what it is."""
    operations = blocks.operations
    is_linear = operations.nodes[anchor].operator.has("attends_linearly")
    by_positions = find_position_scores(operations, scores)
    core |= by_positions
    for number in [*core]:
        mixing = blocks.ending(number, "linear") or blocks.holding(number, "linear")
        if mixing is not None and mixes_heads(operations, number):
            core |= mixing.numbers
    add_pointwise_projections(blocks, core, end)
    gate, end = find_gate(blocks, end)
    whole = core | gate
    projections = add_projections(blocks, whole, _BEFORE_STATES if is_linear else frozenset())
    convolved = add_convolved(blocks, whole, projections)
    add_feeders(blocks, core, whole)
    last = _find_last(blocks, end)
    if last is not None:
        whole |= last.numbers
        end = last.end
    windows = find_windows(operations, whole, end)
    joining = _find_last(blocks, windows.end) if windows is not None and last is None else None
    if windows is not None and joining is not None:  # once windows are put together again
        last = joining
        windows.numbers |= last.numbers
        windows.end = last.end
    facts: list[str] = []
    forms: tuple[Form, Form] | None = None
    rule, positions = "", ""
    node = operations.nodes[anchor]
    if scores:
        product = list_data(operations.nodes[scores[-1]])[:2]
        sources = [trace_projection(blocks, value, whole) for value in product]
        behind = operations.nodes[find_second_product(operations, anchor)]
        sources.append(
            trace_projection(blocks, find_value_operand(operations, behind, core), whole)
        )
        given = last.details.read_as(FeatureDetails).in_features if last is not None else None
        heads, width, shared = count_heads(operations, scores[-1], sources, given or 0)
        is_masked = any(is_causal(operations, n) for n in core)
        found = [source for source, _ in sources]
        is_projected = any(projection for _, projection in sources)
        if not is_projected:
            found = [find_uncut(operations, source) for source in found]
        name, forms = name_by_sources(operations, found, is_projected=is_projected)
        of_channels = read_channel_heads(operations, scores[-1], given or 0)
        if of_channels is not None and name == "Self-attention":
            forms = None
            is_covariance = compares_directions(blocks, whole)
            name = "Cross-covariance attention" if is_covariance else "Channel self-attention"
            heads, width = of_channels
            shared = 0
    else:
        inputs = list_attended(node)
        sources = [trace_projection(blocks, value, whole) for value in inputs]
        if is_linear or gate:  # without those of its decay, rate and gate
            found_ones = [projection for _, projection in sources if projection is not None]
            projections = list({id(one): one for one in found_ones}.values())
        heads, width, shared, is_masked = read_fused(operations, anchor, projections)
        found = [source for source, _ in sources]
        # the operator projects one value itself, or takes what one projection gives
        name = "Self-attention"
        if len(inputs) > 1:
            name, forms = name_by_sources(operations, found)
        if is_linear:
            name = "Linear attention"
            rule = _UPDATE_RULES.get(read_str(node, "update_rule") or "gated_delta", "")
            if rule:
                facts.append(rule)
            is_masked = True  # the state holds nothing of what comes later
    projected = _find_projected(operations, scores, anchor) if name == "Self-attention" else None
    if projected is not None:
        shared = 1 if projected.is_one_head else shared
        _add_projection(blocks, projected, whole)
    if shared > heads or (shared and heads % shared):  # each key is shared by as many queries
        shared = 0
    latent = read_latent(blocks, sources, whole)
    if latent and name == "Self-attention":
        name = "Latent attention"
    else:
        latent = 0
    if heads and shared and shared != heads:
        name = name.replace("Self-attention", "Grouped-query attention")
        if shared == 1:
            name = name.replace("Grouped-query", "Multi-query")
    is_windowed = windows is not None and name == "Self-attention"
    if windows is not None:
        whole |= windows.numbers
        end = windows.end
        if is_windowed:
            name = windows.name
            facts += windows.facts
    if heads:
        text = f"{heads} heads" if heads > 1 else "1 head"
        if width:
            text += f" × {width}"
        if shared and shared != heads:
            text += f" over {shared}"
        facts.append(text)
    if scores and windows is None and name in _OF_ONE_VALUE:
        along = find_attended_axis(operations, operations.nodes[scores[-1]])
        facts += [along] if along else []
    if projected is not None:
        facts.append(f"{KEYS} {projected.taken:,} → {projected.given:,}")
    if any(mixes_heads(operations, number) for number in core):
        facts.append("talking heads")
    reduction = 0
    if name in ("Cross-attention", "Self-attention"):
        counts = count_compared(operations, scores[-1]) if scores else (0, 0)
        told = ""
        if forms is not None:
            compared = list_data(operations.nodes[scores[-1]])[:2] if scores else []
            # what pools behind the projections is looked through where sources are looked for
            whole_forms = find_common_form(operations, *compared) if len(compared) == 2 else None
            forms = whole_forms or forms
            told, reduction = write_forms(forms, counts)
        is_cut = told == ASKS_ONCE and name == "Self-attention"  # and not of another stream
        is_asking = is_cut or (counts[0] == 1 and not told)
        form = forms[0] if is_cut and forms is not None else None
        if is_asking and is_class_attention(operations, found[0], found[1], form):
            name, told = CLASS_ATTENTION, ""
        facts += [told] if told else []
    if convolved:
        facts.append(f"convolutional projections {'×'.join(map(str, convolved))}")
    if latent:
        facts.append(f"latent {latent}")
    if scores and name != CLASS_ATTENTION and has_latents(operations, scores[-1]):
        name = "Cross-attention"
        facts += write_queries(operations, scores[-1])
    if is_rotary(operations, whole, anchor):
        facts.append("rotary")
        positions = "rotary"
    elif are_of_distances(operations, by_positions) or any(
        is_relative(operations, n) for n in scores
    ):
        facts.append("relative positions")
        positions = "relative"
    elif scores and any(has_linear_biases(operations, n) for n in scores):
        facts.append("ALiBi")
        positions = "ALiBi"
    if is_masked:
        facts.append("causal")
    window = max([read_stated_window(node), *(read_masked_window(operations, n) for n in core)])
    if window:
        facts.append(f"window {window}")
    details = AttentionDetails(
        rule=rule or None,
        latent=latent or None,
        heads=heads or None,
        head_width=width if heads and width else None,
        kv_heads=shared if heads and shared and shared != heads else None,
        positions=positions or None,
        causal=is_masked,
        window=window or None,
        reduction=reduction or None,
        side=windows.part.side if windows is not None and is_windowed else None,
        shifted=windows is not None and is_windowed and windows.shifted,
        attention=name,
    )
    return FoundBlock("attention", name, frozenset(whole), end, tuple(facts), details)


def _find_projected(
    operations: Operations, scores: list[int], anchor: int
) -> ProjectedPlaces | None:
    """Return how keys that are the values, too, are projected along a sequence of all queries.

    Where each are projected by a weight of their own another pattern tells it.
    """
    if not scores:
        return None
    product = operations.nodes[scores[-1]]
    found = find_projected_places(operations, product.input(1), find_compared_axis(product, 1))
    axis, value = find_compared_axis(product, 0), product.input(0)
    dims = find_value_facts(operations.context.graph.model).find_dims(value)
    if found is None or axis is None or not dims or dims[axis] != found.taken:
        return None
    behind = operations.nodes[find_second_product(operations, anchor)]
    values = find_projected_places(operations, behind.input(1), find_summed_axis(behind, 1))
    return found if values is not None and values.node is found.node else None


def _add_projection(blocks: FoundBlocks, projected: ProjectedPlaces, whole: set[int]) -> None:
    """Add what projects along the sequence, and the layer before it, where nothing else uses it."""
    operations = blocks.operations
    pending = [operations.giver(value) for value in projected.node.outputs[:1] if value is not None]
    pending.append(operations.giver(operations.source(projected.value)))
    for number in pending:
        if number is None or not whole.issuperset(operations.users[number]):
            return
        layer = blocks.owner[number]
        whole |= layer.numbers if layer is not None and layer.kind == "linear" else {number}


def _find_last(blocks: FoundBlocks, end: int) -> FoundBlock | None:
    """Return the layer that alone takes what an operation gives, but for what is kept of it."""
    users = blocks.operations.takers(end)  # what a fused operator keeps goes outside
    last = blocks.holding(users[0] if users else None, "linear")
    return last if last is not None and last.numbers.issuperset(users) else None
