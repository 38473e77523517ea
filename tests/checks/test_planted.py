"""Faults planted in models of real architectures: each is found by its id, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from netloupe.explorer.checks import RULES, Finding, Findings, check
from netloupe.explorer.readers.load import load
from tests.checks.planted.editing import Editor, Fault
from tests.checks.planted.numbers import FAULTS as NUMBERS
from tests.checks.planted.originals import MODELS, check_original, copy_model
from tests.checks.planted.quantization import FAULTS as QUANTIZATION
from tests.checks.planted.structure import FAULTS as STRUCTURE
from tests.checks.planted.waste import FAULTS as WASTE

_FAULTS = (*STRUCTURE, *WASTE, *NUMBERS, *QUANTIZATION)


def test_each_rule_has_a_fault_that_is_planted() -> None:
    assert len(_FAULTS) >= 60
    planted = {fault.rule for fault in _FAULTS}
    # NL-L22 is what no other rule tells of; NL-D01 is tried on models with denotations; NL-Q27
    # needs products that are deeper than those of any network here
    assert {rule.id for rule in RULES} - planted == {"NL-L22", "NL-D01", "NL-Q27"}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_originals_are_clean(name: str) -> None:
    found = check_original(name, None)
    assert [str(finding) for finding in found if finding.severity != "note"] == []
    assert found.skipped_rules == ()


def list_new(found: Findings, before: Findings) -> list[Finding]:
    """Return the findings that were not there before, or at fewer places."""
    known = {finding.fingerprint: finding.count for finding in before}
    return [each for each in found if each.count > known.get(each.fingerprint, 0)]


@pytest.mark.parametrize("fault", _FAULTS, ids=str)
def test_a_fault_is_found_and_nothing_besides(fault: Fault, tmp_path: Path) -> None:
    proto = copy_model(fault.model)
    fault.plant(Editor(proto))
    path = tmp_path / "model.onnx"
    path.write_bytes(fault.patch(proto.SerializeToString()))
    rule = next(rule for rule in RULES if rule.id == fault.rule)
    select = fault.rule if rule.is_opt_in else ""
    found = check(load(path), target=fault.target, select=[select] if select else [])
    new = list_new(found, check_original(fault.model, fault.target, select))
    told = {finding.id for finding in new}
    assert fault.rule in told, [str(finding) for finding in found]
    assert told == {fault.rule} | fault.implied, [str(finding) for finding in new]
