"""The description of an element, used for others that differ from it in names alone.

A description is a template with slots (:mod:`.templates`). Which slots hold names is not known,
but seen: the description of another element, whose name is known too, must come out as it was
made. Where it does not, it is used for no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from netloupe.explorer.model import SparseTensor, Tensor, Value

from .renaming import Renaming

_BETWEEN_NAMES = re.compile(r"(\u00a0+| · |, | and )")
_BEFORE_NAME = re.compile(r"((?:(?:to|from|of) )?)(.*)", re.DOTALL)


Weight = tuple[Tensor | SparseTensor, Value | None]
#: gives the number of a weight on the page
NumberWeight = Callable[[Weight], int]
_WEIGHT_SLOT = 'data-weight="'
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SlottedDescription:
    """What is said of an element, as a template and what stands in its slots.

    Parameters
    ----------
    around
        The template: the texts around the slots.
    targets
        The paths that it leads to.
    weight
        The elements whose statistics are shown, and the value that they are; None for none.
    """

    around: tuple[str, ...]
    slots: list[str]
    targets: tuple[str, ...]
    weight: Weight | None = None


@dataclass(slots=True)
class DescriptionRenamer:
    """Describes elements by the description of another one, with their own names.

    Parameters
    ----------
    path
        Of the element that was described.
    """

    path: str
    description: SlottedDescription
    #: by the parts of a text with names in it the slots that hold it
    _named: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    #: which slots hold the number of the weight
    _weights: list[int] = field(default_factory=list)
    #: names, and what is said of the element alone, that stood unchanged in all samples
    _unchanged: set[str] = field(default_factory=set)

    def rename(self, renaming: Renaming, number_of: NumberWeight) -> SlottedDescription | None:
        """Return what is said of the element in another repetition; None where that is open."""
        texts = renaming.texts
        weight = renaming.weights.get(self.path)
        if (weight is None) != (self.description.weight is None):
            return None
        own = renaming.own.get(self.path, _NOTHING)
        if any((own.get(text) or texts.get(text, text)) != text for text in self._unchanged):
            return None
        slots = self.description.slots.copy()
        for parts, places in self._named.items():
            if len(parts) == 1:
                text = own.get(parts[0]) or texts.get(parts[0], parts[0])
            else:
                text = "".join([own.get(part) or texts.get(part, part) for part in parts])
            for slot in places:
                slots[slot] = text
        for slot in self._weights:
            slots[slot] = str(number_of(weight)) if weight is not None else ""
        targets = tuple([texts.get(target, target) for target in self.description.targets])
        return SlottedDescription(self.description.around, slots, targets, weight)

    def learn_slot(self, slot: int, text: str, samples: Sequence[tuple[Renaming, str]]) -> None:
        """Learn what a slot holds: a weight's number, names, or what is the same for all.

        Parameters
        ----------
        slot, text
            Which slot, and what stands there.
        samples
            What stands there in the descriptions of others.
        """
        if self.description.around[slot].endswith(_WEIGHT_SLOT):
            self._weights.append(slot)
            return
        known = samples[0][0].texts
        parts = [text] if text in known else _split_names(text)
        if any(other != text for _, other in samples):
            # whether that is right is seen at the end
            self._named.setdefault(tuple(parts), []).append(slot)
            return
        self._unchanged.update(
            part
            for part in parts
            if all(_rename_part(self.path, part, renaming) == part for renaming, _ in samples)
        )


def learn_description_renamer(
    path: str,
    told: SlottedDescription,
    samples: Sequence[tuple[Renaming, SlottedDescription]],
    number_of: NumberWeight,
) -> DescriptionRenamer | None:
    """Return how what is said of an element is told of others.

    Parameters
    ----------
    path, told
        The element, and what is said of it.
    samples
        What is said of the elements in its place in other repetitions.
    number_of
        Gives the number of a weight on the page.

    Returns
    -------
    DescriptionRenamer or None
        None where it does not give what is said of the samples.
    """
    if any(each.around != told.around for _, each in samples):
        return None
    learned = DescriptionRenamer(path, told)
    for slot, text in enumerate(told.slots):
        found = [(renaming, each.slots[slot]) for renaming, each in samples]
        learned.learn_slot(slot, text, found)
    if any(learned.rename(renaming, number_of) != each for renaming, each in samples):
        return None
    return learned


def _rename_part(path: str, part: str, renaming: Renaming) -> str | None:
    """Return what a part of what is said of an element is in another repetition; None for none."""
    return renaming.own.get(path, _NOTHING).get(part) or renaming.texts.get(part)


def _split_names(text: str) -> list[str]:
    """Return the parts of a text, some of which may be names."""
    parts: list[str] = []
    for part in _BETWEEN_NAMES.split(text):
        before, name = _BEFORE_NAME.fullmatch(part).groups()  # type: ignore[union-attr]
        parts += (before, name) if before else (part,)
    return parts
