"""The words of figures for what goes in, for sizes, and for signs."""

from __future__ import annotations

from .figure_word import FigureWord

#: what goes in, and codes
INPUTS = (
    FigureWord("embedding", "Rows of a table, picked by number.", "embedding"),
    FigureWord(
        "+ learned tokens",
        "Stored tokens are put beside those of the stream: for a class, as registers or prompts.",
        "added-tokens",
    ),
    FigureWord(
        "+ learned queries",
        "What attention gives is added to the stored queries that it took, as latents: `8 × 64`.",
    ),
    FigureWord(
        "source, target, edge",
        "What the two ends of each edge of a graph hold, and the edge itself.",
        "edge-inputs",
    ),
    FigureWord("sum to nodes", "What edges hold is added up where they end."),
    FigureWord("first token, last step", "One place of a sequence that is taken on."),
    FigureWord("patch embedding", "An image cut into squares that are projected.", "patches"),
    FigureWord("lookup", "Values taken at places that another value tells, between pixels too."),
    FigureWord(
        "+ positions",
        "A stored number for each place and feature, learned or computed before, is added: "
        "`60 × 32`; `sinusoidal` where they are sines and cosines.",
    ),
    FigureWord(
        "sinusoidal positions",
        "Sines and cosines of places that follow from sizes alone, perhaps projected.",
    ),
    FigureWord(
        "positional encoding",
        "Sines and cosines of multiples of a place.",
        "positional-encoding",
    ),
    FigureWord(
        "Fourier features",
        "Sines and cosines of products with a matrix of frequencies.",
        "positional-encoding",
    ),
    FigureWord(
        "sinusoidal embedding",
        "The same of a position or a step, by one table of frequencies.",
        "waves",
    ),
    FigureWord(
        "cosine embedding",
        "Cosines of π, 2π and so on, times a number: `64 cosines`.",
        "cosine-embedding",
    ),
    FigureWord(
        "rotary",
        "Queries and keys turned by angles that their positions give.",
        "rotated-attention",
    ),
    FigureWord(
        "rotary positions",
        "Other features turned by such angles: values, or what layers take.",
        "rotation",
    ),
    FigureWord(
        "vector quantizer",
        "Features replaced by the nearest entry of a code book: `512 codes × 64`.",
        "vector-quantizer",
    ),
    FigureWord(
        "finite scalar quantizer",
        "Few numbers between limits, each rounded to one of its levels: `levels 8, 5, 5, 5`.",
        "scalar-quantizer",
    ),
    FigureWord(
        "residual vector quantizer",
        "Each quantizer takes what the ones before it left: `4 levels`.",
        "residual-quantizer",
    ),
    FigureWord(
        "entropy model",
        "How likely rounded values are: what a distribution has between half a step below and "
        "above; `Gaussian`, or `factorized` where layers are the distribution.",
        "entropy-model",
    ),
    FigureWord(
        "Gaussian log-density",
        "The logarithm of how likely values are that are Gaussian, each for itself: "
        "`10 dimensions`.",
        "gaussian-density",
    ),
    FigureWord(
        "nearest code",
        "The number of the nearest entry of a code book, and not the entry: `512 codes`.",
        "nearest-code",
    ),
    FigureWord(
        "summed embeddings",
        "Rows of several equal tables, which parts of one value pick, as of codes: `3 tables`.",
        "summed-embeddings",
    ),
    FigureWord("reparametrisation", "A draw: mean + deviation · noise.", "reparametrisation"),
    FigureWord(
        "Gumbel-softmax",
        "A category drawn softly: softmax of scores with noise, over a temperature.",
        "gumbel-softmax",
    ),
    FigureWord(
        "random masking",
        "Tokens are put in the order of noise, and the first are kept: `keeps 16 of 64`.",
        "random-masking",
    ),
    FigureWord("noise", "Numbers that are drawn anew each time."),
)

#: how large and how many
SIZES = (
    FigureWord(
        "downsampling, upsampling",
        "Pictures made smaller or larger, with the convolutions that do it.",
        "resampling",
    ),
    FigureWord(
        "chunks",
        "Parts of a signal, as long as one another and as far apart: `15 of 20`, `hop 10`; "
        "`unfold` where they are squares of a picture.",
        "chunks",
    ),
    FigureWord("overlap-add", "Parts that are moved by their places, and added up.", "overlap-add"),
    FigureWord(
        "outer concatenation",
        "The features of each place beside those of each other place.",
    ),
    FigureWord("pixel shuffle", "Channels that become squares of pixels.", "pixel-shuffle"),
    FigureWord(
        "with skip", "Joined with what the contracting path had at that size.", "resampling"
    ),
    FigureWord(
        "nested U",
        "A residual block that makes maps smaller step by step, and larger again.",
    ),
    FigureWord(
        "FPN step, PAN step", "A step of a pyramid to finer features, and back.", "pyramid-step"
    ),
    FigureWord("`/2`, `×2`", "Height and width are halved, doubled."),
    FigureWord("`64 → 128`", "Features or channels before and behind, and those between."),
    FigureWord(
        "`8 … 11 of 36`",
        "The part of an axis that is taken: places 8 to 11, where the first is 0.",
    ),
    FigureWord("`2nd of 3`", "The one place of an axis that is taken."),
    FigureWord("`36 → 3 × 12`", "Into how many parts a value is split, and how long each is."),
    FigureWord("`16 + 8 → 24`", "How long what is joined is, and what becomes of it."),
    FigureWord("`over 36`", "Along an axis of so many places, for each of the others."),
    FigureWord("`over all 8 × 8 places`", "For each channel of a map."),
    FigureWord("halves the size", "A block of a stack has strides of 2, and the others none."),
    FigureWord(
        "shared, shared with embedding",
        "Another box takes rows of the same table; the output layer multiplies by it.",
    ),
    FigureWord(
        "decimation",
        "Of all places every n-th is kept, the others are dropped: `/2`.",
    ),
    FigureWord(
        "zero pad, reflection pad, replication pad, circular pad",
        "What is put around, on how many places: 0, the mirrored inside, its edge, the other end.",
    ),
    FigureWord("dilation", "How many places apart a kernel reads: `dilation 1 … 32` over a stack."),
)

#: how parts are written together
SIGNS = (
    FigureWord("`A · B`", "One behind the other: a chain along the main stream."),
    FigureWord("`A, B`", "Parts of something that is no chain, the most telling ones."),
    FigureWord("`×12`", "So often: in a row in a stack, or all together in a list of parts."),
    FigureWord("`(A · B) ×3`", "Both, three times in a row."),
    FigureWord("`1 … 32`", "From the least to the largest."),
)
