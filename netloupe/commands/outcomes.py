"""What comes of work for a model, and how it goes through the pipes of workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from .failures import explain_error


class Outcome(NamedTuple):
    """What came of the work for one model.

    Parameters
    ----------
    value
        What the work gave.
    error
        Why there is nothing; "" for no reason.
    """

    value: Any = None
    error: str = ""


def do_work(work: Callable[[str], Any], name: str) -> Outcome:
    """Return what comes of some work for a model, whatever goes wrong."""
    try:
        return Outcome(work(name))
    except BrokenPipeError:
        raise
    except Exception as error:
        return Outcome(error=explain_error(error, [name]))


def pack_pickle(content: object) -> bytes:
    """Return an object of ours as it goes through a pipe."""
    data = pickle.dumps(content)
    return len(data).to_bytes(8, "big") + data


def send_pickle(stream: IO[bytes], content: object) -> None:
    """Write an object of ours to a pipe."""
    stream.write(pack_pickle(content))
    stream.flush()


def receive_pickle(stream: IO[bytes]) -> Any:
    """Return what :func:`send_pickle` has written at the other end.

    Raises
    ------
    EOFError
        Where the pipe ends.
    """
    head = stream.read(8)
    length = int.from_bytes(head, "big")
    data = stream.read(length) if len(head) == 8 else b""
    if len(head) < 8 or len(data) < length:
        raise EOFError("the pipe has ended")
    return pickle.loads(data)  # noqa: S301 - our own process has written it
