"""Shapes that inputs are given: what follows for symbols, and that a stated one was replaced."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import onnx
import pytest

from netloupe.commands.cli import main
from netloupe.explorer.architecture import describe_architecture
from netloupe.explorer.audit import audit
from netloupe.explorer.costs import describe_costs
from netloupe.explorer.errors import BindingError
from netloupe.explorer.model import Model
from netloupe.explorer.overlays.built_in import make_built_in
from netloupe.explorer.readers.load import load
from tests.checks.ruling import parse
from tests.onnx_text import load_text

_DIGITS = Path(__file__).parents[2] / "demo_notebooks" / "models" / "digits_cnn.onnx"
_CONV = """g (float[{}] x) => (float[] y) <float[2, 3, 1, 1] w = {{1, 2, 3, 4, 5, 6}}> {{
    y = Conv(x, w)
}}"""
_STATED = _CONV.format("1, 3, 8, 8")
_TOLD = "counted for x [1, 3, 4, 4] in place of [1, 3, 8, 8], which the model states; "
_TOLD += "runtimes refuse other sizes"


def test_a_stated_shape_that_is_replaced_is_told() -> None:
    costs = load_text(_STATED).costs(bind={"x": (1, 3, 4, 4)})
    assert costs.macs == 6 * 16
    assert costs.replaced_shapes == {"x": ((1, 3, 8, 8), (1, 3, 4, 4))}
    assert describe_costs(costs)[1] == _TOLD
    assert pickle.loads(pickle.dumps(costs)) == costs


@pytest.mark.parametrize(
    ("stated", "taken"),
    [
        ("1, 3, 8, 8", (1, 3, 8, 8)),  # the same
        ("N, 3, H, W", (2, 3, 4, 4)),  # what has no size is given one
        ("N, 3, 8, 8", (2, 3, 8, 8)),
    ],
)
def test_where_nothing_is_contradicted_nothing_is_told(stated: str, taken: tuple[int]) -> None:
    costs = load_text(_CONV.format(stated)).costs(bind={"x": taken})
    assert costs.macs == 6 * taken[0] * taken[2] * taken[3]
    assert costs.replaced_shapes == {}
    assert len(describe_costs(costs)) == 1


def test_of_a_shape_without_sizes_only_what_is_stated_counts() -> None:
    costs = load_text(_CONV.format("N, 3, 8, W")).costs(bind={"x": (2, 3, 4, 4)})
    assert costs.replaced_shapes == {"x": (("N", 3, 8, "W"), (2, 3, 4, 4))}
    assert "in place of [N, 3, 8, W]" in describe_costs(costs)[1]
    unstated = "g (float[] x) => (float[] y) { y = Relu(x) }"
    assert load_text(unstated).costs(bind={"x": (2, 3)}).replaced_shapes == {}


_TWO = """g (float[N, 4] x, float[4, N] z) => (float[] y) { y = MatMul(x, z) }"""


def test_a_shape_gives_symbols_their_sizes() -> None:
    assert load_text(_TWO).costs(bind={"x": (5, 4)}).macs == 5 * 4 * 5
    with pytest.raises(BindingError, match=r"N cannot be 6 and, as the shape of x says, 5"):
        load_text(_TWO).costs(bind={"x": (5, 4), "N": 6})
    with pytest.raises(BindingError, match=r"N cannot be 5 and, as the shape of z says, 6"):
        load_text(_TWO).costs(bind={"x": (5, 4), "z": (4, 6)})
    assert load_text(_TWO).costs(bind={"x": (5, 4), "N": 5}).macs == 5 * 4 * 5


def test_a_shape_of_another_rank_is_refused() -> None:
    with pytest.raises(BindingError, match=r"x has 4 axes, and \[1, 3, 8\] has 3"):
        load_text(_STATED).costs(bind={"x": (1, 3, 8)})


def test_a_stated_scalar_may_be_of_any_shape_and_is_told() -> None:
    costs = load_text("g (float x) => (float[] y) { y = Relu(x) }").costs(bind={"x": (2, 3)})
    assert costs.replaced_shapes == {"x": ((), (2, 3))}
    assert "x [2, 3] in place of []" in describe_costs(costs)[1]


def test_weights_are_given_no_shape() -> None:
    text = """g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }"""
    with pytest.raises(BindingError, match=r"no dimension and no input is called 'w'"):
        load_text(text).costs(bind={"w": (3,)})


def load_network(size: str) -> Model:
    """Return a network for digits of 8 × 8, whose batch has a size or a name."""
    proto = onnx.load(_DIGITS)
    dim = proto.graph.input[0].type.tensor_type.shape.dim[0]
    if size.isdecimal():
        dim.dim_value = int(size)
    else:
        dim.dim_param = size
    return load(proto)


@pytest.mark.parametrize(
    ("size", "taken", "told"),
    [
        ("1", (1, 1, 16, 16), " at 1 × 1 × 16 × 16 in place of 1 × 1 × 8 × 8."),
        ("N", (1, 1, 16, 16), " at 1 × 1 × 16 × 16 in place of N × 1 × 8 × 8."),
        ("N", (2, 1, 8, 8), " at 2 × 1 × 8 × 8."),
        ("1", None, " at 1 × 1 × 8 × 8."),
    ],
)
def test_the_sentence_says_it(size: str, taken: tuple[int, ...] | None, told: str) -> None:
    bind = None if taken is None else {"image": taken}
    architecture = describe_architecture(load_network(size), bind)
    assert architecture.costs_sentence.endswith(told)
    assert architecture.facts["input_size"] == (taken or (1, 1, 8, 8))


def test_info_says_it_once(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path_factory.mktemp("bound") / "model.onnx"
    path.write_bytes(parse(_STATED)().SerializeToString())
    bind = ["--bind", "x=1,3,4,4"]
    assert main(["info", str(path), *bind]) == 0
    assert capsys.readouterr().out.count(_TOLD) == 1
    assert main(["info", str(path), "--groups", *bind]) == 0
    assert capsys.readouterr().out.count(_TOLD) == 1
    assert main(["info", str(path), "--json", *bind]) == 0
    costs = json.loads(capsys.readouterr().out)["costs"]
    assert costs["replaced_shapes"] == {"x": {"stated": [1, 3, 8, 8], "counted": [1, 3, 4, 4]}}
    assert _TOLD in costs["text"]
    assert main(["info", str(path)]) == 0
    assert "in place of" not in capsys.readouterr().out


def test_colours_by_macs_and_audits_say_it() -> None:
    model = load_text(_STATED)
    assert make_built_in(model, "macs", {"x": (1, 3, 4, 4)}).notes == (_TOLD,)
    assert make_built_in(model, "macs").notes == ()
    coverage = audit(model, bind={"x": (1, 3, 4, 4)}).coverage
    assert coverage.replaced_shapes == {"x": ((1, 3, 8, 8), (1, 3, 4, 4))}
