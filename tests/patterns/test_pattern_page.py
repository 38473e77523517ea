"""The pages on patterns: the generated one is current, and the example of the other one works."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from netloupe.explorer.grouping import build_group_tree
from netloupe.explorer.patterns import (
    FoundBlock,
    FoundBlocks,
    Operations,
    Pattern,
    find_graph_context,
    recognise,
)
from netloupe.explorer.patterns.known_patterns import PATTERNS
from netloupe.explorer.patterns.pattern_examples import EXAMPLES
from netloupe.explorer.patterns.registry import PLUGINS, forget_added
from tests.installed import install_entry_points

from .example_models import list_mutants, read_example

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools"))

from make_pattern_page import PAGE, write_page  # noqa: E402

_OWN = (_ROOT / "docs" / "own_patterns.md").read_text("utf-8")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Give the module of the page's package, installed as pip does it."""
    (entry,) = tomllib.loads(read_code("toml"))["project"]["entry-points"].items()
    group, points = entry
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    module, _, _ = points["example"].partition(":")
    package, _, name = module.partition(".")
    files = {
        f"{package}/__init__.py": "",
        f"{package}/{name}.py": read_code("python"),
        f"{package}-1.0.dist-info/METADATA": f"Name: {package}\nVersion: 1.0\n",
        f"{package}-1.0.dist-info/entry_points.txt": "\n".join(lines),
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    forget_added()
    yield import_module(module)
    for imported in (package, module):
        sys.modules.pop(imported)
    forget_added()


def read_code(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", _OWN, re.DOTALL)[number]


def test_the_page_is_that_of_the_registry() -> None:
    assert PAGE.read_text("utf-8") == write_page(), "run python tools/make_pattern_page.py"


def test_every_pattern_has_its_example_and_source_on_it() -> None:
    page = write_page()
    assert re.findall(r"^### (.*)$", page, re.MULTILINE) == [pattern.id for pattern in PATTERNS]
    sections = re.split(r"^### .*$", page, flags=re.MULTILINE)[1:]
    for pattern, section in zip(PATTERNS, sections, strict=True):
        text, told = EXAMPLES[pattern.id]
        assert f"```text\n{text}\n```" in section
        assert f"It is told to be **{told}**." in section
        assert all(f"`{kind}`" in section for kind in pattern.kinds)
    # where the module names the source of all that is in it
    (section,) = [text for text in sections if "\nconformer_block (" in text]
    assert "Gulati and others, Conformer" in section
    assert "``" not in page.replace("```", "")


def test_the_example_is_found_named_and_boxed(example: ModuleType) -> None:
    text = read_code("text")
    graph = read_example(text)
    told = recognise(graph.nodes)
    assert told is not None
    assert f"**{told.text}**" in _OWN
    assert told.details.to_mapping() == {"in": 8, "out": 8}
    assert told.family == example.GATED_RESIDUAL.family == "linear"
    more = text.replace("y = Add", "r = Add").replace("\n}", "  t = Hardmax (r)  y = Ceil (t) }")
    longer = read_example(more)
    (box,) = build_group_tree(longer).root.inner_groups()
    assert box.label == told.name
    # in any order, and not of something else
    for old, new, name in (
        ("(x, change)", "(change, x)", told.name),
        ("(gate, content)", "(content, gate)", told.name),
        ("(x, change)", "(gate, change)", None),
        ("Sigmoid", "Tanh", None),
        ("(x, v)", "(b, v)", None),
        ("Mul", "Div", None),
    ):
        assert old in text
        found = recognise(read_example(text.replace(old, new)).nodes)
        assert (found.name if found is not None else None) == name


def test_the_example_fails_nowhere(example: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    for pattern in PATTERNS:
        recognise(read_example(EXAMPLES[pattern.id][0]).nodes)
    others = [recognise(mutant.graph.nodes) for mutant in list_mutants(read_code("text"))]
    assert len(others) > 20
    assert caplog.records == []


def test_all_that_a_finder_may_ask_is_told(example: ModuleType) -> None:
    graph = read_example(read_code("text"))
    operations = Operations(graph.nodes, find_graph_context(graph))
    tables = [
        re.findall(r"^\| `(\w+)", table.split("\n\n")[0], re.MULTILINE)
        for table in _OWN.split("| what it is |\n|---|---|\n")[1:]
    ]
    for names, asked in zip(tables, (FoundBlocks(operations), operations), strict=True):
        assert sorted(names) == [name for name in dir(asked) if not name.startswith("_")]
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", _OWN.split("| what it says |")[1], re.M)
    members = [*Pattern._fields]
    assert re.findall(r"\w+", " ".join(rows))[: len(members)] == members


def test_the_warning_of_the_page_is_what_is_said(
    monkeypatch: pytest.MonkeyPatch, example: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(blocks: FoundBlocks) -> Iterator[FoundBlock]:
        """Find nothing."""
        raise IndexError("list index out of range")

    forget_added()
    pattern = example.GATED_RESIDUAL._replace(find=fail)
    install_entry_points(monkeypatch, PLUGINS.group, example=pattern)
    assert recognise(read_example(read_code("text")).nodes) is None
    assert [record.getMessage() for record in caplog.records] == [read_code("text", 1).strip()]
