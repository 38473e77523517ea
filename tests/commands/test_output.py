"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
import tty
from pathlib import Path

import pytest

from netloupe.explorer.errors import OutputError
from netloupe.explorer.files.output import write_file


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    write_file(path, b"one")
    write_file(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_bare_name_is_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("out.svg", b"data")
    assert (tmp_path / "out.svg").read_bytes() == b"data"


def test_others_may_read_it_as_the_umask_says(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        write_file(tmp_path / "out.svg", b"data")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "out.svg").stat().st_mode) == 0o644


@pytest.mark.parametrize("step", ["replace", "chmod"])
def test_nothing_is_left_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.svg"
    path.write_bytes(b"before")
    monkeypatch.setattr(Path, step, fail)
    with pytest.raises(OutputError, match=r"out\.svg: cannot be written \(no space left"):
        write_file(path, b"after")
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["x" * 300 + ".svg", "a\0b.svg", "\ud800.svg"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        write_file(tmp_path / name, b"data")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "gone" / "out.svg", tmp_path / "file" / "out.svg"):
        with pytest.raises(OutputError, match="does not exist"):
            write_file(path, b"data")
    with pytest.raises(OutputError, match="is a directory"):
        write_file(tmp_path, b"data")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "private.svg"
    path.write_bytes(b"before")
    path.chmod(0o600)
    write_file(path, b"after")
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real.svg"
    real.write_bytes(b"before")
    for name, target in (("link.svg", real), ("new.svg", tmp_path / "folder" / "new.svg")):
        link = tmp_path / name
        link.symlink_to(target)
        write_file(link, b"after")
        assert link.is_symlink()
        assert target.read_bytes() == b"after"
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["new.svg", "real.svg"]


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "loop.svg"
    link.symlink_to(link)
    with pytest.raises(OutputError, match="cannot be written"):
        write_file(link, b"data")
    assert link.is_symlink()


def test_a_fifo_and_a_device_are_written_to(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.svg"
    os.mkfifo(fifo)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))
    reader.start()
    data = bytes(200_000)  # more than a pipe holds
    write_file(fifo, data)
    reader.join(60)
    assert got == [data]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    # a terminal of our own: on some machines /dev/null is a regular file
    ours, theirs = os.openpty()
    try:
        tty.setraw(theirs)
        terminal = os.ttyname(theirs)
        write_file(terminal, b"data")
        assert os.read(ours, 16) == b"data"
        assert stat.S_ISCHR(Path(terminal).stat().st_mode)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_full_device_is_told() -> None:
    with pytest.raises(OutputError, match="no space left"):
        write_file("/dev/full", b"data")
