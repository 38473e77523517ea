"""How commands run: what is wrong is one line and an exit status, and one model after the other."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

from .failures import explain_error
from .interrupts import check_interrupt, was_interrupted
from .streams import STANDARD, read_standard_input, say, write_standard_output

if TYPE_CHECKING:
    from netloupe.explorer.model import Model

#: exit statuses besides 0
FOUND, FAILED, INTERRUPTED = 1, 2, 130


def guard(run: Callable[[], int], about: Sequence[str] = ()) -> int:
    """Return the exit status of some work; of what goes wrong, say one line and return 2.

    Parameters
    ----------
    run
        The work.
    about
        The words of the command, for messages about what nobody expects.
    """
    try:
        return run()
    except BrokenPipeError:
        return 0  # the reader has seen enough
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if was_interrupted():  # what else went wrong then follows from that
            return INTERRUPTED
        say("error", explain_error(error, about))
    return FAILED


def load_named(name: str, init: str | None, *, infer_shapes: bool = False) -> Model:
    """Return the model of a file on the command line, - being the standard input."""
    from netloupe.explorer.readers.load import load

    model, fills = (read_standard_input() if given == STANDARD else given for given in (name, init))
    return load(model, fills, infer_shapes=infer_shapes)


def run_each(models: Sequence[str], run: Callable[[str], int | None]) -> int:
    """Do something with each model; what is wrong with one does not keep the others back."""
    if len(models) == 1:
        return run(models[0]) or 0

    def run_one(name: str) -> int:
        return run(name) or 0

    statuses = []
    for name in models:
        statuses.append(guard(partial(run_one, name), [name]))
        if statuses[-1] == INTERRUPTED or was_interrupted():
            return INTERRUPTED
    return max(statuses)


def tell_each(
    models: Sequence[str],
    work: Callable[[str], Any],
    tell: Callable[[Any], int],
    tell_error: Callable[[str, str], None],
    *,
    jobs: int = 1,
) -> int:
    """Do some work for each model and tell what comes of it; return the worst exit status.

    Parameters
    ----------
    models
        Their names.
    work
        What is done for each; with several processes it is pickled.
    tell
        Prints what the work gave and returns an exit status; called in the order of the models.
    tell_error
        Called with the name of a model and why nothing came of it, which is also said on the
        standard error.
    jobs
        How many processes do it.
    """
    from .jobs import do_jobs

    status = 0
    with closing(do_jobs(models, work, jobs=jobs)) as outcomes:
        for name, outcome in zip(models, outcomes, strict=True):
            check_interrupt()
            if outcome.error:
                tell_error(name, outcome.error)
                say("error", outcome.error)
            status = max(status, FAILED if outcome.error else tell(outcome.value))
    return status


def print_json(told: Any, several: bool) -> None:
    """Print as JSON: on one line where there are several."""
    write_standard_output(json.dumps(told, indent=None if several else 2))


def most_entries(parsed: argparse.Namespace) -> int | None:
    """Return how many entries of a list JSON has; None for all."""
    from netloupe.explorer.describe.encoding import MOST_ENTRIES

    return None if parsed.all else MOST_ENTRIES
