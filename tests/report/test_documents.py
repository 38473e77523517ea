"""Reports as HTML and Markdown: what is in them is text and nothing else."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netloupe.explorer.report.content import (
    MOST_TABLE_ROWS,
    ReportCell,
    ReportColumn,
    ReportContent,
    ReportRow,
    ReportSection,
    make_report_table,
    make_share_cell,
)
from netloupe.explorer.report.document import (
    read_report_style,
    write_report_article,
    write_report_head,
)
from netloupe.explorer.report.markdown import (
    escape_markdown,
    write_code_cell,
    write_report_markdown,
)

_EVIL = '<script>alert("1")</script> | `x` *b* [l](http://e.org) @user #1 &amp;'
_COLUMNS = (ReportColumn("What"), ReportColumn("MACs", True))


def make(*rows: ReportRow, total: int | None = None) -> ReportContent:
    table = make_report_table("Parts", _COLUMNS, list(rows), total, "netloupe info MODEL")
    section = ReportSection("costs", "Costs", ("A sentence.",), (table,))
    return ReportContent("Review of m.onnx", "", ("1 error.",), (section,))


def row(text: str, macs: str = "", key: float | None = None, path: str = "") -> ReportRow:
    return ReportRow((ReportCell(text, path=path), ReportCell(macs, key)))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "wbr":  # it holds nothing, and has no end
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(content: ReportContent) -> Tags:
    parser = Tags()
    parser.feed(write_report_head(content) + write_report_article(content))
    parser.close()
    assert parser.open == []
    return parser


def test_tables_can_be_sorted_and_places_be_shown() -> None:
    content = make(row("Conv", "4.1 G", 4.1e9, "main/Conv_1"), row("Relu", "?"))
    tags = read(content)
    heads = [attributes for tag, attributes in tags.found if tag == "th"]
    assert [head["aria-sort"] for head in heads] == ["none", "none"]
    assert [head["scope"] for head in heads] == ["col", "col"]
    places = [a["data-path"] for tag, a in tags.found if "data-path" in a]
    assert places == ["main/Conv_1"]
    assert [a["data-key"] for _, a in tags.found if "data-key" in a] == ["4100000000.0"]
    assert ("a", {"href": "#nlr-costs"}) in tags.found


def test_html_is_escaped_everywhere() -> None:
    table = make_report_table(
        _EVIL,
        (ReportColumn(_EVIL),),
        [ReportRow((ReportCell(_EVIL, path=_EVIL),), ((_EVIL, _EVIL),), "error")],
        7,
        _EVIL,
    )
    section = ReportSection("x", _EVIL, (_EVIL,), (table,))
    content = ReportContent(_EVIL, _EVIL, (_EVIL,), (section,))
    tags = read(content)
    assert "script" not in {tag for tag, _ in tags.found}
    written = write_report_head(content) + write_report_article(content)
    assert html.unescape(written).count('<script>alert("1")</script>') >= 9


def test_empty_sections_are_left_out() -> None:
    content = ReportContent("t", "", (), (ReportSection("notes", "Notes"),))
    assert "Notes" not in write_report_head(content) + write_report_article(content)
    assert "Notes" not in write_report_markdown(content)


def test_long_tables_say_what_is_left_out() -> None:
    content = make(*(row(str(number)) for number in range(MOST_TABLE_ROWS + 7)))
    article = write_report_article(content)
    assert article.count("<tbody>") == MOST_TABLE_ROWS
    assert "… 7 more. <code>netloupe info MODEL</code> lists all." in article
    text = write_report_markdown(content)
    assert "… 457 more: `netloupe info MODEL` lists all" in text


def test_markdown() -> None:
    more = ReportRow((ReportCell("error"), ReportCell("1")), (("to do", "fold *it*"),), "error")
    text = write_report_markdown(make(row("Conv", "4.1 G", 4.1e9, "main/Conv_1"), more))
    assert text.startswith("# Review of m.onnx\n\n**1 error.**\n\n## Costs\n\nA sentence.\n")
    assert "| What | MACs |\n| --- | ---: |\n| `Conv` | 4.1 G |\n| error | 1 |\n" in text
    assert "- 1\n  - to do: fold &#42;it&#42;\n" in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b", "`a\\|b`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("two\nlines", "`two lines`"),
    ],
)
def test_code_spans(text: str, written: str) -> None:
    assert write_code_cell(text) == written


@given(st.text())
def test_nothing_in_markdown_means_more_than_itself(text: str) -> None:
    written = escape_markdown(text)
    assert not set(re.sub(r"&#\d+;", "", written)) & set("<>`*_[]|\\@#&\n")
    assert html.unescape(written) == " ".join(text.split())


def test_the_style_sheet_asks_for_nothing_and_prints() -> None:
    style = read_report_style()
    assert "url(" not in style
    assert "@import" not in style
    assert "@media print" in style
    assert "@page" in style


@pytest.mark.parametrize(
    ("share", "text"),
    [(None, ""), (0.0, "0.0 %"), (0.0004, "< 0.1 %"), (0.116, "11.6 %"), (1.0, "100.0 %")],
)
def test_shares(share: float | None, text: str) -> None:
    assert make_share_cell(share) == ReportCell(text, share)


def test_paths_go_on_in_the_next_line_behind_their_parts() -> None:
    written = write_report_article(make(row("main/blocks.1.first_conv/x<y", path="main/a")))
    shown = "main/<wbr>blocks.<wbr>1.<wbr>first_<wbr>conv/<wbr>x&lt;y"
    assert f">{shown}</button>" in written
