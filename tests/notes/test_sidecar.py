"""The file of notes: appended to by several processes, and never damaged."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from netloupe.explorer.errors import NotesError
from netloupe.explorer.notes import sidecar
from netloupe.explorer.notes.event import LONGEST_LINE, Event, make_event
from netloupe.explorer.notes.sidecar import append_events, read_sidecar, sidecar_of

posix = pytest.mark.skipif(os.name != "posix", reason="as on POSIX")


def make(text: str) -> Event:
    return make_event(str(uuid.uuid4()), 1, "ann", {"text": text})


def texts(file: Path) -> list[str]:
    return [event.changes["text"] for event in read_sidecar(file).events]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "m.onnx.notes.jsonl"


def test_its_name() -> None:
    assert sidecar_of(Path("a/m.onnx.gz")) == Path("a/m.onnx.gz.notes.jsonl")


def test_no_file_holds_nothing(file: Path) -> None:
    assert read_sidecar(file).events == []
    append_events(file, [])
    assert not file.exists()


def test_lines_that_are_none_are_kept_and_told(file: Path) -> None:
    append_events(file, [make("one")])
    with file.open("ab") as stream:
        stream.write(b"<<<<<<< ours\n\n\xff\n" + b"x" * (3 * LONGEST_LINE) + b"\n")
    before = file.read_bytes()
    append_events(file, [make("two")])
    content = read_sidecar(file)
    assert [event.changes["text"] for event in content.events] == ["one", "two"]
    assert [line.number for line in content.foreign] == [2, 4, 5]
    assert "longer than" in content.foreign[2].reason
    assert file.read_bytes().startswith(before)


def test_very_many_of_them_are_counted(file: Path) -> None:
    file.write_text("nothing\n" * 5_000)
    content = read_sidecar(file)
    assert content.foreign_count == 5_000
    assert len(content.foreign) == 20


def test_a_line_that_was_cut_off_stays_alone(file: Path) -> None:
    line = make("torn").write()
    file.write_text(line[: len(line) // 2])
    append_events(file, [make("whole")])
    content = read_sidecar(file)
    assert [event.changes["text"] for event in content.events] == ["whole"]
    assert [foreign.number for foreign in content.foreign] == [1]


def test_line_ends_of_windows_and_a_mark_of_utf_8(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + make("one").write().encode() + b"\r\n")
    append_events(file, [make("two")])
    assert texts(file) == ["one", "two"]


_ADD = """
import sys
from pathlib import Path
from netloupe.explorer.notes.event import make_event
from netloupe.explorer.notes.sidecar import append_events
for number in range({count}):
    event = make_event("00000000-0000-0000-0000-000000000001", 1, sys.argv[2],
                       {{"text": sys.argv[2] + str(number) + "x" * 20_000}})
    append_events(Path(sys.argv[1]), [event])
"""


def test_processes_that_write_at_once(file: Path) -> None:
    script = _ADD.format(count=40)
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(file), name], env=_environment())
        for name in "abc"
    ]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    content = read_sidecar(file)
    assert content.foreign_count == 0
    found = {event.changes["text"].rstrip("x") for event in content.events}
    assert found == {f"{name}{number}" for name in "abc" for number in range(40)}


_HOLD = """
import os, sys, time
from pathlib import Path
from netloupe.explorer.notes.locking import locked
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
with locked(handle, 1):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_that_is_held_is_waited_for_and_one_of_the_dead_is_none(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar, "_PATIENCE", 0.3)
    words = [sys.executable, "-c", _HOLD, str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=_environment()) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(NotesError, match="another process holds its lock"):
                append_events(file, [make("kept out")])
            assert texts(file) == []
        finally:
            holder.kill()
    append_events(file, [make("after its end")])
    assert texts(file) == ["after its end"]


def test_a_file_that_git_replaces_meanwhile(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_events(file, [make("one")])
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    original = sidecar._open

    def replace_behind(path: Path, flags: int, *, follow: bool) -> int:
        handle = original(path, flags, follow=follow)
        if other.exists():
            other.replace(file)
        return handle

    monkeypatch.setattr(sidecar, "_open", replace_behind)
    append_events(file, [make("two")])
    assert texts(file) == ["one", "two"]


def test_a_file_that_is_replaced_again_and_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidecar, "_is_at", lambda handle, path: False)
    with pytest.raises(NotesError, match="replaced again and again"):
        append_events(file, [make("one")])


@posix
def test_a_disk_that_is_full_leaves_no_half_line(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_events(file, [make("one")])
    before = file.read_bytes()

    def write_half(handle: int, data: bytes) -> None:
        os.write(handle, data[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sidecar, "_write_all", write_half)
    with pytest.raises(NotesError, match="no space left"):
        append_events(file, [make("two")])
    assert file.read_bytes() == before


def test_a_drive_without_locks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("netloupe.explorer.notes.locking._try_to_lock", refuse)
    append_events(file, [make("one")])
    assert texts(file) == ["one"]


@posix
def test_what_is_no_file_is_neither_read_nor_written(tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    target.write_text("mine\n")
    link.symlink_to(target)
    for place in (pipe, tmp_path):
        with pytest.raises(NotesError, match=str(place)):
            read_sidecar(place)
        with pytest.raises(NotesError, match=str(place)):
            append_events(place, [make("one")])
    for use in (read_sidecar, lambda file, follow: append_events(file, [make("x")], follow=follow)):
        with pytest.raises(NotesError, match="it is a link"):
            use(link, follow=False)
    assert target.read_text() == "mine\n"
    append_events(link, [make("asked for")])
    assert texts(target) == ["asked for"]


def test_a_folder_that_may_not_be_written_to(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, flags: int, *, follow: bool) -> int:  # as who is root may write anywhere
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(sidecar, "_open", refuse)
    with pytest.raises(NotesError, match=r"permission denied.*kept in memory.*another file"):
        append_events(file, [make("one")])
    with pytest.raises(NotesError, match=r"cannot be read \(permission denied"):
        read_sidecar(file)


def test_a_file_that_is_too_large(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_events(file, [make("one"), make("two")])
    monkeypatch.setattr(sidecar, "_MOST_EVENTS", 1)
    with pytest.raises(NotesError, match="more than 1 events"):
        read_sidecar(file)
    monkeypatch.setattr(sidecar, "_LARGEST", 10)
    with pytest.raises(NotesError, match="too many for notes"):
        read_sidecar(file)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
