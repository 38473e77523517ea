"""Write docs/view_options.md, the page on the options of a view, from their table.

Usage: python tools/make_option_page.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))  # this tree, and not one that is installed

from netloupe.explorer.options import OPTIONS, PAGE_OPTIONS, Choice, Option  # noqa: E402

PAGE = _ROOT / "docs" / "view_options.md"

_HEAD = """# Options of a view

Which part of a model is shown, and how. In Python `explore()` and `to_svg()`, `to_html()`,
`to_png()`, `to_pdf()`, `to_dot()` of a model or a graph take them by keyword, in the shell
`netloupe render` does:

```python
import netloupe

model = netloupe.load("demo_notebooks/models/digits_cnn.onnx")
svg = model.to_svg("block.svg", focus="blocks/1", hops=0)
```

```
netloupe render demo_notebooks/models/digits_cnn.onnx -o block.svg --focus blocks/1 --hops 0
```

A graph shows itself and takes no `graph`; DOT has neither `theme` nor what follows `wrap` here, nor
`wrap` itself. A function that hands them on is typed `**view: Unpack[netloupe.ViewKeywords]`.

This page is written by `python tools/make_option_page.py` from `explorer/options/options.json`
and `page_options.json`.
"""


_PAGE_HEAD = """## What the explorer in one file holds

Options of `to_html()` and of `netloupe render -o model.html`, beside those of the view.
"""


def write_page() -> str:
    """Return the page."""
    options = OPTIONS.values()
    overview = _write_table(
        ("Python", "shell", "what it does"),
        ((_code(f"{o.name}={_quote(o.default)}"), _in_shell(o), _describe(o)) for o in options),
    )
    values = _write_table(
        ("option", "Python", "shell", "menu of the canvas", "what it does"),
        (row for option in options for row in _list_values(option)),
    )
    of_page = _write_table(
        ("Python", "shell", "what it does"),
        ((_code(o.name), _in_shell(o), _describe(o)) for o in PAGE_OPTIONS.values()),
    )
    values_of_page = _write_table(
        ("option", "Python", "shell", "what it does"),
        (
            (option, python, word, meaning)
            for each in PAGE_OPTIONS.values()
            for option, python, word, _, meaning in _list_values(each)
        ),
    )
    parts = (_HEAD, overview, "## Their values\n", values, _PAGE_HEAD, of_page, values_of_page)
    return "\n".join(parts)


def _in_shell(option: Option) -> str:
    if option.is_switch:
        return _code(option.flag)
    if option.text is not None:
        return _code(f"{option.flag} {'|'.join([*option.words, option.text.name])}")
    number = [option.number.name] if option.number else []
    return _code(f"{option.flag} {'|'.join([*option.words, *number]) or 'PATH'}")


def _describe(option: Option) -> str:
    text = option.help.format_map({name: _code(name) for name in OPTIONS})
    details = option.details.format_map({name: _code(name) for name in OPTIONS})
    sentences = [f"{text[0].upper()}{text[1:]}.", details]
    if option.elements:
        kinds = ", ".join(map(_code, option.elements))
        sentences.append(f"In Python an element stands for its path: {kinds}.")
    return " ".join(filter(None, sentences))


def _list_values(option: Option) -> Iterable[tuple[str, ...]]:
    name = _code(option.name)
    for choice in option.choices:
        python = _code(_quote(choice.value))
        word = f"--{_switch(option, choice)}" if option.is_switch else choice.word
        yield name, python, _code(word), choice.menu, choice.meaning
    if option.number is not None:
        kind = "int" if option.number.is_whole else "float"
        yield name, _code(kind), _code(option.number.name), "", f"a {option.number}"
    if option.text is not None:
        yield name, _code("str"), _code(option.text.name), "", str(option.text)


def _switch(option: Option, choice: Choice) -> str:
    """Return how a switch is set in the shell."""
    return option.name if choice.value else f"no-{option.name}"


def _quote(value: str | bool | float) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"  # a bar would end the cell


def _write_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
