"""Convolutional networks: which family the blocks of a graph make, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise

from netloupe.explorer.notation import write_count
from netloupe.explorer.patterns import Detail, FoundBlock, read_convolution
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.residual_kinds import (
    WITH,
    find_common_units,
    is_inverted,
    write_inside,
)

from .composites import find_dense_layers, find_fires, find_inceptions
from .layer_words import write_given
from .levels import write_axes
from .outline import Outline, OutlinePart
from .sizes import find_head, list_matrices
from .sketch import BlockSketch, Sketch, write_row

_BLOCKS = frozenset({"inverted", "residual", "separable"})
_WEIGHTED = frozenset(
    {"attention", "conv", "dense", "embedding", "experts", "fire", "inception", "inverted"}
    | {"linear", "mixer", "mlp", "recurrent", "residual", "separable"}
)
#: of what there is none of in a plain row of convolutions
_BRANCHING = (
    *(
        "adds",
        "control_flow",
        "detects",
        "joins",
        "moves_pixels",
        "multiplies",
        "multiplies_elements",
    ),
    *("resamples", "subtracts"),
)
_LEAST_BLOCKS = 3
_WRITTEN = {"HardSwish": "hard swish"}
_LEAST_CONVOLUTIONS = 3
#: of so few blocks each may be a stage
_FEW_STEPS = 4
_RESIDUAL_KINDS = {
    "Bottleneck block": ("bottleneck", "Bottleneck block"),
    "Inverted bottleneck": ("inverted bottleneck", "Inverted bottleneck"),
    "Basic block": ("basic", "Basic block"),
}


def find_convolutional(outline: Outline) -> Sketch | None:
    """Tell which family of convolutional networks a graph is; None where it is none of them."""
    first = next(filter(_has_weights, outline.parts), None)
    if first is None or first.kind in ("embedding", "linear", "mlp"):
        return None
    for rule in (
        _tell_shuffling,
        _tell_dense,
        _tell_branched,
        _tell_classifier,
        _tell_plain,
    ):
        found = rule(outline)
        if found is not None:
            return replace(found, title=write_axes(outline, found.title))
    return None


# classifiers of blocks


def _tell_classifier(outline: Outline) -> Sketch | None:
    """Tell a stem of convolutions, blocks of one kind with shortcuts, and a linear layer.

    * residual: K. He and others, Deep Residual Learning, 2016, table 1;
    * inverted residuals: M. Sandler and others, MobileNetV2, 2018, table 2; the first blocks may
      not widen, and blocks that change the size have no shortcut;
    * ConvNeXt: Z. Liu and others, A ConvNet for the 2020s, 2022, figure 4.
    """
    blocks = [part for part in outline.parts if part.kind in _BLOCKS]
    if len(blocks) < _LEAST_BLOCKS or outline.of_kind("Concat", "attention"):
        return None
    if any(len(one.kernel) == 1 for one in _list_convolutions(outline, blocks[0])):
        return None  # over time: these rules are of pictures
    behind = [part for part in outline.parts if part.place > blocks[-1].place]
    head = find_head(outline, behind)
    if head is None or not head[1]:
        return None
    sketch = sketch_backbone(outline, blocks)
    if sketch is None:
        return None
    facts = {**sketch.facts, **_read_classes(head)}
    clauses = [*sketch.clauses, _write_classes(facts)]
    return Sketch(sketch.family, sketch.title, tuple(clauses), sketch.blocks, facts)


def sketch_backbone(outline: Outline, blocks: Sequence[OutlinePart]) -> Sketch | None:
    """Tell what blocks with shortcuts are that follow one another; None where they differ.

    Nor what one block is that is used several times.
    """
    matrices = [list_matrices(outline, [part]) for part in blocks]
    if len({*matrices}) < len(matrices):
        return None
    others = [
        part
        for part in outline.parts
        if _has_weights(part)
        and part not in blocks
        and blocks[0].place < part.place < blocks[-1].place
    ]
    names = {_name_block(outline, part) for part in blocks}
    if names <= {"Inverted residual", "Depthwise-separable conv", "Residual block"} and (
        "Inverted residual" in names
    ):
        start = next(i for i, p in enumerate(blocks) if _name_block(outline, p)[0] == "I")
        early = [_name_block(outline, part) for part in blocks[:start]]
        late = {_name_block(outline, part) for part in blocks[start:]}
        if len(early) > 2 or late != {"Inverted residual"} or others:
            return None
        if not all(is_separable(outline, part) for part in blocks[:start]):
            return None
        family, title, name = "inverted-residual CNN", "Inverted-residual CNN", "inverted residual"
    elif names == {"ConvNeXt block"}:
        # between stages a convolution halves the size
        if any(not part.is_strided for part in others):
            return None
        family, title, name = "ConvNeXt", "ConvNeXt", "ConvNeXt block"
    elif len(names) == 1 and (only := next(iter(names))) in _RESIDUAL_KINDS and not others:
        word, name = _RESIDUAL_KINDS[only]
        family, title = f"residual CNN ({word})", f"Residual CNN ({word})"
        name = name.lower()
    else:
        return None
    stages = _list_stages(blocks)
    widths = [stage[-1].out_features for stage in stages]
    facts: dict[str, Detail] = {"stage_blocks": tuple(map(len, stages))}
    clauses = [f"stages of {write_row([len(stage) for stage in stages])} blocks"]
    if family.startswith("inverted"):
        clauses += _list_words(outline, blocks)
    elif family == "ConvNeXt":
        clauses.append(_join([*_list_norms(blocks), *_list_activations(blocks)]))
    if all(widths):
        facts["stage_widths"] = tuple(widths)
        each = ", wider in each block" if _widen_each(blocks) else ""
        first = blocks[0].out_features if each else widths[0]
        clauses.append(f"{first:,} → {write_count(widths[-1], 'channel')}{each}")
    inside = find_common_units(part.name for part in blocks).removeprefix(WITH)
    clauses += [f"{inside} in all of them"] if inside else []
    sketches = [
        BlockSketch(name, len(stage), outline.nodes(stage), {"out": stage[-1].out_features})
        for stage in stages
    ]
    return Sketch(family, title, tuple(clauses), tuple(sketches), facts)


def _name_block(outline: Outline, part: OutlinePart) -> str:
    """Return the name of a block; of two 3×3 convolutions ``Basic block``.

    K. He and others, Deep Residual Learning, 2016, figure 5, left.
    """
    name, _, _ = part.name.partition(WITH)
    if name != "Residual block":
        return name
    found = [one for one in _list_convolutions(outline, part) if one.kernel != (1, 1)]
    is_basic = len(found) == 2 and all(one.kernel == (3, 3) and one.groups is None for one in found)
    return "Basic block" if is_basic else name


def _list_convolutions(outline: Outline, part: OutlinePart) -> list[ConvolutionDetails]:
    operations = outline.operations
    return [
        read_convolution(operations, number)
        for number in sorted(part.numbers)
        if operations.kinds[number] == "Conv"
    ]


def is_separable(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a block is a depthwise convolution and a 1×1 one, and perhaps more 1×1."""
    found = _list_convolutions(outline, part)
    deep = [one for one in found if one.is_depthwise]
    return len(deep) == 1 and all(one.kernel == (1, 1) for one in found if one not in deep)


def _list_words(outline: Outline, blocks: Sequence[OutlinePart]) -> list[str]:
    """Return what inverted residuals have besides: activations, and what weighs channels."""
    weighing = [
        [one.name for one in _walk_parts([part]) if one.kind == "excitation"] for part in blocks
    ]
    excited = sum(map(bool, weighing))
    said = [_join(_list_activations(blocks))]
    if excited:
        share = "all" if excited == len(blocks) else f"{excited}"
        names = list(dict.fromkeys(chain.from_iterable(weighing)))
        said.append(f"{_join([name[:1].lower() + name[1:] for name in names])} in {share} of them")
    return said


def _join(names: Sequence[str]) -> str:
    return " and ".join(names)


def _list_activations(blocks: Sequence[OutlinePart]) -> list[str]:
    """Return the activations of blocks, without those inside squeeze-and-excitation.

    Nothing where some blocks have none: in quantized ones the range of a result is its ReLU.
    """
    if any(all(one.kind != "activation" for one in _walk_parts([block])) for block in blocks):
        return []
    names = (found.name for found in _walk_parts(blocks) if found.kind == "activation")
    return list(dict.fromkeys(_WRITTEN.get(name, name) for name in names if name != "Softmax"))


def _list_norms(blocks: Sequence[OutlinePart]) -> list[str]:
    names = (found.name for found in _walk_parts(blocks) if found.kind == "norm")
    inside = find_common_units(block.name for block in blocks)
    return [name for name in dict.fromkeys(names) if write_inside(name) not in inside]


def _walk_parts(blocks: Sequence[OutlinePart]) -> Iterator[FoundBlock]:
    pending = [found for part in reversed(blocks) for found in reversed(part.parts)]
    while pending:
        found = pending.pop()
        yield found
        if found.kind != "excitation":
            pending += reversed(found.parts)


def _list_stages(blocks: Sequence[OutlinePart]) -> list[list[OutlinePart]]:
    """Return blocks of the same size together: a stage begins where width or size change.

    Where most blocks are wider than the one before, where the size changes.
    """
    stages = [[blocks[0]]]
    is_pyramid = _widen_each(blocks)
    for one, two in pairwise(blocks):
        is_other = two.out_features != one.out_features and not is_pyramid
        if is_other or two.stride is not None:
            stages.append([two])
        else:
            stages[-1].append(two)
    return stages


def _widen_each(blocks: Sequence[OutlinePart]) -> bool:
    """Return whether the most blocks without a stride are wider than the one before.

    D. Han and others, Deep Pyramidal Residual Networks, 2017, section 2.1.
    """
    steps = [(one, two) for one, two in pairwise(blocks) if two.stride is None]
    wider = [
        two.out_features > one.out_features
        for one, two in steps
        if one.out_features is not None and two.out_features is not None
    ]
    return len(wider) == len(steps) > _FEW_STEPS and 2 * sum(wider) > len(wider)


def _read_classes(head: tuple[int, bool, bool]) -> dict[str, Detail]:
    count, is_one, classifies = head
    return {"classes" if is_one and classifies else "outputs": count}


def _write_classes(facts: dict[str, Detail]) -> str:
    return next(
        (write_given(facts[key], key) for key in ("classes", "outputs") if key in facts), ""
    )


def _has_weights(part: OutlinePart) -> bool:
    return part.kind in _WEIGHTED or part.has("recurrent")


def _list_others(outline: Outline, *kinds: str) -> list[OutlinePart]:
    """Return parts with weights that are of none of some kinds."""
    return [part for part in outline.parts if _has_weights(part) and part.kind not in kinds]


# other blocks


def _tell_shuffling(outline: Outline) -> Sketch | None:
    """Tell units of a grouped 1×1, a depthwise and another 1×1 convolution with shuffled channels.

    X. Zhang and others, ShuffleNet, 2018, figure 2 and table 1. Channels are shuffled by a Reshape
    into groups and a Transpose of groups and channels, once in each unit.
    """
    shuffles = [
        node
        for node in outline.operations.arrangement
        if node.operator.has("permutes") and _read_perm(node) == (0, 2, 1, 3, 4)
    ]
    operations = outline.operations
    convolutions = [
        (number, read_convolution(operations, number))
        for number, kind in enumerate(operations.kinds)
        if kind == "Conv"
    ]
    units = [(number, details) for number, details in convolutions if details.is_depthwise]
    if len(units) < _LEAST_BLOCKS or len(shuffles) != len(units):
        return None
    if is_inverted([details for _, details in convolutions]):
        return None
    indices = [operations.nodes[number].index for number, _ in units]
    before = [0, *indices[:-1]]
    ordered = sorted(node.index for node in shuffles)
    if any(not low < at < high for low, at, high in zip(before, ordered, indices, strict=True)):
        return None
    stages: list[list[int]] = []
    for number, details in units:
        if not stages or details.stride is not None:
            stages.append([])
        stages[-1].append(number)
    owners = [[outline.owner(number) for number in stage] for stage in stages]
    counts = [len(stage) for stage in stages]
    last = max(part.place for stage in owners for part in stage)
    head = find_head(outline, outline.parts[last + 1 :])
    facts: dict[str, Detail] = {"stage_blocks": tuple(counts)}
    if head is not None:
        facts |= _read_classes(head)
    blocks = tuple(
        BlockSketch("ShuffleNet unit", len(stage), outline.nodes(stage)) for stage in owners
    )
    clauses = (f"stages of {write_row(counts)} units", _write_classes(facts))
    return Sketch("ShuffleNet", "CNN of ShuffleNet units", clauses, blocks, facts)


def _read_perm(node: object) -> tuple[int, ...]:
    attribute = node.attributes.get("perm")  # type: ignore[attr-defined]
    value = attribute.value if attribute is not None else None
    return value if isinstance(value, tuple) else ()


def _tell_dense(outline: Outline) -> Sketch | None:
    """Tell a densely connected network by the channels of its layers; see `find_dense_layers`."""
    blocks = find_dense_layers(outline)
    if len(blocks) < 2:
        return None
    counts = [len(block) for block in blocks]
    growth = blocks[0][0].out_features
    end = max(part.end for part in blocks[-1])
    head = find_head(outline, [part for part in outline.parts if part.end > end])
    facts: dict[str, Detail] = {"stage_blocks": tuple(counts), "growth": growth}
    if head is not None:
        facts |= _read_classes(head)
    clauses = (
        f"blocks of {write_row(counts)} layers",
        f"{write_count(growth, 'channel')} more by each",
        _write_classes(facts),
    )
    sketches = tuple(
        BlockSketch("dense layer", len(block), outline.nodes(block), {"growth": growth})
        for block in blocks
    )
    return Sketch("densely connected CNN", "Densely connected CNN", clauses, sketches, facts)


def _tell_branched(outline: Outline) -> Sketch | None:
    """Tell fire modules (SqueezeNet) and inception blocks (GoogLeNet) between pools."""
    for find, kind, family, title, noun in (
        (find_fires, "fire", "SqueezeNet", "CNN of fire modules", "module"),
        (find_inceptions, "inception", "Inception CNN", "Inception CNN", "block"),
    ):
        merged = list(find(outline))
        if len(merged) < _LEAST_BLOCKS:
            continue
        outline.merge(merged)
        blocks = outline.of_kind(kind)
        if outline.of_kind("Concat", "attention", "residual", "inverted"):
            return None
        stages: list[list[OutlinePart]] = [[]]
        for part in outline.parts:
            if part.place < blocks[0].place or part.place > blocks[-1].place:
                continue
            if part.is_pool and stages[-1]:
                stages.append([])
            elif part in blocks:
                if part.stride is not None:
                    stages += [[part], []]
                else:
                    stages[-1].append(part)
        stages = [stage for stage in stages if stage]
        counts = [len(stage) for stage in stages]
        head = find_head(outline, outline.parts[blocks[-1].place + 1 :])
        facts: dict[str, Detail] = {"stage_blocks": tuple(counts)}
        if head is not None:
            facts |= _read_classes(head)
        branches = {len(outline.operations.nodes[part.end].inputs) for part in blocks}
        is_branched = kind == "inception" and len(branches) == 1
        each = f" of {branches.pop()} branches each" if is_branched else ""
        clauses = (
            f"stages of {write_row(counts)} {noun}s{each}",
            _write_classes(facts),
        )
        name = "fire module" if kind == "fire" else "Inception block"
        sketches = tuple(BlockSketch(name, len(stage), outline.nodes(stage)) for stage in stages)
        return Sketch(family, title, clauses, sketches, facts)
    return None


def _tell_plain(outline: Outline) -> Sketch | None:
    """Tell convolutions in a row with pools between, and linear layers behind.

    A. Krizhevsky and others, ImageNet Classification, 2012, figure 2; K. Simonyan and
    A. Zisserman, Very Deep Convolutional Networks, 2015, table 1.
    """
    convolutions = outline.of_kind("conv")
    if len(convolutions) < _LEAST_CONVOLUTIONS or _list_others(outline, "conv", "linear", "mlp"):
        return None
    if any(part.kind == "excitation" or part.has(*_BRANCHING) for part in outline.parts):
        return None
    if any(part.is_transposed for part in convolutions):
        return None
    linears = outline.of_kind("linear", "mlp")
    head = find_head(outline, outline.parts)
    if not linears or head is None or not head[1]:
        return None
    if any(part.place < convolutions[-1].place for part in linears):
        return None
    inside = outline.parts[convolutions[0].place : convolutions[-1].place + 1]
    stages = [
        [part for part in stage if part.kind == "conv"]
        for is_pool, stage in groupby(inside, key=lambda part: part.is_pool)
        if not is_pool
    ]
    if len(stages) == 1:
        return None  # what no pool parts has no stages
    counts = [len(stage) for stage in stages]
    widths = [stage[-1].out_features for stage in stages]
    if not all(widths):
        return None  # kernels that are computed are more than plain
    facts: dict[str, Detail] = {"stage_blocks": tuple(counts), **_read_classes(head)}
    facts["stage_widths"] = tuple(widths)
    row = f"stages of {write_row(counts)} convolutions"
    clauses = [row if max(counts) > 1 else f"{len(counts)} convolutions with pools between"]
    clauses.append(f"{widths[0]:,} → {write_count(widths[-1], 'channel')}")
    layers = sum(len(part.widths) - 1 if part.widths else 1 for part in linears)
    clauses += [write_count(layers, "linear layer"), _write_classes(facts)]
    sketches = tuple(
        BlockSketch("convolution", len(stage), outline.nodes(stage)) for stage in stages
    )
    return Sketch("CNN", "CNN", tuple(clauses), sketches, facts)
