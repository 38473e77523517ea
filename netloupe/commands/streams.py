"""The standard input and output of a command, and what may be written there."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from netloupe.explorer.errors import OutputError, SourceError

#: the name of a file that stands for the standard input or output
STANDARD = "-"

_LONGEST_LINE = 4000


class StandardInput(io.BytesIO):
    """What came by the standard input, under a name for messages."""

    name = "<standard input>"


def to_line(text: str) -> str:
    """Return text as one line without anything that a terminal would obey."""
    from netloupe.explorer.render.text import clean_label

    return clean_label(" ".join(text.split()), _LONGEST_LINE)


def say(kind: str, message: str) -> None:
    """Print a line on the standard error, as ``netloupe: note: …``."""
    if sys.stderr is not None:  # None where it is closed
        with contextlib.suppress(OSError):
            print(f"netloupe: {kind}: {to_line(message)}", file=sys.stderr, flush=True)


def read_standard_input() -> StandardInput:
    """Return all of the standard input.

    Raises
    ------
    SourceError
        Where it is closed, or a terminal, where nobody types a model.
    """
    if sys.stdin is None:
        raise SourceError("the standard input is closed. Give the name of a file.")
    if sys.stdin.isatty():
        raise SourceError(
            "the standard input is a terminal. Send a model to it, as in "
            "`netloupe info - < model.onnx`."
        )
    try:
        return StandardInput(sys.stdin.buffer.read())
    except OSError as error:
        raise SourceError(
            f"the standard input cannot be read ({reason_of(error)}). Give the name of a file."
        ) from error


@contextlib.contextmanager
def standard_input_as_file() -> Iterator[Path]:
    """Give a file that holds the standard input while the block runs.

    Raises
    ------
    SourceError
        As :func:`read_standard_input`.
    """
    data = read_standard_input()
    with tempfile.TemporaryDirectory(prefix="netloupe-") as folder:
        path = Path(folder) / "standard input"
        path.write_bytes(data.getbuffer())
        yield path


def write_standard_output(data: bytes | str) -> None:
    """Write to the standard output; text gets a line end.

    Raises
    ------
    OutputError
        Where it is closed or full.
    BrokenPipeError
        Where the reader has seen enough, as ``| head`` does.
    """
    if sys.stdout is None:
        raise OutputError("the standard output is closed. Redirect it to a file, or give one.")
    try:
        if isinstance(data, str):
            print(data, flush=True)
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        drop_standard_output()
        raise
    except OSError as error:
        drop_standard_output()
        raise OutputError(
            f"the standard output cannot be written ({reason_of(error)}). "
            "Redirect it to another place."
        ) from error


def drop_standard_output() -> None:
    """Let what is not yet written go nowhere, so that the interpreter ends without a word."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def reason_of(error: OSError) -> str:
    """Return what the system says of an error, in small letters."""
    return (error.strerror or str(error)).lower()


def advise(error: OSError) -> str:
    """Return what to do about an error of the system that no part of netloupe expects."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "Close some, or allow more with `ulimit -n 1024`."
    if error.errno == errno.ENOSPC:
        return "Make room, or choose another place."
    if error.errno == errno.ENOMEM:
        return "Close other programs."
    return "Check the file and the system, and try again."
