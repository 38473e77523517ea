"""Nodes without a kernel: how one is looked for, and what is told of those that have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from netloupe.explorer.checks import Findings, check, kernels
from netloupe.explorer.checks.kernel_search import (
    UNKNOWN_BODY,
    UNKNOWN_TYPE,
    KernelRequest,
    MissingKernel,
    search_kernel,
)
from netloupe.explorer.checks.kernels import Kernel
from netloupe.explorer.checks.runtimes import list_runtimes
from tests.checks.ruling import Made, read_made

#: rows of a table of kernels: of a release that is not there, with what a case needs
_TYPES = ("float32", "float32 float64", "bool", "int64", "uint8", "float16 float32", "int8")
_ROWS: dict[str, dict[str, list[tuple[int, int, dict[str, int], int]]]] = {
    "": {
        "Add": [(7, 13, {"T": 1}, 0), (14, 0, {"T": 1}, 0)],
        "Abs": [(6, 12, {"T": 0}, 0)],
        "Neg": [(6, 0, {"T": 0}, 0)],
        "Erf": [(13, 0, {"T": 5}, 0)],
        "Exp": [(13, 0, {"T": 0}, 0)],
        "Cast": [(13, 25, {"T1": 1, "T2": 1}, 0)],
        "Greater": [(13, 0, {"T": 1, "T1": 2}, 0)],
        "Equal": [(13, 18, {"T": 1, "T1": 2}, 0)],
        "Or": [(7, 0, {"T": 2, "T1": 2}, 0)],
        "ReduceSum": [(13, 0, {"T": 0}, 0)],
        "NonZero": [(13, 0, {"T": 0}, 0)],
        "Pow": [(15, 0, {"T": 0, "T1": 0}, 0), (15, 0, {"T": 3, "T1": 3}, 0)],
        "MatMulInteger": [(10, 0, {"T1": 4, "T2": 4, "T3": 3}, 0)],
        "TopK": [(11, 23, {"T": 0, "I": 3}, 0)],
    },
    "com.microsoft": {"Trilu": [(1, 0, {"T": 0}, 0)]},
}


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put a release with few kernels in the place of all that are known."""
    table = {
        "releases": {"9.9": {"opsets": {"": 26, "com.microsoft": 1}, "ir_version": 13}},
        "types": _TYPES,
        "sets": ["9.9"],
        "kernels": _ROWS,
    }
    cached = (kernels.list_known, kernels.list_domains, kernels.find_kernels)
    cached += (kernels._read_types, kernels._read_set, list_runtimes)

    def forget() -> None:
        for each in cached:
            each.cache_clear()

    forget()
    monkeypatch.setattr(kernels, "_load_table", lambda: table)
    yield "9.9"
    forget()


@pytest.mark.parametrize(
    ("first", "last", "versions"),
    [(13, 0, {13}), (7, 12, {7, 8, 9, 12}), (9, 9, {9}), (1, 0, {1})],
)
def test_without_a_last_version_a_kernel_is_for_its_first_alone(
    first: int, last: int, versions: set[int]
) -> None:
    kernel = Kernel(first, last, {})
    assert {version for version in (1, 6, 7, 8, 9, 12, 13, 14, 99) if kernel.is_for(version)} == (
        versions
    )


def ask(
    op_type: str, opset: int, *taken: str | None, given: str | None = "", domain: str = ""
) -> Any:
    return search_kernel("9.9", KernelRequest(domain, op_type, opset, taken, [given]))


_FOUND: list[tuple[str, int, tuple[str | None, ...], str | None]] = [
    ("Add", 14, ("float32", "float32"), "float32"),
    ("Add", 26, ("float64", "float64"), "float64"),  # Add-14 still
    ("Add", 8, ("float32", "float32"), "float32"),  # Add-7, of 7 to 13
    ("Neg", 12, ("float32",), "float32"),
    # one that is float16 runs in float32, or has a kernel of its own
    ("Add", 14, ("float16", "float16"), "float16"),
    ("Erf", 13, ("float16",), "float16"),
    # what is left out is not looked at, and what the second operand of a variable is neither
    ("Add", 14, ("float32", "int64"), None),
    ("ReduceSum", 13, ("float32", None), "float32"),
    ("Pow", 15, ("int64", "int64"), "int64"),
    ("Constant", 21, (), "int8"),
    # a body whose nodes all have one
    ("GreaterOrEqual", 16, ("float64", "float64"), "bool"),
    # one node of another operator
    ("CastLike", 19, ("float32", "float64"), "float64"),
]


@pytest.mark.parametrize(("op_type", "opset", "taken", "given"), _FOUND)
def test_a_kernel_is_found(
    planted: str, op_type: str, opset: int, taken: tuple[str | None, ...], given: str | None
) -> None:
    assert ask(op_type, opset, *taken, given=given) is None


#: operator, opset, operands, result; the operator that has none, the versions that have kernels,
#: and the types that are asked for where the version has some
_MISSING: list[tuple[str, int, tuple[str | None, ...], str, str, bool, Mapping[str, str]]] = [
    ("Abs", 13, ("float32",), "float32", "Abs", False, {"T": "float32"}),
    ("Neg", 13, ("float32",), "float32", "Neg", False, {"T": "float32"}),
    ("Add", 14, ("int64", "int64"), "int64", "Add", True, {"T": "int64"}),
    ("Det", 21, ("float32",), "float32", "Det", False, {"T": "float32"}),
    ("Pow", 15, ("float32", "int64"), "float32", "Pow", True, {"T": "float32", "T1": "int64"}),
    # in float32 it has none either
    ("Det", 21, ("float16",), "float16", "Det", False, {"T": "float32"}),
    # a result decides too
    ("MatMulInteger", 10, ("uint8", "uint8"), "int32", "MatMulInteger", True, {"T3": "int32"}),
    # no body takes its place where one of its operators has a newer version
    ("GreaterOrEqual", 21, ("float32", "float32"), "bool", "GreaterOrEqual", False, {}),
    ("CastLike", 19, ("float32", "int64"), "int64", "Cast", True, {"T2": "int64"}),
    # which does not take the second operand, so that nothing runs in float32
    ("CastLike", 19, ("float32", "float16"), "float16", "Cast", True, {"T2": "float16"}),
]


@pytest.mark.parametrize(
    ("op_type", "opset", "taken", "given", "lacking", "has_version", "types"), _MISSING
)
def test_no_kernel_is_found(
    planted: str,
    op_type: str,
    opset: int,
    taken: tuple[str | None, ...],
    given: str,
    lacking: str,
    has_version: bool,
    types: Mapping[str, str],
) -> None:
    found = ask(op_type, opset, *taken, given=given)
    assert isinstance(found, MissingKernel)
    assert (found.op_type, bool(found.fitting), found.is_inner) == (lacking, has_version, False)
    assert types.items() <= found.types.items()


def test_types_are_followed_in_a_body(planted: str) -> None:
    found = ask("GreaterOrEqual", 16, "int8", "int8", given="bool")
    assert isinstance(found, MissingKernel)
    assert (found.op_type, found.is_inner, found.types) == (
        "Greater",
        True,
        {"T": "int8", "T1": "bool"},
    )
    # Softplus-1 has a body for opset 18, of Exp, Constant, CastLike, Add and Log, which has none
    found = ask("Softplus", 18, "float32", given="float32")
    assert isinstance(found, MissingKernel)
    assert (found.op_type, found.is_inner) == ("Log", True)
    # in that of ReduceLogSumExp-18 an attribute says that Exp gets float64
    found = ask("ReduceLogSumExp", 18, "float32", None, given="float32")
    assert isinstance(found, MissingKernel)
    assert (found.op_type, found.types) == ("Exp", {"T": "float64"})
    # Mish-18 is Softplus and others: a body in a body
    found = ask("Mish", 18, "float32", given="float32")
    assert isinstance(found, MissingKernel)
    assert (found.op_type, found.is_inner) == ("Log", True)


def test_what_is_not_known_is_not_judged(planted: str) -> None:
    assert ask("Add", 14, "", "") == UNKNOWN_TYPE
    assert ask("Cast", 19, "", given="float16") == UNKNOWN_TYPE  # the operand may be float16
    assert isinstance(ask("Abs", 13, ""), MissingKernel)  # no type has one
    assert isinstance(ask("MatMulInteger", 10, "", "uint8", given="int32"), MissingKernel)
    assert ask("Gelu", 20, "float64", given="float64") == UNKNOWN_BODY
    assert isinstance(ask("NoSuch", 1, "float32", domain="com.microsoft"), MissingKernel)
    assert ask("Trilu", 1, "float32", given="float32", domain="com.microsoft") is None
    # the release has no operators of that domain at all, so none is expanded
    found = ask("FlexAttention", 1, "float32", domain="ai.onnx.preview")
    assert isinstance(found, MissingKernel)


def find_kernel_faults(made: Made, target: str = "ort-9.9") -> Findings:
    return check(read_made(made), select=["no-kernel"], target=target)


def tell(made: Made, target: str = "ort-9.9") -> tuple[list[str], list[str]]:
    found = find_kernel_faults(made, target)
    assert {(each.id, each.severity) for each in found} <= {("NL-P06", "error")}
    return [each.message for each in found], [each.reason for each in found.skipped_rules]


_HEAD = '<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1]>\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "g (float[N] x) => (float[N] y) { y = Abs(x) }",
            "ONNX Runtime 9.9 has no CPU kernel of Abs-13; the nearest version that has one is 12",
        ),
        (
            "g (float[N, N] x) => (float y) { y = Det(x) }",
            "ONNX Runtime 9.9 has no CPU kernel of Det-11, nor of another version",
        ),
        (
            "g (int64[N] x) => (int64[N] y) { y = Add(x, x) }",
            (
                "ONNX Runtime 9.9 has no CPU kernel of Add-14 where T is int64; it has them for "
                "float32, float64"
            ),
        ),
        (
            "g (float[N] x, int64[N] e) => (float[N] y) { y = Pow(x, e) }",
            "ONNX Runtime 9.9 has no CPU kernel of Pow-15 where T is float32 and T1 is int64",
        ),
        (
            "g (int64[N] x) => (bool[N] y) { y = GreaterOrEqual(x, x) }",
            (
                "ONNX Runtime 9.9 has no CPU kernel of GreaterOrEqual, and in its body none of "
                "Greater-13 where T is int64; it has them for float32, float64"
            ),
        ),
        (
            "g (float[N] x) => (float[N] y) { y = com.microsoft.NoSuch(x) }",
            "ONNX Runtime 9.9 has no CPU kernel of com.microsoft::NoSuch, nor of another version",
        ),
    ],
)
def test_what_is_told(planted: str, text: str, told: str) -> None:
    assert tell(_HEAD + text) == ([told], [])


@pytest.mark.parametrize(
    ("node", "opset", "told"),
    [
        (
            "Swish(x)",
            25,
            (
                "Swish-24, nor of another version; its body as a function is for operator set 24 "
                "alone"
            ),
        ),
        (
            "MeanVarianceNormalization(x)",
            17,
            (
                "MeanVarianceNormalization-13, nor of another version; its body as a function is "
                "for operator set 13, 18 alone"
            ),
        ),
        (
            "ReduceL1(x)",
            26,
            "ReduceL1, and in its body none of Abs-13; the nearest version that has one is 12",
        ),
        (
            "ai.onnx.preview.FlexAttention(x, x, x)",
            26,
            "ai.onnx.preview::FlexAttention-1, nor of another version",
        ),
    ],
)
def test_what_is_told_of_bodies(planted: str, node: str, opset: int, told: str) -> None:
    head = f'<ir_version: 9, opset_import: ["": {opset}, "ai.onnx.preview": 1]>'
    messages, gaps = tell(f"{head} g (float[N] x) => (float[N] y) {{ y = {node} }}")
    assert messages == [f"ONNX Runtime 9.9 has no CPU kernel of {told}"]
    assert gaps == []


def test_nodes_that_are_alike_are_told_once(planted: str) -> None:
    text = """g (float[N] x, int64[N] n, int64[M] m) => (float[N] y, int64[N] k, int64[M] l) {
      a = Abs(x)
      b = Abs(a)
      y = Abs(b)
      k = Add(n, n)
      l = Add(m, m)
    }"""
    first, second = find_kernel_faults(_HEAD + text)
    assert (first.count, second.count) == (3, 2)
    assert first.evidence["nodes"] == ["main/#0:Abs", "main/#1:Abs", "main/#2:Abs"]
    assert first.evidence["versions_with_kernels"] == ["6 to 12"]
    assert second.evidence["types"] == {"T": "int64"}  # whatever their shapes are
    assert (second.evidence["operator"], second.evidence["release"]) == ("Add-14", "9.9")


def test_graphs_inside_are_looked_at_as_they_run(planted: str) -> None:
    text = """g (bool c, int64[N] x, float[N] z) => (int64[N] y, float[N] w) {
      y = If(c) <
        then_branch = t () => (int64[N] a) { a = Add(x, x) },
        else_branch = e () => (int64[N] b) { b = Identity(x) }
      >
      w = mine.Twice(z)
    }
    <domain: "mine", opset_import: ["": 18]> Twice (p) => (q) { q = Add(p, p) }
    <domain: "mine", opset_import: ["": 18]> Never (p) => (q) { q = Abs(p) }"""
    head = _HEAD.replace("]>", ', "mine": 1]>')
    messages, gaps = tell(head + text)
    # If and Identity have none in this release at all; the function runs with float32, and another
    # one never
    assert [each.split(" of ")[1].split(";")[0].split(",")[0] for each in messages] == [
        "If-16",
        "Add-14 where T is int64",
        "Identity-16",
    ]
    assert gaps == []


def test_what_the_optimizer_removes_needs_no_kernel(planted: str) -> None:
    removed = """g (int64[N] x) => (float[N] y) {
      a = Identity(x)
      b = Cast<to = 7>(a)
      y = Cast<to = 1>(b)
    }"""
    messages, gaps = tell(_HEAD + removed)
    assert messages == [
        (
            "ONNX Runtime 9.9 has no CPU kernel of Cast-13 where T1 is int64; it has them for "
            "float32, float64"
        )
    ]
    assert gaps == []
    kept = "g (int64[N] x) => (int64[N] y) { y = Identity(x) }"
    assert tell(_HEAD + kept)[0] == [
        "ONNX Runtime 9.9 has no CPU kernel of Identity-16, nor of another version"
    ]


def test_what_is_not_judged_is_said(planted: str) -> None:
    text = """g (float[N] x) => (y, float[N] z) {
      a = other.Op(x)
      y = Add(a, a)
      z = Gelu(x)
      f = Add(a, a)
    }"""
    head = '<ir_version: 9, opset_import: ["": 20, "other": 1]>\n'
    assert tell(head + text) == (
        [],
        [
            f"kernels for 2 nodes: {UNKNOWN_TYPE} (main/#1:Add)",
            f"kernels for 1 node: {UNKNOWN_BODY} (main/#2:Gelu)",
        ],
    )


def test_operator_sets_that_a_release_does_not_have_are_left_to_another_rule(planted: str) -> None:
    text = '<ir_version: 9, opset_import: ["": 27]> g (float[N] x) => (float[N] y) { y = Abs(x) }'
    assert tell(text) == (
        [],
        [
            (
                "kernels for 1 node: ONNX Runtime 9.9 has no version 27 of ai.onnx, the newest is "
                "26 (main/#0:Abs)"
            )
        ],
    )


def test_of_other_releases_it_is_said_that_kernels_are_not_known() -> None:
    text = _HEAD + "g (float[N] x) => (float[N] y) { y = Abs(x) }"
    messages, (gap,) = tell(text, "ort-1.16")
    assert messages == []
    known = "1.17, 1.20, 1.24, 1.28, 1.32"
    assert gap == f"it is not known which kernels ONNX Runtime 1.16 has; known are {known}"
    assert len(check(read_made(text), select=["no-kernel"]).skipped_rules) == 0  # no target


def test_more_uses_than_are_looked_at_are_said(
    planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netloupe.explorer.checks.uses._MOST_USES", 1)
    text = "g (float[N] x) => (float[N] y, float[M] z) { y = Exp(x) z = Abs(x) }"
    assert tell(_HEAD + text) == (
        [],
        ["kernels for 1 node: more uses differ than are looked at (main/#1:Abs)"],
    )
