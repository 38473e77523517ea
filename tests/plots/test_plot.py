"""Plots: what is drawn, in either theme, without touching matplotlib's global state."""

import io
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from netloupe.explorer.model import Payload, Tensor, data_type
from netloupe.explorer.plots import draw_plot_png, plot_histogram
from netloupe.explorer.quantization import Quantization
from netloupe.explorer.tensors import compute_histogram


def make_tensor(array):
    array = np.asarray(array)
    if array.dtype == object:
        payload = Payload("strings", [text.encode() for text in array.reshape(-1)])
        dtype = data_type("string")
    else:
        payload = Payload("raw", array.tobytes())
        dtype = data_type(array.dtype.name)
    return Tensor("w", "main/%w", dtype, array.shape, "raw_data", None, lambda: payload)


def draw(tensor, *, theme="light", width=360, height=200, scale=2.0, **options):
    def draw_on(ax):
        plot_histogram(tensor, ax, theme=theme, **options)

    return draw_plot_png(draw_on, theme, width=width, height=height, scale=scale)


def make_quantization(scale, zero_point, storage):
    return Quantization(
        None, "test", np.asarray(scale, np.float32), np.asarray(zero_point), None, None,
        data_type(storage),
    )  # fmt: skip


WEIGHTS = (0.05 * np.random.default_rng(0).standard_normal(5000)).astype(np.float32)
ODD = [
    np.zeros(0, np.float32),
    np.full(5, 3.0, np.float32),
    np.array([1.7e308, -1.7e308, 0.0]),
    np.array([5e-324, 1e-323]),
    np.array([np.nan, np.nan], np.float32),
    np.array([True, False]),
    np.array(7, np.int64),
    np.array([2**63 - 1, -(2**63)], np.int64),
    np.array([1 + 1j], np.complex64),
    np.array(["a", "b", "a", "日本", "$x^{$", "\\alpha", "new\nline", "\x00", "x" * 500], object),
    np.empty(0, object),
    np.array([str(number) for number in range(50)], object),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("array", [WEIGHTS, *ODD], ids=lambda a: f"{a.dtype}-{a.size}")
def test_draws_anything(array, log, theme):
    png = draw(make_tensor(array), log=log, theme=theme)
    assert png.startswith(b"\x89PNG")


def test_size_and_determinism():
    from matplotlib.image import imread

    first, second = (draw(make_tensor(WEIGHTS), width=300, height=150, scale=2) for _ in range(2))
    assert first == second
    assert imread(io.BytesIO(first)).shape[:2] == (300, 600)


def test_bars_are_the_histogram():
    ax = plot_histogram(make_tensor(WEIGHTS), bins=20)
    histogram = compute_histogram(WEIGHTS, 20)
    assert [bar.get_height() for bar in ax.patches] == histogram.counts.tolist()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("value", "count", "")
    assert ax.get_yscale() == "linear"
    assert plot_histogram(make_tensor(WEIGHTS), log=True).get_yscale() == "log"


def test_draws_on_given_axes():
    ax = Figure().add_subplot()
    assert plot_histogram(make_tensor(WEIGHTS), ax) is ax
    assert make_tensor(WEIGHTS).plot(ax=ax) is ax


def test_tells_what_is_not_finite():
    array = np.array([1, np.nan, np.inf, np.inf, -np.inf], np.float32)
    ax = plot_histogram(make_tensor(array))
    assert [text.get_text() for text in ax.texts] == ["1 NaN · 2 +Inf · 1 −Inf"]
    ax = plot_histogram(make_tensor(WEIGHTS), limit=2048)
    assert ax.texts[0].get_text() == "sample of 2,048"


def test_quantization_grid_where_levels_are_few():
    few = plot_histogram(make_tensor(WEIGHTS), quantization=make_quantization(0.025, 0, "int4"))
    (lines,) = few.collections
    places = [path.vertices[0, 0] for path in lines.get_paths()]
    np.testing.assert_allclose(places, 0.025 * np.arange(-8, 8), rtol=1e-6)


def test_quantization_band_where_levels_are_many():
    many = plot_histogram(
        make_tensor(WEIGHTS), bins=10, quantization=make_quantization(0.0016, 3, "int8")
    )
    assert not many.collections
    assert len(many.patches) == 11
    assert many.patches[-1].get_x() == pytest.approx(-131 * 0.0016)
    channels = make_quantization([0.001, 0.002], [0, 0], "int8")
    assert plot_histogram(make_tensor(WEIGHTS), bins=10, quantization=channels).patches[10:]


def test_zero_point_on_stored_integers():
    ax = plot_histogram(
        make_tensor(np.arange(-20, 20, dtype=np.int8)), quantization=make_quantization(1, 5, "int8")
    )
    assert [line.get_xdata()[0] for line in ax.lines] == [5]
    assert any("zero point 5" in text.get_text() for text in ax.texts)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, 1e38, 1e-45])
def test_odd_quantization(scale):
    quantization = make_quantization(scale, 0, "int8")
    assert draw(make_tensor(WEIGHTS), quantization=quantization)


def test_strings_are_escaped_and_bounded():
    texts = ["the"] * 9 + ["$\\alpha$"] * 4 + ["x" * 100] * 3 + [f"w{n}" for n in range(40)]
    ax = plot_histogram(make_tensor(np.array(texts, object)))
    labels = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert labels[:2] == ["the", "$\\alpha$"]
    assert labels[2] == "x" * 27 + "…"
    assert len(labels) <= 20
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert "more" in ax.texts[0].get_text()


def test_plot_opens_a_figure_that_pyplot_knows():
    from matplotlib import pyplot

    pyplot.close("all")  # what other tests have left
    axes = [make_tensor(WEIGHTS).plot(theme="dark") for _ in range(30)]
    assert len(pyplot.get_fignums()) == 1
    assert pyplot.gcf() is axes[-1].figure
    assert len({ax.figure for ax in axes}) == 30
    assert axes[0].figure.get_facecolor() == to_rgba("#1c2128")
    picture = io.BytesIO()
    axes[0].figure.savefig(picture)
    assert picture.getvalue()
    pyplot.close(axes[-1].figure)
    assert not pyplot.get_fignums()


def test_plot_passes_everything_on():
    ax = Figure().add_subplot()
    quantization = make_quantization(0.025, 0, "int4")
    make_tensor(WEIGHTS).plot(ax, bins=10, log=True, quantization=quantization)
    assert len(ax.patches) == 10
    assert ax.get_yscale() == "log"
    assert ax.collections


def test_a_notebook_shows_what_plot_draws():
    pytest.importorskip("matplotlib_inline")
    code = (
        "from IPython.testing.globalipapp import start_ipython\n"
        "from netloupe.explorer.model import *\n"
        "shell = start_ipython()\n"
        "shell.run_line_magic('matplotlib', 'inline')\n"
        "t = Tensor('', '', data_type('int8'), (2,), '', 2, lambda: Payload('raw', b'12'))\n"
        "t.plot(), t.plot()\n"
        "from matplotlib import pyplot\n"
        "assert len(pyplot.get_fignums()) == 2\n"
        "from matplotlib_inline.backend_inline import flush_figures\n"
        "shown = []\n"
        "import matplotlib_inline.backend_inline as inline\n"
        "inline.display = lambda figure, **_: shown.append(figure)\n"
        "flush_figures()\n"
        "assert len(shown) == 2 and not pyplot.get_fignums()\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_pyplot_is_not_loaded():
    code = (
        "import sys\n"
        "from netloupe.explorer.model import *\n"
        "from netloupe.explorer.plots import draw_plot_png, plot_histogram\n"
        "t = Tensor('', '', data_type('int8'), (2,), '', 2, lambda: Payload('raw', b'12'))\n"
        "draw_plot_png(lambda ax: plot_histogram(t, ax), 'light', width=99, height=99, scale=1)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_tensors_loads_no_drawing_library():
    code = (
        "import sys, netloupe.explorer.tensors\n"
        "names = {'matplotlib', 'google.protobuf', 'ipywidgets', 'ml_dtypes'}\n"
        "assert not names & set(sys.modules), names & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_matplotlib_is_recent_enough():
    assert tuple(map(int, mpl.__version__.split(".")[:2])) >= (3, 8)


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("kind", ["range", "stored", "sample", "channels", "scales", "strings"])
def test_a_title_that_is_set_later_lies_on_no_note(kind, layout):
    figure = Figure(figsize=(5, 3), layout=layout)
    axes = figure.add_subplot()
    per_channel = Quantization(
        None, "test", np.linspace(1e-4, 4e-4, 50), np.arange(50), 0, None, data_type("int8")
    )
    weights = make_tensor(WEIGHTS.reshape(50, 100))
    if kind == "range":
        plot_histogram(weights, axes, quantization=per_channel)
    elif kind == "stored":
        stored = make_tensor((WEIGHTS * 500).astype(np.int8))
        plot_histogram(stored, axes, quantization=make_quantization(0.1, 3, "int8"))
    elif kind == "sample":
        plot_histogram(weights, axes, quantization=make_quantization(1e-3, 0, "int8"), limit=100)
    elif kind == "channels":
        weights.plot(axes, axis=0, quantization=per_channel)
    elif kind == "scales":
        per_channel.plot(axes)
    else:
        plot_histogram(make_tensor(np.array([str(n) for n in range(50)], object)), axes)
    axes.set_title("a title that is as wide as the axes are, or nearly so")
    figure.savefig(io.BytesIO())
    notes = [text for text in axes.texts if text.get_text()]
    assert notes
    title = axes.title.get_window_extent()
    for note in notes:
        extent = note.get_window_extent()
        assert not title.overlaps(extent), note.get_text()
        assert extent.y1 <= figure.bbox.y1, note.get_text()
