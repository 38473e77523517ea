"""What a graph gives by the names of its outputs, where their author chose words for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.model import Graph, Value

from .counted_words import join_with_and, write_plural

#: outputs are not named where there are more
_MOST_NAMES = 5
_WORDS = re.compile(r"[A-Za-z]{3,}(_[A-Za-z]+){0,2}")
_MOST_LETTERS = 20
#: and all names together have so many letters at most
_MOST_OF_ALL = 45
#: how what is said of outputs ends
_GIVEN = (" classes", " each place", " each token", " out", " output", " outputs")
#: words of names of what is carried to the next call
_CARRIED = frozenset({"cache", "caches", "hidden", "past", "present", "state", "states"})
#: words that say of an output that it is one, or a number without a meaning
_SILENT = frozenset(
    {"features", "hidden", "identity", "logit", "logits", "out", "output", "outputs", "pred"}
    | {
        "prediction",
        "predictions",
        "preds",
        "res",
        "result",
        "results",
        "ret",
        "return",
        "sample",
        "tensor",
    }
    | {"val", "value"}
    # operators of torch, by which torch.export names what they give
    | {"add", "addmm", "alias", "bmm", "cat", "clone", "convolution", "div", "flatten", "linear"}
    | {"log", "matmul", "mul", "permute", "reshape", "select", "slice", "softmax", "squeeze"}
    | {"stack", "sub", "transpose", "unsqueeze", "view"}
)
#: what is told apart by scores, and how names of scores go on: ``action_logits``
_TOLD_APART = frozenset(
    {"action", "character", "emotion", "genre", "intent", "item", "language", "phoneme"}
    | {"relation", "speaker", "species", "tag", "tool", "word"}
)
_SCORES = re.compile(r"([a-z]+?)s?(?:_log)?_(?:logits?|prob(?:abilitie)?s?|scores?)")
_COUNT = re.compile(
    r"(?P<count>[\d,]+) (?:class(?:es)?|outputs?)(?P<rest>| at each (?:place|node))"
)
#: and of an input
_SILENT_INPUTS = frozenset(
    {"arg", "args", "data", "id", "ids", "in", "input", "inputs", "tensor", "value", "values"}
    | {"vector"}
)


def list_given_names(graph: Graph) -> list[str]:
    """Return the names of all outputs of a graph; nothing if one of them says nothing.

    An exporter names what it gives after the operator that gives it, or by a number.
    """
    outputs = graph.outputs
    if len(outputs) > _MOST_NAMES or any(_is_carried(value) for value in outputs):
        return []
    names = [value.name for value in outputs if _is_chosen(value)]
    is_short = sum(map(len, names)) <= _MOST_OF_ALL
    return names if is_short and len(names) == len(outputs) == len({*names}) else []


def name_output(value: Value) -> str:
    """Return what an output is called; "" where that says nothing."""
    return value.name.replace("_", " ") if _is_chosen(value) else ""


def name_taken(value: Value) -> str:
    """Return what an input is called, in words; "" where that says nothing."""
    words = value.name.split("_")
    if len(value.name) > _MOST_LETTERS or not (_WORDS.fullmatch(value.name) or value.name == "z"):
        return ""
    return "" if {*map(str.lower, words)} <= _SILENT_INPUTS else " ".join(words)


def write_names(names: Sequence[str], text: str) -> str:
    """Return what is said of the outputs of a graph, with their names behind it.

    Parameters
    ----------
    names
        Those that say something; nothing else is said of them where there is none.
    text
        What is known of them: ``2 outputs of 15 and 1 features``; "" for nothing.
    """
    if not names:
        return text
    if not text:
        return f"gives {join_with_and(names)}"
    text = _say_what_is_told_apart(names, text)
    return text if text.endswith(")") else f"{text} ({', '.join(names)})"


def _say_what_is_told_apart(names: Sequence[str], text: str) -> str:
    """Return ``8 actions`` for ``8 classes`` where all outputs are scores of actions by name."""
    found = [_SCORES.fullmatch(name.lower()) for name in names]
    nouns = {one[1] for one in found if one is not None}
    counted = _COUNT.fullmatch(text)
    if counted is None or None in found or len(nouns) != 1 or not nouns <= _TOLD_APART:
        return text
    noun = write_plural(nouns.pop()) if counted["count"] != "1" else nouns.pop()
    return f"{counted['count']} {noun}{counted['rest']}"


def add_names(names: Sequence[str], clauses: Sequence[str]) -> tuple[str, ...]:
    """Return the clauses of a sentence with the names of outputs behind what is said of these."""
    *before, last = [clause for clause in clauses if clause] or [""]
    if last.endswith(_GIVEN):
        return (*before, write_names(names, last))
    return (*before, last, *([write_names(names, "")] if names else []))


def _is_carried(value: Value) -> bool:
    return not _CARRIED.isdisjoint(value.name.lower().split("_"))


def _is_chosen(value: Value) -> bool:
    """Return whether a name is of words, and not that of the operator that gives the value."""
    name = value.name
    words = name.lower().split("_")
    if len(name) > _MOST_LETTERS or not _WORDS.fullmatch(name) or {*words} <= _SILENT:
        return False
    node = value.producer
    own = "" if node is None else f"{node.name}|{node.op_type}".lower()
    return not re.search(rf"(^|[^a-z]){re.escape(name.lower())}(\||$)", own)
