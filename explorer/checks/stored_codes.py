"""What the codes of the quantized weights of a model are like, read once for all rules that ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.progress import is_ending, step
from netloupe.explorer.quantization.codes import CodeFacts, measure_codes
from netloupe.explorer.quantization.quantized_elements import open_weight
from netloupe.explorer.quantization.quantized_weights import (
    QuantizedWeight,
    find_output_axis,
    list_quantized_weights,
)

from .stored_numbers import ReadingBudget

#: so many weights are read; a hostile file may have a million
MOST_WEIGHTS = 20_000


@dataclass(frozen=True, slots=True)
class StoredCodes:
    """A quantized weight, and what its codes are like.

    Parameters
    ----------
    facts
        What its codes are like; None where they cannot be counted.
    reason
        Why they cannot be read; "" where they can, or are no integers.
    """

    weight: QuantizedWeight
    facts: CodeFacts | None
    reason: str = ""


class QuantizedWeights:
    """The quantized weights of a model and what their codes are like.

    Attributes
    ----------
    weights
        Each once, in the order of the file.
    left_count
        How many were left out because there are too many.
    """

    def __init__(self, model: Model) -> None:
        listed = (weight for graph in model.graphs for weight in list_quantized_weights(graph))
        self.weights = [*islice(listed, MOST_WEIGHTS)]
        self.left_count = sum(1 for _ in listed)
        self._read: list[StoredCodes] | None = None

    @property
    def codes(self) -> list[StoredCodes]:
        """What the codes of each are like; all of them are read when it is first asked."""
        if self._read is None:
            self._read = [*self._read_each()]
        return self._read

    def _read_each(self) -> Iterator[StoredCodes]:
        total = sum(weight.size for weight in self.weights) or 1
        done = 0
        budget = ReadingBudget(weight.tensor for weight in self.weights)
        for weight in self.weights:
            step("" if done else "reading quantized weights", min(done / total, 1.0))
            done += weight.size
            try:
                budget.take(weight.tensor)
                facts = measure_codes(open_weight(weight), find_output_axis(weight))
            except NetloupeError as error:
                if is_ending(error):
                    raise
                yield StoredCodes(weight, None, str(error))
                continue
            yield StoredCodes(weight, facts)
        step(share=1.0)

    @property
    def gap(self) -> str:
        """What could not be looked at, in words; "" for nothing."""
        if self._read is None:
            return ""
        parts = []
        unread = [one for one in self._read if one.reason]
        if unread:
            parts.append(
                f"{len(unread):,} of {len(self._read):,} quantized weights cannot be read: "
                f"{unread[0].reason}"
            )
        if self.left_count:
            parts.append(f"{self.left_count:,} quantized weights were not read")
        return "; ".join(parts)
