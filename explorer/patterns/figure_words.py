"""The words that boxes, groups, sentences and insets have in common, and what each means.

One thing has one word. What patterns find is called so by them; where a word is of a pattern, its
source stands there.
"""

from __future__ import annotations

from .figure_word import FigureWord
from .words_of_attention import ATTENTION, MIXING
from .words_of_fields import GRAPHS, SERIES
from .words_of_layers import COMPUTATION, LAYERS
from .words_of_maps import MAPS
from .words_of_values import INPUTS, SIGNS, SIZES

#: by what they are about
FIGURE_WORDS: dict[str, tuple[FigureWord, ...]] = {
    "Attention": ATTENTION,
    "What mixes tokens in its place": MIXING,
    "Layers": LAYERS,
    "Convolutions and maps": MAPS,
    "Points and graphs": GRAPHS,
    "Signals, texts and series": SERIES,
    "Products, draws and arithmetic": COMPUTATION,
    "Inputs and codes": INPUTS,
    "Sizes": SIZES,
    "Signs": SIGNS,
}
