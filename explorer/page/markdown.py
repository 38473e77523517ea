"""The documentation of operators, which is Markdown, as HTML."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


#: a page describes many nodes of few operators
@lru_cache(maxsize=128)
def write_markdown(text: str) -> tuple[str, ...]:
    """Return the HTML of each block of a text: paragraphs, lists, code, tables.

    Notes
    -----
    HTML in the text stays text. Links lose their addresses: most lead to files beside that from
    which the text was taken. Pictures are their titles.
    """
    parser = _make_parser()
    blocks: list[str] = []
    start = 0
    tokens = parser.parse(text)
    for place, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            block = tokens[start : place + 1]
            blocks.append(parser.renderer.render(block, parser.options, {}))
            start = place + 1
    return tuple(blocks)


@cache
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml

    def write_nothing(*_: Any) -> str:
        return ""

    def write_title(_self: Any, tokens: Any, place: int, *_: Any) -> str:
        return escapeHtml(tokens[place].content)

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name in ("link_open", "link_close"):
        parser.add_render_rule(name, write_nothing)
    parser.add_render_rule("image", write_title)
    return parser
