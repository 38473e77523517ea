"""Transformers: which family the stacks of a graph make, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Value
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail, read_convolution
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.readings import read_ints
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .averaged_heads import read_averaged_heads
from .layer_facts import describe_layers, list_strays, sees_all, sketch_blocks
from .layer_words import (
    in_brackets,
    list_sizes,
    read_head,
    read_tokens,
    write_blocks,
    write_layers,
    write_sizes,
)
from .layers import Layer, Stack, find_stacks
from .mixed_stages import find_mixed_stages, sketch_mixed, write_mixed
from .outline import MAIN_KINDS, Outline, OutlinePart
from .sizes import count_box_tables, find_head, find_patch, find_token_tables
from .sketch import BlockSketch, Sketch, write_row, write_way
from .two_stacks import tell_encoder_decoder, tell_two_towers

#: kinds of block with one depthwise convolution
_SEPARABLE = frozenset({"inverted", "separable"})
#: kinds of block that are whole without attention
_CONVOLUTIONAL = frozenset({"inverted", "residual"})
#: a stack of fewer layers is one block among others
_LEAST_LAYERS = 2
#: so many convolutions that make places more again are a decoder
_LEAST_OF_DECODER = 3


def find_transformer(outline: Outline) -> Sketch | None:
    """Tell which family of transformers a graph is; None where it has no stack of layers."""
    stacks = [stack for stack in find_stacks(outline) if stack.attentions]
    if not stacks or sum(len(stack.layers) for stack in stacks) < _LEAST_LAYERS:
        return None
    for rule in (tell_two_towers, tell_encoder_decoder, _tell_single):
        found = rule(outline, stacks)
        if found is not None:
            return found
    return None


def _tell_single(outline: Outline, stacks: list[Stack]) -> Sketch | None:
    """Tell a network of one stack by what it takes and by whether tokens see those behind them.

    * decoder-only: all attention is causal, and tokens or their embeddings go in (A. Radford and
      others, Improving Language Understanding by Generative Pre-Training, 2018, figure 1);
    * encoder-only: tokens, and all attention sees all (J. Devlin and others, BERT, 2019);
    * vision transformer: patches of an image (A. Dosovitskiy and others, An Image is Worth 16×16
      Words, 2021, figure 1), hierarchical where layers become wider;
    * speech encoder: what one-dimensional convolutions make of a wave (A. Baevski and others,
      wav2vec 2.0, 2020, figure 1); with half an MLP on both sides and a depthwise convolution a
      Conformer (A. Gulati and others, Conformer, 2020, figure 1).
    """
    if len(stacks) != 1:
        return None
    stack = stacks[0]
    if not stack.is_plain:
        return _tell_conformer(outline, stack)
    stages = _list_stages(outline, stack.layers)
    strays = list_strays(outline, stack)
    tokens = [part for part in find_token_tables(outline) if stack.last.follows(part)]
    if len(stages) > 1:
        return _tell_hierarchical(outline, stack, stages, strays)
    if strays or (tokens and _is_convolved_behind(outline, stack)):
        return _tell_blocks_only(outline, stack)
    layer_facts = describe_layers(outline, stack.layers)
    behind = outline.parts[stack.last.place + 1 :]
    head = find_head(outline, behind)
    is_causal = all(part.details.read_as(AttentionDetails).causal for part in stack.attentions)
    is_seeing = all(sees_all(outline, part) for part in stack.attentions)
    before = [part for part in outline.main if part.place < stack.first.place]
    stem = [part for part in before if part.kind not in ("embedding",)]
    patch = find_patch(outline, stack.first.place)
    wave = [part for part in stem if part.kind == "conv" and len(part.kernel) == 1]
    facts: dict[str, Detail] = {}
    family, title = "", ""
    extra: list[str] = []
    told: list[str] = []
    behind_sizes: list[str] = []
    if tokens and len(stem) <= 1 and all(part.kind == "linear" for part in stem):
        if is_causal:
            family = _name_decoder(stack)
        elif is_seeing:
            family = "encoder-only transformer"
        if boxes := count_box_tables(outline, stack.first.place):
            behind_sizes.append(f"positions of boxes ({write_count(boxes, 'embedding')})")
    elif patch is not None and len(stem) == 1 and not tokens:
        family = "vision transformer"
        facts["patch"] = patch.kernel[0]
        extra.append(f"patches of {patch.kernel[0]} × {patch.kernel[0]}")
        averaged = read_averaged_heads(outline, behind) if head is None else 0
        if averaged:
            facts["outputs"] = averaged
            told.append("mean of two heads, of a class and a distillation token")
    elif len(wave) > 2 and wave[0].in_features == 1 and not tokens:
        family = "speech encoder"
        count = len(_list_feature_convolutions(outline, wave))
        extra.append(f"{write_count(count, 'convolution')} over the wave")
    if not family:
        return _tell_blocks_only(outline, stack)
    title = family[:1].upper() + family[1:]
    if "experts" in layer_facts:
        family += ", mixture of experts"
        title += ", mixture of experts"
    facts |= list_sizes(layer_facts)
    facts |= read_tokens(outline, tokens)
    facts |= read_head(head, facts)
    sizes = write_sizes(facts)
    if patch is not None and "outputs" in facts and _enlarges_behind(outline, stack):
        sizes[-1] = f"{write_count(int(str(facts['outputs'])), 'channel')} out"
    if patch is not None and _has_decoder(outline, stack):
        title += " with a convolutional decoder"
    blocks = [
        *_sketch_wave(
            outline, _list_feature_convolutions(outline, wave) if family == "speech encoder" else []
        ),
        sketch_blocks(outline, "transformer block", stack.layers, layer_facts),
    ]
    clause = write_blocks(len(stack.layers), "block", layer_facts)
    if family == "speech encoder":
        clause = clause.replace(" block", " transformer block", 1)
    return Sketch(
        family, title, (*extra, clause, *told, *sizes, *behind_sizes), tuple(blocks), facts
    )


def _is_convolved_behind(outline: Outline, stack: Stack) -> bool:
    """Return whether convolutions over several places stand behind layers, as a decoder of waves.

    J. Kim and others, Conditional Variational Autoencoder with Adversarial Learning for End-to-End
    Text-to-Speech, 2021, figure 1.
    """
    return any(
        part.kind in ("conv", *_CONVOLUTIONAL)
        and part.follows(stack.last)
        and max(part.kernel, default=0) > 1
        for part in outline.parts
    )


def _name_decoder(stack: Stack) -> str:
    """Return what a decoder is by what mixes its tokens: attention, states or both.

    O. Lieber and others, Jamba: A Hybrid Transformer-Mamba Language Model, 2024, figure 1.
    """
    states = sum(part.name == "Mamba-2" for part in stack.attentions)
    if not states:
        return "decoder-only transformer"
    return "state-space model" if states == len(stack.attentions) else "hybrid transformer-Mamba"


def _list_feature_convolutions(outline: Outline, wave: Sequence[OutlinePart]) -> list[OutlinePart]:
    """Return those convolutions of a wave that make its features; positions may be convolved, too.

    They are a chain, with nothing but norms and activations in it: around a convolution for
    positions goes what these are added to (A. Baevski and others, wav2vec 2.0, 2020, section 2).
    """
    found = [*wave[:1]]
    for part in wave[1:]:
        current: OutlinePart | None = found[-1]
        while current is not None and current is not part:
            current = outline.only_user(current)
            if current is not part and current is not None and current.kind in MAIN_KINDS:
                current = None
        if current is None:
            break
        found.append(part)
    return found


def _sketch_wave(outline: Outline, wave: Sequence[OutlinePart]) -> list[BlockSketch]:
    return [BlockSketch("convolution", len(wave), outline.nodes(wave))] if wave else []


def _tell_conformer(outline: Outline, stack: Stack) -> Sketch | None:
    layers = stack.layers
    if any(layer.shape != ("mlp", "attention", "mlp") for layer in layers):
        return _tell_blocks_only(outline, stack)
    convolutions: list[OutlinePart] = []
    for layer in layers:
        inside = [
            part
            for part in outline.main
            if layer.parts[1].place < part.place < layer.parts[2].place
        ]
        deep = [part for part in inside if _has_depthwise(outline, part)]
        if len(deep) != 1:
            return _tell_blocks_only(outline, stack)
        convolutions += inside
    layer_facts = describe_layers(outline, layers)
    kernels = {_read_deep_kernel(outline, part) for part in convolutions}
    kernels.discard(0)
    if len(kernels) == 1:
        layer_facts["kernel"] = kernels.pop()
    before = [part for part in outline.main if part.place < stack.first.place]
    wave = [part for part in before if part.kind == "conv" and len(part.kernel) == 1]
    facts = list_sizes(layer_facts)
    facts |= read_head(find_head(outline, outline.parts[stack.last.place + 1 :]), facts)
    over = len(wave) if wave and wave[0].in_features == 1 else 0
    blocks = (
        *_sketch_wave(outline, wave if over else []),
        BlockSketch(
            "Conformer block",
            len(layers),
            outline.nodes([*stack.parts, *convolutions]),
            dict(layer_facts),
        ),
    )
    clauses = (
        f"{write_count(over, 'convolution')} over the wave" if over else "",
        write_blocks(len(layers), "block", layer_facts),
        *write_sizes(facts),
    )
    return Sketch("Conformer", "Conformer", clauses, blocks, facts)


def _has_depthwise(outline: Outline, part: OutlinePart) -> bool:
    if part.kind == "conv":
        return part.is_depthwise
    return part.kind in _SEPARABLE or any(
        found.kind in _SEPARABLE or found.details.read_as(ConvolutionDetails).is_depthwise
        for found in part.parts
    )


def _read_deep_kernel(outline: Outline, part: OutlinePart) -> int:
    """Return the kernel of what convolves each channel of a part along one axis; 0 where unsure."""
    operations = outline.operations
    found = [
        read_convolution(operations, number)
        for number in part.numbers
        if operations.nodes[number].operator.has("convolves")
    ]
    deep = [one for one in found if one.is_depthwise and one.kernel != (1,)]
    return deep[0].kernel[0] if len(deep) == 1 and len(deep[0].kernel) == 1 else 0


def _enlarges_behind(outline: Outline, stack: Stack) -> bool:
    """Return whether maps become larger behind all layers."""
    return any(part.enlarges for part in outline.parts[stack.last.place + 1 :])


def _has_decoder(outline: Outline, stack: Stack) -> bool:
    """Return whether behind all layers there are several convolutions that make maps larger."""
    behind = outline.parts[stack.last.place + 1 :]
    convolutions = sum(part.kind in ("conv", "residual") for part in behind)
    return convolutions >= _LEAST_OF_DECODER and _enlarges_behind(outline, stack)


def _tell_decode_head(
    outline: Outline, stages: Sequence[Sequence[Layer]], widths: Sequence[int]
) -> str:
    """Return that what all stages give becomes as wide by a linear layer each, and is joined.

    E. Xie and others, SegFormer, 2021, section 3.2: all-MLP decoder.
    """
    ends = [stage[-1].parts[-1] for stage in stages]
    behind = outline.parts[max(end.place for end in ends) + 1 :]
    linear = [part for part in behind if part.kind == "linear" and part.in_features in widths]
    given = {part.out_features for part in linear}
    if sorted(part.in_features for part in linear) != [*widths] or len(given) != 1:
        return ""
    by_width = {part.in_features: part for part in linear}
    if not all(by_width[width].follows(end) for width, end in zip(widths, ends, strict=True)):
        return ""
    return f"decode head (a linear layer from each stage to {given.pop():,} features)"


def _tell_hierarchical(
    outline: Outline, stack: Stack, stages: list[list[Layer]], strays: list[OutlinePart]
) -> Sketch | None:
    """Tell a vision transformer whose stages become wider and smaller.

    Z. Liu and others, Swin Transformer, 2021, figure 3 (windows, patches merged by linear layers);
    E. Xie and others, SegFormer, 2021, figure 2 (patches merged by convolutions, keys and values
    of fewer places, depthwise convolutions in MLPs).
    """
    widths = [max(map(_width, stage)) for stage in stages]
    convolutions = [part for part in outline.of_kind("conv") if part.place < stack.first.place]
    first = convolutions[0] if convolutions else None
    is_image = first is not None and len(first.kernel) == 2 and 0 < first.in_features <= 4
    if not is_image or not all(widths) or sorted(widths) != widths:
        return _tell_blocks_only(outline, stack)
    inside = [(part.in_features, part.out_features) for part in strays]
    if any(given not in widths and taken not in widths for taken, given in inside):
        return _tell_blocks_only(outline, stack)
    mixed = find_mixed_stages(outline, stack, stages)
    if not mixed and _are_apart(stages, strays):
        return None  # a block is more than a layer
    before = [
        part for part in outline.of_kind("inverted", "residual") if part.place < stack.first.place
    ]
    if not mixed and len(before) > 1:
        return None  # stages of convolutions come first, which are to be told, too
    counts = [len(stage) for stage in mixed or stages]
    layer_facts = [describe_layers(outline, stage) for stage in stages]
    heads = [one.get("heads", 0) for one in layer_facts]
    shared = {
        key: value
        for key, value in layer_facts[0].items()
        if all(one.get(key) == value for one in layer_facts)
    }
    facts: dict[str, Detail] = {"stage_widths": tuple(widths), "stage_blocks": tuple(counts)}
    stage_heads = [head for head in heads if isinstance(head, int) and head]
    if len(stage_heads) == len(stages):
        facts["stage_heads"] = tuple(stage_heads)
    else:
        stage_heads = []
    starts = [0, *(_last_index(outline, layer) for layer in stack.layers[:-1])]
    windows = {
        _read_window(outline, layer, start)
        for layer, start in zip(stack.layers, starts, strict=True)
    }
    window = windows.pop() if len(windows) == 1 else 0
    patch = find_patch(outline, stack.first.place)
    if patch is not None:
        facts["patch"] = patch.kernel[0]
    facts |= read_head(find_head(outline, outline.parts[stack.last.place + 1 :]), facts)
    title = "Hierarchical vision transformer"
    if _has_decoder(outline, stack):
        title += " with a convolutional decoder"
    if window:
        shared.pop("side", None)  # which the title tells
    whole = describe_layers(outline, stack.layers)
    for key in ("marks",) if "attention" in shared else ("mixture",):
        if key in whole:
            shared[key] = whole[key]
    said = "; ".join(filter(None, (write_mixed(mixed), write_layers(shared))))
    clauses = [
        f"patches of {patch.kernel[0]} × {patch.kernel[0]}" if patch is not None else "",
        f"stages of {write_row(counts)} blocks{in_brackets(said)}",
        f"width {write_way(widths)}",
        f"heads {write_way(stage_heads)}" if len({*stage_heads}) > 1 else "",
        _tell_decode_head(outline, stages, widths),
    ]
    family = "hierarchical vision transformer"
    if window:
        title += f"{' and' if ' with ' in title else ' with'} windows of {window} × {window}"
        family = "windowed vision transformer"
        facts["window"] = window
    blocks = tuple(
        sketch_blocks(outline, "transformer block", stage, one)
        for stage, one in zip(stages, layer_facts, strict=True)
    )
    if mixed:
        blocks = sketch_mixed(outline, mixed)
    return Sketch(family, title, (*clauses, *write_sizes(facts)), blocks, facts)


def _are_apart(stages: Sequence[Sequence[Layer]], strays: Sequence[OutlinePart]) -> bool:
    """Return whether whole blocks of convolutions are between the layers of one stage."""
    places = [part.place for part in strays if part.kind in _CONVOLUTIONAL]
    spans = [(stage[0].parts[0].place, stage[-1].parts[-1].place) for stage in stages]
    return any(start < place < end for start, end in spans for place in places)


def _last_index(outline: Outline, layer: Layer) -> int:
    return max(node.index for node in outline.nodes(layer.parts))


def _read_window(outline: Outline, layer: Layer, start: int) -> int:
    """Return the side of the windows that a layer attends in; 0 where there are none.

    ``start`` is where the layer before ends in the file.

    Z. Liu and others, Swin Transformer, 2021, section 3.2: a Reshape to rows and columns of
    windows, and rows and columns in each, before attention, and one back behind it.
    """
    end = min(node.index for node in outline.nodes(layer.feeding))
    sizes = set()
    for node in outline.operations.arrangement:
        if start < node.index < end and node.operator.form == "Reshape" and len(node.inputs) > 1:
            dims = outline.operations.context.read_list(node.input(1))
            if len(dims) == 6 and dims[2] == dims[4] and isinstance(dims[2], int):
                sizes.add(dims[2])
    size = sizes.pop() if len(sizes) == 1 else 0
    return max(int(size), 0)


def _list_stages(outline: Outline, layers: Sequence[Layer]) -> list[list[Layer]]:
    """Return runs of layers of one width and one resolution.

    A layer whose width is unknown has that of those before.
    """
    widths = [_width(layer) for layer in layers]
    known = [width for width in widths if width]
    stages: list[list[Layer]] = []
    current = known[0] if known else 0
    for number, (layer, width) in enumerate(zip(layers, widths, strict=True)):
        is_wider = bool(width) and width != current
        if not stages or is_wider or _is_smaller_between(outline, layers[number - 1], layer):
            stages.append([])
        stages[-1].append(layer)
        current = width or current
    return stages


def _is_smaller_between(outline: Outline, before: Layer, layer: Layer) -> bool:
    """Return whether all that leads from one layer to the next goes through fewer places.

    Around a convolution that makes keys and values fewer the queries go. A class token that goes
    around is one place (B. Heo and others, Rethinking Spatial Dimensions of Vision Transformers,
    2021, figure 4).
    """
    last = before.parts[-1]
    pending, seen = [layer.parts[0]], set()
    is_smaller = False
    while pending:
        for value in outline.operands(pending.pop()):
            giver = outline.giver(value)
            if giver is last:
                return False
            if giver is None or giver.place in seen or not giver.follows(last):
                continue
            if _is_one_place(outline, giver, value):
                continue
            seen.add(giver.place)
            if _makes_fewer(outline, giver):
                is_smaller = True
            else:
                pending.append(giver)
    return is_smaller


def _makes_fewer(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part gives fewer places: a pool, or a block that convolves with strides."""
    if part.kind not in ("conv", *_CONVOLUTIONAL, *_SEPARABLE):
        return part.is_pool
    operations = outline.operations
    return part.is_strided or any(
        max(read_ints(operations.nodes[number], "strides"), default=1) > 1
        for number in part.numbers
        if operations.nodes[number].operator.has("convolves")
        and not operations.nodes[number].operator.has("transposed")
    )


def _is_one_place(outline: Outline, part: OutlinePart, value: Value) -> bool:
    """Return whether what a part gives is one place of all, as the class token.

    What splits it off gives the others, too.
    """
    if not part.has("gathers", "slices", "splits"):
        return False
    facts = find_value_facts(outline.graph.model)
    dims = facts.find_dims(outline.operations.source(value)) or ()
    return len(dims) > 1 and all(dim == 1 for dim in dims[1:-1])


def _width(layer: Layer) -> int:
    for part in layer.feeding:
        if part.widths:
            return part.widths[0]
    return 0


def _tell_blocks_only(outline: Outline, stack: Stack) -> Sketch | None:
    """Say how many blocks there are, where more is not plain."""
    if not stack.is_plain or len(stack.layers) < _LEAST_LAYERS or list_strays(outline, stack):
        return None
    layer_facts = describe_layers(outline, stack.layers)
    block = sketch_blocks(outline, "transformer block", stack.layers, layer_facts)
    return Sketch(
        "",
        write_blocks(len(stack.layers), "transformer block", layer_facts),
        (),
        (block,),
        list_sizes(layer_facts),
    )
