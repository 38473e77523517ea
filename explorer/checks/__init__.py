"""What is odd in a model, and what rules find: legality, waste, numbers, quantization and more.

A model comes in; :class:`~netloupe.explorer.model.ModelWarning` objects that name the element, or
:class:`Findings` with evidence and remedy, go out. Nothing here changes the model, or knows
pictures.
"""

from .check import Findings, SkippedRule, check, find_rules
from .cycles import find_cycles
from .findings import find_oddities
from .folding import Finding
from .rule import SEVERITIES, Occurrence, Rule
from .rules import RULES
from .skipped import tell_skipped

__all__ = [
    "RULES",
    "SEVERITIES",
    "Finding",
    "Findings",
    "Occurrence",
    "Rule",
    "SkippedRule",
    "check",
    "find_cycles",
    "find_oddities",
    "find_rules",
    "tell_skipped",
]
