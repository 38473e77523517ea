"""Transformers of two stacks: encoder and decoder, and towers beside one another."""

from __future__ import annotations

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.transformer_details import AttentionDetails

from .convolutional import sketch_backbone
from .layer_facts import describe_layers, list_strays, sketch_blocks
from .layer_words import (
    list_sizes,
    read_tokens,
    write_blocks,
    write_lower,
    write_sizes,
)
from .layers import Layer, Stack
from .outline import Outline, OutlinePart
from .sizes import find_patch, find_token_tables, list_matrices, read_stated_shape
from .sketch import Sketch

#: kinds of part that late interaction reduces by, one after the other: no trait tells them apart
_LARGEST_SUMMED = ("ReduceMax", "ReduceSum")
#: so many parts behind a product it is looked for what becomes of similarities
_MOST_BEHIND = 6
#: of one vector for each of a batch
_OF_VECTORS = 2
#: of a box
_SIDES = 4


def tell_two_towers(outline: Outline, stacks: list[Stack]) -> Sketch | None:
    """Tell two stacks beside one another whose results are multiplied with each other.

    A. Radford and others, Learning Transferable Visual Models From Natural Language Supervision,
    2021, figure 3: features of both are normalized, and every one is multiplied with every other.
    """
    if len(stacks) != 2 or any(not stack.is_plain for stack in stacks):
        return None
    one, two = stacks
    if one.last.follows(two.last) or two.last.follows(one.last):
        return None
    products = [
        part
        for part in outline.of_kind("MatMul", "Gemm", "linear")
        if part.follows(one.last) and part.follows(two.last)
    ]
    if not products:
        return None
    sides = [outline.giver(value) for value in outline.operands(products[0])]
    reached = [
        {
            index
            for index, stack in enumerate(stacks)
            if side is not None and (side.follows(stack.last) or side is stack.last)
        }
        for side in sides
    ]
    if sorted(map(sorted, reached)) != [[0], [1]]:
        return None
    is_cosine = all(side is not None and _is_normalized(outline, side) for side in sides)
    texts, blocks = [], []
    towers: list[list[str]] = []
    facts: dict[str, Detail] = {}
    kinds = []
    for stack in stacks:
        layers = stack.layers[:-1] if _is_pooled(stack) else stack.layers
        layer_facts = describe_layers(outline, layers)
        tokens = [part for part in find_token_tables(outline) if stack.last.follows(part)]
        patch = find_patch(outline, stack.first.place)
        patch = patch if patch is not None and stack.first.follows(patch) else None
        if (patch is None) == (not tokens) or list_strays(outline, stack):
            return None
        kind = "vision" if patch is not None else "text"
        kinds.append(kind)
        sizes = read_tokens(outline, tokens)
        if patch is not None:
            sizes["patch"] = patch.kernel[0]
        said = [
            write_blocks(len(layers), "block", layer_facts),
            "attention pooling" if _is_pooled(stack) else "",
            f"patches of {sizes['patch']} × {sizes['patch']}" if patch is not None else "",
            *write_sizes(sizes),
        ]
        towers.append([*filter(None, said)])
        texts.append(f"{kind} transformer of {', '.join(filter(None, said))}")
        facts |= sizes
        facts |= {f"{kind}_{name}": size for name, size in list_sizes(layer_facts).items()}
        blocks.append(sketch_blocks(outline, f"{kind} transformer block", layers, layer_facts))
    for name in ("heads", "head_width", "width", "inner_width"):
        if facts.get(f"vision_{name}") == facts.get(f"text_{name}", 0):
            facts[name] = facts[f"text_{name}"]
    matrices = [list_matrices(outline, _list_parts(stack)) for stack in stacks]
    is_shared = bool(matrices[0]) and matrices[0] == matrices[1]
    if is_shared and len({*texts}) == 1:  # one tower, called for both
        texts, blocks = texts[:1], blocks[:1]
    elif not is_shared and len({*kinds}) == 1 and towers[0][0] == towers[1][0]:
        said = [one for one in towers[0] if one in towers[1]]  # of one length less may be stored
        texts = [f"two {kinds[0]} transformers with own weights, each of {', '.join(said)}"]
    title = "Two towers" + (" with shared weights" if is_shared else "")
    title += _write_comparison(outline, products[0], is_cosine=is_cosine)
    family = f"two towers: {kinds[0]} transformer and {kinds[1]} transformer"
    if sorted(kinds) == ["text", "vision"]:
        family = "two towers: vision transformer and text transformer"
    return Sketch(family, title, ("; ".join(texts),), tuple(blocks), facts)


def _is_pooled(stack: Stack) -> bool:
    """Return whether the last layer alone attends from a stored query: it pools, and is no block.

    X. Zhai and others, Scaling Vision Transformers, 2022, section 3.1: multihead attention pooling.
    """
    is_asking = [
        any(part.name == "Cross-attention" for part in layer.attentions) for layer in stack.layers
    ]
    return len(is_asking) > 1 and is_asking[-1] and not any(is_asking[:-1])


def _list_parts(stack: Stack) -> list[OutlinePart]:
    return [part for layer in stack.layers for part in layer.parts]


def _write_comparison(outline: Outline, product: OutlinePart, *, is_cosine: bool) -> str:
    """Return how what towers give is compared: vectors by cosine, or each token with all others.

    O. Khattab and M. Zaharia, ColBERT, 2020, section 3.2: the largest similarities are summed up.
    """
    current, reducing = product, [*_LARGEST_SUMMED]
    for _ in range(_MOST_BEHIND):
        user = outline.only_user(current)
        if user is None:
            break
        current = user
        if reducing and current.kind == reducing[0]:
            reducing.pop(0)
        elif current.has("reduces", "multiplies"):
            break
    if not reducing:
        return ", compared token by token (largest similarities summed up)"
    facts = find_value_facts(outline.graph.model)
    shapes = [facts.find_dims(value) or () for value in outline.operands(product)]
    are_vectors = all(len(shape) <= _OF_VECTORS or 1 in shape[-2:] for shape in shapes)
    if not are_vectors:
        return ""
    return ", compared by cosine" if is_cosine else ", compared by dot product"


def _is_normalized(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a value is divided by its length; a scale may follow."""
    current = part
    for _ in range(3):
        if current.kind in ("LpNormalization",) or "normal" in current.name:
            return True
        if current.kind == "Div":
            return True
        givers = outline.givers(current)
        if current.kind != "Mul" or not givers:
            return False
        current = givers[0]
    return False


def tell_encoder_decoder(outline: Outline, stacks: list[Stack]) -> Sketch | None:
    """Tell a stack whose results all layers of another one attend to.

    A. Vaswani and others, Attention Is All You Need, 2017, figure 1. Where the decoder begins with
    learned queries in place of tokens, and convolutions stand before the encoder, it detects
    objects (N. Carion and others, End-to-End Object Detection with Transformers, 2020, figure 2).
    """
    layers = [layer for stack in stacks for layer in stack.layers]
    if len(stacks) > 2 or any(len(layer.attentions) > 2 for layer in layers):
        return None
    is_cross = [len(layer.attentions) == 2 for layer in layers]
    if True not in is_cross:
        return None
    first = is_cross.index(True)
    if not all(is_cross[first:]):
        return None
    encoder, decoder = layers[:first], layers[first:]
    encoder, started = _split_started(outline, encoder, decoder)
    decoder = started + decoder
    if not encoder or any(layer.shape != ("attention", "mlp") for layer in encoder):
        return None
    end = encoder[-1].parts[-1]
    crossing = [layer.attentions[-1] for layer in decoder if len(layer.attentions) == 2]
    if not all(part.follows(end) and "Cross" in part.name for part in crossing):
        return None
    is_sampling = all(part.details.read_as(AttentionDetails).deformable for part in crossing)
    strays = list_strays(outline, Stack(decoder))
    if is_sampling:
        strays = [part for part in strays if not _is_of_boxes(part)]
    if strays or list_strays(outline, Stack(encoder)):
        return None
    found = [describe_layers(outline, layers) for layers in (encoder, decoder)]
    if started:
        found[1] = describe_layers(outline, decoder[1:])
    tokens = find_token_tables(outline)
    start = decoder[0].parts[0]
    own = [part for part in tokens if start.follows(part) and not end.follows(part)]
    facts: dict[str, Detail] = {}
    same = {key: value for key, value in found[0].items() if found[1].get(key) == value}
    facts |= list_sizes(same)
    backbone = [
        part for part in outline.main if part.place < encoder[0].start and part.kind == "residual"
    ]
    blocks = [
        sketch_blocks(outline, "encoder block", encoder, found[0]),
        sketch_blocks(outline, "decoder block", decoder, found[1]),
    ]
    said = [
        write_blocks(len(layers), f"{name} block", layer_facts)
        for name, layers, layer_facts in zip(
            ("encoder", "decoder"), (encoder, decoder), found, strict=True
        )
    ]
    if own:
        facts |= read_tokens(outline, own[:1])
        convolved = [
            part
            for part in outline.of_kind("conv")
            if part.place < encoder[0].start and len(part.kernel) == 1
        ]
        channels = convolved[0].in_features if convolved else 0
        many = write_count(len(convolved), "convolution")
        over = f"{many} over {write_count(channels, 'channel')}" if channels else ""
        return Sketch(
            "encoder-decoder transformer",
            "Encoder-decoder transformer",
            (over, *said, *write_sizes(facts)),
            tuple(blocks),
            facts,
        )
    picks = [part for part in outline.of_kind("TopK") if start.follows(part) and part.follows(end)]
    if backbone and (started or (is_sampling and picks)) and _may_give_boxes(outline):
        sketch = sketch_backbone(outline, backbone)
        over = "features of a convolutional network"
        if sketch is not None:
            over = f"features of a {write_lower(sketch.title)} of {sketch.clauses[0]}"
        of = "set of learned queries" if started else "queries picked from the features"
        return Sketch(
            "detection transformer",
            f"Detection transformer ({of})",
            (over, *said),
            (*(sketch.blocks if sketch else ()), *blocks),
            facts,
        )
    return None


def _may_give_boxes(outline: Outline) -> bool:
    """Return whether an output may be boxes: four numbers for each, or nobody knows how many.

    Scores and classes may be put beside these.
    """
    for value in outline.graph.outputs:
        shape = read_stated_shape(value)
        end = shape[-1] if shape else None
        giver = outline.giver(value)
        is_joined = giver is not None and giver.has("joins")
        if not isinstance(end, int) or end == _SIDES or (end > _SIDES and is_joined):
            return True
    return False


def _is_of_boxes(part: OutlinePart) -> bool:
    """Return whether an MLP refines boxes between layers, or makes positions of boxes.

    X. Zhu and others, Deformable DETR, 2021, section 4.
    """
    widths = part.widths
    return part.kind == "mlp" and bool(widths) and 4 in (widths[0], widths[-1])


def _split_started(
    outline: Outline, encoder: list[Layer], decoder: list[Layer]
) -> tuple[list[Layer], list[Layer]]:
    """Take a decoder's first layer out of its encoder.

    What it computes of learned queries alone is constant: only attention to what the encoder gave
    and its MLP stand there, or its MLP behind a softmax over that.
    """
    last = encoder[-1] if encoder else None
    if last is not None and [part.name for part in last.attentions] == ["Cross-attention"]:
        return encoder[:-1], [last]
    if last is None or last.shape not in (("attention", "mlp", "mlp"), ("mlp",)):
        return encoder, []
    own = last.parts[-1]
    end = last.parts[-2] if len(last.parts) > 1 else encoder[-2].parts[-1]
    weighed = [
        part
        for part in outline.parts
        if part.name == "Softmax" and part.follows(end) and own.follows(part)
    ]
    if not weighed:
        return encoder, []
    kept = encoder[:-1] + ([Layer(last.parts[:-1])] if len(last.parts) > 1 else [])
    return kept, [Layer([own])]
