"""Faults planted in models of real architectures: each is found by its id, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from netloupe.explorer.checks import RULES, Finding, Findings, check
from netloupe.explorer.checks.rules import quantization
from netloupe.explorer.readers.load import load
from netloupe.proto.wire import encode_varint
from tests.checks.planted.editing import Editor, Fault
from tests.checks.planted.nets import FAULTS as NET_FAULTS
from tests.checks.planted.nets import NETS, NetEditor
from tests.checks.planted.numbers import FAULTS as NUMBERS
from tests.checks.planted.originals import MODELS, SECOND_OPINION, check_original, copy_model
from tests.checks.planted.quantization import FAULTS as QUANTIZATION
from tests.checks.planted.structure import FAULTS as STRUCTURE
from tests.checks.planted.waste import FAULTS as WASTE

_FAULTS = (*STRUCTURE, *WASTE, *NUMBERS, *QUANTIZATION)


def test_each_rule_has_a_fault_that_is_planted() -> None:
    assert len(_FAULTS) >= 60
    planted = {fault.rule for fault in (*_FAULTS, *NET_FAULTS)}
    # NL-L22 is what no other rule tells of; files are made below; NL-Q27 needs products that are
    # deeper than those of any network here; of types and shapes test_types and test_shapes break
    # every demand, test_bodies what graphs inside others may not, and test_imports operator sets
    elsewhere = {"NL-L22", "NL-Q27", "NL-S08", "NL-S09", "NL-L37", "NL-L38", "NL-L39", "NL-L40"}
    elsewhere |= {"NL-I08", "NL-I09"}
    elsewhere |= {rule.id for rule in RULES if rule.id.startswith("NL-T")}
    assert {rule.id for rule in RULES} - planted == elsewhere


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_originals_are_clean(name: str) -> None:
    found = check_original(name, None)
    assert [str(finding) for finding in found if finding.severity != "note"] == []
    assert found.skipped_rules == ()


@pytest.mark.parametrize("name", sorted(NETS))
def test_the_original_nets_are_clean(name: str) -> None:
    found = check_net(NetEditor(name))
    assert [str(finding) for finding in found if finding.severity != "note"] == []
    assert found.skipped_rules == ()


def check_net(editor: NetEditor) -> Findings:
    return check(load((editor.net.SerializeToString(), editor.init.SerializeToString())))


@pytest.mark.parametrize("fault", NET_FAULTS, ids=str)
def test_a_fault_of_a_net_is_found_and_nothing_besides(fault: Fault) -> None:
    editor = NetEditor(fault.model)
    before = check_net(editor)
    fault.plant(editor)
    new = list_new(check_net(editor), before)
    assert {finding.id for finding in new} == {fault.rule}, [str(finding) for finding in new]


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
    ignored = [SECOND_OPINION]  # which depends on how much time onnx gets
    found = check(
        load(path), target=fault.target, select=[select] if select else [], ignore=ignored
    )
    new = list_new(found, check_original(fault.model, fault.target, select))
    told = {finding.id for finding in new}
    assert fault.rule in told, [str(finding) for finding in found]
    assert told == {fault.rule} | fault.implied, [str(finding) for finding in new]


# files


def save_outside(folder: Path) -> Path:
    """Write the convolutional network with its weights in a file of their own; return the model."""
    path = folder / "model.onnx"
    proto = copy_model("cnn")
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def test_bytes_that_no_tensor_takes(tmp_path: Path) -> None:
    path = save_outside(tmp_path)
    before = check(load(path))
    assert list(before) == []
    with (tmp_path / "weights.bin").open("ab") as file:
        file.write(bytes(200_000))
    (finding,) = check(load(path))
    assert finding.id == "NL-S09"
    assert finding.evidence["bytes"] == 200_000


def test_small_gaps_align_tensors(tmp_path: Path) -> None:
    path = save_outside(tmp_path)
    with (tmp_path / "weights.bin").open("ab") as file:
        file.write(bytes(4_096))
    assert list(check(load(path))) == []


@pytest.mark.parametrize(
    ("size", "severity"), [(1_800_000_000, ""), (1_950_000_000, "warning"), (2**31, "error")]
)
def test_files_near_the_limit_of_protobuf(tmp_path: Path, size: int, severity: str) -> None:
    proto = copy_model("cnn")
    weight = Editor(proto).weight("stem.1.conv.weight")
    count = size // 4
    tensor = onnx.TensorProto(name=weight.name, data_type=weight.data_type, dims=[count])
    proto.graph.initializer.remove(weight)
    head = tensor.SerializeToString() + b"\x4a" + encode_varint(4 * count)  # raw_data
    graph = proto.graph.SerializeToString()
    graph += b"\x2a" + encode_varint(len(head) + 4 * count) + head  # initializer
    proto.ClearField("graph")
    model = proto.SerializeToString() + b"\x3a" + encode_varint(len(graph) + 4 * count) + graph
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.write(model)
        file.truncate(len(model) + 4 * count)  # zeros that take no room
    found = check(load(path), select=["NL-S08"])
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_what_is_not_looked_at_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantization, "_MOST_READ", 3)
    found = check(load(MODELS["qdq"]))
    reasons = {skipped.id: skipped.reason for skipped in found.skipped_rules}
    assert reasons == {"NL-Q01": "only the first 3 scales were read"}
