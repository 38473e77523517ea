"""All forms in which a difference is told tell other versions from what is written otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from onnx import parser

import netloupe
from netloupe import Diff
from netloupe.explorer.describe.difference_json import encode_diff
from netloupe.explorer.describe.differences import format_diff
from netloupe.explorer.ladder.listing import list_sections
from netloupe.explorer.review import make_review
from netloupe.explorer.review.wire import encode_review

_TEXT = """<ir_version: 9, producer_name: "made", producer_version: "1",
 opset_import: ["":18, "own":1]>
g (float[4] x) => (float[4] y) { y = Relu(x) }"""

_VERSIONS: dict[str, Callable[[str], str]] = {
    "IR version": lambda text: text.replace("ir_version: 9", "ir_version: 10"),
    "opset": lambda text: text.replace('"":18', '"":17'),
    "opset of another domain": lambda text: text.replace('"own":1', '"own":2'),
    "opset that is gone": lambda text: text.replace(', "own":1', ""),
}
#: the version of a producer is a text for people: nothing else depends on it
_TEXTS: dict[str, Callable[[str], str]] = {
    "producer": lambda text: text.replace('"made"', '"other"'),
    "producer version": lambda text: text.replace('producer_version: "1"', 'producer_version: "2"'),
}


def _diff(edit: Callable[[str], str]) -> Diff:
    left, right = (parser.parse_model(text).SerializeToString() for text in (_TEXT, edit(_TEXT)))
    return netloupe.diff(netloupe.load(left), netloupe.load(right))


def _list_forms(found: Diff) -> Iterator[tuple[str, str]]:
    """Yield of what one form tells after the other what it calls the only entry, in small."""
    yield "text", format_diff(found).splitlines()[5]
    yield "ladder", " ".join(part.title for part in list_sections(found) if part.numbers)
    review = make_review(diff=found)
    yield "review", review.verdict
    wire = encode_review(review)
    yield "Review tab", " ".join(wire["levels"][item[1]][3] for item in wire["items"])
    told = encode_diff(found, most=None)
    counts = told["counts"]["differences"]
    yield "JSON", " ".join(level for level, count in counts.items() if count)
    yield "JSON's list", " ".join(entry["level"] for entry in told["differences"])
    report = netloupe.report(found.right, against=found.left, format="md")
    (row,) = (line for line in report.splitlines() if line.endswith("| the model | 1 |  |"))
    yield "report", row.split("|")[1]


@pytest.mark.parametrize("name", [*_VERSIONS, *_TEXTS])
def test_all_forms_tell_versions_from_what_is_written_otherwise(name: str) -> None:
    found = _diff((_VERSIONS | _TEXTS)[name])
    assert found.verdict == ("structure" if name in _VERSIONS else "cosmetic")
    for form, text in _list_forms(found):
        told = text.lower()
        assert ("version" in told, "written" in told) == (name in _VERSIONS, name in _TEXTS), (
            form,
            text,
        )


def test_versions_and_texts_are_counted_apart() -> None:
    found = _diff(lambda text: _TEXTS["producer"](_VERSIONS["opset"](text)))
    assert make_review(diff=found).verdict == "1 other version, 1 only written otherwise"
    counts = encode_diff(found)["counts"]["differences"]
    assert (counts["version"], counts["written"], counts["real"]) == (1, 1, 0)


def test_of_many_statements_of_a_kind_it_is_said_how_many_are_not_listed() -> None:
    """Functions that one model alone has are alike: the first are listed."""
    count = 50
    functions = "".join(
        f"""<domain: "own", opset_import: ["":18]>
        f{number} (a) => (b) {{ b = Relu(a) }}
        """
        for number in range(count)
    )
    found = _diff(lambda text: f"{text}\n{functions}")
    items = [item for item in make_review(diff=found) if item.count == count]
    told = [item for item in items if item.title == "Function functions/own::f0 differs"]
    assert [("more", f"{count - 40} statements") in item.evidence for item in told] == [True], items
