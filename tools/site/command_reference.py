"""What the parsers of the command line say of every command and option, for page and man page."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from netloupe.commands.arguments import make_parser


@dataclass(frozen=True)
class Argument:
    """One operand or option.

    Parameters
    ----------
    names
        ``("-o", "--output")``; of an operand its metavar.
    value
        What is given with an option, as in ``FILE`` or ``a|b``; "" for a switch.
    help
        What it does.
    is_required
        Whether an option must be given.
    is_repeatable
        Whether it may be given several times.
    """

    names: tuple[str, ...]
    value: str
    help: str
    is_required: bool = False
    is_repeatable: bool = False

    def write_names(self) -> str:
        """Return how it is typed, as in ``-o, --output FILE``."""
        return f"{', '.join(self.names)} {self.value}".rstrip()


@dataclass(frozen=True)
class Command:
    """One command, with its actions as further commands behind it.

    Parameters
    ----------
    name
        ``netloupe``, ``netloupe info``, ``netloupe notes MODEL add``.
    summary
        What it does, in a few words; "" for ``netloupe`` itself.
    description
        The same in a sentence or more.
    synopsis
        How it is typed.
    operands, groups
        What it takes: operands, and options by the title of their group.
    examples
        Lines behind ``examples:`` in its help.
    remarks
        What follows them.
    """

    name: str
    summary: str
    description: str
    synopsis: str
    operands: tuple[Argument, ...]
    groups: tuple[tuple[str, tuple[Argument, ...]], ...]
    examples: tuple[str, ...]
    remarks: str


def list_commands() -> list[Command]:
    """Return ``netloupe`` itself, its commands, and the actions of these."""
    return list(_walk(make_parser(), "netloupe", ""))


def _walk(parser: argparse.ArgumentParser, name: str, summary: str) -> Iterator[Command]:
    operands, choosers = [], []
    for action in parser._get_positional_actions():
        if isinstance(action, argparse._SubParsersAction):
            choosers.append(action)
        else:
            operands.append(_describe(parser, action))
    groups = []
    for group in parser._action_groups:
        options = [
            _describe(parser, action)
            for action in group._group_actions
            if action.option_strings and action.help is not argparse.SUPPRESS
        ]
        if options:
            groups.append((group.title or "options", tuple(options)))
    examples, remarks = _split_epilog(parser.epilog or "")
    words = [name]
    words += [f"{o.names[0]} {o.value}" for _, g in groups for o in g if o.is_required]
    words += ["[OPTIONS]", *(operand.names[0] for operand in operands)]
    words += [str(chooser.metavar) for chooser in choosers]
    yield Command(
        name,
        summary,
        parser.description or "",
        "netloupe MODEL | COMMAND …" if name == "netloupe" else " ".join(words),
        tuple(operands),
        tuple(groups),
        examples,
        remarks,
    )
    inside = " ".join([name, *(operand.names[0] for operand in operands)])
    for chooser in choosers:
        told = {choice.dest: choice.help or "" for choice in chooser._choices_actions}
        for word, each in chooser.choices.items():
            yield from _walk(each, f"{inside} {word}", told.get(word, ""))


def _describe(parser: argparse.ArgumentParser, action: argparse.Action) -> Argument:
    formatter = parser._get_formatter()
    text = formatter._expand_help(action) if action.help else ""
    if not action.option_strings:
        metavar = str(action.metavar or "|".join(map(str, action.choices or [action.dest])))
        dots = {"+": "{}…", "*": "[{}…]", "?": "[{}]"}.get(str(action.nargs), "{}")
        return Argument((dots.format(metavar),), "", text)
    value = ""
    if action.nargs != 0:
        value = str(action.metavar or "|".join(map(str, action.choices or [action.dest.upper()])))
    names = tuple(action.option_strings)
    repeatable = isinstance(action, argparse._AppendAction)
    return Argument(names, value, text, action.required, repeatable)


def _split_epilog(epilog: str) -> tuple[tuple[str, ...], str]:
    head, _, behind = epilog.partition("examples:\n")
    if not behind:
        return (), head
    examples, _, remarks = behind.partition("\n\n")
    return tuple(textwrap.dedent(examples).splitlines()), remarks
