"""The words that boxes, groups, sentences and insets have in common, and what each means.

One thing has one word. What patterns find is called so by them; where a word is of a pattern, its
source stands there.
"""

from __future__ import annotations

from typing import NamedTuple


class FigureWord(NamedTuple):
    """A word of figures.

    Parameters
    ----------
    word
        As it is written inside of a sentence.
    meaning
        What is called so.
    pattern
        The id of the pattern that finds it; "" for what is a part or a fact of several.
    """

    word: str
    meaning: str
    pattern: str = ""


#: by what they are about
FIGURE_WORDS: dict[str, tuple[FigureWord, ...]] = {
    "Attention": (
        FigureWord(
            "Q, K, V",
            "Queries, keys and values: what asks, what is compared with it, and what is mixed. "
            "Projections of what attention takes.",
        ),
        FigureWord(
            "scores", "The products of queries and keys, before Softmax makes shares of them."
        ),
        FigureWord(
            "heads", "Attentions side by side, each of some of the features: `12 heads × 64`."
        ),
        FigureWord("attention", "Values mixed by the shares that scores give them.", "attention"),
        FigureWord("self-attention", "Queries, keys and values of one value.", "attention"),
        FigureWord(
            "cross-attention", "Keys and values of another value than queries.", "attention"
        ),
        FigureWord(
            "grouped-query attention",
            "Several heads of queries share one head of keys and values: `32 heads × 64 over 8`.",
            "attention",
        ),
        FigureWord(
            "spatial transformer",
            "A Transformer over the places of a picture, projections before and behind it.",
        ),
        FigureWord(
            "additive attention",
            "Scores are of the tanh of a sum of queries and keys instead of their products.",
            "weighted-sum",
        ),
        FigureWord(
            "location-sensitive attention",
            "Additive attention that adds a convolution of the shares before.",
            "weighted-sum",
        ),
        FigureWord(
            "interpretable multi-head attention",
            "Heads share one value, which the mean of their shares mixes: `4 heads`.",
            "averaged-heads",
        ),
        FigureWord(
            "Gaussian window attention",
            "Shares fall with the distance from centres that a network moves along a text: "
            "`10 windows`.",
            "gaussian-windows",
        ),
        FigureWord(
            "attention to a learned memory, external attention",
            "Keys and values are weights: `64 entries`; in external attention shares are of tokens "
            "first, and of entries then.",
            "learned-memory",
        ),
        FigureWord(
            "attention pooling",
            "A sum of values by shares that are made of these alone.",
            "weighted-sum",
        ),
        FigureWord(
            "linear attention",
            "Keys and values are multiplied first, so that no token is compared with each other.",
            "linear-attention",
        ),
        FigureWord(
            "pointwise attention",
            "Each score goes through an activation, which stands in the place of softmax.",
            "pointwise-attention",
        ),
        FigureWord(
            "gated attention unit",
            "Attention by squared ReLU of scores, its queries and keys forms of one projection, "
            "times a projection of what it takes.",
            "pointwise-attention",
        ),
        FigureWord(
            "vector attention",
            "Shares for each channel, of differences of queries and keys.",
            "vector-attention",
        ),
        FigureWord(
            "physics attention",
            "Tokens are summed up into slices by soft shares, these attend to one another, and the "
            "same shares give each token what they have become: `16 slices`.",
            "slice-attention",
        ),
        FigureWord(
            "delta rule",
            "Linear attention that adds to its state what this does not tell yet of a token; "
            "`gated` where the state decays.",
            "delta-rule",
        ),
        FigureWord(
            "graph attention",
            "Only who is joined to whom in a graph that is fed attends to each other.",
            "graph-attention",
        ),
        FigureWord(
            "correlation, auto-correlation",
            "How alike two series are when one is moved, by Fourier transforms; values are moved "
            "by the best delays, and added up by shares: `4 delays`.",
            "auto-correlation",
        ),
        FigureWord(
            "ProbSparse attention",
            "Those queries alone attend whose scores differ most from their mean: `25 queries`.",
            "chosen-queries",
        ),
        FigureWord(
            "differential attention",
            "Values are mixed by shares from which others, times a learned number, are taken.",
            "differential-attention",
        ),
        FigureWord(
            "invariant point attention",
            "Scores are less for points that are far away, and the shares mix points, too.",
            "point-attention",
        ),
        FigureWord(
            "target attention",
            "A history is summed up by what an MLP makes of each of it, a target, and how they "
            "meet.",
            "target-attention",
        ),
        FigureWord(
            "mLSTM",
            "Scores times exponentials of gates, divided by how large their sum is, mix values.",
            "matrix-memory",
        ),
        FigureWord(
            "soft mixture of experts",
            "Tokens are mixed into slots, each expert works on some, and slots are mixed back.",
            "soft-mixture",
        ),
        FigureWord(
            "memory attention",
            "Products of a state and the entries of a memory, summed up each, become shares.",
            "memory-attention",
        ),
        FigureWord(
            "co-attention, bidirectional attention flow",
            "One matrix of scores of two sequences, by which each is mixed for the other; the "
            "second name is for one of them mixed by the largest score of each of its places.",
            "attention-flow",
        ),
        FigureWord(
            "retention",
            "Products of queries and keys, times a stored decay that falls with the distance, "
            "and no softmax.",
            "retention",
        ),
        FigureWord(
            "latents", "Learned queries, fewer than what they attend to, written `n × d latents`."
        ),
        FigureWord("causal", "No token sees a later one."),
        FigureWord(
            "local, global",
            "Attention to a window of tokens, and to all: `1 global after 5 local, window 512`.",
        ),
        FigureWord(
            "windows, grid",
            "Only places of an image attend to one another that are beside one another, or as far "
            "apart as they can be: `windows 7×7`, `shifted windows 7×7`, `grid 7×7`.",
            "transformer-block",
        ),
        FigureWord(
            "spatial reduction",
            "Keys and values of fewer places than queries.",
            "reduced-attention",
        ),
        FigureWord(
            "query pooled", "Queries of fewer places than keys and values: `query pooled /2`."
        ),
        FigureWord(
            "query: first token",
            "Only one token asks, such as that of the class, in class attention.",
        ),
        FigureWord(
            "talking heads",
            "A linear layer over the heads mixes scores, or the shares made of them.",
        ),
        FigureWord(
            "cross-covariance attention",
            "Channels, divided by their lengths, are compared over all places, instead of places "
            "over all channels; `over channels` where they are not divided.",
            "attention",
        ),
        FigureWord(
            "Nystrom attention",
            "Tokens attend to means of a few neighbours each, and these to tokens; between stands "
            "the inverse of how landmarks attend to one another: `16 landmarks`.",
            "landmark-attention",
        ),
        FigureWord(
            "low rank",
            "Keys and values of fewer tokens, which learned weights sum up: `low rank 16`.",
            "low-rank-attention",
        ),
        FigureWord(
            "Transformer block",
            "Attention and an MLP, with residual sums and norms.",
            "transformer-block",
        ),
        FigureWord(
            "adaptive norm",
            "A norm whose scale and shift another value gives, such as a "
            "class, a step, a style: `Adaptive LayerNorm`.",
            "adaptive-norm",
        ),
    ),
    "What mixes tokens in its place": (
        FigureWord(
            "mixer block",
            "Tokens are mixed without attention, then the features of each.",
            "mixer-block",
        ),
        FigureWord(
            "gated short convolution",
            "A depthwise convolution along the sequence, with a product before and behind it; all "
            "three are parts of one projection: `kernel 3`.",
            "short-convolution",
        ),
        FigureWord("token shift", "Each token mixed with the one before it.", "token-shift"),
        FigureWord(
            "time mix, channel mix",
            "The halves of a block of which one sums over the sequence with weights that decay, "
            "and the other mixes the features of each token.",
            "time-mix",
        ),
        FigureWord(
            "FFT", "A Fourier transform along an axis; `2-D FFT` along two.", "fourier-transform"
        ),
        FigureWord(
            "Fourier filter",
            "A Fourier transform, weights or an MLP of its frequencies, and the inverse transform.",
            "fourier-filter",
        ),
        FigureWord(
            "Mamba",
            "A selective state space: a state goes along the sequence, which takes up and forgets "
            "as steps of each token tell.",
            "state-space-block",
        ),
        FigureWord(
            "cell",
            "One step of a recurrent layer, with what it keeps for the next one.",
            "recurrent-cell",
        ),
    ),
    "Layers": (
        FigureWord("linear", "A product with a weight, and a bias: `768 → 3072`.", "linear"),
        FigureWord("MLP", "Linear layers with activations between them.", "mlp"),
        FigureWord(
            "SwiGLU, GEGLU", "MLPs whose hidden features are a product of two projections.", "mlp"
        ),
        FigureWord(
            "mixture of experts", "Several MLPs, of which each token is sent to some.", "experts"
        ),
        FigureWord(
            "routing",
            "How much of a token each expert gets: the router's shares, of which "
            "the largest count.",
            "experts",
        ),
        FigureWord(
            "soft selection",
            "A sum of several values by shares that one linear layer gives: `of 4`.",
            "soft-routing",
        ),
        FigureWord(
            "conv, deconv",
            "A convolution, and a transposed one, with its norm and "
            "activation in one box: `Conv · BN · ReLU`.",
            "convolution",
        ),
        FigureWord(
            "masked, zero, blurring",
            "What the stored numbers of a kernel tell: nothing behind its middle counts; all are "
            "0; they are positive, and add up to 1.",
        ),
        FigureWord("depthwise conv", "A convolution that takes each channel alone.", "convolution"),
        FigureWord(
            "residual block",
            "Convolutions whose result is added to what they take.",
            "residual-block",
        ),
        FigureWord(
            "with projection",
            "The shortcut is convolved, as widths or sizes change.",
            "residual-block",
        ),
        FigureWord(
            "squeeze-and-excitation",
            "Channels are weighted, between 0 and 1, by what an MLP makes of their means.",
            "excitation",
        ),
        FigureWord(
            "channel attention, spatial attention",
            "Channels, or places, are weighted by what is made of their means and maxima, or of "
            "means alone.",
            "channel-attention",
        ),
        FigureWord(
            "dynamic convolution, modulated convolution",
            "The kernel is computed: stored ones mixed by shares, `4 kernels`; or one whose "
            "channels a style scales, `demodulated` where its length is kept.",
            "computed-kernel",
        ),
        FigureWord(
            "involution, content-aware upsampling",
            "The neighbours of each place are summed up by weights that are computed for it.",
            "local-filter",
        ),
        FigureWord(
            "coordinate attention, efficient channel attention, gather-excite",
            "Places are weighted by means along rows and along columns, channels by a kernel along "
            "their means, and both by smaller maps that are made as large again.",
            "place-attention",
        ),
        FigureWord(
            "attention gate",
            "Places are weighted by what a sum of projections of them and of another value gives.",
            "place-attention",
        ),
        FigureWord(
            "global context",
            "What layers make of one weighted mean over all places, added to each place.",
            "global-context",
        ),
        FigureWord(
            "selective kernel attention, split attention",
            "Branches, or parts of the channels, are added up by shares that their means give: "
            "`2 branches`.",
            "branch-attention",
        ),
        FigureWord(
            "large kernel attention, convolutional attention",
            "A value times what depthwise convolutions of it give.",
            "convolutional-attention",
        ),
        FigureWord(
            "recursive gated convolution",
            "Products with parts of one depthwise convolution, one after another: `order 3`.",
            "gated-convolution",
        ),
        FigureWord(
            "Snake", "An activation with waves: x + sin²(a · x) / a, a for each channel.", "snake"
        ),
        FigureWord(
            "global response norm",
            "Features times their lengths over all places, beside the mean of these lengths.",
            "response-norm",
        ),
        FigureWord(
            "multi-branch convolution",
            "Convolutions of one value that are summed up, perhaps with its norm, and so amount to "
            "one: `3×3 + 1×1 + identity`.",
            "branched-convolution",
        ),
        FigureWord(
            "cross-correlation",
            "A convolution whose kernel is features of another picture, at as many places: `4×4`.",
            "computed-kernel",
        ),
        FigureWord(
            "temporal shift, channel shift",
            "Some channels are moved by one place along time, or along another axis, some forth "
            "and some back.",
            "channel-shift",
        ),
        FigureWord(
            "weighted fusion",
            "Maps, some of which were made larger or smaller, times learned numbers that are 1 "
            "together, and added: `3 maps`.",
            "weighted-fusion",
        ),
        FigureWord(
            "scatter to a grid",
            "Features that are put at computed places of an empty grid, which is convolved: "
            "`128 × 128`.",
            "grid-scatter",
        ),
        FigureWord(
            "spatial softmax",
            "Where in a map something is: places of a grid, summed up by shares of a Softmax over "
            "all of them: `32 keypoints`.",
            "spatial-softmax",
        ),
        FigureWord(
            "ghost module",
            "What a convolution gives beside what a depthwise one makes of it.",
            "ghost-module",
        ),
        FigureWord(
            "partial convolution",
            "Some channels are convolved, and put beside the others as they are: `4 channels`.",
            "partial-convolution",
        ),
        FigureWord(
            "focal modulation",
            "Queries times what gates take of contexts that grow step by step: `2 levels`.",
            "focal-modulation",
        ),
        FigureWord(
            "set abstraction",
            "The largest of what layers make of neighbours, moved so that their centre is 0.",
            "set-abstraction",
        ),
        FigureWord(
            "warping, correlation lookup",
            "Maps looked up at places that a flow moves; `affine`, `projective` where a matrix "
            "does. Of products of two maps it is a correlation lookup.",
            "warping",
        ),
        FigureWord(
            "volume rendering",
            "What is seen along a ray, by how much light is left and how much of it stays.",
            "volume-rendering",
        ),
        FigureWord(
            "oscillators",
            "Sines of a running sum of frequencies: `16 multiples`.",
            "oscillators",
        ),
        FigureWord(
            "classifier-free guidance",
            "An estimate without a condition, and so many times what the condition changes.",
            "guidance",
        ),
        FigureWord(
            "complex mask",
            "A complex product of a spectrum and of what a network gives.",
            "complex-mask",
        ),
        FigureWord(
            "generalized-mean pooling",
            "The root of the mean of powers of features: `exponent 3`.",
            "general-mean",
        ),
        FigureWord(
            "routing update",
            "Capsules share out their votes anew by how these agreed with the sum of all before; "
            "the first shares are equal, so that three iterations have two updates.",
            "routing",
        ),
        FigureWord(
            "NetVLAD pooling",
            "What features differ by from stored centres, by soft shares of these: `8 centres`.",
            "residual-pooling",
        ),
        FigureWord(
            "bilinear pooling",
            "The products of all pairs of channels, summed over places.",
            "bilinear-pooling",
        ),
        FigureWord(
            "adaptive InstanceNorm",
            "Features are given the mean and deviation of those of another picture.",
            "style-norm",
        ),
        FigureWord(
            "feature-wise modulation",
            "Channels are scaled and shifted by projections of another value: FiLM.",
            "modulation",
        ),
        FigureWord(
            "gate",
            "A product with how much of something counts, mostly between 0 and 1: "
            "`Gate`, `GLU`, and `Gated unit` where what counts is a tanh.",
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
            "local maxima",
            "Places of a map that are the largest of the window around them: `3×3`.",
            "local-maxima",
        ),
        FigureWord(
            "length regulator",
            "Which frames belong to which token, by running sums of durations.",
            "length-regulator",
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
            "atrous pyramid",
            "Kernels of several dilations side by side: `rates 6, 12, 18`.",
            "atrous-pyramid",
        ),
        FigureWord(
            "cost volume",
            "How alike two maps are when one is moved by so many places: by products that are "
            "summed, or by differences: `correlation, 49 displacements`.",
            "cost-volume",
        ),
        FigureWord(
            "pyramid pooling",
            "A picture beside what is left of it on coarse grids: `3 scales`.",
            "pyramid-pooling",
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
            "Chebyshev layer",
            "Chebyshev polynomials of each number, and learned factors of them: `degree 4`.",
            "chebyshev",
        ),
        FigureWord(
            "compressed interaction network",
            "Products of all features with those of the layer before, of which each layer makes "
            "fewer: `2 layers`.",
            "compressed-interaction",
        ),
        FigureWord(
            "spatial gating unit",
            "Half of the features of each token, times a layer over the tokens of the other half: "
            "`196 tokens`.",
            "spatial-gate",
        ),
        FigureWord(
            "Res2Net module",
            "Parts of channels that are convolved in turn, each with what came of the one before: "
            "`scale 4`.",
            "split-scales",
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
            "Features and vectors of atoms that are sent along edges, scaled by parts of one "
            "product.",
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
            "How near a number, as a distance, is to each of some stored places: `20 places`.",
            "gaussian-basis",
        ),
        FigureWord(
            "Bessel basis",
            "Sines of several frequencies of a distance, divided by it: `6 waves`.",
            "bessel-basis",
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
            "joint network",
            "A layer of the tanh, or ReLU, of each place of one sequence plus each of another: "
            "frames and labels in a transducer.",
            "joint-network",
        ),
        FigureWord(
            "variable selection",
            "Gated residual networks of several variables, summed up by shares that another one "
            "gives: `5 variables`.",
            "variable-selection",
        ),
        FigureWord(
            "band split",
            "Parts of a spectrum, each normalized and projected by a layer of its own: `23 bands`.",
            "band-split",
        ),
        FigureWord(
            "mixture density head",
            "Shares, middles and widths of several distributions: `5 components`.",
            "mixture-density",
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
            "preconditioning",
            "A noisy value and what a network makes of it, each times a scale of the noise level.",
            "preconditioning",
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
            "relation network",
            "What an MLP makes of each pair of the same objects, added up.",
            "pair-relations",
        ),
        FigureWord(
            "value iteration",
            "The best of what a convolution of the values before gives, again: `20 steps`.",
            "value-iteration",
        ),
        FigureWord(
            "sparsemax",
            "Shares that add up to 1, of which small ones are 0.",
            "sparsemax",
        ),
        FigureWord(
            "soft decision trees",
            "How much each level of a tree leads to each of its leaves, times what these hold.",
            "soft-trees",
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
            "hypernetwork layer",
            "Products with a matrix that another layer gives for each sample: `16 → 12`.",
            "generated-weights",
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
        FigureWord(
            "dot interaction", "Products of all pairs of several features.", "dot-interaction"
        ),
        FigureWord(
            "layer scale", "A stored number for each channel, times what a residual sum adds."
        ),
        FigureWord(
            "factorization machine",
            "The sum of these products, as half the square of a sum less the sum of squares.",
            "factorization-machine",
        ),
        FigureWord(
            "cross network",
            "Layers that multiply the input by a projection of what the last one gave.",
            "cross-network",
        ),
        FigureWord("cosine similarity", "Products of normalized features.", "similarities"),
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
            "Two numbers, or others like them, of what stands along an axis; `weighted` by the "
            "shares that an attention gives.",
            "statistics",
        ),
        FigureWord(
            "soft cap",
            "c · tanh(x / c): what is small stays as it is, and nothing becomes larger than c.",
            "soft-cap",
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
            "spherical harmonics, polynomials",
            "Products of the coordinates of a direction or place, side by side: `degree 3`.",
            "polynomials",
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
        FigureWord("selection", "The largest are looked for, and taken: `8 largest`.", "selection"),
        FigureWord("mask", "What counts and what does not, by comparison.", "formula"),
        FigureWord(
            "rearrangement",
            "Elements of one value are taken, moved and joined, and nothing is computed: "
            "`8 × 16 → 4 × 64`.",
            "rearrangement",
        ),
        FigureWord(
            "dueling heads",
            "The value of a state, and the advantage of each action over their mean.",
            "dueling-heads",
        ),
        FigureWord(
            "expected value",
            "Stored numbers, summed up by the shares that a Softmax gives them: "
            "`51 numbers −10 … 10`.",
            "expected-value",
        ),
    ),
    "Inputs and codes": (
        FigureWord("embedding", "Rows of a table, picked by number.", "embedding"),
        FigureWord(
            "+ learned tokens",
            "Stored tokens are put beside those of the stream: for a class, as registers or "
            "prompts.",
            "added-tokens",
        ),
        FigureWord(
            "source, target, edge",
            "What the two ends of each edge of a graph hold, and the edge itself.",
            "edge-inputs",
        ),
        FigureWord("sum to nodes", "What edges hold is added up where they end."),
        FigureWord("first token, last step", "One place of a sequence that is taken on."),
        FigureWord("patch embedding", "An image cut into squares that are projected.", "patches"),
        FigureWord(
            "lookup", "Values taken at places that another value tells, between pixels too."
        ),
        FigureWord(
            "+ positions",
            "A stored number for each place and feature, learned or computed before, is added: "
            "`60 × 32`; `sinusoidal` where they are sines and cosines.",
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
    ),
    "Sizes": (
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
        FigureWord(
            "overlap-add", "Parts that are moved by their places, and added up.", "overlap-add"
        ),
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
            "`axis 1 · 8 to 12`",
            "The part of an axis that is taken: places 8 to 11, where the first is 0.",
        ),
        FigureWord(
            "`3 parts of 12`", "Into how many parts a value is split, and how long each is."
        ),
        FigureWord("halves the size", "A block of a stack has strides of 2, and the others none."),
        FigureWord(
            "dilation", "How many places apart a kernel reads: `dilation 1 … 32` over a stack."
        ),
    ),
    "Signs": (
        FigureWord("`A · B`", "One behind the other: a chain along the main stream."),
        FigureWord("`A, B`", "Parts of something that is no chain, the most telling ones."),
        FigureWord("`×12`", "So often: in a row in a stack, or all together in a list of parts."),
        FigureWord("`(A · B) ×3`", "Both, three times in a row."),
        FigureWord("`1 … 32`", "From the least to the largest."),
    ),
}
