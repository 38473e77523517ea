"""What readers and the search for oddities say of a model, by the rule that it belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.model import Graph, Model, ModelWarning
from netloupe.explorer.model.model import list_inner_warnings
from netloupe.explorer.model.node_keys import tell_oddities
from netloupe.explorer.notation import write_count

from .findings import Oddity, list_oddities
from .rule import Occurrence

#: so many places are told apart for each rule; the others are counted
_MOST_PLACES = 2_000

#: rules by what readers write; the first that matches counts
_MESSAGES = {
    "use-before-definition": r"uses %.* before .* gives it$",
    "undefined-value": r".*(that|which) nothing defines$",
    "defined-twice": r".*, which is defined before$|is listed twice as an |"
    r"two (initializers|fills) have this name",
    "tensor-data": r".* (is|are) (claimed|needed)$|.* stored where |its elements are in |"
    r"the dimensions .* are negative|the element type is |also holds |"
    r"the sparse tensor has no indices|does not give its |the storage type is|"
    r"holds its elements more than once|its segment has no |is stored externally, but |"
    r"the fill (has no values|does not give a shape)",
    "external-data": r"its .* is (a number of \d+ digits|.*, which is no plain decimal number)$",
    "attribute-data": r"has (attribute|argument) |the attribute's kind |says it is |"
    r"holds several values",
    "annotation": r"has (a|two) quantization annotation",
    "missing-ir-version": r"the file does not state its IR version",
    "appended-model": r"the file gives .* more than once, as models written one after the other",
    "import-twice": r"the operator set .* is imported twice",
    "function-twice": r"another function has the same domain",
    "unknown-fields": r"the file has fields that the schema does not know|"
    r"what the schema does not know is left out",
}
_READ = tuple((rule, re.compile(pattern, re.DOTALL)) for rule, pattern in _MESSAGES.items())
#: of a message that no pattern fits
OTHER = "file-oddity"
_NAMES_IN_TEXT = re.compile(r"%\S+|'[^']*'|\d[\d,]*")


def collect_noted(model: Model) -> dict[str, list[Occurrence]]:
    """Return the places that are odd by the name of a rule; reads the details of every node."""
    found: dict[str, list[Occurrence]] = {}
    left: Counter[str] = Counter()
    for rule, warning in _list_all(model):
        hits = found.setdefault(rule, [])
        if len(hits) < _MOST_PLACES:
            cause = _NAMES_IN_TEXT.sub("…", warning.message)[:200]
            hits.append(Occurrence(warning.path, warning.message, cause=cause))
        else:
            left[rule] += 1
    for rule, count in left.items():
        path = found[rule][-1].path
        found[rule].append(
            Occurrence(
                path,
                f"and {write_count(count, 'more place')} after this one",
                cause="more",
                places=count,
            )
        )
    return found


def _list_all(model: Model) -> Iterator[Oddity]:
    yield from list_oddities(model)
    for warning in _list_read(model):
        yield find_rule_of(warning.message), warning


def find_rule_of(message: str) -> str:
    """Return the name of the rule that a reader's message belongs to.

    ``tests/checks/test_noted.py`` lists every message that readers can give with its rule, so that
    one that is worded anew is seen.
    """
    return next((rule for rule, sign in _READ if sign.match(message)), OTHER)


def _list_read(model: Model) -> Iterator[ModelWarning]:
    """Yield what readers and inference found odd."""
    yield from model.warnings
    yield from list_inner_warnings(model, _list_of_nodes)


def _list_of_nodes(graph: Graph) -> Iterator[ModelWarning]:
    """Yield what is odd about every node: alike places are folded later, and counted."""
    for node in graph.nodes:
        messages = tell_oddities(node)
        if messages is None:
            yield from node.warnings
        elif messages:
            path = node.path
            for message in messages:
                yield ModelWarning(path, message)
