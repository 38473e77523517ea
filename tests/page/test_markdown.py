from __future__ import annotations

import pytest

from netloupe.explorer.describe import describe_node
from netloupe.explorer.page.description_html import write_section
from netloupe.explorer.page.markdown import write_markdown
from tests.onnx_text import load_text

DOCUMENTATION = """Multiplies two
matrices, see [the doc](IR.md).

* A' = transpose(A) if `transA`
* **optional** <b onclick="x()">inputs</b>

```
y = a * b
    + c
```
"""


def test_blocks_are_html_without_hard_breaks() -> None:
    paragraph, items, code = write_markdown(DOCUMENTATION)
    assert paragraph == "<p>Multiplies two\nmatrices, see the doc.</p>\n"
    assert "<li>A' = transpose(A) if <code>transA</code></li>" in items
    assert "<strong>optional</strong>" in items
    assert code == "<pre><code>y = a * b\n    + c\n</code></pre>\n"


def test_html_in_the_text_stays_text() -> None:
    html = "".join(write_markdown(DOCUMENTATION + "\n<script>x()</script>\n\n![a<b](x.png)"))
    assert "&lt;b onclick=&quot;x()&quot;&gt;" in html
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<img" not in html
    assert "a&lt;b" in html


def test_nothing_to_say() -> None:
    assert write_markdown("") == ()


def test_documentation_of_an_operator_is_readable() -> None:
    pytest.importorskip("onnx")
    model = load_text("agraph (float[2,2] x, float[2,2] w) => (float[2,2] y) { y = Gemm(x, w) }")
    sections = describe_node(model.graph.nodes[0]).sections
    html = write_section(next(part for part in sections if part.title == "Documentation"))
    assert "<p>General Matrix multiplication:" in html
    assert "<li>A' = transpose(A) if transA else A</li>" in html
    assert "](" not in html
    assert "**" not in html
