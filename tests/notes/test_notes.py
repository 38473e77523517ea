"""Notes of a model: written, found, edited, removed, and kept whatever goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import netloupe
from netloupe.explorer.errors import NotesError, NotFoundError
from netloupe.explorer.model import Model
from netloupe.explorer.notes import sidecar, store
from tests.notes.networks import make_chain, save_chain


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return save_chain(tmp_path / "m.onnx")


def test_a_note_is_kept_beside_the_model(model: Model) -> None:
    note = model.notes.add("main/layer.1/Relu", "dead?", author="ann", tags=["int8", "int8"])
    assert (note.text, note.author, note.tags, note.state) == ("dead?", "ann", ("int8",), "exact")
    assert note.paths == ("main/layer.1/Relu",)
    assert note.is_saved
    assert model.notes.file == Path(f"{Path(model.source).absolute()}.notes.jsonl")
    again = netloupe.load(model.source).notes
    assert list(again) == [note]
    assert str(note) == "main/layer.1/Relu: dead?"
    assert repr(again) == f"<Notes: 1 in {str(again.file)!r}>"


def test_what_a_note_can_be_about(model: Model) -> None:
    node = model.graph.nodes[0]
    value = node.outputs[0]
    group = model.groups.groups[0]
    for place in (node, value, group, model, model.graph, "w0", "main/%x", "layer.2/Add"):
        assert model.notes.add(place, "x").state == "exact"
    region = model.notes.add([node, "main/layer.1/Add", node], "these two")
    assert region.paths == (node.path, "main/layer.1/Add")
    assert [note.text for note in model.notes.at(group)] == ["x"]
    assert len(model.notes.at(node)) == 2
    assert len(model.notes) == 9


@pytest.mark.parametrize(
    ("place", "text", "tags", "error", "message"),
    [
        ("main/nothing", "x", (), NotFoundError, "there is no"),
        ("main/nothing/", "x", (), NotFoundError, "there is no group"),
        (5, "x", (), NotesError, "and not on int"),
        ([], "x", (), NotesError, "and not on 0"),
        ("main/layer.1/Relu", " \n", (), NotesError, "text is empty"),
        ("main/layer.1/Relu", 7, (), NotesError, "text is no text"),
        ("main/layer.1/Relu", "x" * 200_000, (), NotesError, "longer than 100,000"),
        ("main/layer.1/Relu", "x", [1], NotesError, "a tag is no text"),
        ("x" * 5_000, "x", (), NotesError, "4,000 characters at most"),
    ],
)
def test_what_is_no_note(
    model: Model, place: Any, text: Any, tags: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        model.notes.add(place, text, tags=tags)
    assert len(model.notes) == 0
    assert model.notes.file is not None
    assert not model.notes.file.exists()


def test_an_element_of_another_model(model: Model, tmp_path: Path) -> None:
    other = save_chain(tmp_path / "other.onnx")
    for place in (other.graph.nodes[0], other.groups.groups[0]):
        with pytest.raises(NotFoundError, match="is of another model"):
            model.notes.add(place, "x")


def test_too_much_for_one_line(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [node.path for node in model.graph.nodes] * 100
    assert len(model.notes.add(many, "once each").elements) == 12
    monkeypatch.setattr(store, "LONGEST_LINE", 5_000)
    with pytest.raises(NotesError, match="Write several notes"):
        model.notes.add("main/layer.1/Relu", "x" * 5_000)
    assert len(model.notes) == 1


def test_edit_and_history(model: Model) -> None:
    note = model.notes.add("main/layer.1/Relu", "dead?", author="ann", tags=["a"])
    edited = model.notes.edit(note, text="alive", author="bob")
    assert (edited.text, edited.author, edited.tags) == ("alive", "ann", ("a",))
    assert model.notes.edit(note.id[:8], tags=[]).tags == ()
    assert model.notes.edit(note, place="main/layer.2/Relu").paths == ("main/layer.2/Relu",)
    assert [event.author for event in model.notes.history(note)][:2] == ["ann", "bob"]
    with pytest.raises(NotesError, match="nothing is changed"):
        model.notes.edit(note)
    with pytest.raises(NotFoundError, match="no note with the id"):
        model.notes.edit("ffff", text="x")
    with pytest.raises(NotFoundError, match="no note"):
        model.notes["abc"]


def test_a_removed_note_stays_in_the_file(model: Model) -> None:
    note = model.notes.add("main/layer.1/Relu", "wrong")
    model.notes.remove(note)
    assert list(model.notes) == []
    assert model.notes.history(note)[0].changes["text"] == "wrong"
    with pytest.raises(NotFoundError):
        model.notes.remove(note)
    assert model.notes.file is not None
    assert "wrong" in model.notes.file.read_text("utf-8")


def test_what_others_write_meanwhile_is_seen(model: Model) -> None:
    ours, theirs = model.notes, netloupe.load(model.source).notes
    note = ours.add("main/layer.1/Relu", "ours")
    assert [each.text for each in theirs] == ["ours"]
    theirs.edit(note, text="theirs")
    assert ours[note.id].text == "theirs"
    ours.reload()
    assert ours.notices == ()


def test_notices(model: Model) -> None:
    note = model.notes.add("main/layer.1/Relu", "first")
    file = model.notes.file
    assert file is not None
    before = file.read_bytes()
    model.notes.edit(note, text="one")
    one = file.read_bytes()[len(before) :]
    file.write_bytes(before)
    model.notes.edit(note, text="other")
    with file.open("ab") as stream:
        stream.write(one + b"=======\n")
    assert len(model.notes.notices) == 2
    assert "line 4: left as it is, no JSON" in model.notes.notices[0]
    assert "two wrote the text" in model.notes.notices[1]


def test_a_model_without_a_file_needs_a_path(tmp_path: Path) -> None:
    model = netloupe.load(make_chain().SerializeToString())
    assert model.notes.file is None
    with pytest.raises(NotesError, match=r"is in no file.*model\.notes\.open"):
        model.notes.add("main/layer.1/Relu", "kept")
    (note,) = model.notes
    assert not note.is_saved
    assert repr(model.notes) == "<Notes: 1 in no file yet>"
    with pytest.raises(NotesError, match="does not exist"):
        model.notes.open(tmp_path / "nowhere" / "n.jsonl")
    model.notes.open(tmp_path / "n.notes.jsonl")
    (note,) = model.notes
    assert note.is_saved
    assert "kept" in (tmp_path / "n.notes.jsonl").read_text()
    model.notes.add("main/layer.2/Relu", "more")
    assert len(model.notes) == 2


def test_what_cannot_be_written_is_kept(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(sidecar, "_append", refuse)
        with pytest.raises(NotesError, match=r"m\.onnx\.notes\.jsonl: notes cannot be written"):
            model.notes.add("main/layer.1/Relu", "typed for an hour")
        assert [note.is_saved for note in model.notes] == [False]
        assert "in memory only" in model.notes.notices[-1]
    model.notes.add("main/layer.2/Relu", "next")
    assert [note.is_saved for note in model.notes] == [True, True]
    assert len(netloupe.load(model.source).notes) == 2


def test_only_notes_that_accept_are_looked_for(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.notes.add("main/layer.1/Relu", "of no finding")
    (finding,) = netloupe.check(model, select=["NL-I02"])
    looked: list[str] = []
    again = netloupe.load(model.source)
    original = type(again.notes._locator).locate

    def locate(self: Any, anchor: Any) -> Any:
        looked.append(anchor["path"])
        return original(self, anchor)

    monkeypatch.setattr(type(again.notes._locator), "locate", locate)
    assert again.notes.list_accepting() == []
    assert looked == []
    again.notes.accept(finding, "well so")
    assert [note.text for note in again.notes.list_accepting()] == ["well so"]
    assert {*looked} == {*finding.paths}


def test_merge(model: Model, tmp_path: Path) -> None:
    model.notes.add("main/layer.1/Relu", "ours")
    other = save_chain(tmp_path / "copy.onnx")
    other.notes.add("main/layer.2/Relu", "theirs")
    assert other.notes.file is not None
    assert model.notes.merge(other.notes.file) == 1
    assert model.notes.merge(other.notes.file) == 0
    assert [note.text for note in model.notes] == ["ours", "theirs"]
    with pytest.raises(NotesError, match="there is no such file"):
        model.notes.merge(tmp_path / "gone")


def test_git_merges_them(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        settings = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        done = subprocess.run(
            ["git", *settings, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    (tmp_path / ".gitattributes").write_text("*.notes.jsonl merge=union\n")
    model = save_chain(tmp_path / "m.onnx")
    first = model.notes.add("main/layer.1/Relu", "first")
    git("add", ".")
    git("commit", "-qm", "base")
    base = git("symbolic-ref", "--short", "HEAD")
    git("checkout", "-qb", "other")
    model.notes.add("main/layer.2/Relu", "theirs")
    git("commit", "-qam", "theirs")
    git("checkout", "-q", base)
    model.notes.edit(first, text="first, edited")
    model.notes.add("main/layer.3/Relu", "ours")
    git("commit", "-qam", "ours")
    git("merge", "-q", "other")
    assert {note.text for note in model.notes} == {"first, edited", "theirs", "ours"}
    assert model.notes.notices == ()


def test_two_processes_at_once(model: Model) -> None:
    script = (
        "import sys, netloupe\nmodel = netloupe.load(sys.argv[1])\n"
        "for number in range(15):\n"
        "    model.notes.add('main/layer.1/Relu', f'{sys.argv[2]}{number}')\n"
    )
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    running = [
        subprocess.Popen([sys.executable, "-c", script, model.source, name], env=environment)
        for name in "ab"
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    found = {note.text for note in model.notes}
    assert found == {f"{name}{number}" for name in "ab" for number in range(15)}


def test_table(model: Model) -> None:
    pandas = pytest.importorskip("pandas")
    assert len(model.notes.to_dataframe()) == 0
    model.notes.add("main/layer.1/Relu", "dead?", tags=["a"])
    table = model.notes.to_dataframe()
    assert table.loc[0, "path"] == "main/layer.1/Relu"
    assert table.loc[0, "tags"] == ("a",)
    assert isinstance(table["created"].dtype, pandas.DatetimeTZDtype)
