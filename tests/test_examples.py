"""The Python examples of README, documentation and demo notebooks: typed strictly, and running."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from netloupe import Explorer

ROOT = Path(__file__).resolve().parents[1]
DEMOS = ROOT / "demo_notebooks"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: an error on purpose, which shows that mypy sees the types of netloupe and not Any
WITNESS = """
import netloupe

netloupe.load("m.onnx")["w"].statistics()  # type: ignore[union-attr]
netloupe.load("m.onnx").tensor("w").statistics().std.upper()  # type: ignore[union-attr]

model = netloupe.load("m.onnx")
model.to_svg(themes="dark")  # type: ignore[call-arg]
model.to_svg(theme="sepia")  # type: ignore[arg-type]
model.to_pdf(hops="2")  # type: ignore[arg-type]
model.graph.to_dot(grouping="name")  # type: ignore[arg-type]
model.to_png(focus=model)  # type: ignore[arg-type]
netloupe.explore("m.onnx", wrap="yes")  # type: ignore[arg-type]
netloupe.explore("m.onnx", zoom=2)  # type: ignore[call-arg]
"""


def read_blocks(path: Path) -> list[str]:
    """Return the Python examples of a page, or the code cells of a notebook, in order."""
    if path.suffix == ".md":
        return BLOCK.findall(path.read_text("utf-8"))
    cells = json.loads(path.read_text("utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return [re.sub(r"^[!%]", "pass  # ", code, flags=re.MULTILINE) for code in codes]


def list_pages() -> list[Path]:
    """Return every page and notebook that may have examples."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    return pages + [path for ending in ("md", "ipynb") for path in DEMOS.glob(f"*.{ending}")]


def test_examples_pass_mypy_strict(tmp_path: Path) -> None:
    sources = {"witness": WITNESS}
    for page in list_pages():
        if code := "\n\n".join(read_blocks(page)):
            sources[f"{page.parent.name}_{page.stem}".lower().replace("-", "_")] = code
    assert len(sources) >= 5  # the witness, the README and three notebooks
    files = []
    for name, code in sources.items():
        files.append(tmp_path / f"{name}.py")
        files[-1].write_text(code, "utf-8")
    done = subprocess.run(
        # what the check of netloupe itself found out is in the same cache
        [sys.executable, "-m", "mypy", "--strict", *files],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"no issues found in {len(files)} source files" in done.stdout


def run(code: str, names: dict[str, Any]) -> list[Any]:
    """Run an example; return what its expressions give, one after the other."""
    given = []
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Expr):
            given.append(eval(compile(ast.Expression(statement.value), "README", "eval"), names))
        else:
            exec(compile(ast.Module([statement], []), "README", "exec"), names)
    return given


def test_examples_of_the_readme_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    first, second, review, colours = read_blocks(ROOT / "README.md")
    names: dict[str, Any] = {}
    (explorer,) = run(first, names)
    assert isinstance(explorer, Explorer)
    try:
        told = re.search(r"ex\.selection +# '(.*)'", second)
        assert told is not None
        explorer.select(told[1])  # as a click does
        selection, paths, _, undone, statistics, macs, block = run(second, names)
        assert undone is True
        assert selection == told[1]
        assert paths == (told[1],)
        assert explorer.selection == "main/blocks/1/first/"
        assert f"macs        # {macs}\n" in second
        assert f"recognised         # {block!r}\n" in second
        assert statistics.count == explorer.model.tensor("blocks.1.first.conv.weight").size
        review = review.replace('"review.html"', repr(str(tmp_path / "review.html")))
        findings, *_ = run(review, names)
        assert len(findings) == len(explorer.findings)
        assert (tmp_path / "review.html").stat().st_size > 100_000
    finally:
        explorer.close()
    assert run(colours, names)[0] is None
    assert names["latency"].measure("node_linear").value == 0.8
    assert "<svg" in names["svg"]


def test_examples_of_the_page_about_costs_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = read_blocks(ROOT / "docs" / "costs.md")
    told = [ast.literal_eval(text) for text in re.findall(r"# ('.*'|\d+)$", code, re.MULTILINE)]
    expression, parameters, macs, *_ = run(code, {})
    assert [expression, parameters, macs] == told
