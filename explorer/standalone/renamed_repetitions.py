"""Which repetitions of a model's stacks are the same but for names.

Of those that are alike one is laid out and described as it is, and another one is, to see that
what is expected of the others comes out; these are written like the first, in their own names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import NO_OPERAND_KINDS, OperandKinds

from .renaming import Renaming, compare_repetitions, is_comparable, write_signature

#: so many repetitions that are like a first one are laid out and described themselves
_SAMPLES = 1
#: of repetitions with the same operators and types no more kinds are told apart
_MOST_KINDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class RenamedRepetition:
    """A repetition that is like another one but for names.

    Parameters
    ----------
    first
        The number of the repetition that it is like.
    renaming
        What that one's elements are called here.
    samples
        The numbers of other repetitions that are like that one, by which what is expected of
        them is checked, and what its elements are called there.
    is_sample
        Whether this is one of them.
    next
        The number of the first that is like it and none of the samples, and its names; None
        where none is looked for.
    """

    first: int
    renaming: Renaming
    samples: tuple[tuple[int, Renaming], ...]
    is_sample: bool
    next: tuple[int, Renaming] | None = None

    def to_sample(self) -> RenamedRepetition | None:
        """Return how it is like the first sample, with ``next`` as what that is checked by.

        The border of a repeat has the names that the first repetition gives: what is shown of
        that one alone is then named twice in others. None where no names follow.
        """
        if self.is_sample or self.next is None:
            return None
        base, known = self.samples[0]
        number, other = self.next
        renaming, checked = known.join(self.renaming), known.join(other)
        if renaming is None or checked is None:
            return None
        return RenamedRepetition(base, renaming, ((number, checked),), self.renaming is other)


@dataclass(frozen=True, slots=True)
class ExampleElement:
    """The element of another repetition that an element is like but for names.

    Parameters
    ----------
    renaming
        What it and those around it are called here.
    samples
        What they are called in other repetitions, by which what is expected is checked.
    """

    path: str
    renaming: Renaming
    samples: tuple[Renaming, ...]


class RepetitionComparer:
    """Compares the repetitions of repeats, each repeat once.

    Parameters
    ----------
    operand_kinds
        How some nodes take some values, as :class:`~netloupe.explorer.view.View` has it.
    """

    def __init__(self, operand_kinds: OperandKinds = NO_OPERAND_KINDS) -> None:
        self._operand_kinds = operand_kinds
        self._renamed: dict[Group, dict[int, RenamedRepetition]] = {}
        self._example_of: dict[str, ExampleElement] = {}
        #: paths of elements that others are like
        self._examples: set[str] = set()

    def find(self, repeat: Group, index: int) -> RenamedRepetition | None:
        """Return how a repetition is like another one; None where it is like none."""
        known = self._renamed.get(repeat)
        if known is None:
            known = self._renamed[repeat] = dict(_compare_all(repeat, self._operand_kinds))
            for renamed in known.values():
                if not renamed.is_sample:
                    self._note(renamed)
        return known.get(index)

    def _note(self, renamed: RenamedRepetition) -> None:
        renaming = renamed.renaming
        samples = tuple(sample for _, sample in renamed.samples)
        for path in renaming.paths:
            example = ExampleElement(path, renaming, samples)
            self._example_of.setdefault(renaming.texts[path], example)
            self._examples.update((path, *(sample.texts[path] for sample in samples)))

    def find_example(self, path: str) -> ExampleElement | None:
        """Return of which element in another repetition the same is to be said."""
        return self._example_of.get(path)

    def is_example(self, path: str) -> bool:
        """Return whether other elements are described as the one at a path is."""
        return path in self._examples


def _compare_all(
    repeat: Group, operand_kinds: OperandKinds
) -> Iterator[tuple[int, RenamedRepetition]]:
    """Yield the repetitions that are like another one but for names, and how."""
    numbers: dict[Hashable, list[int]] = {}
    for number, repetition in enumerate(repeat.children):
        numbers.setdefault(write_signature(repetition), []).append(number)
    for alike in numbers.values():
        if len(alike) > 1 + _SAMPLES:
            yield from _compare_some(repeat, alike, operand_kinds)


def _compare_some(
    repeat: Group, numbers: Sequence[int], operand_kinds: OperandKinds
) -> Iterator[tuple[int, RenamedRepetition]]:
    """Yield which of some repetitions are like another one of them but for names, and how."""
    kinds: list[tuple[int, list[tuple[int, Renaming]]]] = []
    for number in numbers:
        repetition = repeat.children[number]
        for first, others in kinds:
            renaming = compare_repetitions(repeat.children[first], repetition, operand_kinds)
            if renaming is not None:
                others.append((number, renaming))
                break
        else:
            if len(kinds) < _MOST_KINDS and is_comparable(repetition):
                kinds.append((number, []))
    for first, others in kinds:
        samples = tuple(others[:_SAMPLES])
        for number, renaming in others if len(others) > _SAMPLES else ():
            is_sample = any(number == sample for sample, _ in samples)
            yield number, RenamedRepetition(first, renaming, samples, is_sample, others[_SAMPLES])
