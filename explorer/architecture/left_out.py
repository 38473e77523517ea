"""Ideas of papers that a network has many times, and that a sentence about it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from netloupe.explorer.patterns.found_blocks import FoundBlock
from netloupe.explorer.patterns.residual_kinds import WITH

from .aggregations import tell_aggregations
from .attended import add_turns
from .claims import read_counts
from .counted_words import write_plural
from .layer_words import write_lower
from .outline import Outline
from .sketch import Sketch

#: kinds of block that tell networks apart that are alike else
_TELLING = frozenset({"adaptive norm", "attention", "excitation", "mixer", "unit"})
#: attention that needs no other word
_PLAIN = frozenset({"Attention", "Cross-attention", "Grouped-query attention", "Self-attention"})
#: words that many names have
_COMMON = frozenset(
    (
        *("attention", "block", "convolution", "gated", "kernel", "layer", "linear", "local"),
        *("module", "multi", "network", "norm", "pooling", "product", "residual", "self", "unit"),
    )
)
_BLOCKS = frozenset({"inverted", "residual", "transformer"})
#: what says the same: a norm that is adaptive modulates features (E. Perez and others, FiLM, 2018,
#: section 2)
_SAME = {"feature-wise modulation": "adaptive"}
#: what is in a smaller share of blocks is no idea of theirs
_LEAST_SHARE = 0.5
_LEAST_TIMES = 2
_MOST_TOLD = 2
#: an idea of all blocks of a kind
_IN_ALL = re.compile(r" in all ([\d,]+ .+)$")
#: blocks that mix tokens, and what is told of how they do
_MIXER, _MANNER = "Mixer block", "tokens by "
#: what is in a smaller share of blocks is no idea of theirs, where it weighs what others make
_LEAST_WEIGHED = 0.4
#: what stands at the end of a sentence
_GIVEN = re.compile(r"^gives |outputs?\b|^output |^vocabulary |channels? out")


@dataclass(slots=True)
class _Idea:
    """An idea, and the blocks of a network that it is in: None where it is in none."""

    found: list[FoundBlock]
    holders: list[FoundBlock | None]


def add_left_out(outline: Outline, sketch: Sketch) -> Sketch:
    """Add to a sentence which ideas a network has in most of its blocks, if it is silent of them.

    ``squeeze-and-excitation in all 16 residual blocks``; where some are outside of blocks how many
    there are.
    """
    text = sketch.text.lower()
    if not sketch.clauses:
        return sketch
    entries = [one for one in outline.blocks.list_outermost() if isinstance(one, FoundBlock)]
    blocks = [block for block in entries if block.kind in _BLOCKS]
    every = [one for entry in entries for one in (entry, *_walk(entry))]
    told = []
    clauses = add_turns(outline, [clause for clause in sketch.clauses if clause])
    _add_manner(outline, clauses, text)
    for name, idea in _list_ideas(entries).items():
        noun = write_lower(name)
        if _is_told(noun, text) or _is_told_otherwise(idea, every, text):
            continue
        said = _write_held(outline, noun, idea, blocks, clauses)
        if said and not _put_in_place(clauses, noun, said):
            told.append(said)
    aggregated = tell_aggregations(outline)
    if aggregated and "aggregation" not in text:
        told.append(aggregated)
    place = next((n for n, one in enumerate(clauses) if n and _GIVEN.search(one)), len(clauses))
    clauses[place:place] = told[:_MOST_TOLD]
    return replace(sketch, clauses=tuple(clauses))


def _add_manner(outline: Outline, clauses: list[str], text: str) -> None:
    """Say of blocks that mix tokens by what, where all do so by the same.

    W. Yu and others, MetaFormer Is Actually What You Need for Vision, 2022, figure 1: that is what
    such networks differ in.
    """
    manners = {
        next((fact for fact in part.facts if fact.startswith(_MANNER)), "")
        for part in outline.parts
        if part.name == _MIXER
    }
    manner = manners.pop() if len(manners) == 1 else ""
    noun = write_plural(write_lower(_MIXER))
    places = [at for at, clause in enumerate(clauses) if noun in clause]
    if manner and manner.lower() not in text and len(places) == 1:
        clauses[places[0]] = clauses[places[0]].replace(noun, f"{noun} ({manner})", 1)


def _put_in_place(clauses: list[str], noun: str, said: str) -> bool:
    """Say of blocks that are counted in brackets at one place alone that they hold an idea.

    At the end of a sentence one does not see of which of its blocks it speaks.
    """
    found = _IN_ALL.search(said)
    if found is None:
        return False
    blocks = re.compile(rf"(?<=[( ]){re.escape(found[1])}(?=[,)])")
    places = [at for at, clause in enumerate(clauses) for _ in blocks.finditer(clause)]
    if len(places) != 1 or not re.search(rf"\([^()]*{blocks.pattern}", clauses[places[0]]):
        return False
    at = places[0]
    clauses[at] = blocks.sub(f"{found[1]} with {noun}", clauses[at])
    return True


def _is_told(noun: str, text: str) -> bool:
    """Return whether a sentence has a name, or a word of it that is of few names."""
    words = {*re.findall(r"[a-z-]{3,}", noun.lower())} - _COMMON
    same = _SAME.get(noun.lower(), noun.lower())
    return same in text or any(word in text for word in words)


def _list_ideas(entries: Sequence[FoundBlock]) -> dict[str, _Idea]:
    """Return the ideas among blocks and in them, by name."""
    ideas: dict[str, _Idea] = {}
    for entry in entries:
        for one in (entry, *_walk(entry)):
            if one.kind in _TELLING and one.name not in _PLAIN:
                idea = ideas.setdefault(one.name, _Idea([], []))
                idea.found.append(one)
                idea.holders.append(entry if entry.kind in _BLOCKS else None)
    return ideas


def _is_told_otherwise(idea: _Idea, every: Sequence[FoundBlock], text: str) -> bool:
    """Return whether a block that shares operations with an idea is told by its own name."""
    numbers = idea.found[0].numbers
    return any(
        one.name != idea.found[0].name and one.kind in _TELLING and _is_told(one.name, text)
        for one in every
        if not numbers.isdisjoint(one.numbers)
    )


def _write_held(
    outline: Outline,
    noun: str,
    idea: _Idea,
    blocks: Sequence[FoundBlock],
    clauses: Sequence[str],
) -> str:
    """Return in how many of some blocks an idea is; how many there are where not each is in one.

    Where clauses count more blocks by that name, it is in so many of these.
    """
    holders = {id(holder): holder.kind for holder in idea.holders if holder is not None}
    kinds = {*holders.values()}
    alike = [block for block in blocks if block.kind in kinds]
    count = len(idea.found)
    share = _LEAST_WEIGHED if idea.found[0].kind == "excitation" else _LEAST_SHARE
    if count < max(_LEAST_TIMES, share * len(alike)):
        return ""
    if len(holders) < count:
        return f"{noun} in {count:,} places"
    owners = [outline.owner(block.end) for block in alike]
    names = {
        (owner.name or block.name).partition(WITH)[0]
        for owner, block in zip(owners, alike, strict=True)
    }
    name = write_lower(names.pop()) if len(names) == 1 else "block"
    whole = max(len(alike), _read_said(clauses, name))
    every = f"all {count:,}" if count == whole else f"{count:,} of {whole:,}"
    return f"{noun} in {every} {write_plural(name)}"


def _read_said(clauses: Sequence[str], name: str) -> int:
    """Return how many of some blocks clauses say there are, together; 0 where one does not say."""
    texts = [re.sub(r"[()]", ", ", clause) for clause in clauses]
    said = [one.number for text in texts for one in read_counts(text, [name])]
    return sum(number or 0 for number in said) if None not in said else 0


def _walk(block: FoundBlock) -> Iterator[FoundBlock]:
    """Yield what a block is put together from, at any depth."""
    for part in block.parts:
        yield part
        yield from _walk(part)
