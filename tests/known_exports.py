"""What is known of networks that are only drawn and measured: further exports, and skeletons.

The exports are those whose numbers ``tools/zoo`` states in ``dense_maps.py``, ``sound.py``,
``graphs.py``, ``control.py``, ``tables.py``, ``science.py``, ``adversarial.py``, ``pyramids.py``
and ``sequences.py``. The skeletons are in the folder ``architectures`` beside the repository; their
numbers are those of the papers and of the weights.
"""

from __future__ import annotations

from dataclasses import replace

from .known_architectures import Architecture, Blocks


def _runs(
    name: str, *counts: int, otherwise: tuple[tuple[int, ...], ...] = (), may_lack: bool = False
) -> Blocks:
    return Blocks(name, counts, otherwise, may_lack)


def _both(name: str, architecture: Architecture) -> dict[str, Architecture]:
    return {
        f"architectures/{name}.{exporter}.onnx": architecture for exporter in ("legacy", "dynamo")
    }


_TOWER = _runs("bottleneck block", 3, 4, 6, 3)

#: by the names of :mod:`tests.corpus`
EXPORTED_ARCHITECTURES: dict[str, Architecture] = {
    # images to maps
    "exported/hrnet.legacy.onnx": Architecture(
        family="high-resolution network",
        blocks=(
            _runs("bottleneck block", 4),
            _runs("block of a lane", 4, 4, otherwise=((2,),), may_lack=True),
            _runs("module", 4),
            # of the last module only the finest lane goes on
            _runs("module", 3, otherwise=((2,), (2, 4), (2, 4, 3), (2, 4, 4, 4, 4))),
        ),
        stage_widths=(8, 16, 32, 64),
        outputs=17,
        numbers=(1, 3, 4, 128, 32, 104, 43, 29),
        parameters=None,
    ),
    "exported/deeplabv3.dynamo.onnx": Architecture(
        family="atrous CNN",
        blocks=(_TOWER, _runs("atrous convolution", 3, otherwise=((4,), (5,)), may_lack=True)),
        stage_widths=(32, 64, 128, 256),
        classes=None,
        outputs=21,
        numbers=(2, 4, 12, 24, 36, 128, 1, 3, 5, 7, 8),
    ),
    "exported/u2net.legacy.onnx": Architecture(
        family="nested U",
        blocks=None,
        stage_widths=(8, 16, 32, 64),
        numbers=(11, 6, 5, 7, 4, 1, 128, 3, 2),
        # of entries, of sides and of what puts these together
        words=("18 convolutions",),
    ),
    # sound
    "exported/hifigan.legacy.onnx": Architecture(
        family="vocoder",
        # a level has another width than the next, and three branches
        blocks=(_runs("level", 4, otherwise=((3, 3, 3, 3),), may_lack=True),),
        stage_widths=(64, 32, 16, 8, 4),
        numbers=(80, 3, 7, 11, 9, 12, 8, 2, 5, 1, 256, 36),
    ),
    "exported/demucs.dynamo.onnx": Architecture(
        family="convolutional encoder-decoder with LSTM",
        blocks=(
            # each level has another width; the last one of the decoder has no activation
            _runs("encoder level", 6, may_lack=True),
            _runs("LSTM layer", 2, may_lack=True),
            _runs("decoder level", 6, otherwise=((5,),), may_lack=True),
        ),
        stage_widths=(8, 16, 32, 64, 128, 256),
        numbers=(4, 2, 8, 512, 1, 3),
    ),
    # graphs and molecules
    "exported/graphsage.legacy.onnx": Architecture(
        family="graph network",
        blocks=(_runs("layer", 3, otherwise=((2,),), may_lack=True),),
        width=64,
        outputs=7,
        numbers=(32, 6),
    ),
    "exported/egnn.dynamo.onnx": Architecture(
        family="graph network",
        blocks=(_runs("layer", 7),),
        width=32,
        numbers=(15, 65, 64, 3, 1, 21, 23, 2),
    ),
    "exported/schnet.legacy.onnx": Architecture(
        family="graph network",
        blocks=(_runs("interaction", 6),),
        width=32,
        numbers=(50, 100, 16, 1, 3, 5, 30, 31, 2),
    ),
    # control
    "exported/actor_critic.dynamo.onnx": Architecture(
        family="CNN",
        blocks=(_runs("convolution", 3, otherwise=((2,),), may_lack=True),),
        stage_widths=(8, 16),
        numbers=(4, 84, 784, 128, 6, 1, 2, 255, 3),
    ),
    "exported/alphazero.legacy.onnx": Architecture(
        family="residual CNN",
        blocks=(_runs("residual block", 19),),
        width=16,
        numbers=(17, 362, 722, 361, 64, 2, 1, 3),
    ),
    "exported/diffusion_policy.legacy.onnx": Architecture(
        family="UNet",
        blocks=(_runs("residual block", 2, 2, 2, 2, 2, 2),),
        stage_widths=(16, 32, 64),
        numbers=(3, 7, 20, 128, 52, 1),
    ),
    # tables, series and sets
    "exported/dlrm.legacy.onnx": Architecture(
        family="recommender",
        blocks=(
            _runs("table", 8, otherwise=((3,), (3, 8), (8, 3)), may_lack=True),
            _runs("layer", 3, otherwise=((2,),), may_lack=True),
        ),
        any_order=True,
        width=16,
        numbers=(13, 64, 32, 52, 36, 9, 1, 26),
    ),
    "exported/tabnet.legacy.onnx": Architecture(
        family="attention over features",
        blocks=(_runs("GLU layer", 3), _runs("step", 3)),
        width=8,
        numbers=(3, 14, 2, 4, 16, 32, 11, 13, 1),
    ),
    "exported/nbeats.dynamo.onnx": Architecture(
        family="residual MLP",
        blocks=(_runs("block", 30),),
        width=32,
        # the sentence tells the last block, which has no backcast, by itself
        numbers=(6, 4, 2, 29),
    ),
    "exported/tft.legacy.onnx": Architecture(
        family="temporal fusion transformer",
        blocks=None,
        width=32,
        numbers=(4, 8, 2, 3, 1, 24, 6, 64, 20, 5, 11),
    ),
    "exported/set_transformer.dynamo.onnx": Architecture(
        family="set transformer",
        blocks=(_runs("induced attention block", 2), _runs("attention block", 2)),
        width=32,
        heads=4,
        head_width=8,
        outputs=5,
        numbers=(16, 5),
    ),
    # science
    "exported/pinn.legacy.onnx": Architecture(
        family="MLP",
        blocks=(_runs("layer", 8, otherwise=((7,),)),),
        width=32,
        numbers=(3, 16, 9),
    ),
    "exported/neural_ode.dynamo.onnx": Architecture(
        family="unrolled solver",
        blocks=(_runs("step", 10),),
        width=16,
        numbers=(28, 17, 64, 4, 40),
    ),
    "exported/fno.legacy.onnx": Architecture(
        family="neural operator",
        blocks=(_runs("Fourier layer", 4),),
        width=16,
        numbers=(2, 12, 64, 1),
    ),
    "exported/evoformer.dynamo.onnx": Architecture(
        family="pair and alignment transformer",
        # each has two tracks of attention along rows and columns, and what feeds forward
        blocks=(_runs("Evoformer block", 8), _runs("track of a block", 2, may_lack=True)),
        width=32,
        heads=4,
        head_width=8,
        numbers=(16, 2, 23, 65, 64, 128, 15, 10, 76, 48),
    ),
    # images made, judged and compared
    "exported/vqvae.legacy.onnx": Architecture(
        family="vector-quantized autoencoder",
        blocks=(_runs("residual block", 2, 2),),
        width=32,
        numbers=(512, 16, 3, 4, 8, 1),
    ),
    "exported/stylegan2.legacy.onnx": Architecture(
        family="style-based generator",
        blocks=(_runs("layer of the mapping", 8), _runs("resolution", 4, may_lack=True)),
        stage_widths=(64, 32, 16, 8),
        numbers=(4, 32, 5, 3, 512, 1, 2, 9),
        # each of eight layers, the first, and what makes a picture of each of five resolutions
        words=("14 modulated convolutions",),
    ),
    "exported/wgan_critic.dynamo.onnx": Architecture(
        family="CNN",
        blocks=(_runs("convolution", 4, otherwise=((3,),), may_lack=True),),
        stage_widths=(8, 16, 32, 64),
        outputs=1,
        numbers=(3, 1024, 5),
    ),
    "exported/siamese.dynamo.onnx": Architecture(
        family="twin CNN",
        blocks=(
            _runs("tower", 2),
            _runs("convolution", 4, otherwise=((3,),), may_lack=True),
        ),
        stage_widths=(8, 16, 32),
        outputs=1,
        numbers=(2, 1152, 64, 3, 105, 7, 10),
    ),
    # detection, video, other images
    "exported/retinanet.dynamo.onnx": Architecture(
        family="one-stage detector",
        blocks=(
            _TOWER,
            _runs("step of the pyramid", 2, may_lack=True),
            _runs("level or layer of a head", 5, otherwise=((5, 5), (4, 4), (4,)), may_lack=True),
        ),
        width=16,
        stage_widths=(16, 32, 64, 128),
        numbers=(9, 20, 180, 36, 5, 4, 3, 7, 8, 10),
    ),
    "exported/yolox.legacy.onnx": Architecture(
        family="one-stage detector",
        blocks=(
            _runs("bottleneck block", 3, 9, 9, 3),
            _runs("bottleneck block of the pyramid", 3, 3, 3, 3),
            _runs("head", 3, may_lack=True),
        ),
        stage_widths=(8, 16, 32, 64, 128),
        numbers=(4, 12, 20, 25, 3, 5, 21, 22, 41, 53, 34),
    ),
    "exported/poolformer.legacy.onnx": Architecture(
        family="pooling transformer",
        blocks=(_runs("PoolFormer block", 2, 2, 6, 2),),
        stage_widths=(8, 16, 40, 64),
        outputs=10,
        numbers=(3, 4, 7),
    ),
    "exported/mobilevit.dynamo.onnx": Architecture(
        family="CNN with transformer blocks",
        blocks=(
            _runs("inverted residual", 3, otherwise=((2,),), may_lack=True),
            _runs("transformer block", 2, 4, 3),
        ),
        heads=4,
        stage_widths=(8, 12, 16, 24, 32),
        outputs=10,
        numbers=(32, 40, 48, 64, 80, 96, 128, 7, 3, 8, 10, 12),
    ),
    "exported/capsules.legacy.onnx": Architecture(
        family="capsule network",
        blocks=(_runs("round of routing", 3, otherwise=((2,),), may_lack=True),),
        numbers=(16, 32, 144, 8, 10, 9, 2, 1),
        words=("1,440 ×",),  # a matrix for each of 144 capsules and 10 digits
    ),
    "exported/r2plus1d.dynamo.onnx": Architecture(
        family="video CNN",
        blocks=(_runs("residual block", 2, 2, 2, 2),),
        stage_widths=(8, 16, 32, 64),
        outputs=12,
        numbers=(3, 1, 18, 7),
    ),
    # sequences and speech
    "exported/rwkv.legacy.onnx": Architecture(
        family="RWKV",
        blocks=(_runs("block", 12),),
        width=32,
        inner_width=128,
        vocabulary=500,
        numbers=(4, 84, 7),
    ),
    "exported/crnn.legacy.onnx": Architecture(
        family="convolutional recurrent network",
        blocks=(
            _runs("convolution", 7, otherwise=((2,), (2, 2), (3,)), may_lack=True),
            _runs("LSTM layer", 2, may_lack=True),
        ),
        stage_widths=(8, 16, 32, 64),
        outputs=37,
        numbers=(1, 26, 6, 3),
    ),
    "exported/turing_machine.legacy.onnx": Architecture(
        family="memory network",
        blocks=(_runs("step", 6),),
        width=32,
        numbers=(9, 16, 25, 8, 7, 48, 3),
    ),
    "exported/fastspeech2.dynamo.onnx": Architecture(
        family="speech synthesis transformer",
        blocks=(
            _runs("encoder block", 4),
            _runs("decoder block", 4),
            _runs("convolution of the postnet", 5, otherwise=((4,), (3,)), may_lack=True),
        ),
        width=32,
        inner_width=128,
        heads=2,
        head_width=16,
        vocabulary=80,
        numbers=(80, 256, 3, 9, 200),
    ),
    "exported/tacotron2.legacy.onnx": Architecture(
        family="attentive recurrent decoder",
        blocks=(
            _runs("convolution", 3, may_lack=True),
            _runs("step", 8),
            _runs("convolution of the postnet", 5, otherwise=((4,), (3,)), may_lack=True),
        ),
        width=32,
        vocabulary=60,
        numbers=(80, 64, 16, 5, 31, 2),
    ),
    "exported/perceiver.dynamo.onnx": Architecture(
        family="Perceiver",
        blocks=(_runs("transformer block", 6),),
        width=32,
        heads=4,
        head_width=8,
        vocabulary=262,
        positions=64,
        outputs=5,
        numbers=(16, 24, 1, 6),
    ),
    "exported/decision_transformer.dynamo.onnx": Architecture(
        family="decoder-only transformer",
        blocks=(_runs("transformer block", 3),),
        width=32,
        inner_width=128,
        heads=1,
        head_width=32,
        numbers=(17, 6, 64, 20, 1),
    ),
}


def _transformer(count: int, width: int, inner: int, heads: int, **facts: int) -> Architecture:
    return Architecture(
        family="transformer",
        blocks=(_runs("transformer block", count),),
        width=width,
        inner_width=inner,
        heads=heads,
        head_width=width // heads,
        **facts,  # type: ignore[arg-type]  # all of these are numbers
    )


_SHUFFLE = Architecture(
    family="ShuffleNet",
    # the first unit of a stage halves the resolution
    blocks=(_runs("ShuffleNet unit", 4, 8, 4, otherwise=((3, 7, 3),)),),
    stage_widths=(24, 48, 96),
    outputs=10,
    numbers=(192, 1024, 2, 3),
)
_PAIR = (_runs("encoder block", 3), _runs("decoder block", 3))

#: of the folder ``architectures`` beside the repository
SKELETON_ARCHITECTURES: dict[str, Architecture] = {
    **_both(
        "bilstm_tagger",
        Architecture(
            family="recurrent network",
            blocks=(_runs("bidirectional LSTM", 1),),
            width=32,
            vocabulary=200,
            outputs=9,
            numbers=(24, 64, 2),
        ),
    ),
    "architectures/coatnet.legacy.onnx": Architecture(
        family="CNN and transformer",
        blocks=(_runs("inverted residual", 3, 4), _runs("transformer block", 6, 3)),
        stage_widths=(64, 128, 256, 512),
        outputs=10,
        numbers=(7, 9, 4, 32, 8, 16, 3, 224, 1, 1024, 2048),
    ),
    **_both(
        "dcgan",
        Architecture(
            family="convolutional generator",
            blocks=(_runs("upsampling", 5, otherwise=((4,), (3,)), may_lack=True),),
            stage_widths=(256, 128, 64, 32),
            numbers=(3, 5, 4, 2),
        ),
    ),
    "architectures/deepseekv3.dynamo.onnx": Architecture(
        family="decoder-only transformer, mixture of experts",
        blocks=(_runs("transformer block", 6, otherwise=((2, 4),)),),
        width=64,
        inner_width=128,
        heads=4,
        head_width=24,
        vocabulary=1000,
        experts=8,
        used_experts=2,
        numbers=(16, 32, 1, 2, 4, 3),
    ),
    "architectures/depth_anything.legacy.onnx": Architecture(
        family="vision transformer with a decoder of depth",
        blocks=(
            _runs("transformer block", 4),
            _runs("fusion", 4, otherwise=((3,), (2,)), may_lack=True),
        ),
        width=48,
        inner_width=192,
        heads=4,
        head_width=12,
        patch=14,
        numbers=(70, 1, 3, 8, 16),
    ),
    **_both(
        "dit",
        replace(
            _transformer(6, 48, 192, 4, patch=2, positions=64), numbers=(32, 11, 288, 96, 10, 8)
        ),
    ),
    **_both("electra", _transformer(6, 48, 96, 4, vocabulary=1000, positions=512, outputs=1)),
    "architectures/electra_dyn.onnx": _transformer(
        6, 48, 96, 4, vocabulary=1000, positions=512, outputs=1
    ),
    "architectures/fnet.dynamo.onnx": Architecture(
        family="encoder-only Fourier network",
        blocks=(_runs("block", 6),),
        width=48,
        inner_width=96,
        vocabulary=1000,
        numbers=(12, 512),
    ),
    "architectures/ft_transformer.legacy.onnx": Architecture(
        family="transformer of features",
        blocks=(_runs("table", 3, may_lack=True), _runs("transformer block", 3)),
        width=32,
        inner_width=64,
        heads=4,
        head_width=8,
        outputs=1,
        numbers=(6, 3, 9, 10),
    ),
    "architectures/gemma3.dynamo.onnx": Architecture(
        family="decoder-only transformer",
        blocks=(_runs("transformer block", 12),),
        width=64,
        inner_width=128,
        heads=4,
        key_value_heads=1,
        head_width=16,
        vocabulary=1000,
        numbers=(5, 6, 2, 10),
    ),
    **_both(
        "hyena",
        Architecture(
            family="long convolutions",
            blocks=(_runs("block", 6),),
            width=32,
            inner_width=128,
            vocabulary=300,
            numbers=(96, 3),
        ),
    ),
    "architectures/marian.legacy.onnx": Architecture(
        family="encoder-decoder transformer",
        blocks=(_runs("encoder block", 6), _runs("decoder block", 6)),
        width=48,
        inner_width=96,
        heads=4,
        head_width=12,
        vocabulary=1000,
    ),
    "architectures/maxvit.legacy.onnx": Architecture(
        family="windowed vision transformer",
        blocks=(_runs("MaxViT block", 1, 2, 3, 1),),
        stage_widths=(64, 128, 256, 512),
        stage_heads=(2, 4, 8, 16),
        outputs=10,
        numbers=(8, 32, 4, 16),
    ),
    **_both(
        "mlpmixer",
        Architecture(
            family="MLP-Mixer",
            blocks=(_runs("mixer block", 8),),
            width=64,
            inner_width=256,
            patch=16,
            outputs=10,
            numbers=(16, 32, 4),
        ),
    ),
    **_both(
        "nerf",
        Architecture(
            family="field of radiance",
            blocks=None,
            width=64,
            numbers=(8, 39, 27, 91, 103, 3, 1, 32, 6, 4, 10, 2, 5),
        ),
    ),
    **_both(
        "nn_transformer",
        Architecture(
            family="encoder-decoder transformer",
            blocks=_PAIR,
            width=32,
            inner_width=64,
            heads=4,
            head_width=8,
            vocabulary=200,
        ),
    ),
    "architectures/phi.dynamo.onnx": _transformer(8, 64, 128, 4, vocabulary=1000),
    **_both(
        "pointnet",
        Architecture(
            family="point network",
            blocks=(_runs("shared layer", 3, otherwise=((2,),), may_lack=True),),
            outputs=40,
            numbers=(3, 32, 64, 128, 9, 1024),
        ),
    ),
    "architectures/pvt.dynamo.onnx": Architecture(
        family="hierarchical vision transformer",
        blocks=(_runs("transformer block", 2, 2, 2, 2),),
        stage_widths=(32, 64, 160, 256),
        stage_heads=(1, 2, 5, 8),
        outputs=10,
        numbers=(4, 8, 7, 128, 320, 512, 640, 1024),
    ),
    "architectures/raft.legacy.onnx": Architecture(
        family="recurrent flow network",
        blocks=(
            _runs("residual block", 2, 2, 2, may_lack=True),
            _runs("residual block", 2, 2, 2, may_lack=True),
            _runs("iteration", 6),
        ),
        numbers=(128, 96, 64, 32, 4, 7, 2, 160, 196, 3, 242),
    ),
    "architectures/sam_mask_decoder.legacy.onnx": Architecture(
        family="two-way transformer",
        blocks=(
            _runs("two-way block", 2, may_lack=True),
            _runs("layer of a head", 4, otherwise=((3,),), may_lack=True),
        ),
        width=64,
        inner_width=128,
        heads=4,
        numbers=(2, 3, 4, 5, 8, 16, 32),
    ),
    **_both(
        "seq2seq_attn",
        Architecture(
            family="recurrent encoder-decoder",
            blocks=(_runs("LSTM layer", 2, may_lack=True), _runs("step", 8)),
            width=32,
            vocabulary=500,
            numbers=(64, 96, 2),
        ),
    ),
    **_both("shufflenetv2", _SHUFFLE),
    "architectures/shufflenetv2_qdq.onnx": _SHUFFLE,
    "architectures/sk_gbm.onnx": Architecture(
        family="tree ensemble", classes=3, words=("60 trees",)
    ),
    "architectures/sk_mlp.onnx": Architecture(
        family="MLP", classes=3, words=("4 → 32 → 16 → 3",), parameters=None
    ),
    "architectures/sk_pipeline.onnx": Architecture(family="linear classifier", classes=2),
    "architectures/sk_rf_reg.onnx": Architecture(family="tree ensemble", words=("30 trees",)),
    "architectures/sk_stack.onnx": Architecture(family="stacked classifiers", classes=3),
    "architectures/squeezenet.legacy.onnx": Architecture(
        family="SqueezeNet",
        blocks=(_runs("fire module", 2, 2, 4, otherwise=((2, 2, 2, 2),)),),
        outputs=10,
        numbers=(64, 128, 256, 384, 512, 192, 8),
    ),
    **_both(
        "vae_mlp",
        Architecture(family="variational autoencoder", numbers=(784, 128, 16, 2, 3)),
    ),
    **_both(
        "wavenet",
        Architecture(
            family="causal convolutions",
            blocks=(_runs("layer", 10),),
            width=24,
            outputs=256,
            numbers=(32, 2, 1, 512, 16),
        ),
    ),
    "architectures/widedeep.legacy.onnx": Architecture(
        family="wide and deep",
        blocks=(_runs("table", 6, may_lack=True),),
        numbers=(50, 8, 53, 64, 32, 1, 20, 5),
    ),
    "architectures/xlnet.legacy.onnx": _transformer(6, 48, 96, 4, vocabulary=1000),
}
