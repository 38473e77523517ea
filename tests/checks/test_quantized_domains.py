"""QuantizeLinear and DequantizeLinear of com.microsoft mean what the standard ones mean.

ONNX Runtime's quantizer writes them for 4 and 16 bits. Each fault of quantization is planted in
both domains, and the same has to be told of both.
"""

from __future__ import annotations

from collections import Counter

import onnx
import pytest

from netloupe.explorer.audit import audit
from netloupe.explorer.checks import RULES, Finding, check
from netloupe.explorer.readers.load import load
from tests.checks.planted.editing import Editor, Fault
from tests.checks.planted.numbers import FAULTS as NUMBERS
from tests.checks.planted.originals import copy_model
from tests.checks.planted.quantization import FAULTS as QUANTIZATION
from tests.checks.ruling import Made, find
from tests.checks.test_quantized_rules import CASES

_PAIRS = ("QuantizeLinear", "DequantizeLinear")
#: what com.microsoft has since its version 1, so that no operator set is too old for it
_OF_OPSETS = {"NL-Q25"}
_FAULTS = [
    fault
    for fault in (*NUMBERS, *QUANTIZATION)
    if fault.rule.startswith("NL-Q") and fault.model == "qdq" and fault.rule not in _OF_OPSETS
]


def move(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Put all pairs of a model into the domain com.microsoft."""
    for node in proto.graph.node:
        if node.op_type in _PAIRS:
            node.domain = "com.microsoft"
    proto.opset_import.add(domain="com.microsoft", version=1)
    return proto


def tell(found: list[Finding]) -> Counter[tuple[object, ...]]:
    return Counter((f.id, f.severity, f.paths, f.message, f.count) for f in found)


def apply(proto: onnx.ModelProto, rule: str) -> list[Finding]:
    return list(check(load(proto), select=[rule]))


@pytest.mark.parametrize("fault", _FAULTS, ids=str)
def test_a_fault_is_found_in_both_domains(fault: Fault) -> None:
    proto = copy_model("qdq")
    fault.plant(Editor(proto))
    standard = tell(apply(proto, fault.rule))
    assert any(key[0] == fault.rule for key in standard)
    assert tell(apply(move(proto), fault.rule)) == standard


@pytest.mark.parametrize(("rule", "broken", "near"), CASES)
def test_what_nearly_breaks_a_rule_does_not_in_both_domains(
    rule: str, broken: Made, near: Made
) -> None:
    assert not isinstance(broken, str)
    assert not isinstance(near, str)
    assert tell(find(lambda: move(broken()), rule)) == tell(find(broken, rule))
    assert find(lambda: move(near()), rule) == []


def test_every_rule_of_quantization_is_tried_in_both_domains() -> None:
    rules = {rule.id for rule in RULES if rule.id.startswith("NL-Q")}
    tried = {fault.rule for fault in _FAULTS} | {rule for rule, _, _ in CASES}
    assert rules - tried == _OF_OPSETS


def test_no_operator_set_is_too_old_for_those_of_the_runtime() -> None:
    proto = copy_model("qdq")
    next(fault for fault in NUMBERS if fault.rule in _OF_OPSETS).plant(Editor(proto))
    assert any(f.id == "NL-Q25" for f in apply(proto, "NL-Q25"))
    assert not any(f.id == "NL-Q25" for f in apply(move(proto), "NL-Q25"))


def test_an_audit_says_the_same_of_both_domains() -> None:
    standard, other = (audit(load(proto)) for proto in (copy_model("qdq"), move(copy_model("qdq"))))
    assert other.verdict == standard.verdict
    assert other.coverage.integer_share == 1.0
    assert other.islands == standard.islands
    assert [one.path for one in other.weights] == [one.path for one in standard.weights]
