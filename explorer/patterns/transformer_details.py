"""What is known of attention, of MLPs, and of blocks of both; see `details`."""

from __future__ import annotations

from dataclasses import dataclass

from .details import BlockDetails

#: what attention is called in which one token asks alone (H. Touvron and others, Going deeper with
#: Image Transformers, 2021, section 3)
CLASS_ATTENTION = "Class attention"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AttentionDetails(BlockDetails):
    """Of an attention, or of what mixes tokens in its place.

    Parameters
    ----------
    rule
        How the state of a linear attention takes up a token, where that is not by a sum alone:
        ``gated``, ``delta rule``, ``gated delta rule``.
    latent
        Of how many features keys and values are projected together.
    landmarks
        By how many means of neighbours tokens attend to one another.
    heads
        How many heads queries have.
    head_width
        How many features a head has.
    kv_heads
        How many heads keys and values have, where these are fewer.
    positions
        How it is told positions: ``rotary``, ``relative``, ``ALiBi``.
    causal
        Whether each token sees only those before it, and itself.
    window
        How many tokens each token sees at most, itself among them.
    side
        How many places the windows of an image, or grids, that it sees alone have along each axis.
    shifted
        Whether the image was moved before it was cut into these.
    attention
        What it is called: ``Self-attention``, ``Cross-attention``, ``Mamba-2``. Also where it has
        the name of a larger block.
    deformable
        Whether it samples features at places that it chooses.
    reduction
        Of so many places along each axis one is a key.
    order
        Where a norm stands: ``pre-norm``, ``post-norm``.
    """

    json_prefix = "attention"

    rule: str | None = None
    latent: int | None = None
    landmarks: int | None = None
    heads: int | None = None
    head_width: int | None = None
    kv_heads: int | None = None
    positions: str | None = None
    causal: bool = False
    window: int | None = None
    side: int | None = None
    shifted: bool = False
    attention: str | None = None
    deformable: bool = False
    reduction: int | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MlpDetails(BlockDetails):
    """Of linear layers with activations between them.

    Parameters
    ----------
    activation
        What is between the layers, in words: ``GELU``; several with commas.
    widths
        How many features there are before, between and behind the layers; nothing where any is
        not known.
    gated
        Whether what is between is a product of two linear layers.
    order
        As of an attention.
    """

    json_prefix = "mlp"

    activation: str | None = None
    widths: tuple[int, ...] = ()
    gated: bool = False
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExpertsDetails(BlockDetails):
    """Of a mixture of experts.

    Parameters
    ----------
    experts
        How many experts a token may be sent to.
    top
        To how many each token is sent.
    widths
        As of an MLP, of each expert.
    unit
        What each expert is, where it is gated: ``SwiGLU``.
    shared_experts
        How many experts take every token besides.
    order
        As of an attention.
    """

    json_prefix = "experts"

    experts: int | None = None
    top: int | None = None
    widths: tuple[int, ...] = ()
    unit: str | None = None
    shared_experts: int | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TransformerDetails(BlockDetails):
    """Of a Transformer block: names in JSON say what they are of, as ``attention_heads`` does.

    Parameters
    ----------
    order
        Where norms stand: ``pre-norm``, ``post-norm``.
    norm
        What they are: ``LayerNorm``.
    attention, feeding
        What is known of both parts; of two attentions the first.
    window
        The side of the windows of an image, in places, that attention sees alone.
    """

    order: str | None = None
    norm: str | None = None
    attention: AttentionDetails | None = None
    feeding: MlpDetails | ExpertsDetails | None = None
    window: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConformerDetails(BlockDetails):
    """Of a Conformer block.

    Parameters
    ----------
    attention, feeding
        What is known of its attention, and of the first of both halves of an MLP.
    kernel
        The size of its depthwise convolution, in places.
    """

    attention: AttentionDetails | None = None
    feeding: MlpDetails | None = None
    kernel: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ConvolutionModuleDetails(BlockDetails):
    """Of the convolution module of a Conformer.

    Parameters
    ----------
    kernel
        As of a Conformer block.
    in_features
        How many features each place has.
    """

    kernel: int | None = None
    in_features: int | None = None
