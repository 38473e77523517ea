"""What is known of the models that tests have, from the papers and from the configurations.

The skeletons of :mod:`tests.zoo` have the depth of the networks that they are named after and
small widths: their numbers are those that ``tools/zoo`` states. Those of onnx's light models are in
the papers that are named beside them. Nothing here was read from what netloupe says of a model, so
that repeats, names of blocks, sizes and summaries can be held against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Blocks:
    """Alike blocks that follow one another.

    Parameters
    ----------
    name
        What a person calls one of them.
    counts
        How many there are in each uninterrupted run, in the order of the main stream; a run of
        one makes no stack.
    otherwise
        Other ways to count the same, as exact.
    may_lack
        Whether a person may draw them without a stack, for they are few or small.
    """

    name: str
    counts: tuple[int, ...]
    otherwise: tuple[tuple[int, ...], ...] = ()
    may_lack: bool = False


@dataclass(frozen=True)
class Architecture:
    """Facts of a model. What is None or empty is not known or makes no sense for it.

    Parameters
    ----------
    family
        In the words of its field.
    blocks
        Its blocks in the order of the main stream; those inside of others are left out. None
        where it is a matter of taste what the blocks are.
    any_order
        Whether the blocks are in branches, of which none is the first.
    width, inner_width
        Of the stream, and inside an MLP.
    heads, key_value_heads, head_width
        Of attention.
    vocabulary, positions, classes, outputs, patch, experts, used_experts
        Sizes: tokens, rows of learned positions, outputs of a classifier, outputs at each place,
        side of a patch in pixels, experts in a block and how many of them work on a token.
    stage_widths, stage_heads
        Where stages differ.
    words
        What a good summary says of it, too.
    numbers
        Others that a sentence may say: kernels, sizes of the input, strides.
    parameters
        How many are learned, each counted once. Batch normalization has two for each channel
        where the file holds it, and one where it has become the bias of its convolution.
    tied
        How many of them are token embeddings and output matrix at once. The older exporter writes
        them twice, once transposed; in skeletons the two are then filled with other values.
    """

    family: str
    blocks: tuple[Blocks, ...] | None = ()
    any_order: bool = False
    width: int | None = None
    inner_width: int | None = None
    heads: int | None = None
    key_value_heads: int | None = None
    head_width: int | None = None
    vocabulary: int | None = None
    positions: int | None = None
    classes: int | None = None
    outputs: int | None = None
    patch: int | None = None
    experts: int | None = None
    used_experts: int | None = None
    stage_widths: tuple[int, ...] = ()
    stage_heads: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    numbers: tuple[float, ...] = ()
    parameters: int | None = None
    tied: int = 0

    @property
    def counts(self) -> tuple[int, ...]:
        """The lengths of all runs of blocks, those of one included."""
        return tuple(count for blocks in self.blocks or () for count in blocks.counts)


def _transformer(count: int, name: str = "transformer block") -> tuple[Blocks, ...]:
    return (Blocks(name, (count,)),)


_TWO_STACKS = (Blocks("encoder block", (6,)), Blocks("decoder block", (6,)))
_RESNET_50 = Blocks("bottleneck block", (3, 4, 6, 3))

# encoders of text

BERT = Architecture(
    family="encoder-only transformer",
    blocks=_transformer(12),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    vocabulary=1000,
    positions=512,
    words=("post-norm", "LayerNorm", "GELU"),
    parameters=414_384,
)
#: the same network with other widths, which the folder beside the repository has
BERT_BESIDE = replace(BERT, width=96, inner_width=192, heads=12, head_width=8, parameters=1_052_256)
DISTILBERT = replace(BERT, blocks=_transformer(6), classes=2, parameters=244_754)
ALBERT = replace(BERT, words=(*BERT.words, "shared"), parameters=55_696)
#: relative positions in all blocks, and positions added to tokens besides, as the configuration has
#: it unless told otherwise (``position_biased_input``)
DEBERTA = replace(BERT, words=("post-norm", "LayerNorm", "GELU", "relative"), parameters=415_104)

# decoders of text

GPT2 = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(12),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    vocabulary=1000,
    positions=128,
    words=("pre-norm", "LayerNorm", "causal", "GELU"),
    parameters=393_504,
    tied=48_000,
)
GPT2_BESIDE = replace(
    GPT2,
    width=96,
    inner_width=384,
    heads=12,
    head_width=8,
    positions=256,
    parameters=1_462_848,
    tied=96_000,
)
#: a branch with a past and one without, each with the same six blocks
DISTILGPT2_MERGED = replace(
    GPT2,
    blocks=(Blocks("transformer block with past", (6,)), Blocks("transformer block", (6,))),
    any_order=True,
    parameters=223_872,
)
OPT = replace(
    GPT2, positions=130, words=("pre-norm", "LayerNorm", "causal", "ReLU"), parameters=393_600
)
BLOOM = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(24),
    width=64,
    inner_width=256,
    heads=8,
    head_width=8,
    vocabulary=1000,
    words=("pre-norm", "LayerNorm", "causal", "ALiBi", "GELU"),
    parameters=1_263_872,
    tied=64_000,
)
PYTHIA = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(6),
    width=64,
    inner_width=256,
    heads=4,
    head_width=16,
    vocabulary=1000,
    words=("parallel", "LayerNorm", "causal", "rotary", "GELU"),
    parameters=428_032,
)
LLAMA = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(16),
    width=64,
    inner_width=224,
    heads=8,
    key_value_heads=2,
    head_width=8,
    vocabulary=1000,
    words=("pre-norm", "RMSNorm", "causal", "grouped-query", "rotary", "SwiGLU"),
    parameters=982_080,
)
GEMMA = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(18),
    width=64,
    inner_width=256,
    heads=8,
    key_value_heads=1,
    head_width=16,
    vocabulary=1000,
    words=("pre-norm", "RMSNorm", "causal", "multi-query", "rotary", "GEGLU"),
    parameters=1_282_880,
    tied=64_000,
)
QWEN3 = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(28),
    width=64,
    inner_width=192,
    heads=8,
    key_value_heads=4,
    head_width=16,
    vocabulary=1000,
    words=("pre-norm", "RMSNorm", "causal", "grouped-query", "rotary", "SwiGLU"),
    parameters=1_788_864,
    tied=64_000,
)
MIXTRAL = Architecture(
    family="decoder-only transformer, mixture of experts",
    blocks=_transformer(32),
    width=64,
    inner_width=96,
    heads=8,
    key_value_heads=2,
    head_width=8,
    vocabulary=1000,
    experts=8,
    used_experts=2,
    words=("pre-norm", "RMSNorm", "causal", "grouped-query", "rotary", "SwiGLU", "experts"),
    parameters=5_194_816,
)
PHI = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(12),
    width=64,
    inner_width=256,
    heads=4,
    head_width=16,
    vocabulary=1000,
    words=("parallel", "LayerNorm", "causal", "rotary", "GELU"),
    parameters=727_400,
)
#: Gemma Team, Gemma 3 Technical Report, 2025, section 2: norms on both sides of each branch, and
#: one of six layers that sees all that came before
GEMMA3 = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(12),
    width=64,
    inner_width=256,
    heads=4,
    key_value_heads=1,
    head_width=16,
    vocabulary=1000,
    words=(
        *("pre- and post-norm", "RMSNorm", "causal", "multi-query", "rotary", "GEGLU"),
        "window 512 in 5 of 6",
    ),
    parameters=780_224,
    tied=64_000,
)
#: DeepSeek-AI, DeepSeek-V3 Technical Report, 2024, section 2.1: the first layer has an MLP, others
#: experts and one that takes every token
DEEPSEEK_V3 = Architecture(
    family="decoder-only transformer, mixture of experts",
    blocks=(Blocks("transformer block", (8,), otherwise=((1, 7),)),),
    heads=4,
    head_width=24,
    vocabulary=1000,
    experts=8,
    used_experts=2,
    words=(
        *("pre-norm", "RMSNorm", "causal", "latent attention", "32 latent features", "rotary"),
        "1 with SwiGLU 64 → 192 and 7 with 8 experts and 1 shared, 2 per token, SwiGLU 64 → 32",
    ),
    parameters=704_704,
)
#: T. Dao and A. Gu, Transformers are SSMs, 2024, section 7, with one of four layers of attention
BAMBA = Architecture(
    family="hybrid transformer-Mamba",
    blocks=(Blocks("block", (8,), otherwise=((2,), (3, 1, 3, 1))),),
    width=64,
    inner_width=192,
    head_width=16,
    vocabulary=1000,
    words=(
        *("pre-norm", "RMSNorm", "all causal", "SwiGLU"),
        "in turn 3 with Mamba-2 8 heads × 16 and 1 with grouped-query attention",
        "grouped-query attention 4 heads × 16 over 2, rotary",
    ),
    parameters=617_104,
)
#: of operators of ONNX Runtime, with weights of four bits
GENAI_LLAMA = Architecture(
    family="decoder-only transformer",
    blocks=_transformer(12),
    width=64,
    inner_width=192,
    heads=4,
    key_value_heads=2,
    head_width=16,
    vocabulary=1000,
    words=("pre-norm", "RMSNorm", "causal", "grouped-query", "rotary", "SwiGLU", "with past"),
    # two tables of 1,000 tokens, a norm at the end, and in a layer products and two norms
    parameters=2 * 64_000 + 64 + 12 * (64 * 128 + 64 * 64 + 3 * 64 * 192 + 2 * 64),
)
#: of ONNX's own operators; one of six layers sees all that came before
WINDOWED_DECODER = replace(GENAI_LLAMA, words=(*GENAI_LLAMA.words, "window 512 in 5 of 6"))
#: S. Yang and others, Gated Delta Networks, 2024, figure 1, and one of four layers with attention
GENAI_HYBRID = replace(
    GENAI_LLAMA,
    blocks=(Blocks("transformer block", (8,), otherwise=((2,), (3, 1, 3, 1))),),
    key_value_heads=None,
    head_width=None,
    words=(
        *("pre-norm", "RMSNorm", "SwiGLU", "with past"),
        "in turn 3 with linear attention 4 heads × 8, gated delta rule and 1 with grouped-query",
        "grouped-query attention 4 heads × 16 over 2, rotary, all causal",
    ),
    # tables, the last norm, and in a layer its MLP and two norms; then what mixes tokens
    parameters=2 * 64_000
    + 64
    + 8 * (3 * 64 * 192 + 2 * 64)
    + 2 * (64 * (128 + 2 * 32) + 64 * 64 + 2 * 16)
    + 6 * (64 * (96 + 32 + 2 * 4) + 96 * 4 + 2 * 4 + 8 + 32 * 64),
)
MAMBA = Architecture(
    family="state-space model",
    blocks=_transformer(24, "Mamba block"),
    width=32,
    inner_width=64,
    vocabulary=1000,
    words=("Mamba", "RMSNorm"),
)

# encoders and decoders

T5 = Architecture(
    family="encoder-decoder transformer",
    blocks=(Blocks("encoder block", (8,)), Blocks("decoder block", (8,))),
    width=32,
    inner_width=64,
    heads=4,
    head_width=8,
    vocabulary=1000,
    words=("pre-norm", "RMSNorm", "relative", "causal", "GEGLU"),
)
#: with the MLP of the first version, which has no gate
T5_BESIDE = replace(
    T5,
    width=64,
    inner_width=128,
    heads=8,
    head_width=8,
    words=("pre-norm", "RMSNorm", "relative", "causal", "ReLU"),
)
BART = Architecture(
    family="encoder-decoder transformer",
    blocks=_TWO_STACKS,
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    vocabulary=1000,
    positions=130,
    words=("post-norm", "LayerNorm", "causal", "GELU"),
    parameters=456_960,
    tied=48_000,
)
WHISPER = Architecture(
    family="encoder-decoder transformer",
    blocks=_TWO_STACKS,
    width=32,
    inner_width=64,
    heads=4,
    head_width=8,
    vocabulary=1000,
    positions=64,
    words=("pre-norm", "LayerNorm", "causal", "GELU"),
    tied=32_000,
)
WHISPER_BESIDE = replace(
    WHISPER, positions=None, tied=64_000, width=64, inner_width=128, head_width=16
)

# speech

#: each of them halves the rate or more: no stack
_WAVE = Blocks("convolution", (7,), may_lack=True)
WAV2VEC2 = Architecture(
    family="speech encoder",
    blocks=(_WAVE, Blocks("transformer block", (12,))),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    outputs=32,
    words=("post-norm", "LayerNorm", "GELU"),
    parameters=355_392,
)
CONFORMER = Architecture(
    family="Conformer",
    blocks=(_WAVE, Blocks("Conformer block", (16,))),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    outputs=32,
    words=("rotary",),
)

# images and text

CLIP = Architecture(
    family="two towers: vision transformer and text transformer",
    blocks=(Blocks("text block", (12,)), Blocks("vision block", (12,))),
    any_order=True,
    heads=4,
    vocabulary=1000,
    positions=77,
    patch=32,
    words=("pre-norm", "LayerNorm", "causal"),
    parameters=1_195_473,
)

# transformers of images

VIT = Architecture(
    family="vision transformer",
    blocks=_transformer(12),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    patch=16,
    classes=10,
    words=("pre-norm", "LayerNorm", "GELU"),
    parameters=386_266,
)
VIT_BESIDE = replace(VIT, width=96, heads=12, head_width=8, classes=2, parameters=None)
#: Liu et al., Swin Transformer, 2021, table 7: the smallest. Blocks alternate between windows and
#: shifted windows (figure 3b), but in the last stage, which is one window: pairs are as exact
SWIN = Architecture(
    family="windowed vision transformer",
    blocks=(
        Blocks("Swin block", (2,), otherwise=((1,),)),
        Blocks("Swin block", (2,), otherwise=((1,),)),
        Blocks("Swin block", (6,), otherwise=((3,),)),
        Blocks("Swin block", (2,)),
    ),
    stage_widths=(12, 24, 48, 96),
    stage_heads=(1, 2, 4, 8),
    patch=4,
    classes=10,
    words=("windows", "LayerNorm", "GELU", "relative"),
    parameters=445_940,
)
#: Xie et al., SegFormer, 2021, table 6: the smallest encoder
SEGFORMER = Architecture(
    family="hierarchical vision transformer",
    blocks=(
        Blocks("transformer block", (2, 2, 2, 2)),
        Blocks("projection of a stage", (4,), may_lack=True),
    ),
    stage_widths=(16, 32, 40, 64),
    stage_heads=(1, 2, 5, 8),
    classes=10,
    words=("LayerNorm", "GELU"),
)
SEGFORMER_BESIDE = replace(SEGFORMER, classes=2)
#: Kirillov et al., Segment Anything, 2023: windows in all blocks but the last of each three
SAM_ENCODER = Architecture(
    family="vision transformer",
    blocks=(Blocks("transformer block", (12,), otherwise=((4,),)),),
    width=48,
    inner_width=192,
    heads=4,
    head_width=12,
    patch=16,
    words=("pre-norm", "LayerNorm", "GELU", "relative"),
    parameters=439_696,
)

# convolutional classifiers

#: He et al., Deep Residual Learning, 2016, table 1
RESNET_50 = Architecture(
    family="residual CNN (bottleneck)",
    blocks=(_RESNET_50,),
    stage_widths=(32, 64, 128, 256),
    classes=10,
    parameters=376_722,
)
#: Howard et al., Searching for MobileNetV3, 2019, table 1, by channels
MOBILENET_V3 = Architecture(
    family="inverted-residual CNN",
    blocks=(Blocks("inverted residual", (1, 2, 3, 4, 2, 3)),),
    stage_widths=(4, 6, 10, 20, 28, 40),
    classes=10,
    words=("squeeze-and-excitation", "hard swish"),
    parameters=285_886,
)
#: Sandler et al., MobileNetV2, 2018, table 2
MOBILENET_V2 = Architecture(
    family="inverted-residual CNN",
    blocks=(Blocks("inverted residual", (1, 2, 3, 4, 3, 3, 1)),),
    classes=10,
)
#: Tan and Le, EfficientNet, 2019, table 1
EFFICIENTNET = Architecture(
    family="inverted-residual CNN",
    blocks=(Blocks("inverted residual", (1, 2, 2, 3, 3, 4, 1)),),
    classes=10,
    words=("squeeze-and-excitation", "SiLU"),
)
#: Liu et al., A ConvNet for the 2020s, 2022: the smallest
CONVNEXT = Architecture(
    family="ConvNeXt",
    blocks=(Blocks("ConvNeXt block", (3, 3, 9, 3)),),
    stage_widths=(8, 16, 32, 64),
    classes=10,
    words=("LayerNorm", "GELU"),
    parameters=223_890,
)
#: Huang et al., Densely Connected Convolutional Networks, 2017, table 1
DENSENET = Architecture(
    family="densely connected CNN",
    blocks=(Blocks("dense layer", (6, 12, 24, 16)),),
    classes=10,
)
DENSENET_BESIDE = replace(DENSENET, classes=100)

# images to boxes and to images

DETR = Architecture(
    family="detection transformer",
    blocks=(_RESNET_50, Blocks("encoder block", (6,)), Blocks("decoder block", (6,))),
    width=32,
    inner_width=64,
    heads=4,
    head_width=8,
    words=("bottleneck",),
)
#: Zhao et al., DETRs Beat YOLOs on Real-time Object Detection, 2024, figures 4 and 5, with a
#: ResNet-50 whose stem is three convolutions (He et al., Bag of Tricks, 2019, figure 2b): two
#: fusions of three scales down and two up, in each three RepVGG blocks
RTDETR = replace(
    DETR,
    blocks=(
        Blocks("convolution of the stem", (2,), may_lack=True),  # the third is twice as wide
        _RESNET_50,
        # two fusions up and two down, each at another resolution; three blocks in each
        Blocks("block of a fusion", (3, 3, 3, 3), may_lack=True),
        Blocks("decoder block", (6,)),
    ),
)
YOLOV8 = Architecture(family="one-stage detector", blocks=None, words=("C2f",))
DIFFUSION_UNET = Architecture(
    family="UNet with cross-attention",
    blocks=None,
    stage_widths=(16, 32, 64, 64),
    heads=2,
)
VAE_DECODER = Architecture(
    family="convolutional decoder",
    blocks=(Blocks("residual block", (3, 3, 3, 3)),),
    stage_widths=(64, 64, 32, 16),
    parameters=779_639,
)
#: Ronneberger et al., U-Net, 2015, figure 1
SEGMENTATION_UNET = Architecture(
    family="UNet",
    blocks=None,
    stage_widths=(8, 16, 32, 64, 128),
    classes=2,
    parameters=485_826,
)
#: Shi et al., Real-Time Single Image Super-Resolution, 2016
ESPCN = Architecture(family="super-resolution CNN", words=("pixel shuffle",), parameters=22_729)

# recurrent networks

LSTM = Architecture(
    family="recurrent network",
    blocks=(Blocks("bidirectional LSTM", (2,)), Blocks("GRU", (1,))),
    vocabulary=100,
    classes=5,
    words=("LSTM", "GRU"),
)
LSTM_BESIDE = replace(LSTM, blocks=(Blocks("bidirectional LSTM", (3,)), Blocks("GRU", (2,))))
GRU = Architecture(
    family="recurrent network",
    blocks=(Blocks("GRU", (2,)),),
    classes=5,
    words=("GRU",),
    parameters=3_349,
)
LSTM_CELLS = Architecture(
    family="recurrent network",
    blocks=(Blocks("step", (8,)),),
    classes=5,
    words=("LSTM",),
    parameters=1_121,
)
GRU_CELLS = replace(LSTM_CELLS, words=("GRU",), parameters=857)

#: nothing is to be claimed of these: they only show operators
MODEST = Architecture(family="", blocks=None)


def _both(name: str, architecture: Architecture) -> dict[str, Architecture]:
    """Return what is known of a network that both exporters of torch wrote."""
    return {f"exported/{name}.{exporter}.onnx": architecture for exporter in ("legacy", "dynamo")}


#: by the names of :mod:`tests.corpus`
ZOO_ARCHITECTURES: dict[str, Architecture] = {
    **_both("albert", ALBERT),
    **_both("bamba", BAMBA),
    **_both("bart", BART),
    **_both("bert", BERT),
    **_both("bloom", BLOOM),
    **_both("clip", CLIP),
    **_both("conformer", CONFORMER),
    **_both("convnext", CONVNEXT),
    **_both("deberta", DEBERTA),
    **_both("deepseek_v3", DEEPSEEK_V3),
    **_both("densenet", DENSENET),
    **_both("detr", DETR),
    **_both("distilbert", DISTILBERT),
    "exported/distilgpt2_merged.legacy.onnx": DISTILGPT2_MERGED,
    **_both("efficientnet", EFFICIENTNET),
    **_both("espcn", ESPCN),
    **_both("gemma", GEMMA),
    **_both("gemma3", GEMMA3),
    **_both("gpt2", GPT2),
    **_both("gpt2_past", GPT2),
    **_both("gru", GRU),
    **_both("gru_cells", GRU_CELLS),
    **_both("llama", LLAMA),
    **_both("llama_past", LLAMA),
    "exported/lstm.legacy.onnx": LSTM,
    "exported/lstm.legacy-functions.onnx": LSTM,
    **_both("lstm_cells", LSTM_CELLS),
    **_both("mamba", MAMBA),
    **_both("mixtral", MIXTRAL),
    **_both("mobilenetv2", MOBILENET_V2),
    **_both("mobilenetv3", MOBILENET_V3),
    **_both("opt", OPT),
    **_both("phi", PHI),
    **_both("pythia", PYTHIA),
    **_both("qwen3", QWEN3),
    **_both("resnet50", RESNET_50),
    **_both("rtdetr", RTDETR),
    **_both("sam_encoder", SAM_ENCODER),
    **_both("segformer", SEGFORMER),
    **_both("segmentation_unet", SEGMENTATION_UNET),
    **_both("swin", SWIN),
    **_both("t5", T5),
    **_both("unet", DIFFUSION_UNET),
    **_both("vae_decoder", VAE_DECODER),
    **_both("vit", VIT),
    **_both("wav2vec2", WAV2VEC2),
    **_both("whisper", WHISPER),
    **_both("yolov8", YOLOV8),
    "built/genai_hybrid.onnx": GENAI_HYBRID,
    "built/genai_llama.matmulnbits_int4.onnx": GENAI_LLAMA,
    "built/windowed_decoder.opset28.onnx": WINDOWED_DECODER,
    "exported/condloop.dynamo.onnx": MODEST,
    "exported/scripted.legacy.onnx": MODEST,
    "quantized/bert.dynamic.onnx": BERT,
    "quantized/bert.matmulnbits_int4.onnx": BERT,
    "quantized/bert.qdq.onnx": BERT,
    "quantized/bert.qoperator_perchannel.onnx": BERT,
    "quantized/llama.matmulnbits_int4.onnx": LLAMA,
    "quantized/mobilenetv3.qoperator.onnx": MOBILENET_V3,
    "quantized/resnet50.qdq.onnx": replace(RESNET_50, parameters=373_402),
}

_BLOCKLESS_TREES = Architecture(family="tree ensemble")
#: of the folder beside the repository
BESIDE_ARCHITECTURES: dict[str, Architecture] = {
    **_both("bert", BERT_BESIDE),
    "exported/condloop.dynamo.onnx": MODEST,
    "exported/densenet.legacy.onnx": DENSENET_BESIDE,
    "exported/gpt2.legacy.onnx": GPT2_BESIDE,
    "exported/lstm.legacy.onnx": LSTM_BESIDE,
    "exported/lstm.legacy-functions.onnx": LSTM_BESIDE,
    "exported/scripted.legacy.onnx": MODEST,
    "exported/segformer.dynamo.onnx": SEGFORMER_BESIDE,
    "exported/t5.legacy.onnx": T5_BESIDE,
    "exported/unet.dynamo.onnx": replace(DIFFUSION_UNET, stage_widths=(), heads=8),
    "exported/vit.dynamo.onnx": VIT_BESIDE,
    "exported/whisper.dynamo.onnx": WHISPER_BESIDE,
    **{
        f"quantized/bert.{way}.onnx": BERT_BESIDE
        for way in ("dynamic", "matmulnbits_int4", "qdq", "qoperator_perchannel")
    },
    "sklearn/adaboost.onnx": Architecture(
        family="tree ensemble", blocks=(Blocks("estimator", (20,)),), classes=3
    ),
    "sklearn/extratrees_reg.onnx": replace(_BLOCKLESS_TREES, words=("50 trees",)),
    "sklearn/gbdt_regressor.onnx": replace(_BLOCKLESS_TREES, words=("200 trees",)),
    "sklearn/isolation_forest.onnx": Architecture(
        family="tree ensemble", blocks=(Blocks("tree", (50,)),)
    ),
    "sklearn/kmeans.onnx": Architecture(family="k-means", words=("5 clusters",)),
    "sklearn/logreg_zipmap_int.onnx": Architecture(family="linear classifier", classes=3),
    "sklearn/logreg_zipmap_str.onnx": Architecture(family="linear classifier", classes=3),
    "sklearn/mlp.onnx": Architecture(
        family="MLP", classes=3, words=("10 → 32 → 16 → 3",), parameters=931
    ),
    "sklearn/stacking.onnx": Architecture(family="stacked classifiers", classes=3),
    "sklearn/svc.onnx": Architecture(family="support vector classifier", classes=3),
    "sklearn/titanic_pipeline.onnx": Architecture(
        family="tree ensemble", classes=3, words=("20 trees",)
    ),
}

_CLASSES = 1000
#: of the onnx package, by the names of :data:`tests.corpus.LIGHT_MODELS`
LIGHT_ARCHITECTURES: dict[str, Architecture] = {
    # Krizhevsky et al., ImageNet Classification, 2012, figure 2, with its two groups
    "light_bvlc_alexnet.onnx": Architecture(
        family="CNN",
        blocks=(
            Blocks("convolution", (3,), may_lack=True),
            Blocks("linear", (2,), may_lack=True),
        ),
        classes=_CLASSES,
        parameters=60_965_224,
    ),
    "light_densenet121.onnx": replace(DENSENET, classes=_CLASSES),
    # Szegedy et al., Going Deeper with Convolutions, 2015, table 1, and figure 2b: four branches
    "light_inception_v1.onnx": Architecture(
        family="Inception CNN",
        blocks=(Blocks("Inception block", (2, 5, 2)),),
        classes=_CLASSES,
        numbers=(4,),
    ),
    # Ioffe and Szegedy, Batch Normalization, 2015, figure 5: 3c and 4e halve the size
    "light_inception_v2.onnx": Architecture(
        family="Inception CNN",
        blocks=(Blocks("Inception block", (2, 1, 4, 1, 2)),),
        classes=_CLASSES,
    ),
    "light_resnet50.onnx": replace(
        RESNET_50, stage_widths=(256, 512, 1024, 2048), classes=_CLASSES, parameters=None
    ),
    # Zhang et al., ShuffleNet, 2018, table 1
    "light_shufflenet.onnx": Architecture(
        family="ShuffleNet", blocks=(Blocks("ShuffleNet unit", (4, 8, 4)),), classes=_CLASSES
    ),
    # Iandola et al., SqueezeNet, 2016; version 1.1 pools after the fires 3 and 5
    "light_squeezenet.onnx": Architecture(
        family="SqueezeNet",
        blocks=(Blocks("fire module", (2, 2, 4)),),
        classes=_CLASSES,
        parameters=1_235_496,
    ),
    # Simonyan and Zisserman, Very Deep Convolutional Networks, 2015, table 1, column E
    "light_vgg19.onnx": Architecture(
        family="CNN",
        blocks=(
            Blocks("convolution", (2, 2, 4, 4, 4)),
            Blocks("linear", (2,), may_lack=True),
        ),
        stage_widths=(64, 128, 256, 512, 512),
        classes=_CLASSES,
        parameters=143_667_240,
    ),
    # Chatfield et al., Return of the Devil in the Details, 2014; Zeiler and Fergus, 2014
    "light_zfnet512.onnx": Architecture(
        family="CNN",
        blocks=(
            Blocks("convolution", (3,), may_lack=True),
            Blocks("linear", (2,), may_lack=True),
        ),
        classes=_CLASSES,
    ),
}
