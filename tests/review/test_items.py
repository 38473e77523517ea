"""Findings and differences as items of one list."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

import netloupe
from netloupe.explorer.checks import Finding, Findings, SkippedRule, check
from netloupe.explorer.checks.rules import RULES
from netloupe.explorer.compare import REAL_LEVELS
from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Model
from netloupe.explorer.review import Review, ReviewItem, make_review, sort_items, take_review
from netloupe.explorer.review.item import LEVELS
from netloupe.explorer.review.review import UNREAD_WEIGHTS
from tests.compare.networks import make_layers
from tests.onnx_text import load_text

BEFORE = """
agraph (float[2, 2] x) => (float[2, 2] y)
<float[2] w = {1, 2}>
{
    a = Add(x, w)
    b = Relu(a)
    c = Softmax<axis = 0>(b)
    y = Identity(c)
}
"""


AFTER = """
agraph (float[2, 2] x) => (float[2, 2] y)
<float[2] w = {1, 3}>
{
    a = Add(x, w)
    c = Softmax<axis = -1>(a)
    d = Identity(c)
    e = Cos(d)
    y = Sin(e)
}
"""


def load_after() -> Model:
    return load_text(AFTER)


def find(review: Review, title: str) -> ReviewItem:
    (found,) = [item for item in review if item.title == title]
    return found


def make_finding(**fields: object) -> Finding:
    given = {
        "id": "NL-G02",
        "name": "unused-initializer",
        "severity": "warning",
        "paths": ("main/%w",),
        "message": "no node uses it",
        "evidence": {"bytes": 1500, "dtype": "float32"},
        "remedy": "Remove it.",
        "count": 1,
        "fingerprint": "f",
    }
    return Finding(**{**given, **fields})  # type: ignore[arg-type]


def test_a_finding_keeps_all_that_is_known_of_it() -> None:
    rule = next(rule for rule in RULES if rule.id == "NL-G02")
    (item,) = make_review(Findings("m.onnx", (make_finding(),), (), (rule,)))
    assert (item.kind, item.level, item.id, item.sign) == ("finding", "warning", "NL-G02", "!")
    assert (item.title, item.where, item.paths) == (rule.title, "w", ("main/%w",))
    assert item.evidence == (
        ("found", "no node uses it"),
        ("bytes", "1.5 kB"),
        ("dtype", "float32"),
    )
    assert (item.why, item.remedy, item.source) == (rule.why, "Remove it.", rule.source)


def test_of_a_rule_that_is_not_known_its_name_is_the_title() -> None:
    (item,) = make_review(Findings("m.onnx", (make_finding(),)))
    assert (item.title, item.why) == ("unused-initializer", "")


def test_alike_places_are_counted_and_what_is_not_named_is_said() -> None:
    many = make_finding(paths=("main/a", "main/b"), count=2)
    cut = make_finding(paths=("main/a", "main/b"), count=5_000)
    first, second = make_review(Findings("m.onnx", (many, cut)))
    assert (first.where, dict(first.evidence)["alike"]) == ("a and 1 more", "2 places")
    alike = "5,000 places, the first 2 of them named"
    assert (second.where, dict(second.evidence)["alike"]) == ("a and 4,999 more", alike)


def test_names_of_a_model_lose_what_would_be_hidden_in_a_list() -> None:
    evil = make_finding(paths=("main/a\u202eb\n",), message="a\u202e<script>")
    (item,) = make_review(Findings("m.onnx", (evil,)))
    assert "\u202e" not in item.where + dict(item.evidence)["found"]
    assert "\n" not in item.where
    assert item.paths == ("main/a\u202eb\n",)


def test_who_accepted_a_finding_is_told() -> None:
    accepted = make_finding(suppressed=True, justification="meant so", accepted_by="ada")
    known = make_finding(suppressed=True)
    told = [item.accepted for item in make_review(Findings("m.onnx", (accepted, known)))]
    assert told == ["ada: meant so", "known from the baseline"]


def test_the_worst_stands_first_and_what_is_accepted_last() -> None:
    items = [
        ReviewItem("finding", level, level, "", "x", accepted="known" if level == "error" else "")
        for level in reversed(LEVELS)
    ]
    levels = [item.level for item in sort_items(items)]
    assert levels == [
        *("warning", "changed", "added", "removed", "moved", "unread", "minor", "equal"),
        *("version", "written", "noted", "error"),
    ]


def test_the_verdict_counts_each_kind_of_item() -> None:
    findings = Findings(
        "m.onnx",
        (
            make_finding(severity="error"),
            make_finding(),
            make_finding(),
            make_finding(severity="note"),
            make_finding(suppressed=True),
        ),
    )
    review = make_review(findings)
    assert review.verdict == "1 error, 2 warnings, 1 minor finding, 1 accepted"
    assert make_review(Findings("m.onnx", ())).verdict == "nothing found"


def test_what_was_not_checked_is_told_with_its_reason() -> None:
    skipped = (
        SkippedRule("NL-N01", UNREAD_WEIGHTS),
        SkippedRule("NL-N02", UNREAD_WEIGHTS),
        SkippedRule("NL-G03", "the file is missing"),
    )
    review = make_review(Findings("m.onnx", (), skipped))
    assert review.unchecked == (
        (UNREAD_WEIGHTS, "NL-N01 nan-weight, NL-N02 infinite-weight"),
        ("the file is missing", "NL-G03 copied-initializer"),
    )
    assert review.lacks_weights
    assert not make_review(Findings("m.onnx", (), skipped[2:])).lacks_weights
    assert make_review(None).unchecked == (("rules were not applied", ""),)


def test_what_differs_is_listed_with_what_was_before() -> None:
    right = load_text(BEFORE.replace("axis = 0", "axis = -1"))
    review = make_review(None, netloupe.diff(load_text(BEFORE), right))
    softmax = find(review, "Softmax: attribute axis")
    assert (softmax.level, softmax.evidence) == ("changed", (("attribute axis", "0 → -1"),))
    assert right[softmax.paths[0]].op_type == "Softmax"


def test_nodes_and_weights_of_one_model_alone_are_told() -> None:
    right = load_after()
    review = make_review(None, netloupe.diff(load_text(BEFORE), right))
    assert {item.kind for item in review} == {"difference"}
    weight = find(review, "Weight differs")
    assert dict(weight.evidence)["changed"] == "50 % of 2 numbers"
    assert dict(weight.evidence)["largest |Δ|"] == "1"
    removed, added = find(review, "Relu removed"), find(review, "Cos added")
    assert (removed.level, removed.paths, removed.where) == ("removed", (), "#1:Relu")
    assert (added.level, right[added.paths[0]].op_type) == ("added", "Cos")
    assert review.headline.startswith("The models differ: Softmax: attribute axis 0 → -1; ")
    assert review.summary.startswith("Same inputs and outputs. Nodes: kept 1 · ")
    real = [item for item in review if item.level in REAL_LEVELS]
    assert review.verdict.startswith(f"{len(real)} differences")


def test_a_node_with_another_operator_says_what_it_was() -> None:
    right = load_text(BEFORE.replace("Relu", "Sigmoid"))
    item = find(make_review(None, netloupe.diff(load_text(BEFORE), right)), "Relu became Sigmoid")
    assert (item.level, right[item.paths[0]].op_type) == ("changed", "Sigmoid")


def test_a_node_in_another_module_is_told_to_have_moved() -> None:
    after = make_layers(4)
    after.graph.node[7].name = "/layers.2/act/Tanh_1"
    found = netloupe.diff(netloupe.load(make_layers(4)), netloupe.load(after))
    item = find(make_review(None, found), "Tanh moved")
    assert (item.level, item.paths) == ("moved", ("main/layers.2/act/Tanh_1",))
    assert item.evidence == (("path before", "main/layers.1/act/Tanh"),)


def test_an_incompatible_input_is_told_where_it_is() -> None:
    right = load_text(
        BEFORE.replace("float[2, 2] x", "float[2, 2] other").replace("(x, w)", "(other, w)")
    )
    review = make_review(None, netloupe.diff(load_text(BEFORE), right))
    gone = next(item for item in review if item.title == "The input is not compatible")
    assert gone.where in ("x", "other")
    new = next(item for item in review if item.where == "other")
    assert new.paths == ("main/%other",)
    assert "other inputs or outputs: " in review.headline
    assert review.summary.startswith("Inputs or outputs are not compatible")


def test_differences_of_many_layers_are_one_item() -> None:
    def stack(alpha: float) -> Model:
        lines = [f"a{n + 1} = Elu<alpha = {alpha}>(a{n})" for n in range(9)]
        return load_text(f"agraph (float[2] a0) => (float[2] a9) {{ {' '.join(lines)} }}")

    left, right = stack(0.1), stack(0.2)
    review = make_review(None, netloupe.diff(left, right))
    (item,) = review
    assert (item.count, len(item.paths)) == (9, 9)
    assert dict(item.evidence)["alike"] == "9 places"


def test_the_picture_of_both_models_says_where_it_shows_what() -> None:
    found = netloupe.diff(load_text(BEFORE), load_after())
    review = make_review(
        None, found, find_shown=lambda path, is_left: f"{'left' if is_left else 'right'}/{path}"
    )
    assert find(review, "Relu removed").paths == ("left/main/#1:Relu",)
    assert find(review, "Cos added").paths[0].startswith("right/main/")


def test_a_review_is_taken_of_what_is_given() -> None:
    model = load_text(BEFORE)
    findings = check(model)
    found = netloupe.diff(model, load_after())
    both = take_review([findings, found])
    assert len(both) == len(make_review(findings)) + len(make_review(None, found))
    assert take_review(both) is both
    assert take_review(findings).headline == ""
    for wrong in ("text", 3, [findings, findings], [3], [both, findings]):
        with pytest.raises(ViewError, match="review is made of"):
            take_review(wrong)  # type: ignore[arg-type]


def test_tables_have_a_row_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    model = load_text(BEFORE)
    findings, found = check(model), netloupe.diff(model, load_after())
    review = take_review([findings, found])
    assert list(review.to_dataframe()["title"]) == [item.title for item in review]
    assert list(findings.to_dataframe()["id"]) == [finding.id for finding in findings]
    table = found.to_dataframe()
    assert set(table["kind"]) >= {"weight", "removed node", "added node"}
    numbers = table[table["what"] == "numbers"]
    assert list(numbers["numbers_changed"]) == [0.5]
    assert (numbers["a"] == "main/%w").all()


def test_without_pandas_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    usual = builtins.__import__

    def refuse(name: str, *given: object, **named: object) -> object:
        if name == "pandas":
            raise ImportError(name)
        return usual(name, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(netloupe.NetloupeError, match="pip install pandas"):
        Review().to_dataframe()


def test_a_picture_of_two_models_shows_what_only_the_older_one_has() -> None:
    found = netloupe.diff(load_text(BEFORE), load_after())
    review = take_review(found, found.merged)
    removed = find(review, "Relu removed")
    (path,) = removed.paths
    assert found.merged[path].op_type == "Relu"
    assert dict(removed.evidence)["only in"].startswith("the older model, ")
    assert find(take_review(found, found.right), "Relu removed").paths == ()


def test_the_folder_of_a_model_is_told_to_nobody(tmp_path: Path) -> None:
    for name, text in (("old.onnx", BEFORE), ("new.onnx", AFTER)):
        proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]>{text}')
        onnx.save(proto, tmp_path / name)
    old, new = (netloupe.load(tmp_path / name) for name in ("old.onnx", "new.onnx"))
    found = netloupe.diff(old, new)
    told = [text for item in take_review(found) for row in item.evidence for text in row]
    assert "the older model, old.onnx" in told
    assert not any(str(tmp_path) in text for text in told)
