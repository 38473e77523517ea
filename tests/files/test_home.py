"""``~`` in the paths that Python gives: of models, init nets and everything that is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import netloupe
from netloupe import OutputError, SourceError
from netloupe.explorer.files.home import expand_home
from netloupe.proto import caffe2_pb2

CNN = Path(__file__).parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def write_nets(folder: Path, init_name: str) -> None:
    net = caffe2_pb2.NetDef(name="net", external_input=["x", "w"], external_output=["y"])
    net.op.add(type="Mul", input=["x", "w"], output=["y"])
    (folder / "predict_net.pb").write_bytes(net.SerializeToString())
    init = caffe2_pb2.NetDef(name="init")
    fill = init.op.add(type="GivenTensorFill", output=["w"])
    fill.arg.add(name="shape", ints=[2])
    fill.arg.add(name="values", floats=[1, 2])
    (folder / init_name).write_bytes(init.SerializeToString())


@pytest.mark.parametrize("kind", [str, Path])
def test_a_model_in_the_home_folder(home: Path, kind: Callable[[str], str | Path]) -> None:
    (home / "m.onnx").write_bytes(CNN.read_bytes())
    model = netloupe.load(kind("~/m.onnx"))
    assert model.folder == home.resolve()
    assert Path(model.source) == home / "m.onnx"
    with pytest.raises(SourceError, match="there is no such file"):
        netloupe.load(kind("~/other.onnx"))


def test_init_nets_in_the_home_folder(home: Path) -> None:
    write_nets(home, "weights.pb")
    for model in (
        netloupe.load("~/predict_net.pb", "~/weights.pb"),
        netloupe.load(("~/predict_net.pb", Path("~/weights.pb"))),
    ):
        assert model.tensor("w").numpy().tolist() == [1, 2]


def test_an_init_net_is_found_beside_a_net_in_the_home_folder(home: Path) -> None:
    write_nets(home, "init_net.pb")
    assert netloupe.load("~/predict_net.pb").tensor("w").numpy().tolist() == [1, 2]


@pytest.mark.parametrize("ending", ["svg", "html", "png", "pdf", "dot"])
def test_pictures_in_the_home_folder(home: Path, ending: str) -> None:
    model = netloupe.load(CNN)
    getattr(model, f"to_{ending}")(f"~/a.{ending}", expand="none")
    getattr(model.graph, f"to_{ending}")(Path(f"~/b.{ending}"), expand="none")
    assert (home / f"a.{ending}").stat().st_size > 100
    assert (home / f"b.{ending}").stat().st_size > 100
    with pytest.raises(OutputError, match=r"the folder .*/none does not exist"):
        getattr(model, f"to_{ending}")(f"~/none/a.{ending}")


def test_a_name_that_only_looks_like_a_home_is_a_name(home: Path) -> None:
    for name in ("~no_such_user_here", "~no_such_user_here.onnx", "a/~/b", "a~"):
        assert expand_home(name) == Path(name)
    Path("~no_such_user_here.onnx").write_bytes(CNN.read_bytes())
    assert netloupe.load("~no_such_user_here.onnx").source == "~no_such_user_here.onnx"
    assert expand_home("~") == home
