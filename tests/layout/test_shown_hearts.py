"""What a shown layer is about is open in it, also where a row without a name holds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.model import Model
from netloupe.explorer.render.picture import make_picture
from netloupe.explorer.view import ViewOptions
from tests.grouping.test_spilled_ideas import read

#: one layer; of focal modulation the queries and contexts, or in their place one convolution
_LAYER = """
[N__norm1__LayerNormalization] n{i} = LayerNormalization <axis = 1> (x{i}, scale)
[N__mix__in__Conv] all{i} = Conv (n{i}, wide)
{work}
[N__mix__out__Conv] o{i} = Conv (m{i}, square)
[N__Add] s{i} = Add (x{i}, o{i})
[N__norm2__LayerNormalization] p{i} = LayerNormalization <axis = 1> (s{i}, scale)
[N__mlp__fc1__Conv] f{i} = Conv (p{i}, up)  [N__mlp__act__Gelu] g{i} = Gelu (f{i})
[N__mlp__fc2__Conv] h{i} = Conv (g{i}, down)
[N__Add_1] x{next} = Add (s{i}, h{i})
"""
_MODULATION = """
[N__mix__Split] q{i}, c{i}, g1{i}, g2{i} = Split <axis = 1> (all{i}, parts)
[N__mix__near__Conv] c1{i} = Conv <pads = [1, 1, 1, 1], group = 8> (c{i}, near)
[N__mix__near__Gelu] a1{i} = Gelu (c1{i})
[N__mix__far__Conv] c2{i} = Conv <pads = [2, 2, 2, 2], group = 8> (a1{i}, far)
[N__mix__far__Gelu] a2{i} = Gelu (c2{i})
[N__mix__Mul] b1{i} = Mul (a1{i}, g1{i})  [N__mix__Mul_1] b2{i} = Mul (a2{i}, g2{i})
[N__mix__Add] t{i} = Add (b1{i}, b2{i})
[N__mix__context__Conv] w{i} = Conv (t{i}, square)
[N__mix__Mul_2] m{i} = Mul (q{i}, w{i})
"""
_PLAIN = """
[N__mix__near__Conv] m{i} = Conv <pads = [1, 1, 1, 1]> (all{i}, narrow)
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


def make(work: str) -> Model:
    layers = "".join(
        _LAYER.replace("{work}", work).format(i=i, next=i + 1).replace("[N__", f"[layers_at_{i}__")
        for i in range(4)
    )
    return read(f"""
        network (float[1, 8, 16, 16] x0) => (float[1, 8, 16, 16] x4)
        <int64[3] all = {{8, 16, 16}}, int64[4] of_all = {{18, 8, 1, 1}},
         int64[4] of_near = {{8, 1, 3, 3}}, int64[4] of_far = {{8, 1, 5, 5}},
         int64[4] of_square = {{8, 8, 1, 1}}, int64[4] parts = {{8, 8, 1, 1}},
         int64[4] of_up = {{32, 8, 1, 1}}, int64[4] of_down = {{8, 32, 1, 1}},
         int64[4] of_narrow = {{8, 18, 3, 3}}>
        {{
          [s] scale = ConstantOfShape (all)  [w] wide = ConstantOfShape (of_all)
          [k] near = ConstantOfShape (of_near)  [l] far = ConstantOfShape (of_far)
          [q] square = ConstantOfShape (of_square)  [u] up = ConstantOfShape (of_up)
          [d] down = ConstantOfShape (of_down)  [r] narrow = ConstantOfShape (of_narrow)
          {layers}
        }}
    """)


@pytest.mark.parametrize(("work", "is_open"), [(_MODULATION, True), (_PLAIN, False)])
def test_the_part_of_a_row_that_not_every_network_has_is_open(
    engine: LayoutEngine, work: str, is_open: bool
) -> None:
    options = ViewOptions.parse({})
    picture = make_picture(make(work), options, composer=Composer(engine), deadline=600)
    shown = [box.item.label for box in picture.scene.boxes if box.item.is_open]
    assert ("Focal modulation" in shown) == ("mix" in shown) == is_open
    assert any("layers.0" in label for label in shown)
