"""The worker of a command over many models: a process that does the work for one after the other.

Run as a script, it reads frames from its standard input and writes frames to its standard output,
each an 8-byte big-endian length and a pickle: first the operators that were registered, then the
work, then names of models; for each name the ``Outcome``. Both ends are ours, and nothing of a
model is in them but texts and numbers. It ends when its input does.
"""

from __future__ import annotations

import os
import sys

from netloupe.commands.outcomes import do_work, receive_pickle, send_pickle
from netloupe.explorer.operators import set_entries


def _serve() -> None:
    # what prints would get between the frames
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    questions = sys.stdin.buffer
    try:
        for domain, entries in receive_pickle(questions).items():
            set_entries(domain, entries)
        work = receive_pickle(questions)
        while True:
            send_pickle(answers, do_work(work, receive_pickle(questions)))
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    _serve()
