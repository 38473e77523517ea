"""What a reader takes for one thing is one port and one edge."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.view import View
from tests.onnx_text import load_text

_NINE = "{1,2,3,4,5,6,7,8,9}"


def _make_view() -> View:
    lines = "".join(
        f"""
        a{n} = MatMul (x{n}, w)
        g{n} = Gather (a{n}, source)
        m{n} = Relu (g{n})
        i{n} = Gather (m{n}, target)
        b{n} = MatMul (i{n}, w)
        x{n + 1} = Relu (b{n})
        """
        for n in range(6)
    )
    return View(
        load_text(f"""
            g (int64[2, e] edges, float[n, 3] x0) => (float[m, 3] x6)
            <float[3, 3] w = {_NINE}, int64 zero = {{0}}, int64 one = {{1}}> {{
                source = Gather (edges, zero)
                target = Gather (edges, one)
                {lines}
            }}
        """)
    )


def test_what_a_box_of_preparation_gives_is_one_edge() -> None:
    view = _make_view()
    children = view.root.children
    prepared = next(
        number
        for number, child in enumerate(children)
        if isinstance(child.element, Group) and child.element.kind == "preparation"
    )
    links = [link for link in view.links(view.root) if link.source == prepared]
    assert [link.count for link in links] == [2]
    assert children[links[0].target].of_one == {links[0].target_value}
