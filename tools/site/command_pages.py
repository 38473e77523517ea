"""The commands as Markdown for the site, and as a man page."""

from __future__ import annotations

from collections.abc import Iterator

from command_reference import Argument, Command, list_commands

from netloupe import __version__

_HELP = ("-h", "--help")
_TEXT = str.maketrans({"<": "&lt;", "*": r"\*", "_": r"\_", "`": r"\`", "[": r"\[", "|": r"\|"})


def write_markdown() -> str:
    """Return a section for each command."""
    return "\n".join(line for command in list_commands() for line in _write_section(command))


def _write_section(command: Command) -> Iterator[str]:
    yield f"({name_anchor(command)})="
    yield f"## {command.name.replace(' MODEL', '')}"
    yield ""
    told = command.description or f"{command.summary[:1].upper()}{command.summary[1:]}."
    yield told.translate(_TEXT)
    yield from ("", "```text", command.synopsis, "```", "")
    for title, arguments in (("operands", command.operands), *command.groups):
        if title not in ("operands", "options") and arguments:
            yield from (f"{title.capitalize()}:", "")
        for argument in arguments:
            if argument.names == _HELP and command.name != "netloupe":
                continue  # every command has it
            yield f"`{argument.write_names()}`"
            yield f":   {describe_argument(argument).translate(_TEXT)}"
            yield ""
    if command.examples:
        yield from ("```text", *command.examples, "```", "")
    if command.remarks:
        yield from (command.remarks.translate(_TEXT), "")


def name_anchor(command: Command) -> str:
    """Return the target that links to a command use: ``command-info``."""
    return "command-" + command.name.replace(" MODEL", "").replace(" ", "-").lower()


def describe_argument(argument: Argument) -> str:
    """Return what an argument does as a sentence or more."""
    text = argument.help or "?"
    parts = [f"{text[0].upper()}{text[1:]}."]
    if argument.is_required:
        parts.append("Required.")
    if argument.is_repeatable and "several times" not in text:
        parts.append("May be given several times.")
    return " ".join(parts)


def write_man_page() -> str:
    """Return ``netloupe.1``, for troff with the man macros (man(7))."""
    commands = list_commands()
    main = commands[0]
    lines = [
        '.\\" written by: python tools/make_man_page.py',
        f'.TH NETLOUPE 1 "" "netloupe {__version__}" "User Commands"',
        ".SH NAME",
        r"netloupe \- look into neural-network graph files (ONNX, Caffe2)",
        ".SH SYNOPSIS",
        ".nf",
        *(_escape(command.synopsis) for command in commands),
        ".fi",
        ".SH DESCRIPTION",
        _escape(main.description),
        "netloupe MODEL shows the explorer in a browser window, as netloupe open MODEL does.",
        *_write_man_section(main),
        ".SH COMMANDS",
        *(line for command in commands[1:] for line in _write_man_section(command)),
        ".SH EXIT STATUS",
        _escape(_find_exit_status(main)),
        ".SH ENVIRONMENT",
        ".TP",
        ".B NETLOUPE_DEBUG",
        "Any text: a mistake of netloupe's own is shown with its traceback.",
        ".SH EXAMPLES",
        *_write_examples(main),
    ]
    return "\n".join(lines) + "\n"


def _find_exit_status(main: Command) -> str:
    return " ".join(main.remarks.removeprefix("Exit status: ").split())


def _write_man_section(command: Command) -> Iterator[str]:
    if command.name == "netloupe":
        yield ".SH OPTIONS"
    else:
        yield f'.SS "{_escape(command.name)}"'
        yield _escape(command.description or command.summary)
    for title, arguments in (("operands", command.operands), *command.groups):
        if title not in ("operands", "options"):
            yield from (".PP", _escape(title.capitalize()) + ":")
        for argument in arguments:
            if argument.names == _HELP and command.name != "netloupe":
                continue
            yield ".TP"
            yield f'.B "{_escape(argument.write_names())}"'
            yield _escape(describe_argument(argument))
    if command.name != "netloupe" and command.examples:
        yield from (".PP", "Examples:", *_write_examples(command))
    if command.name != "netloupe" and command.remarks:
        yield from (".PP", _escape(command.remarks))


def _write_examples(command: Command) -> Iterator[str]:
    yield from (".PP", ".nf", *map(_escape, command.examples), ".fi")


def _escape(text: str) -> str:
    """Return a text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")
    text = text.replace("…", "...").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in text.split("\n"))
