"""Names that are markup, code, control characters, enormous or no text at all."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.models import make_model, node, value

EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</title></svg><script>alert(2)</script>",
    "\"'`",
    "a\\b\\n\\u0041",
    "a\nb\r\nc",
    "a\tb",
    "a\0b",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eevil\u202c",  # written from right to left
    "\u0637\u0628\u0642\u0629/\u0627\u0644\u0627\u0646\u062a\u0628\u0627\u0647",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0001f525",  # emoji joined to one
    "a\u200bb",  # a space of no width
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033dA\u0334\u0335\u031c\u0330L",  # piled marks
    "\u5377\u79ef\u5c42",
    "\ufeffx",
    "a\u00a0b\u2028c",
    "}body{display:none}",
    "javascript:alert(1)",
    "{{7*7}} ${7*7} %s %n {0}",
    "&lt;b&gt;&amp;&#x3c;",
    "]]><!--",
    "../../etc/passwd",
    "C:\\windows\\nul",
    "'; DROP TABLE nodes; --",
    "\\N\\G\\l",  # escapes of Graphviz
    "x" * 2000,
    " ",
    "__proto__",
    "constructor",
    "NaN",
)


def _names() -> bytes:
    nodes = []
    before = "x"
    for name in EVIL:
        nodes.append(node("Relu", "", "", name, doc_string=name))
        nodes[-1].input.append(before)
        nodes[-1].output.append(name)
        before = name
    nodes.append(node(EVIL[0], "", "", "last", domain=EVIL[1]))
    nodes[-1].input.append(before)
    nodes[-1].output.append("y")
    model = make_model(nodes, inputs=[value("x", EVIL[:6])], doc_string=EVIL[0])
    model.graph.name = model.producer_name = model.domain = EVIL[1]
    for key in EVIL[:6]:
        model.metadata_props.add(key=key, value=key)
    model.opset_import.add(domain=EVIL[1], version=1)
    return model.SerializeToString()


def _scopes() -> bytes:
    nodes = [
        node("Relu", "x", f"o{number}", f"/{name}/sub/{name}/Relu")
        for number, name in enumerate(EVIL)
    ]
    return make_model(nodes, outputs=[value("o0")]).SerializeToString()


def _no_utf8() -> bytes:
    """Return a model whose names are no UTF-8; bytes of the same length take the places."""
    places = {
        b"INPUT1": b"\xc3(\xc3(\xc3(",
        b"OUTPUT": b"\xed\xa0\x80\xed\xa0\x80",  # halves of surrogate pairs
        b"NODE1": b"\xff\xfe\xfdn1",
        b"OPTYPE": b"Rel\xff\xfeu",
        b"DOCTEXT": b"\x80abc\x80de",
        b"GRAPH1": b"\xf8\x88aaaa",
    }
    names = [place.decode() for place in places]
    only = node(names[3], names[0], names[1], names[2], doc_string=names[4])
    model = make_model([only], inputs=[value(names[0])], outputs=[value(names[1])])
    model.graph.name = names[5]
    data = model.SerializeToString()
    for place, odd in places.items():
        assert len(place) == len(odd)
        data = data.replace(place, odd)
    return data


def _long() -> bytes:
    return make_model([node("Relu", "x", "y", "\u6f22" * 300_000)]).SerializeToString()


CASES: dict[str, Callable[[], bytes]] = {
    "hostile/evil_names.onnx": _names,
    "hostile/evil_scopes.onnx": _scopes,
    "hostile/invalid_utf8.onnx": _no_utf8,
    "hostile/name_1mb_nospace_unicode.onnx": _long,
}
