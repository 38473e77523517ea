"""Links of the inspector: what is named, and below it the note."""

from netloupe.explorer.describe import Row
from netloupe.explorer.page import PAGE
from netloupe.explorer.page.description_html import write_rows


def test_name_and_note_of_a_link_are_told_apart_by_elements_and_not_by_lines() -> None:
    name = "/model/encoder/layer.7/attention/self/query/MatMul_output_0" * 2
    html = write_rows([Row("A", name, "float32[1, 96] · from MatMul", "main/a")])
    assert f'<span class="nl-inspector-link-head">A\u00a0\u00a0\u00a0{name}</span>' in html
    assert '<span class="nl-inspector-link-note">float32[1, 96] · from MatMul</span>' in html
    # a rule for the first line changes in the middle of a long name
    for sheet in (*PAGE.glob("*.js"), *PAGE.glob("*.css")):
        assert "::first-line" not in sheet.read_text()
