"""``netloupe diff``: what differs, and when that is to end with exit status 1."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Literal

from netloupe.explorer.compare import IGNORABLE, Diff, diff
from netloupe.explorer.describe.differences import encode_diff, format_diff

from .running import FOUND, load_named, most_entries, print_json
from .streams import write_standard_output
from .terminal import TerminalProgress

_KINDS = ("structure", "interface", "weights")


def run_diff(parsed: argparse.Namespace) -> int:
    """Print what differs between two models."""
    with TerminalProgress() as progress:
        progress.step("reading")
        left, right = (load_named(name, None) for name in parsed.models)
        found = diff(left, right, ignore=parsed.ignore)
        told = encode_diff(found, most=most_entries(parsed)) if parsed.json else {}
    if parsed.json:
        print_json(told, several=False)
    else:
        write_standard_output(format_diff(found))
    return FOUND if parsed.fail_on is not None and parsed.fail_on.applies(found) else 0


@dataclass(frozen=True, slots=True)
class FailOn:
    """What a difference has to be for the command to fail.

    Parameters
    ----------
    kind
        ``structure``: more than the numbers in weights differs; ``interface``: the model is no
        drop-in replacement; ``weights``: numbers differ.
    most
        By how much the numbers of a weight may differ: the length of the differences (L2) as a
        share of that of the left numbers.
    """

    kind: Literal["structure", "interface", "weights"]
    most: float = 0.0

    def applies(self, found: Diff) -> bool:
        """Return whether a difference is such a one."""
        if self.kind == "structure":
            return found.has_other_structure
        if self.kind == "interface":
            return not found.is_compatible
        return bool(
            found.left_tensors
            or found.right_tensors
            or any(
                one.are_unread or (one.numbers and not one.numbers.relative <= self.most)
                for one in found.tensors
            )
        )


def read_fail_on(text: str) -> FailOn:
    """Return what ``--fail-on`` says: ``structure``, ``interface``, ``weights`` or ``weights:N``.

    Raises
    ------
    argparse.ArgumentTypeError
        For anything else.
    """
    kind, colon, number = text.partition(":")
    if kind in _KINDS and (not colon or kind == "weights"):
        try:
            most = float(number) if colon else 0.0
        except ValueError:
            most = -1.0
        if 0 <= most < math.inf:
            return FailOn(kind, most)  # type: ignore[arg-type]
    raise argparse.ArgumentTypeError(f"{text[:60]!r} is none of {', '.join(_KINDS)}, weights:1e-3")


def read_ignored(text: str) -> tuple[str, ...]:
    """Return the words of ``--ignore``.

    Raises
    ------
    argparse.ArgumentTypeError
        For a word that cannot be ignored.
    """
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    for word in words:
        if word not in IGNORABLE:
            raise argparse.ArgumentTypeError(f"{word[:60]!r} is none of {', '.join(IGNORABLE)}")
    return words
