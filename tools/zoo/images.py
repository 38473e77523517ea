"""Networks of images, as transformers builds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import onnx
import torch
import transformers

from .exporting import Named, Outputs, export, export_images

_PIXELS = ("pixel_values",)


def _attend(dynamo: bool) -> str:
    """Return how windows attend: the newer exporter cannot take apart their fused attention."""
    return "eager" if dynamo else "sdpa"


def vit(dynamo: bool) -> onnx.ModelProto:
    config = transformers.ViTConfig(
        hidden_size=48, num_attention_heads=4, intermediate_size=192, num_labels=10
    )
    model = Named(transformers.ViTForImageClassification(config), _PIXELS)
    inputs = {"pixel_values": torch.ones(2, 3, 224, 224)}
    return export(model, inputs, ("logits",), dynamo, {"pixel_values": {0: "batch"}})


def segformer() -> onnx.ModelProto:
    config = transformers.SegformerConfig(
        hidden_sizes=[16, 32, 40, 64], decoder_hidden_size=32, num_labels=10
    )
    model = Named(transformers.SegformerForSemanticSegmentation(config), _PIXELS)
    return export(model, {"pixel_values": torch.ones(1, 3, 128, 128)}, ("logits",), True)


def swin(dynamo: bool) -> onnx.ModelProto:
    config = transformers.SwinConfig(
        embed_dim=12, depths=[2, 2, 6, 2], num_heads=[1, 2, 4, 8], num_labels=10
    )
    network = transformers.SwinForImageClassification._from_config(
        config, attn_implementation=_attend(dynamo)
    )
    model = Outputs(network, _PIXELS, ("logits",))
    return export_images(model, 224, dynamo, batch=False)


def convnext(dynamo: bool) -> onnx.ModelProto:
    config = transformers.ConvNextConfig(
        hidden_sizes=[8, 16, 32, 64], depths=[3, 3, 9, 3], num_labels=10
    )
    model = Outputs(transformers.ConvNextForImageClassification(config), _PIXELS, ("logits",))
    return export_images(model, 224, dynamo)


def efficientnet(dynamo: bool) -> onnx.ModelProto:
    """Return the blocks of B0 with a quarter of its widths."""
    config = transformers.EfficientNetConfig(
        image_size=224,
        width_coefficient=0.25,
        depth_coefficient=1.0,
        hidden_dim=320,
        num_labels=10,
    )
    model = Outputs(transformers.EfficientNetForImageClassification(config), _PIXELS, ("logits",))
    return export_images(model, 224, dynamo)


def mobilenet_v2(dynamo: bool) -> onnx.ModelProto:
    config = transformers.MobileNetV2Config(depth_multiplier=0.25, num_labels=10)
    model = Outputs(transformers.MobileNetV2ForImageClassification(config), _PIXELS, ("logits",))
    return export_images(model, 224, dynamo)


def sam_encoder(dynamo: bool) -> onnx.ModelProto:
    """Return the image encoder: windows of 14 but in layers 2, 5, 8 and 11, relative positions."""
    config = transformers.SamVisionConfig(
        hidden_size=48,
        output_channels=16,
        num_hidden_layers=12,
        num_attention_heads=4,
        image_size=512,
        patch_size=16,
        mlp_dim=192,
        window_size=14,
        global_attn_indexes=[2, 5, 8, 11],
        num_pos_feats=8,
    )
    network = transformers.SamVisionModel._from_config(config, attn_implementation=_attend(dynamo))
    model = Outputs(network, _PIXELS, ("last_hidden_state",))
    return export_images(model, 512, dynamo, ("image_embeddings",), batch=False)


def _resnet(**options: object) -> transformers.ResNetConfig:
    return transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[16, 32, 64, 128],
        depths=[3, 4, 6, 3],
        layer_type="bottleneck",
        **options,
    )


def detr(dynamo: bool) -> onnx.ModelProto:
    config = transformers.DetrConfig(
        backbone_config=_resnet(out_features=["stage4"]),
        use_timm_backbone=False,
        d_model=32,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_labels=10,
    )
    outputs = ("logits", "pred_boxes")
    model = Outputs(transformers.DetrForObjectDetection(config), _PIXELS, outputs)
    return export_images(model, 224, dynamo, outputs, batch=False)


def rtdetr(dynamo: bool) -> onnx.ModelProto:
    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8,
        hidden_sizes=[16, 32, 64, 128],
        depths=[3, 4, 6, 3],
        layer_type="bottleneck",
        out_features=["stage2", "stage3", "stage4"],
    )
    config = transformers.RTDetrConfig(
        backbone_config=backbone,
        encoder_hidden_dim=32,
        encoder_in_channels=[32, 64, 128],
        encoder_ffn_dim=64,
        encoder_attention_heads=4,
        d_model=32,
        num_queries=30,
        decoder_in_channels=[32, 32, 32],
        decoder_ffn_dim=64,
        decoder_attention_heads=4,
        anchor_image_size=[256, 256],
        num_labels=10,
    )
    outputs = ("logits", "pred_boxes")
    model = Outputs(transformers.RTDetrForObjectDetection(config), _PIXELS, outputs)
    return export_images(model, 256, dynamo, outputs, batch=False)


_BOTH: dict[str, Callable[..., onnx.ModelProto]] = {
    "convnext": convnext,
    "detr": detr,
    "efficientnet": efficientnet,
    "mobilenetv2": mobilenet_v2,
    "rtdetr": rtdetr,
    "sam_encoder": sam_encoder,
    "swin": swin,
    "vit": vit,
}
MODELS: dict[str, Callable[[], onnx.ModelProto]] = {"exported/segformer.dynamo": segformer}
for _name, _build in _BOTH.items():
    MODELS[f"exported/{_name}.legacy"] = partial(_build, dynamo=False)
    MODELS[f"exported/{_name}.dynamo"] = partial(_build, dynamo=True)
