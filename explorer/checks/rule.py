"""Rules and what they find: one place each, before alike ones are folded into a finding."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from .subject import Subject

#: how bad it is: it does not run or gives wrong numbers; it costs or surprises; good to know
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

Evidence: TypeAlias = Mapping[str, object]
_NOTHING: Mapping[str, int] = MappingProxyType({})


class Occurrence(NamedTuple):  # of which a hostile model may give a million
    """One place where a rule applies.

    Parameters
    ----------
    message
        What is so there, exactly, in one sentence.
    evidence
        The values that show it.
    cause
        Hits of one rule are told as one where this is equal and their places are alike.
    amounts
        Further evidence, which is added up over the hits that are told as one.
    places
        How many it stands for.
    severity
        Where it differs from the rule's.
    """

    path: str
    message: str
    evidence: Evidence = _NOTHING
    cause: str = ""
    amounts: Mapping[str, int] = _NOTHING
    places: int = 1
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule with its documentation.

    Parameters
    ----------
    id
        ``NL-G02``: never given to another rule.
    name
        The same in words, by which it can be selected too: ``unused-initializer``.
    severity
        Of its findings.
    title
        What it looks for, in a few words.
    why
        Why that matters.
    remedy
        What to do, as far as it can be copied.
    source
        Where the rule is from: a section of the specification, a paper, a tool.
    find
        Yields the places.
    reads_values
        Whether it needs the elements of tensors.
    needs_target
        Whether it applies to a named runtime only.
    is_opt_in
        Whether it runs only where it is selected by id or name.
    """

    id: str
    name: str
    severity: Severity
    title: str
    why: str
    remedy: str
    source: str
    find: Callable[[Subject], Iterator[Occurrence]] = field(compare=False)
    reads_values: bool = False
    needs_target: bool = False
    is_opt_in: bool = False

    def explain(self) -> str:
        """Return what ``netloupe check --explain`` prints."""
        notes = (
            (self.is_opt_in, "Runs only where it is selected by its id or name."),
            (self.needs_target, "Runs only for a target, as in --target ort-1.17."),
            (self.reads_values, "Reads the elements of tensors."),
        )
        told = [self.why, f"Remedy: {self.remedy}", f"Source: {self.source}"]
        told += [" ".join(text for is_so, text in notes if is_so)]
        wrapped = (textwrap.fill(text, 100, subsequent_indent="  ") for text in told if text)
        return "\n".join((f"{self.id} {self.name} ({self.severity}): {self.title}", *wrapped, ""))
