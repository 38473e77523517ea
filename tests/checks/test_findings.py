"""What only shows when the whole model is looked at."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, ValueInfoProto, helper

from netloupe.explorer.checks import find_cycles
from netloupe.explorer.describe import describe_path
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text
from tests.steps import count_steps


def messages(model: Model) -> list[str]:
    return [str(warning) for warning in model.findings]


# cycles


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)
    )
)
def test_cycles_are_the_components_that_reach_themselves(graph: list[set[int]]) -> None:
    reach = [set(targets) for targets in graph]
    for _ in graph:
        for vertex, targets in enumerate(reach):
            reach[vertex] = targets.union(*(reach[target] for target in targets))
    expected = {
        tuple(sorted(u for u in reach[v] if v in reach[u]))
        for v in range(len(graph))
        if v in reach[v]
    }
    assert {tuple(members) for members in find_cycles([sorted(t) for t in graph])} == expected


def test_cycles_take_linear_time_and_no_recursion() -> None:
    steps = []
    for count in (1_000, 4_000):
        ring = [[(vertex + 1) % count] for vertex in range(count)]
        taken, found = count_steps(lambda ring=ring: find_cycles(ring))
        assert found == [list(range(count))]
        steps.append(taken)
    assert steps[1] < 5 * steps[0]
    assert find_cycles([[1 + vertex] for vertex in range(199_999)] + [[0]]) == [[*range(200_000)]]


def test_nodes_out_of_order_are_no_cycle() -> None:
    model = load_text("g (float[N] x) => (float[N] y) { y = Relu(z) z = Relu(x) }")
    assert messages(model) == []


def test_a_cycle_through_a_subgraph() -> None:
    model = load_text(
        """g (bool c, float[N] x) => (float[N] y) {
            y = If (c) <then_branch = t () => (a) { a = Relu(z) },
                        else_branch = e () => (b) { b = Relu(x) }>
            z = Neg(y)
        }"""
    )
    assert messages(model) == ["main: the nodes #0:If, #1:Neg wait for each other: a cycle"]


# functions and operator sets


def test_functions_that_call_themselves_inside_a_subgraph() -> None:
    model = load_text(
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (bool c, float[N] x) => (float[N] y) { y = local.F(c, x) }
        <domain: "local", opset_import: ["": 21, "local": 1]>
        F (c, x) => (y) {
            y = If (c) <then_branch = t () => (a) { a = local.F(c, x) },
                        else_branch = e () => (b) { b = Relu(x) }>
        }"""
    )
    assert messages(model) == [
        "functions/local::F: is recursive, which ONNX does not allow: F calls itself"
    ]


def test_operators_that_are_not_there() -> None:
    model = load_text(
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[N] x) => (float[N] y) { a = local.F(x) b = local.G(a) y = other.H(b) }
        <domain: "local", opset_import: ["": 21]>
        F (x) => (y) { y = Relu(x) }"""
    )
    assert messages(model) == [
        "main/#1:G: calls local::G, which is not among the model's functions",
        "main: 1 node of the operator set other, which is not imported",
    ]


def test_the_inspector_shows_findings_on_their_elements() -> None:
    model = load_text(
        """<ir_version: 10, opset_import: ["": 21, "local": 1]>
        g (float[N] x) => (float[N] y) { b = local.G(x) y = Relu(b) }
        <domain: "local", opset_import: ["": 21]>
        F (x) => (y) { y = Relu(x) }"""
    )
    found = describe_path(model, "main/#0:G").warnings
    assert [warning.message for warning in found] == [
        "calls local::G, which is not among the model's functions"
    ]


def test_external_data_are_judged_without_opening_them(tmp_path: Path) -> None:
    proto = helper.make_model(helper.make_graph([], "g", [], []))
    for name in ("gone.bin", "w.bin", "link.bin"):
        tensor = proto.graph.initializer.add(name=name, data_type=1, dims=[4])
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=name)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").write_bytes(bytes(16))
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    assert messages(load(path)) == [
        "main/%gone.bin: its external data will not be read: there is no such file",
        "main/%link.bin: its external data will not be read: it leads out of the model's folder",
    ]


# denotations


def image(
    axes: list[str], denotation: str = "IMAGE", code: int = TensorProto.FLOAT, channels: int = 3
) -> ValueInfoProto:
    sizes = [channels if axis == "DATA_CHANNEL" else 8 for axis in axes]
    info = helper.make_tensor_value_info("x", code, sizes)
    info.type.denotation = denotation
    for dim, axis in zip(info.type.tensor_type.shape.dim, axes, strict=True):
        dim.denotation = axis
    return info


def judge(info: ValueInfoProto, metadata: dict[str, str] | None = None) -> list[str]:
    graph = helper.make_graph([], "g", [info], [])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    for key, value in (metadata or {}).items():
        proto.metadata_props.add(key=key, value=value)
    return [text.removeprefix("main/%x: ") for text in messages(load(proto))]


NCHW = ["DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE"]


def test_the_example_of_the_specification_is_fine() -> None:
    assert not judge(
        image(NCHW),
        {
            "Image.BitmapPixelFormat": "Bgr8",
            "image.colorspacegamma": "srgb",
            "Image.NominalPixelRange": "NominalRange_0_255",
        },
    )
    assert not judge(image(NCHW[1:]))
    assert not judge(image(["", "", "", ""]))
    assert not judge(image(["", "", ""], denotation=""))


@pytest.mark.parametrize(
    ("info", "metadata", "message"),
    [
        (image([NCHW[0], *NCHW[2:]]), {}, "no axis is denoted DATA_CHANNEL"),
        (image([*NCHW[:2], ""]), {}, "2 of its 3 axes have a denotation"),
        (image([*NCHW, "DATA_FEATURE"]), {}, "has 5 axes, not 3 or 4"),
        (image(NCHW[:3]), {}, "1 axis is denoted DATA_FEATURE, not 2"),
        (
            image(["DATA_BATCH", "DATA_BATCH", *NCHW[1:]]),
            {},
            "2 of its axes are denoted DATA_BATCH",
        ),
        (
            image(["DATA_BATCH", "DATA_PIXEL"], ""),
            {},
            "'DATA_PIXEL' is none of those that the specification predefines",
        ),
        (image(["DATA_BATCH", "FILTER_SPATIAL"], ""), {}, "partly as data and partly as a filter"),
        (
            image(NCHW, "PICTURE"),
            {},
            "the denotation 'PICTURE' is none of those that the specification predefines",
        ),
        (image(NCHW, code=TensorProto.STRING), {}, "holds string"),
        (image(NCHW, channels=1), {"Image.BitmapPixelFormat": "Bgr8"}, "has 1 channel,"),
        (
            image(NCHW, code=TensorProto.UINT8),
            {"Image.NominalPixelRange": "Normalized_0_1"},
            "is of uint8, but the pixel range is normalized_0_1",
        ),
        (image(NCHW), {"Image.BitmapPixelFormat": "Cmyk"}, "'Cmyk', which is not one of"),
        (image(NCHW), {"Image.Dpi": "300"}, "the image metadata 'Image.Dpi' is not known"),
        (
            image(NCHW),
            {
                "Image.NominalPixelRange": "NominalRange_0_255",
                "image.nominalpixelrange": "Normalized_0_1",
            },
            "the metadata contradict each other in image.nominalpixelrange",
        ),
    ],
)
def test_contradictions(info: ValueInfoProto, metadata: dict[str, str], message: str) -> None:
    assert message in " ".join(judge(info, metadata))


def test_an_image_that_is_no_tensor() -> None:
    info = helper.make_value_info(
        "x", helper.make_map_type_proto(7, helper.make_tensor_type_proto(1, []))
    )
    info.type.denotation = "IMAGE"
    assert "is denoted IMAGE, but is of the type map" in judge(info)[0]


def test_findings_are_not_looked_for_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(model: Model) -> None:
        raise AssertionError

    monkeypatch.setattr("netloupe.explorer.checks.findings.find_oddities", fail)
    load_text("g (float[N] x) => (float[N] y) { y = Relu(x) }")
