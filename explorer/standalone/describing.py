"""Descriptions as templates and what stands in their slots, of like repetitions made once."""

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

from .renamed_descriptions import (
    DescriptionRenamer,
    SlottedDescription,
    Weight,
    learn_description_renamer,
)
from .renamed_repetitions import ExampleElement, RepetitionComparer
from .templates import SplitText, join_split, split_slots
from .weight_statistics import WeightWriter


class Describer:
    """Describes elements of a model.

    Parameters
    ----------
    weights
        Gets the weights that descriptions are of; None where nothing is said of their elements.
    repetitions
        Tells which elements are alike but for names; None where each is described by itself.
    """

    def __init__(
        self,
        model: Model,
        weights: WeightWriter | None = None,
        repetitions: RepetitionComparer | None = None,
    ) -> None:
        self._model = model
        self._weights = weights
        self._repetitions = repetitions
        #: by path what is said of elements that are the examples for others
        self._examples: dict[str, SlottedDescription] = {}
        #: by path of an example what describes the elements like it; None where that is not sure
        self._renamers: dict[str, DescriptionRenamer | None] = {}

    def describe(self, path: str, view: View) -> SlottedDescription | None:
        """Return what is said of what is at a path of a view; None for no element."""
        return self._describe_renamed(path, view) or self._describe_itself(path, view)

    def _describe_renamed(self, path: str, view: View) -> SlottedDescription | None:
        """Return what is said of an element that is like an example but for names."""
        example = self._repetitions.find_example(path) if self._repetitions is not None else None
        if example is None:
            return None
        if example.path not in self._renamers:
            self._renamers[example.path] = self._learn(example, view)
        renamer = self._renamers[example.path]
        return None if renamer is None else renamer.rename(example.renaming, self._number_weight)

    def _learn(self, example: ExampleElement, view: View) -> DescriptionRenamer | None:
        paths = [example.path, *(renaming.texts[example.path] for renaming in example.samples)]
        told = [
            each
            for each in (self._describe_itself(path, view) for path in paths)
            if each is not None
        ]
        if len(told) < len(paths):
            return None
        samples = [*zip(example.samples, told[1:], strict=True)]
        return learn_description_renamer(example.path, told[0], samples, self._number_weight)

    def _number_weight(self, weight: Weight) -> int:
        return 0 if self._weights is None else self._weights.number(*weight)

    def _describe_itself(self, path: str, view: View) -> SlottedDescription | None:
        """Return what is said of what is at a path; None for no element."""
        known = self._examples.get(path)
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
        told = SlottedDescription(around, slots, targets, weight)
        if self._repetitions is not None and self._repetitions.is_example(path):
            self._examples[path] = told
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
