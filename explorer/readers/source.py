"""Sources: where a model's bytes come from."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netloupe.explorer.errors import SourceError


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a model and what to call them.

    Parameters
    ----------
    name
        For messages and titles: the path as the user gave it, or ``<bytes>``.
    data
        The whole content.
    folder
        Where external data may lie; None where the bytes come from no file.
    """

    name: str
    data: bytes
    folder: Path | None = None


def open_source(source: Any) -> Source:
    """Read a path, bytes, a binary file object or an in-memory protobuf message.

    Parameters
    ----------
    source
        ``str`` or ``os.PathLike`` (a path), ``bytes``-like, an object with ``read()``, or one
        with ``SerializeToString()`` such as ``onnx.ModelProto``.

    Raises
    ------
    SourceError
        Where there is no such file, it is no regular file, it may not be read, or the object
        is of none of these kinds.
    """
    if isinstance(source, (str, os.PathLike)):
        return _read_file(os.fspath(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source("<bytes>", bytes(source))
    if hasattr(source, "SerializeToString"):
        return Source(f"<{type(source).__name__}>", source.SerializeToString())
    if hasattr(source, "read"):
        return _read_file_object(source)
    raise SourceError(
        f"a {type(source).__name__} is no model source. Give a path, bytes, a file object "
        "opened in binary mode, or an onnx.ModelProto."
    )


def _read_file(name: str | bytes) -> Source:
    shown = os.fsdecode(name)
    path = Path(shown)
    try:
        mode = path.stat().st_mode  # asked before opening: a FIFO would block for ever
    except ValueError:
        raise SourceError(f"{shown!r}: is no path that a file can have. Check the name.") from None
    except FileNotFoundError:
        raise SourceError(f"{shown}: there is no such file. Check the name.") from None
    except OSError as error:
        raise SourceError(f"{shown}: {_reason(error)}. Check the name.") from error
    if stat.S_ISDIR(mode):
        raise SourceError(f"{shown}: is a directory. Give the model file inside it.")
    if not stat.S_ISREG(mode):
        raise SourceError(f"{shown}: is no regular file. Copy its content to a file first.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"{shown}: cannot be read ({_reason(error)}). Check its permissions."
        ) from error
    return Source(shown, data, path.resolve().parent)


def _read_file_object(file: Any) -> Source:
    given = getattr(file, "name", None)
    name = given if isinstance(given, str) else f"<{type(file).__name__}>"
    try:
        data = file.read()
    except UnicodeDecodeError:
        data = ""  # a text file already fails here where the bytes are no text
    except (OSError, ValueError) as error:
        raise SourceError(f"{name}: cannot be read ({error}). Open it again.") from error
    if isinstance(data, str):
        raise SourceError(f"{name}: the file was opened as text. Open it with mode 'rb'.")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise SourceError(
            f"{name}: read() gives a {type(data).__name__} instead of bytes. "
            "Give a file object opened in binary mode."
        )
    folder = Path(name).resolve().parent if Path(name).is_file() else None
    return Source(name, bytes(data), folder)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
