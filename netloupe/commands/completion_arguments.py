"""The words of ``netloupe completion``."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "fish", "powershell")


_COMPLETION_EXAMPLES = """examples:
  eval "$(netloupe completion bash)"              in ~/.bashrc; zsh likewise in ~/.zshrc
  netloupe completion fish | source               in ~/.config/fish/config.fish"""


def add_completion(commands: Any) -> None:
    """Add the command, its options and its help to the commands of a parser."""
    completion: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="print what makes a shell complete commands, options and names in a model",
        description="Print a script with which a shell completes commands, options, and the "
        "names of nodes and values in a model.",
        epilog=_COMPLETION_EXAMPLES,
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell that will run the script")
    completion.set_defaults(models=[], init=None, run=_run, registers_operators=False)


def _run(parsed: argparse.Namespace) -> int:
    from .completion import run_completion

    return run_completion(parsed)
