"""Between which numbers the results of operators lie, whatever they take."""

from __future__ import annotations

from typing import Final

#: by the form of an operator: numbers, which no trait tells
KNOWN_RANGES: Final = {
    "Sigmoid": (0.0, 1.0),
    "HardSigmoid": (0.0, 1.0),
    "Softmax": (0.0, 1.0),
    "Tanh": (-1.0, 1.0),
    "Erf": (-1.0, 1.0),
}
