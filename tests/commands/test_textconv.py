"""``netloupe text --textconv`` in real repositories of git."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.compare.networks import make_layers

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A new repository whose models are told by netloupe; returns what git prints."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GIT_CONFIG_GLOBAL": str(tmp_path / "no such settings"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def run(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    run("init", "-q")
    run("config", "user.name", "somebody")
    run("config", "user.email", "somebody@example.org")
    run("config", "diff.onnx.textconv", f"'{sys.executable}' -m netloupe text --textconv")
    (tmp_path / ".gitattributes").write_text("*.onnx diff=onnx\n")
    return run


def save(folder: Path, *, factor: float = 1.0, doc: str = "") -> None:
    """Write a model whose weights are in a file beside it."""
    model = make_layers(2)
    model.doc_string = doc
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(values * np.float32(factor), tensor.name))
    (folder / "models").mkdir(exist_ok=True)
    path = folder / "models" / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.data", size_threshold=0)


def commit(git: Git) -> None:
    git("add", ".")
    git("commit", "-qm", "a model")


def list_changed(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.startswith(("+", "-"))]
    return [line for line in lines if line[:3] not in ("+++", "---")]


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[..., None]:
    def write(**how: Any) -> None:
        (tmp_path / "models" / "weights.data").unlink(missing_ok=True)  # onnx appends to it
        save(tmp_path, **how)

    return write


def test_documentation_alone_is_one_line(git: Git, fresh: Callable[..., None]) -> None:
    fresh()
    commit(git)
    fresh(doc="what it is for")
    commit(git)
    for shown in (git("diff", "HEAD~1"), git("show"), git("log", "-p", "-1")):
        assert list_changed(shown) == ['+  doc "what it is for"']


def test_weights_of_both_revisions_are_read(git: Git, fresh: Callable[..., None]) -> None:
    fresh()
    commit(git)
    fresh(factor=2.0, doc="trained again")
    commit(git)
    changed = list_changed(git("diff", "HEAD~1", "HEAD", "--", "*.onnx"))
    weights = [line for line in changed if "initializer" in line]
    assert len(weights) == len(changed) - 1
    assert {line[0] for line in weights} == {"+", "-"}
    assert not [line for line in changed if "unread" in line]
    fresh(factor=3.0, doc="not committed")
    changed = list_changed(git("diff", "--", "*.onnx"))
    assert len(changed) == 2 * len(weights) // 2 + 2
    assert not [line for line in changed if "unread" in line]


def test_weights_that_changed_alone_are_not_guessed(
    git: Git, tmp_path: Path, fresh: Callable[..., None]
) -> None:
    fresh()
    commit(git)
    data = tmp_path / "models" / "weights.data"
    data.write_bytes(data.read_bytes()[::-1])
    commit(git)
    fresh(doc="said")
    commit(git)
    told = git("diff", "HEAD~2", "HEAD", "--", "*.onnx")
    assert "git has 2 versions of it beside this model; which one is not known" in told
    assert "unread external" in told


def test_what_git_does_not_have_is_said(
    git: Git, tmp_path: Path, fresh: Callable[..., None]
) -> None:
    fresh()
    (tmp_path / ".gitignore").write_text("*.data\n")
    commit(git)
    fresh(doc="said")
    commit(git)
    assert "# external data 'weights.data': git does not have it" in git("show")


def test_data_in_lfs_are_read_where_they_are_kept(
    git: Git, tmp_path: Path, fresh: Callable[..., None]
) -> None:
    data = tmp_path / "models" / "weights.data"

    def replace_by_pointer(*, is_kept: bool) -> None:
        held = data.read_bytes()
        digest = hashlib.sha256(held).hexdigest()
        kept = tmp_path / ".git" / "lfs" / "objects" / digest[:2] / digest[2:4] / digest
        if is_kept:
            kept.parent.mkdir(parents=True)
            kept.write_bytes(held)
        spec = "version https://git-lfs.github.com/spec/v1"
        data.write_text(f"{spec}\noid sha256:{digest}\nsize {len(held)}\n")

    fresh()
    replace_by_pointer(is_kept=True)
    commit(git)
    fresh(factor=2.0, doc="another")
    replace_by_pointer(is_kept=False)
    commit(git)
    told = git("log", "-p", "--reverse", "--", "*.onnx")
    first, _, second = told.partition("\n\n    a model\n")[2].partition("commit ")
    assert "sha256:" in first
    assert "unread" not in first
    assert "it is in Git LFS, and not here" in second


def test_an_unreadable_model_does_not_end_the_log(git: Git, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(make_layers(2), path)
    commit(git)
    path.write_bytes(b"nothing of the kind")
    commit(git)
    onnx.save(make_layers(3), path)
    commit(git)
    told = git("log", "-p")
    assert told.count("commit ") == 3
    assert "# cannot be read: model.onnx" in told
    assert "19 bytes sha256:" in told
    assert str(tmp_path) not in told.replace(str(ROOT), "")


def test_names_that_lead_outside_are_not_followed(git: Git, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(400))
    (tmp_path / "models").mkdir()
    model = make_layers(1)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret")
    (tmp_path / "models" / "model.onnx").write_bytes(model.SerializeToString())
    commit(git)
    assert 'unread external "location" = "../secret"' in git("show")


@pytest.mark.parametrize(
    ("location", "told"),
    [("n" * 300, "git does not have it"), ("sub", "git does not give it"), ("sub/", "git")],
)
def test_locations_that_are_no_files_do_not_end_the_log(
    git: Git, tmp_path: Path, location: str, told: str
) -> None:
    (tmp_path / "models" / "sub").mkdir(parents=True)
    (tmp_path / "models" / "sub" / "data").write_bytes(bytes(16))
    model = make_layers(1)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    for doc in ("before", "after"):
        model.doc_string = doc
        (tmp_path / "models" / "model.onnx").write_bytes(model.SerializeToString())
        commit(git)
    log = git("log", "-p", "--", "models/model.onnx")
    assert log.count("commit ") == 2
    assert told in log


def test_the_documented_line_works_without_netloupe(git: Git, tmp_path: Path) -> None:
    documented = (ROOT / "docs" / "git.md").read_text()
    line = next(one for one in documented.splitlines() if one.startswith("git config --global"))
    subprocess.run(["sh", "-c", line.replace("--global ", "")], cwd=tmp_path, check=True, text=True)
    onnx.save(make_layers(1), tmp_path / "model.onnx")
    commit(git)
    empty = tmp_path / "bin"
    empty.mkdir()
    for name in ("git", "sh", "cksum"):
        (empty / name).symlink_to(str(shutil.which(name)))
    environment = {"PATH": str(empty), "HOME": str(tmp_path)}
    done = subprocess.run(
        ["git", "log", "-p"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "netloupe is not installed here" in done.stdout
