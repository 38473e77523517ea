"""The words of figures for layers of features, and for what is computed besides."""

from __future__ import annotations

from .figure_word import FigureWord

#: layers, gates and choices between them
LAYERS = (
    FigureWord("linear", "A product with a weight, and a bias: `768 → 3072`.", "linear"),
    FigureWord("MLP", "Linear layers with activations between them.", "mlp"),
    FigureWord(
        "SwiGLU, GEGLU", "MLPs whose hidden features are a product of two projections.", "mlp"
    ),
    FigureWord(
        "convolutional MLP",
        "An MLP with a depthwise convolution between its linear layers: Mix-FFN.",
        "convolutional-mlp",
    ),
    FigureWord(
        "mixture of experts", "Several MLPs, of which each token is sent to some.", "experts"
    ),
    FigureWord(
        "routing",
        "How much of a token each expert gets: the router's shares, of which the largest count.",
        "experts",
    ),
    FigureWord(
        "soft selection",
        "A sum of several values by shares that one linear layer gives: `of 4`.",
        "soft-routing",
    ),
    FigureWord(
        "routing update",
        "Capsules share out their votes anew by how these agreed with the sum of all before; "
        "the first shares are equal, so that three iterations have two updates.",
        "routing",
    ),
    FigureWord(
        "gate",
        "A product with how much of something counts, mostly between 0 and 1: "
        "`Gate`, `GLU`, and `Gated unit` where what counts is a tanh or another activation.",
        "gate",
    ),
    FigureWord(
        "squash",
        "A vector keeps its direction, and its length comes between 0 and 1: x · ‖x‖² / "
        "(1 + ‖x‖²) / ‖x‖.",
        "squash",
    ),
    FigureWord(
        "splines",
        "Piecewise polynomials of each number over stored knots: `degree 3`.",
        "splines",
    ),
    FigureWord(
        "softmax",
        "Shares that add up to 1, of any numbers; it may be written out.",
        "softmax",
    ),
    FigureWord(
        "scale and shift",
        "A stored factor and a stored number for each feature, and no norm: `128`.",
        "scale-and-shift",
    ),
    FigureWord(
        "spatial gating unit",
        "Half of the features of each token, times a layer over the tokens of the other half: "
        "`196 tokens`; `attention added` to that layer.",
        "spatial-gate",
    ),
    FigureWord(
        "highway layer",
        "What a layer makes of a value, and the value itself, as a gate is open or shut.",
        "highway",
    ),
    FigureWord(
        "gated residual network",
        "Layers with an ELU between, a GLU, and the norm of its sum with what comes in.",
        "gated-residual-network",
    ),
    FigureWord(
        "gated skip connection",
        "The norm of a sum, to which a GLU lets through what is needed of a layer.",
        "gated-skip",
    ),
    FigureWord(
        "variable selection",
        "Gated residual networks of several variables, summed up by shares that another one "
        "gives: `5 variables`.",
        "variable-selection",
    ),
    FigureWord(
        "sparsemax",
        "Shares that add up to 1, of which small ones are 0.",
        "sparsemax",
    ),
    FigureWord(
        "soft decision trees",
        "How much each level of a tree leads to each of its leaves, times what these hold: "
        "`24 trees, depth 4`.",
        "soft-trees",
    ),
    FigureWord(
        "hypernetwork layer",
        "Products with a matrix that another layer gives for each sample: `16 → 12`.",
        "generated-weights",
    ),
    FigureWord("layer scale", "A stored number for each channel, times what a residual sum adds."),
)

#: products, draws, estimates and arithmetic
COMPUTATION = (
    FigureWord(
        "classifier-free guidance",
        "An estimate without a condition, and so many times what the condition changes.",
        "guidance",
    ),
    FigureWord(
        "kernel pooling",
        "How often words meet words that are so much alike: a Gaussian basis of similarities, "
        "summed up, and logarithms of that: `11 kernels`.",
        "kernel-pooling",
    ),
    FigureWord(
        "Sinkhorn normalization",
        "Rows and columns of scores are divided by their sums in turn: `5 iterations`.",
        "sinkhorn",
    ),
    FigureWord(
        "product of branch and trunk",
        "A function at a place: features of what the function is made of, times those of the "
        "place, added up: `40 terms`.",
        "operator-product",
    ),
    FigureWord(
        "compressed interaction network",
        "Products of all features with those of the layer before, of which each layer makes "
        "fewer: `2 layers`.",
        "compressed-interaction",
    ),
    FigureWord(
        "mixture density head",
        "Shares, middles and widths of several distributions: `5 components`.",
        "mixture-density",
    ),
    FigureWord(
        "preconditioning",
        "A noisy value and what a network makes of it, each times a scale of the noise level.",
        "preconditioning",
    ),
    FigureWord(
        "value iteration",
        "The best of what a convolution of the values before gives, again: `20 steps`.",
        "value-iteration",
    ),
    FigureWord(
        "autoregressive MLP",
        "Masks keep its results from all inputs that come later in an order.",
        "masked-mlp",
    ),
    FigureWord(
        "autoregressive flow step",
        "A value is scaled and shifted by what an autoregressive network makes of it: an MLP "
        "with masks, or a Transformer whose result is moved by one token.",
        "autoregressive-step",
    ),
    FigureWord(
        "squashed Gaussian",
        "tanh(mean + deviation · noise): an action that is drawn, within limits.",
        "squashed-draw",
    ),
    FigureWord(
        "Runge-Kutta step",
        "A value moves by the mean of four slopes, which one network gives on the way.",
        "runge-kutta",
    ),
    FigureWord("dot interaction", "Products of all pairs of several features.", "dot-interaction"),
    FigureWord(
        "factorization machine",
        "The sum of these products, as half the square of a sum less the sum of squares.",
        "factorization-machine",
    ),
    FigureWord(
        "cross network",
        "Layers that multiply the input by a projection of what the last one gave; of shares of "
        "several projections: `4 experts of rank 16`.",
        "cross-network",
    ),
    FigureWord("cosine similarity", "Products of normalized features.", "similarities"),
    FigureWord(
        "affine coupling",
        "One half of a value is scaled and shifted by what a network makes of the other half.",
        "affine-coupling",
    ),
    FigureWord(
        "masked coupling",
        "An affine coupling whose halves a stored mask of zeros and ones chooses.",
        "masked-coupling",
    ),
    FigureWord(
        "mean and deviation",
        "Two numbers, or others like them, of what stands along an axis; `joined to their input` "
        "where each place is given both.",
        "statistics",
    ),
    FigureWord(
        "statistics pooling, attentive statistics pooling",
        "Mean and deviation of all places, as one vector; weighted by the shares that an "
        "attention gives.",
        "statistics",
    ),
    FigureWord(
        "soft cap",
        "c · tanh(x / c): what is small stays as it is, and nothing becomes larger than c.",
        "soft-cap",
    ),
    FigureWord(
        "scaling",
        "Each part of a value is multiplied by a number of its own: coordinates of boxes.",
        "scaled-parts",
    ),
    FigureWord(
        "L2 norm, magnitude",
        "How long a vector is, √(Σ x²), and how large a complex number, √(x² + y²).",
        "length",
    ),
    FigureWord(
        "formula",
        "Operations without weights that compute one value, written as people write them, or "
        "with the functions that are in it: `tanh(x + exp(y) · z)`, `exp, sum`.",
        "formula",
    ),
    FigureWord(
        "gated mix",
        "Of two values the one where a gate is open, the other where it is shut: "
        "`g · x + (1 − g) · y`.",
        "formula",
    ),
    FigureWord(
        "selection", "The largest or smallest are looked for, and taken: `8 largest`.", "selection"
    ),
    FigureWord("mask", "What counts and what does not, by comparison.", "formula"),
    FigureWord(
        "rearrangement",
        "Elements of one value are taken, moved and joined, and nothing is computed: "
        "`8 × 16 → 4 × 64`, `into windows 8×8`, `windows 8×8 to an image`.",
        "rearrangement",
    ),
    FigureWord("crop", "Ends of a value are cut off along some axes: `320 × 320 → 256 × 256`."),
    FigureWord(
        "dueling heads",
        "The value of a state, and the advantage of each action over their mean.",
        "dueling-heads",
    ),
    FigureWord(
        "expected value",
        "Stored numbers, summed up by the shares that a Softmax gives them: `51 numbers −10 … 10`.",
        "expected-value",
    ),
)
