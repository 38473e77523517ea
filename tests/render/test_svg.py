"""SVG: everything is there, escaped, identified, and the same each time."""

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from onnx import helper

from netloupe.explorer.layout import Scene
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from netloupe.explorer.render.face import Face
from netloupe.explorer.render.faces import FaceBook
from netloupe.explorer.render.svg import draw_svg, make_id
from netloupe.explorer.render.theme import load_theme

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    'a" onload="x',
    "]]></title><svg>",
    "&amp; &#0; '",
    "\x00\x1b[31m",
    "\ud800 lone",
    "\u202ertl\u2066",
    "line\nbreak",
    "x" * 100_000,
]


def groups(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    for group in root.iter(f"{SVG}g"):
        if name in group.get("class", "").split():
            yield group


def title(element: ElementTree.Element) -> str:
    found = element.find(f"{SVG}title")
    assert found is not None
    assert found.text
    return found.text


def parse(scene: Scene, faces: FaceBook, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(draw_svg(scene, faces.face, **options).encode())  # type: ignore[arg-type]


def test_every_box_and_edge_is_there_with_its_path(scene: Scene, faces: FaceBook) -> None:
    root = parse(scene, faces)
    expected: dict[str, list[str]] = {"node": [], "group": [], "terminal": [], "stub": []}
    for box in scene.boxes:
        kind = {"input": "terminal", "output": "terminal"}.get(box.item.kind, box.item.kind)
        expected[kind].append(box.item.path)
    for kind, paths in expected.items():
        assert sorted(map(title, groups(root, kind))) == sorted(paths)
    edges = [title(edge).splitlines()[0] for edge in groups(root, "edge")]
    assert edges == [edge.path for edge in scene.edges]
    assert "float32[batch, seq, 8]" in title(
        next(e for e in groups(root, "edge") if "embedded" in title(e))
    )


def test_every_text_of_every_face_is_text(scene: Scene, faces: FaceBook) -> None:
    root = parse(scene, faces)
    for box in scene.boxes:
        element = next(g for g in root.iter(f"{SVG}g") if g.get("id") and title(g) == box.item.path)
        drawn = [text.text for text in element.iter(f"{SVG}text")]
        face = faces.face(box.item)
        texts = [run.text for run in face.texts] + [badge.text for badge in face.badges]
        assert sorted(filter(None, drawn)) == sorted(texts)


def test_ids_are_unique_and_valid(scene: Scene, faces: FaceBook) -> None:
    root = parse(scene, faces, id_prefix="p1-")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"p1-[A-Za-z][\w.-]*", str(one)) for one in ids)
    assert "p1-n-main-Conv" in ids
    assert set(str(root.get("aria-labelledby")).split()) <= set(ids)


def test_ids_tell_paths_apart() -> None:
    paths = ["main/a/b", "main/a-b", "main/a.b", "main/a//b", "main/a b", "main/%a", "main/#1:A"]
    paths += ["main/" + "x" * 200, "main/" + "x" * 201, "main/ä", "main/\ud800"]
    assert len(set(map(make_id, paths))) == len(paths)
    assert make_id("main/layer.0/Conv_1") == "main-layer.0-Conv_1"
    assert all(re.fullmatch(r"[\w.-]{1,100}", make_id(path), re.ASCII) for path in paths)


def test_identical_input_gives_identical_bytes(scene: Scene, faces: FaceBook) -> None:
    assert draw_svg(scene, faces.face) == draw_svg(scene, FaceBook("all").face)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_text(scene: Scene, model: Model, name: str) -> None:
    for box in scene.boxes:
        box.item.label = box.item.path = name
    scene.boxes[0].item.key = f"main/{name}"
    edges = tuple(
        edge._replace(path=f"main/%{name}", label=name, label_x=20) for edge in scene.edges
    )
    scene = replace(scene, by_hand=scene.by_hand._replace(edges=edges), notices=(name,))
    root = ElementTree.fromstring(draw_svg(scene, FaceBook().face, title=name).encode())
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "rect", "path", "circle", "text"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not any(attribute.startswith("on") for attribute in attributes)
    assert len(ElementTree.tostring(root)) < 400_000


def test_numbers_have_two_decimals_and_nothing_from_elsewhere(
    scene: Scene, faces: FaceBook
) -> None:
    first, second, *others = scene.boxes
    boxes = (first._replace(x=1 / 3), second._replace(x=-1e-9), *others)
    scene = replace(scene, by_hand=scene.by_hand._replace(boxes=boxes))
    text = draw_svg(scene, faces.face)
    assert not re.search(r"\.\d{3}", text)
    assert "translate(0.33 20)" in text
    assert "translate(0 96)" in text
    assert "e-" not in "".join(re.findall(r' d="[^"]*"', text))
    assert "href" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", ["light", "dark"])
def test_colours_are_the_themes(scene: Scene, faces: FaceBook, name: str) -> None:
    text = draw_svg(scene, faces.face, name)
    theme = load_theme(name)
    assert f'class="page" width="760" height="1010" fill="{theme.page}"' in text
    assert theme.category("linear").tint in text
    assert theme.accent not in text


def test_what_is_selected_has_a_ring(scene: Scene, faces: FaceBook) -> None:
    accent = load_theme("light").accent
    text = draw_svg(scene, faces.face, selected=frozenset(["main/Conv", "main/%qkv"]))
    root = ElementTree.fromstring(text.encode())
    marked = [g for g in root.iter(f"{SVG}g") if any(e.get("stroke") == accent for e in g)]
    marked = [g for g in marked if g.get("id")]
    assert {title(g).splitlines()[0] for g in marked} == {"main/Conv", "main/%qkv"}


def test_kinds_of_edges_look_different(scene: Scene, faces: FaceBook) -> None:
    root = parse(scene, faces)
    dashes = {}
    for edge, element in zip(scene.edges, groups(root, "edge"), strict=True):
        curve = element.find(f"{SVG}path")
        assert curve is not None
        dashes[edge.kind] = curve.get("stroke-dasharray")
        heads = [p for p in element.findall(f"{SVG}path") if p.get("fill") != "none"]
        assert len(heads) == edge.arrow
    assert dashes == {"data": None, "captured": "5 3.5", "control": "1.5 3"}


def test_notices_and_counts_are_in_the_description(scene: Scene, faces: FaceBook) -> None:
    description = parse(scene, faces).find(f"{SVG}desc")
    assert description is not None
    assert description.text == (
        "11 nodes, 3 groups and 14 edges. The layout took too long, so a simpler one is shown."
    )


def test_sheets_of_a_stack_lie_behind(scene: Scene, faces: FaceBook) -> None:
    plain = draw_svg(scene, faces.face)

    def stacked(item: object) -> Face:
        face = faces.face(item)  # type: ignore[arg-type]
        return Face(
            face.outline, face.category, face.width, face.height, face.header, face.texts, stack=2
        )

    assert draw_svg(scene, stacked).count("<rect") > plain.count("<rect")


def test_an_empty_scene_is_a_picture() -> None:
    root = ElementTree.fromstring(draw_svg(Scene(10, 10), FaceBook().face).encode())
    assert root.get("viewBox") == "0 0 10 10"


def test_a_picture_of_nothing_says_so() -> None:
    graph = helper.make_graph([], "empty", [], [])
    model = load(helper.make_model(graph).SerializeToString())
    texts = [*ElementTree.fromstring(model.to_svg()).iter(f"{SVG}text")]
    told = " ".join("".join(text.itertext()) for text in texts)
    assert told == "<bytes>: nothing to draw: no nodes, inputs or outputs"
    titled = [*ElementTree.fromstring(model.to_svg(title="mine")).iter(f"{SVG}text")]
    assert ["".join(text.itertext()) for text in titled] == ["mine"]
