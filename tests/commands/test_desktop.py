"""What a desktop is told of netloupe."""

from __future__ import annotations

import configparser
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from netloupe.commands import desktop
from netloupe.commands.cli import main
from tests.commands.failing import fail


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "data"


@pytest.mark.parametrize("browser", ["/usr/bin/chromium", None])
def test_the_files_are_written_and_removed(
    data: Path,
    browser: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(desktop, "find_chromium_browser", lambda: browser)
    assert main(["desktop"]) == 0
    told = capsys.readouterr().out
    entry, types = data / "applications/netloupe.desktop", data / "mime/packages/netloupe.xml"
    assert str(entry) in told
    assert str(types) in told
    read = configparser.ConfigParser(interpolation=None)
    read.read(entry)
    section = read["Desktop Entry"]
    assert section["Exec"].endswith('"open" "--window" %F' if browser else '"open" %F')
    assert section["Terminal"] == ("false" if browser else "true")
    named = set(section["MimeType"].strip(";").split(";"))
    space = "{http://www.freedesktop.org/standards/shared-mime-info}"
    found = ElementTree.parse(types).getroot().findall(f"{space}mime-type")
    assert {each.get("type") for each in found} == named
    assert main(["desktop", "--remove"]) == 0
    assert not entry.exists()
    assert not types.exists()
    assert main(["desktop", "--remove"]) == 0
    assert "nothing was there" in capsys.readouterr().err


def test_words_are_quoted() -> None:
    entry = desktop.write_desktop_entry(['/a b/100%/"x"$y\\z'], has_window=True)
    line = next(line for line in entry.splitlines() if line.startswith("Exec="))
    assert line == r'Exec="/a b/100%%/\\"x\\"\\$y\\\\z" "open" "--window" %F'


def test_where_nothing_can_be_written(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data.write_text("in the way")
    assert "cannot be written" in fail(capsys, "desktop")


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_are_told_where_to_read(
    platform: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(desktop.sys, "platform", platform)
    assert "docs/open.md" in fail(capsys, "desktop")
