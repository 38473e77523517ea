"""What a closed group is made of, in the words of figures.

A chain is told part by part, with repetitions counted: ``(Conv · ReLU) ×3 · Linear``. What is no
chain, or a long one, is told by its ideas, which are the parts that say most: ``Self-attention ×2,
MLP ×2``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import NamedTuple

from netloupe.explorer.grouping.container_names import is_container
from netloupe.explorer.grouping.inner_parts import Stages
from netloupe.explorer.grouping.ports import UNKNOWN_PORTS, Ports
from netloupe.explorer.patterns import IDEA, SIZE, TRIM, WORK, Ingredient, is_chain
from netloupe.explorer.patterns.attended_windows import name_among_others
from netloupe.explorer.patterns.residual_kinds import WITH
from netloupe.explorer.patterns.transformer_details import (
    AttentionDetails,
    TransformerDetails,
)

from .first_layers import leave_crossing_open
from .group_names import fold_parts, join_folded
from .joined_pools import join_pools

#: a chain has so many parts at most, when repetitions are counted
_MOST_PARTS = 4
#: in so many rows
_MOST_ROWS = 2
#: so many kinds of them are told in their order
_LEAST_IDEAS = 2
#: so many layers of one kind are looked at for what is between them
_MANY_LAYERS = 6
#: so many stages, when repetitions are counted
_MOST_STAGES = 6
#: behind what is told where there is no room for all
_OTHERS = ", …"
#: what has weights of its own and is no idea
_LAYERS = frozenset({"Conv", "Deconv", "Depthwise conv", "Linear"})
_ATTENTION = "Attention"
_CONVOLUTION = "Conv"
#: what attention is called that needs no word on its kind
_USUAL = frozenset({_ATTENTION, "Self-attention"})
_CROSS, _BLOCK = "Cross-attention", "Transformer block"
#: what the names of blocks begin with that have an MLP behind their attention
_WITH_MLP = "Transformer"
#: of numbers, and of the tanh of numbers, by which what is added to the stream is multiplied
_GATES = frozenset({"scalar gates", "tanh gates"})
#: a course of widths, from the first to the last
_COURSE = r"\b(\d+)(?: ×\d+)?(?: → (?:…|\d+)(?: ×\d+)?)* → (\d+)\b"
_ARROW = " → "
_HEADS = r"\d+ heads\b"
#: widths, or kernel and widths, as facts of a part begin with
_WIDTHS = r"\d+(×\d+)*( → \d+)*$"
#: longer sequences are not looked at for what repeats in them
_MOST_FOLDED = 64
#: what comes behind the name of a convolution in its box
_BEHIND = " · "

Fits = Callable[[str], bool]


class MadeOf(NamedTuple):
    """What a group is made of, in words.

    Parameters
    ----------
    parts
        Its chain or its ideas; "" where there is nothing to tell.
    facts
        What is known of all together: widths, and how much larger or smaller pictures become.
    """

    parts: str = ""
    facts: str = ""


def write_contents(
    ingredients: Sequence[Ingredient],
    fits: Fits,
    ports: Ports = UNKNOWN_PORTS,
    find_stages: Callable[[], Stages] = Stages,
    steps: int = 0,
) -> MadeOf:
    """Return what a group is made of, as long as it fits.

    Parameters
    ----------
    ingredients
        Its parts in order.
    fits
        Whether there is room for a text.
    ports
        The sizes at its border, which are told where parts say others.
    find_stages
        Returns the author's modules in it; asked for where its parts are no chain.
    steps
        Of each loop in it, how many there are; 0 where there is none, and where they differ.
    """
    if not ingredients:
        return MadeOf()
    if len(ingredients) == 1 and ingredients[0].times == 1:
        own = ports.correct_facts(ingredients[0].facts)
        return MadeOf(ingredients[0].name, _join_fitting(own, fits))
    ingredients = leave_crossing_open(join_pools(ingredients))
    is_row = is_chain(ingredients) and all(one.times == 1 for one in ingredients)
    if not is_row:
        working = _leave_out_trim(ingredients)
        if working and is_chain(working) and all(one.times == 1 for one in working):
            is_row, ingredients = True, working
    facts = _join_fitting(_describe_chain(ingredients, ports), fits) if is_row else ""
    ideas = any(one.rank == IDEA for one in ingredients)
    for least in ((SIZE, WORK) if ideas else (TRIM, SIZE, WORK)) if is_row else ():
        kept = [_name(one, least) for one in ingredients if one.rank >= least]
        folded = fold_parts(kept) if 0 < len(kept) <= _MOST_FOLDED else []
        text = join_folded(folded)
        if folded and len(folded) <= _MOST_PARTS and fits(text):
            facts = _describe_attention_alone(ingredients) or facts
            told = _tell_more(text, kept, find_stages, fits)
            return MadeOf(told, facts or (_tell_idea(ingredients, fits) if len(kept) == 1 else ""))
    text = _write_order(ingredients, fits) if is_row else ""
    if text:
        heads = _describe_heads(ingredients)
        return MadeOf(text, _join_fitting([*filter(None, (facts, heads))], fits))
    text, of_stages = _write_many(ingredients, fits, find_stages)
    if of_stages:  # between what layers inside of these take is not told what they have inside
        facts = re.sub(_COURSE, _ARROW.join((r"\1", r"\2")), facts)
    facts = facts or _describe_parts(ingredients, ports, are_several=of_stages or ", " in text)
    return MadeOf(
        text, _join_fitting([*filter(None, (facts, _count_calls(ingredients, steps)))], fits)
    )


def _leave_out_trim(ingredients: Sequence[Ingredient]) -> list[Ingredient]:
    """Return parts without norms and activations, what takes from these takes what they take.

    So a chain is told of layers with a gate beside them.
    """
    kept: list[Ingredient] = []
    #: by place, which of those kept it is or comes from
    sources: list[frozenset[int]] = []
    for one in ingredients:
        given = (sources[place] for place in one.before if place < len(sources))
        before = frozenset[int]().union(*given)
        if one.rank > TRIM:
            kept.append(one._replace(before=before))
            before = frozenset({len(kept) - 1})
        sources.append(before)
    return kept if len(kept) < len(ingredients) else []


def _tell_more(
    text: str, names: Sequence[str], find_stages: Callable[[], Stages], fits: Fits
) -> str:
    """Return a chain, or for one of many equal layers the modules that repeat with what is there.

    As convolutions with an attention between them, of which nothing else is a part on its own, or
    units of two of them behind a pool.
    """
    counts = Counter(names)
    layers = _LAYERS & counts.keys()
    if len(layers) != 1 or counts[next(iter(layers))] < _MANY_LAYERS or len(counts) > 2:
        return text
    stages = find_stages()
    kinds = {*stages.names}
    chain = _write_stages(stages) if len(counts) == 1 else ""
    if len(kinds) == 1 and len(stages.names) > 1 and not any(map(is_container, kinds)):
        # what has no weights, as a pool, is in no module that repeats
        beside = [name for name in names if name not in layers]
        is_before = len(beside) <= 1 and names[: len(beside)] == beside
        units = _write_counts(Counter(stages.names)) if stages.is_chain and is_before else ""
        chain = _BEHIND.join(filter(None, (*beside, units))) if units else ""
    return chain if chain and fits(chain) and not kinds <= _LAYERS else text


def _count_calls(ingredients: Sequence[Ingredient], steps: int) -> str:
    """Return ``called 4 times`` where all parts with weights are; else "".

    The first of so many steps may compute with stored numbers alone, and is no part then.
    """
    calls: Counter[str] = Counter(one.name for one in ingredients if not one.times)
    own: Counter[str] = Counter()
    for one in ingredients:
        own[one.name] += one.times
    each = {1 + Fraction(count, own[name]) for name, count in calls.items()}
    others = [one for one in ingredients if one.rank >= WORK and one.name not in calls]
    is_alike = len(each) == 1 and not others and all(one.denominator == 1 for one in each)
    called = int(each.pop()) if is_alike else 0
    return f"called {steps if called == steps - 1 else called} times" if called else ""


def _name(one: Ingredient, least: int) -> str:
    """Return what a part of a chain is called: without norm and activation where these are out."""
    if one.kind == "conv":
        return one.name.partition(_BEHIND)[0] if least > TRIM else one.name
    return _name_idea(one)


def _write_many(
    ingredients: Sequence[Ingredient], fits: Fits, find_stages: Callable[[], Stages]
) -> tuple[str, bool]:
    """Return what is in a group whose parts are no short chain, and whether that is its stages.

    A chain of modules says more than how many layers of several kinds there are. What there is no
    room for is not passed over in silence.
    """
    needed = _list_needed(ingredients)
    listed, told = _write_ideas(ingredients, fits)
    if needed <= told and not needed & _LAYERS:
        return listed, False
    stages = find_stages()
    kinds = {*stages.names}
    only = stages.names[0] if len(stages.names) == 1 else ""
    if needed <= told and _is_class(only) and fits(f"{only}: {listed}"):
        return f"{only}: {listed}", False
    is_said = not any(map(is_container, kinds))
    chain = _write_stages(stages) if is_said else ""
    if chain and fits(chain):
        return chain, True
    is_told = is_said and len(stages.names) > 1 and not kinds & _LAYERS
    counted = _write_counts(Counter(stages.names)) if is_told else ""
    if counted and len(kinds) == 1 < len(needed) and fits(counted):
        return counted, True
    if needed <= told:
        return listed, False

    def wraps(text: str) -> bool:
        return len(wrap_rows(text, fits)) <= _MOST_ROWS

    every, told = _write_ideas(ingredients, wraps)
    is_plainer = len(kinds) < len(needed)
    ordered = [chain, *([counted] if is_plainer else [])]
    ordered += [every] if needed <= told else []
    for text in (*ordered, counted):
        if text and wraps(text):
            return text, text != every
    return _write_ideas(ingredients, lambda text: fits(text + _OTHERS))[0] + _OTHERS, False


def _is_class(name: str) -> bool:
    """Return whether a module is called by its author's class, which says more than its parts."""
    return name[:1].isupper() and name not in _LAYERS and not is_container(name) and " " not in name


def _list_needed(ingredients: Sequence[Ingredient]) -> set[str]:
    """Return the names of what is not to be left out: ideas, blocks, and layers with weights."""
    counts, ranks = _count_kinds(ingredients)
    best = max(ranks.values())
    # what is no block is called by its operator
    blocks = {_name(one, WORK) for one in ingredients if one.rank == WORK and one.kind.islower()}
    return {name for name in counts if name in _LAYERS | blocks or ranks[name] == best > TRIM}


def _write_stages(stages: Stages) -> str:
    """Return a chain of stages of several kinds, those of one name in a row counted."""
    runs = [f"{name} ×{count}" if count > 1 else name for name, count in stages.runs]
    folded = fold_parts(runs)
    is_told = stages.is_chain and len({*stages.names}) > 1 and len(folded) <= _MOST_STAGES
    return join_folded(folded) if is_told else ""


def wrap_rows(text: str, fits: Fits) -> list[str]:
    """Return a text in rows, each as long as it may be, broken between parts."""
    rows = [""]
    for part in re.split(r"(?<=,) |(?<= ·) ", text):
        longer = f"{rows[-1]} {part}".strip()
        if rows[-1] and not fits(longer):
            rows.append(part)
        else:
            rows[-1] = longer
    return rows


def _write_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(name + (f" ×{count:,}" if count > 1 else "") for name, count in counts.items())


def _count_kinds(ingredients: Sequence[Ingredient]) -> tuple[Counter[str], dict[str, int]]:
    """Return how many parts of each name there are, in order, and how telling each is."""
    ranks: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for one in ingredients:
        name = one.name.partition(_BEHIND)[0] if one.kind == "conv" else _name_idea(one)
        ranks[name] = max(ranks.get(name, 0), one.rank)
        counts[name] += one.times
    if _CONVOLUTION in counts:  # a reader of their number takes it for that of all
        counts[_CONVOLUTION] += sum(one.convolutions * one.times for one in ingredients)
    return counts, ranks


def _write_ideas(ingredients: Sequence[Ingredient], fits: Fits) -> tuple[str, set[str]]:
    """Return the most telling parts with how often they occur: ``Self-attention ×2, MLP ×2``.

    Which of them there is room for is returned besides.
    """
    counts, ranks = _count_kinds(ingredients)
    best = max(ranks.values())
    # what mixes along a sequence is never left out for what stands around it
    mixing = {_name_idea(one) for one in ingredients if one.rank == IDEA and _attends(one)}
    chosen = sorted(counts, key=lambda name: (-ranks[name], name not in mixing, -counts[name]))
    # what is trim is told only where there is nothing else
    told = [n for n in chosen if ranks[n] >= min(best, WORK) and (ranks[n] > TRIM or best == TRIM)]
    # what has no weights is told where nothing has any
    needed = _list_needed(ingredients)
    told = [name for name in told if name in needed] or told
    listed, names = "", list[str]()
    # what there is no room for is what there is least of
    for count in range(len(told), 0, -1):
        names = sorted(
            told[:count], key=lambda name: -ranks[name] * len(counts) + [*counts].index(name)
        )
        listed = _write_counts({name: counts[name] for name in names})
        if fits(listed):
            break
    return listed, {*names}


def _write_order(ingredients: Sequence[Ingredient], fits: Fits) -> str:
    """Return the ideas of a chain one behind the other, where there are several; "" for others.

    Where there is no room in a row, residual blocks are called after the idea in them. Attention of
    a kind of its own takes two rows then; what it is part of is called after it.
    """
    ideas = [one for one in ingredients if one.rank == IDEA]
    every = [_name_idea(one) for one in ideas]
    if len({*every}) < _LEAST_IDEAS or len(ideas) > _MOST_FOLDED:
        return ""
    parts_stand_alone = any(isinstance(one.details, AttentionDetails) for one in ideas)
    short = [_shorten(one, keeps_blocks=parts_stand_alone) for one in ideas]

    def wraps(text: str) -> bool:
        return len(wrap_rows(text, fits)) <= _MOST_ROWS and all(map(fits, wrap_rows(text, fits)))

    units = [*map(_tell_unit, every)]
    ways = [(every, fits), (units, fits)]
    if any(isinstance(one.details, AttentionDetails) and one.name not in _USUAL for one in ideas):
        ways += [(every, wraps), (units, wraps)]  # its kind is what such a block is about
    ways += [(short, fits), ([*map(_tell_unit, short)], fits)]
    for names, is_fitting in ways:
        folded = fold_parts(names)
        text = join_folded(folded)
        if len({*names}) > 1 and len(folded) <= _MOST_PARTS and is_fitting(text):
            return text
    return ""


def _name_idea(one: Ingredient) -> str:
    """Return what a part is called among others: a block of cross-attention by that."""
    if isinstance(one.details, AttentionDetails):
        return name_among_others(one.name, one.facts)
    details = one.details.read_as(TransformerDetails)
    attention = details.attention.attention if details.attention is not None else None
    if attention != _CROSS or one.name != _BLOCK:
        return one.name
    is_gated = not _GATES.isdisjoint(one.facts)
    return f"Gated {_CROSS.lower()} block" if is_gated else f"{_CROSS} block"


def _tell_unit(name: str) -> str:
    """Return the idea that tells a residual block, ``Gated depthwise MLP``; else the name."""
    _, joint, unit = name.partition(WITH)
    return unit[:1].upper() + unit[1:] if joint and " " in unit else name


def _shorten(one: Ingredient, *, keeps_blocks: bool) -> str:
    """Return the shortest name of a part.

    A block of attention and MLP is called attention, but where attention stands alone beside it.
    """
    if keeps_blocks and one.name.startswith(_WITH_MLP):
        return _BLOCK
    return _ATTENTION if _attends(one) else one.name


def _attends(one: Ingredient) -> bool:
    return one.details.read_as(TransformerDetails).attention is not None or isinstance(
        one.details, AttentionDetails
    )


def _describe_heads(ingredients: Sequence[Ingredient]) -> str:
    """Return how many heads the attention among some parts has, where it is the same for all."""
    told = {
        fact
        for one in ingredients
        if one.rank == IDEA and _attends(one)
        for fact in one.facts
        if re.match(_HEADS, fact)
    }
    return told.pop() if len(told) == 1 else ""


def _describe_attention_alone(ingredients: Sequence[Ingredient]) -> str:
    """Return the heads of the one attention that linear layers are around; "" for other chains.

    One of these may make masks or positions, whose widths are not those of what goes through.
    """
    ideas = [one for one in ingredients if one.rank == IDEA]
    layers = {one.name for one in ingredients if one.rank == WORK}
    is_alone = len(ideas) == 1 and layers == {"Linear"}
    return _describe_heads(ingredients) if is_alone else ""


def _describe_parts(ingredients: Sequence[Ingredient], ports: Ports, *, are_several: bool) -> str:
    """Return what is known of parts that are no chain: the sizes that they change together.

    Where they change none, it is what is so of each, if all are of one kind.
    """
    each = "" if are_several else _describe_one(ingredients)
    changed = ports.tell()
    if not changed or (each and not re.match(_WIDTHS, each)):
        return each
    return _BEHIND.join(changed)


def _describe_chain(ingredients: Sequence[Ingredient], ports: Ports) -> list[str]:
    from .contents_widths import write_course_of

    facts = []
    course = write_course_of(ingredients, ports)
    if course:
        facts.append(course)
    scales = [one.scale for one in ingredients]
    scale = ports.tell_scale()
    if scale is not None:
        facts += filter(None, (scale,))
    elif all(scale is not None for scale in scales):
        smaller, larger = (prod(pair) for pair in zip(*filter(None, scales), strict=True))
        if smaller % larger == 0 and smaller > larger:
            facts.append(f"/{smaller // larger}")
        elif larger % smaller == 0 and larger > smaller:
            facts.append(f"×{larger // smaller}")
    return facts


def _describe_one(ingredients: Sequence[Ingredient]) -> str:
    """Return the first fact of the one idea that there is, however often."""
    ideas = {one.name: one.facts for one in ingredients if one.rank == IDEA}
    if len(ideas) != 1:
        return ""
    told = {one.facts[:1] for one in ingredients if one.rank == IDEA}
    return next(iter(told.pop()), "") if len(told) == 1 else ""


def _tell_idea(ingredients: Sequence[Ingredient], fits: Fits) -> str:
    """Return what is known of the one idea of a chain besides widths, as how many heads it has."""
    ideas = [one for one in ingredients if one.rank == IDEA]
    return _join_fitting(ideas[0].facts, fits) if len(ideas) == 1 and _attends(ideas[0]) else ""


def _join_fitting(facts: Sequence[str], fits: Fits) -> str:
    """Return as many facts as there is room for."""
    listed = ""
    for fact in facts:
        longer = _BEHIND.join(filter(None, (listed, fact)))
        if listed and not fits(longer):
            break
        listed = longer
    return listed
