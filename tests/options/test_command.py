"""Commands are what a shell reads back word by word, whatever is in them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from netloupe.explorer.options.command import quote, write_command

EVIL = [
    "it's",
    'a "b" $(touch x) `touch x`; rm -rf x & \\',
    "line\nbreak\ttab",
    "ends the paste \x1b[201~\x03 touch x\r1",
    "\x9b201~ umlaut ü",
    "$HOME *",
    "",
]


@pytest.mark.parametrize("text", EVIL)
def test_a_shell_reads_the_word_that_was_quoted(text: str) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    ran = subprocess.run(
        [bash, "-c", f"printf %s {quote(text)}"], capture_output=True, check=True,
        env={"LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert ran.stdout.decode() == text


@pytest.mark.parametrize("text", EVIL)
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    assert quote(text).isprintable()


def test_only_what_differs_is_said() -> None:
    values = {"expand": "auto", "wrap": True, "theme": "dark", "hops": 2, "scale": 2.0}
    values |= {"focus": "-v", "legend": True, "title": ""}
    assert write_command("-m.onnx", "m.svg", values) == (
        "netloupe render ./-m.onnx -o m.svg --focus=-v --theme dark --wrap yes --scale 2 --legend"
    )
