"""The words of figures for points and graphs, and for signals, texts and series."""

from __future__ import annotations

from .figure_word import FigureWord

#: points, graphs and their edges
GRAPHS = (
    FigureWord(
        "set abstraction",
        "The largest of what layers make of neighbours, moved so that their centre is 0.",
        "set-abstraction",
    ),
    FigureWord(
        "edge convolution",
        "Layers of how the nearest neighbours differ from each point and of the point, and the "
        "largest of what they give: `6 → 16, 10 neighbours`.",
        "edge-convolution",
    ),
    FigureWord(
        "max-relative graph convolution",
        "The largest difference of the neighbours to each point goes with it into a layer; "
        "`9 neighbours, of the 18 nearest` are every second.",
        "edge-convolution",
    ),
    FigureWord(
        "Chebyshev layer",
        "Chebyshev polynomials of each number, and learned factors of them: `degree 4`.",
        "chebyshev",
    ),
    FigureWord(
        "predicted transform",
        "A product with a matrix that layers give, to which the identity is added: `3 × 3`.",
        "predicted-transform",
    ),
    FigureWord(
        "graph network block",
        "An MLP of edges and what their ends hold, sums of that at nodes, and an MLP of nodes "
        "and these sums: `2 kinds of edges`.",
        "graph-network",
    ),
    FigureWord(
        "equivariant message passing",
        "Features and vectors of atoms that are sent along edges, scaled by parts of one product.",
        "vector-messages",
    ),
    FigureWord(
        "equivariant update",
        "Lengths of projected vectors meet features in an MLP, which scales vectors and their "
        "products.",
        "vector-update",
    ),
    FigureWord(
        "message passing",
        "Features of nodes are gathered along edges and put together where these end.",
        "message-passing",
    ),
    FigureWord(
        "edge softmax",
        "Shares of the edges that end at one node: `graph attention, over edges` where what is "
        "sent along them is added up by these.",
        "edge-attention",
    ),
    FigureWord(
        "equivariant coordinate update",
        "Places move along the differences to their neighbours, each times one number.",
        "coordinate-update",
    ),
    FigureWord(
        "Gaussian basis",
        "How near a number, as a distance, is to each of some stored centres: `20 centres`.",
        "gaussian-basis",
    ),
    FigureWord(
        "Bessel basis",
        "Sines of several frequencies of a distance, divided by it: `6 waves`.",
        "bessel-basis",
    ),
    FigureWord(
        "relation network",
        "What an MLP makes of each pair of the same objects, added up.",
        "pair-relations",
    ),
    FigureWord(
        "squared distances, nearest neighbours",
        "Of all pairs of rows, and for each row the others that are least far away.",
        "distances",
    ),
    FigureWord(
        "edge features",
        "What the nearest neighbours of a point differ by from it, beside the point itself.",
        "edge-features",
    ),
    FigureWord(
        "graph convolution",
        "A projection of features, times a square that tells who is joined to whom: an "
        "adjacency that is fed, stored, or made of learned vectors of the nodes.",
        "graph-convolution",
    ),
    FigureWord(
        "with graph convolution",
        "Residual blocks whose layers sum up what neighbours in a stored graph have.",
        "stored-graph",
    ),
    FigureWord(
        "graph diffusion convolution",
        "The sums over neighbours of several steps, each with weights of its own: `3 graphs`, "
        "`2 steps`; `Chebyshev` where each step is 2·L·t less the one before.",
        "graph-convolution",
    ),
    FigureWord(
        "neighbour sum",
        "What those that a node is joined to have, added up by an adjacency, without weights.",
        "graph-convolution",
    ),
    FigureWord(
        "outer product mean",
        "Features of two ends of a pair, each times each, as a mean over sequences.",
        "outer-product",
    ),
    FigureWord(
        "triangle multiplication",
        "A pair is updated by the two other edges of the triangles that it is in.",
        "triangle-multiplication",
    ),
    FigureWord(
        "spherical harmonics, polynomials",
        "Products of the coordinates of a direction or place, side by side: `degree 3`.",
        "polynomials",
    ),
)

#: signals, texts and series
SERIES = (
    FigureWord(
        "Snake", "An activation with waves: x + sin²(a · x) / a, a for each channel.", "snake"
    ),
    FigureWord(
        "oscillators",
        "Sines of a running sum of frequencies: `16 multiples`.",
        "oscillators",
    ),
    FigureWord(
        "complex mask",
        "A complex product of a spectrum and of what a network gives.",
        "complex-mask",
    ),
    FigureWord(
        "length regulator",
        "Which frames belong to which token, by running sums of durations.",
        "length-regulator",
    ),
    FigureWord(
        "standardization",
        "The mean is taken off, and what is left divided by the deviation; `reversed at the "
        "end` where both are kept for that.",
        "standardization",
    ),
    FigureWord(
        "reversed at the end",
        "What a standardization takes off a series, the network's result is given back.",
        "reversible-standardization",
    ),
    FigureWord(
        "series decomposition",
        "A series as its moving average, the trend, and what is left: `moving average 25`.",
        "series-decomposition",
    ),
    FigureWord(
        "polynomial basis, Fourier basis",
        "Coefficients times stored powers of time, or stored sines and cosines of it, of which "
        "a forecast is the sum: `4 → 24`.",
        "stored-basis",
    ),
    FigureWord(
        "linear recurrence",
        "A state times how much of it stays, and what comes in, step by step; neither depends "
        "on the state.",
        "linear-recurrence",
    ),
    FigureWord(
        "joint network",
        "A layer of the tanh, or ReLU, of each place of one sequence plus each of another: "
        "frames and labels in a transducer.",
        "joint-network",
    ),
    FigureWord(
        "band split",
        "Parts of a spectrum, each normalized and projected by a layer of its own: `23 bands`.",
        "band-split",
    ),
    FigureWord(
        "backcast and forecast block",
        "Layers give what explains a series, which is taken off it, and what comes next: "
        "`4 layers of 512`.",
        "backcast",
    ),
    FigureWord(
        "interaction of even and odd places",
        "Each half of a series is scaled by a network of the other, and moved by another one.",
        "half-interaction",
    ),
    FigureWord(
        "NTM addressing",
        "Places of a memory by likeness, or by the weights before, moved by a small kernel and "
        "made sharper.",
        "memory-addressing",
    ),
    FigureWord(
        "spectrum of magnitude and phase",
        "Cosines and sines of a phase, times a magnitude.",
        "polar-spectrum",
    ),
    FigureWord(
        "per-channel energy normalization",
        "A level over a power of its smoothed self, then a root: PCEN.",
        "channel-energies",
    ),
    FigureWord(
        "convolutions with max-over-time pooling",
        "Convolutions of several lengths side by side, the largest of each channel taken: "
        "`kernels 3, 4, 5`.",
        "text-pooling",
    ),
    FigureWord(
        "Viterbi decoding, CRF",
        "Scores of labels along a sequence, by stored scores of one label behind another: the "
        "best of all before, or their sum: `9 labels`.",
        "label-chain",
    ),
    FigureWord(
        "biaffine scores",
        "Of each pair, by a weight between what two layers give.",
        "biaffine",
    ),
    FigureWord(
        "copy mechanism",
        "To the shares of a vocabulary those of a source's words are added.",
        "copying",
    ),
    FigureWord(
        "DFT, STFT, filter bank",
        "Products with stored waves, of all samples or of frames that slide, and with humps "
        "above zeros: `window 320`, `hop 160`.",
        "fixed-transform",
    ),
    FigureWord(
        "masked sum, masked mean",
        "Over those places alone that a mask counts.",
        "masked-pool",
    ),
)
