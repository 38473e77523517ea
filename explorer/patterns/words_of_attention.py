"""The words of figures for attention, and for what mixes tokens in its place."""

from __future__ import annotations

from .figure_word import FigureWord

#: what attention is, and its kinds
ATTENTION = (
    FigureWord(
        "Q, K, V",
        "Queries, keys and values: what asks, what is compared with it, and what is mixed. "
        "Projections of what attention takes.",
    ),
    FigureWord("scores", "The products of queries and keys, before Softmax makes shares of them."),
    FigureWord("heads", "Attentions side by side, each of some of the features: `12 heads × 64`."),
    FigureWord("attention", "Values mixed by the shares that scores give them.", "attention"),
    FigureWord("self-attention", "Queries, keys and values of one value.", "attention"),
    FigureWord(
        "window attention, grid attention",
        "Places of an image attend to those of the same window, or to those as far apart as they "
        "can be: `7×7`, `shifted` where windows go across the borders of others.",
        "attention",
    ),
    FigureWord(
        "channel self-attention",
        "Channels are compared with one another over all places, instead of places.",
        "attention",
    ),
    FigureWord(
        "cascaded group attention",
        "Each head has a part of the features to which the result of the head before is added: "
        "`4 heads`.",
        "cascaded-attention",
    ),
    FigureWord(
        "outlook attention",
        "A layer of each place gives the shares by which the values around it are mixed: `3×3`.",
        "outlook-attention",
    ),
    FigureWord(
        "deformable attention",
        "Layers of the query choose a few places of one or more maps and their shares: what is "
        "there is looked up and mixed: `4 levels × 4 points`.",
        "deformable-attention",
    ),
    FigureWord("cross-attention", "Keys and values of another value than queries.", "attention"),
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
        "additive attention, additive self-attention",
        "Scores are of the tanh of a sum of queries and keys instead of their products: "
        "`32 units, window 3`; in self-attention of all pairs of places.",
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
        "random features",
        "Queries and keys of linear attention become exponentials of products with stored "
        "numbers: `256 random features`.",
        "random-features",
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
        "A history is summed up by what an MLP makes of each of it, a target, and how they meet.",
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
        "learned queries",
        "Queries that the file stores, whatever they attend to: `n × d learned queries`.",
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
    FigureWord("query pooled", "Queries of fewer places than keys and values: `query pooled /2`."),
    FigureWord(
        "convolutional projections",
        "Convolutions of each channel before the projections of queries, keys and values: "
        "`convolutional projections 3×3`.",
    ),
    FigureWord(
        "class attention",
        "One token asks alone, such as that of the class, which attends to itself and to all "
        "others; `query: first token` where it attends to another sequence.",
    ),
    FigureWord(
        "talking heads",
        "A linear layer over the heads mixes scores, or the shares made of them.",
    ),
    FigureWord(
        "cross-covariance attention",
        "Channels, divided by their lengths, are compared over all places, instead of places "
        "over all channels.",
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
)

#: what mixes tokens otherwise
MIXING = (
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
    FigureWord(
        "token shift",
        "Each token mixed with the one before it, or some of its features taken from that.",
        "token-shift",
    ),
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
    FigureWord(
        "light GRU",
        "A recurrent layer with an update gate and no other, which activates by ReLU.",
        "light-cell",
    ),
)
