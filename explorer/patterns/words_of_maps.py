"""The words of figures for convolutions, and for other work on maps."""

from __future__ import annotations

from .figure_word import FigureWord

#: of images, volumes and their pyramids
MAPS = (
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
        "differentiable binarization",
        "A steep sigmoid of the difference between probabilities and thresholds: `k = 50`.",
        "binarization",
    ),
    FigureWord(
        "box decoding",
        "A detector's numbers become centres in a grid and sizes, which may be multiples of "
        "`3 anchors`.",
        "box-decoding",
    ),
    FigureWord(
        "attention gate",
        "Places are weighted by what a sum of projections of them and of another value gives: "
        "`16 features`.",
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
        "global response norm",
        "Features times their lengths over all places, beside the mean of these lengths.",
        "response-norm",
    ),
    FigureWord(
        "gated depthwise MLP",
        "Hidden features see their neighbours by a depthwise convolution, then one half of them "
        "gates the other: a gated feed-forward network of maps.",
        "depthwise-gate",
    ),
    FigureWord(
        "GDN, inverse GDN",
        "Generalized divisive normalization: each value over the root of a weighted sum of the "
        "squares of all channels at its place; its inverse multiplies by the root.",
        "divisive-norm",
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
        "max unpooling",
        "Values are put back to the places that a max pool took the largest from, with zeros "
        "around: `2×2`.",
        "unpooling",
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
        "generalized-mean pooling",
        "The root of the mean of powers of features: `exponent 3`.",
        "general-mean",
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
        "local maxima",
        "Places of a map that are the largest of the window around them: `3×3`.",
        "local-maxima",
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
        "Res2Net module",
        "Parts of channels that are convolved in turn, each with what came of the one before: "
        "`scale 4`.",
        "split-scales",
    ),
    FigureWord(
        "ELAN block",
        "Convolutions in steps, each of what the one before gave; all that they gave is joined and "
        "mixed: `2 steps, 13 convolutions each`.",
        "step-aggregation",
    ),
    FigureWord(
        "prediction heads",
        "The same convolutions over each of several maps, which predict what is at each place: "
        "`3 maps, 64 + 80 channels`.",
        "prediction-heads",
    ),
)
