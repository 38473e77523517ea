"""Descriptions as templates and what stands in their slots, those of like repetitions made once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from netloupe.explorer.describe import Description, Section, describe_path
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.page.description_html import (
    write_header,
    write_unfolding,
    write_weight_place,
)
from netloupe.explorer.view import View

from .likeness import LikeElement, LikeRepetitions
from .retelling import Retelling, Told, Weight, learn_retelling
from .templates import SplitText, join_split, split_slots
from .weights import WeightWriter


class Describer:
    """Describes elements of a model.

    Parameters
    ----------
    model
        The model.
    weights
        Gets the weights that descriptions are of; None where nothing is said of their elements.
    repetitions
        Tells which elements are alike but for names; None where each is described by itself.
    """

    def __init__(
        self,
        model: Model,
        weights: WeightWriter | None = None,
        repetitions: LikeRepetitions | None = None,
    ) -> None:
        self._model = model
        self._weights = weights
        self._repetitions = repetitions
        #: by path what is said of elements that are the examples for others
        self._told: dict[str, Told] = {}
        #: by path of an element how the same is told of others; None where it cannot be
        self._retellings: dict[str, Retelling | None] = {}

    def describe(self, path: str, view: View) -> Told | None:
        """Return what is said of what is at a path of a view; None for no element."""
        return self._retell(path, view) or self._tell(path, view)

    def _retell(self, path: str, view: View) -> Told | None:
        """Return what is said of an element that another is like but for names."""
        like = self._repetitions.find_like(path) if self._repetitions is not None else None
        if like is None:
            return None
        if like.path not in self._retellings:
            self._retellings[like.path] = self._learn(like, view)
        retelling = self._retellings[like.path]
        return None if retelling is None else retelling.tell(like.renaming, self._number_weight)

    def _learn(self, like: LikeElement, view: View) -> Retelling | None:
        paths = [like.path, *(renaming.texts[like.path] for renaming in like.samples)]
        told = [each for each in (self._tell(path, view) for path in paths) if each is not None]
        if len(told) < len(paths):
            return None
        samples = [*zip(like.samples, told[1:], strict=True)]
        return learn_retelling(like.path, told[0], samples, self._number_weight)

    def _number_weight(self, weight: Weight) -> int:
        return 0 if self._weights is None else self._weights.number(*weight)

    def _tell(self, path: str, view: View) -> Told | None:
        """Return what is said of what is at a path; None for no element."""
        known = self._told.get(path)
        if known is not None:
            return known
        try:
            description = describe_path(self._model, path, view)
        except NetloupeError:
            return None
        if description.kind == "model":
            description = _without_folder(description, self._model)
        weight = number = None
        if description.tensor is not None and self._weights is not None:
            weight = description.tensor, description.value
            number = self._number_weight(weight)
        targets = tuple(
            row.path for section in description.sections for row in section.rows if row.path
        )
        around, slots = split_description(description, number)
        told = Told(around, slots, targets, weight)
        if self._repetitions is not None and self._repetitions.is_example(path):
            self._told[path] = told
        return told


def _without_folder(description: Description, model: Model) -> Description:
    """Return a description that does not tell in which folder of its author a model was."""
    sections = []
    for section in description.sections:
        rows = [
            replace(row, value=Path(model.source).name) if row.value == model.source else row
            for row in section.rows
        ]
        sections.append(replace(section, rows=tuple(rows)))
    return replace(description, sections=tuple(sections))


def split_description(description: Description, weight: int | None = None) -> SplitText:
    """Return a description as HTML that unfolds by itself, as a template and its slots.

    Parameters
    ----------
    description
        The description.
    weight
        The number of the weight that is shown below the first section.
    """
    parts = [split_slots(write_header(description))]
    for number, section in enumerate(description.sections):
        if number == 1 and weight is not None:
            parts.append(_split_weight(weight))
        parts.append(_split_section(section))
    if len(description.sections) < 2 and weight is not None:
        parts.append(_split_weight(weight))
    return join_split(parts)


def _split_section(section: Section) -> SplitText:
    return split_slots(write_unfolding(section)) if section.rows else _split_text(section)


def _split_weight(weight: int) -> SplitText:
    return split_slots(write_weight_place(weight))


@lru_cache(maxsize=256)
def _split_text(section: Section) -> SplitText:
    """Return a section of text alone, such as the documentation of an operator."""
    return split_slots(write_unfolding(section))
