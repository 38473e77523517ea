"""Networks that read or write sequences otherwise than a transformer of text does."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional

from .exporting import Outputs, export


class TimeMix(nn.Module):
    """Peng et al., RWKV, 2023, equations 11 to 18, a step for each of a few tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix_k, self.mix_v, self.mix_r = (nn.Parameter(torch.rand(width)) for _ in range(3))
        self.key, self.value, self.receptance, self.output = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.decay, self.first = nn.Parameter(torch.rand(width)), nn.Parameter(torch.rand(width))

    def forward(self, x: Tensor) -> Tensor:
        before = functional.pad(x, (0, 0, 1, -1))
        key = self.key(x * self.mix_k + before * (1 - self.mix_k))
        value = self.value(x * self.mix_v + before * (1 - self.mix_v))
        gate = torch.sigmoid(self.receptance(x * self.mix_r + before * (1 - self.mix_r)))
        fade = torch.exp(-torch.exp(self.decay))
        above = below = torch.zeros_like(x[:, 0])
        found = []
        for step in range(x.shape[1]):
            weight, now = torch.exp(key[:, step]), value[:, step]
            own = torch.exp(self.first + key[:, step])
            found.append((above + own * now) / (below + own))
            above, below = fade * above + weight * now, fade * below + weight
        return self.output(gate * torch.stack(found, 1))


class ChannelMix(nn.Module):
    """The same paper, equations 19 to 21: squared ReLU and a gate."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix_k, self.mix_r = (nn.Parameter(torch.rand(width)) for _ in range(2))
        self.key = nn.Linear(width, 4 * width, bias=False)
        self.value = nn.Linear(4 * width, width, bias=False)
        self.receptance = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        before = functional.pad(x, (0, 0, 1, -1))
        key = functional.relu(self.key(x * self.mix_k + before * (1 - self.mix_k))) ** 2
        gate = torch.sigmoid(self.receptance(x * self.mix_r + before * (1 - self.mix_r)))
        return gate * self.value(key)


class RWKVBlock(nn.Module):
    """Time-mix and channel-mix, each behind a norm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.att, self.ffn = TimeMix(width), ChannelMix(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.att(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class RWKV(nn.Module):
    """Twelve blocks, as the smallest of the paper has."""

    def __init__(self, width: int = 32, vocabulary: int = 500) -> None:
        super().__init__()
        self.emb, self.ln0 = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        self.blocks = nn.Sequential(*(RWKVBlock(width) for _ in range(12)))
        self.ln_out, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.ln_out(self.blocks(self.ln0(self.emb(tokens)))))


class CRNN(nn.Module):
    """Shi et al., An End-to-End Trainable Network for Scene Text, 2015, table 1."""

    def __init__(self, characters: int = 37) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inner = 1
        for number, outer in enumerate((8, 16, 32, 32, 64, 64, 64)):
            size, padding = (2, 0) if number == 6 else (3, 1)
            layers.append(nn.Conv2d(inner, outer, size, 1, padding))
            if number in (2, 4, 6):
                layers.append(nn.BatchNorm2d(outer))
            layers.append(nn.ReLU())
            if number in (0, 1):
                layers.append(nn.MaxPool2d(2))
            elif number in (3, 5):
                layers.append(nn.MaxPool2d((2, 2), (2, 1), (0, 1)))
            inner = outer
        self.cnn = nn.Sequential(*layers)
        self.rnn = nn.LSTM(inner, 32, 2, bidirectional=True)
        self.embedding = nn.Linear(64, characters)

    def forward(self, line: Tensor) -> Tensor:
        x = self.cnn(line).squeeze(2).permute(2, 0, 1)
        return functional.log_softmax(self.embedding(self.rnn(x)[0]), 2)


class TuringMachine(nn.Module):
    """Graves et al., Neural Turing Machines, 2014: one head reads and writes, six steps."""

    def __init__(self, inner: int = 9, slots: int = 32, word: int = 16, width: int = 32) -> None:
        super().__init__()
        self.controller = nn.LSTMCell(inner + word, width)
        self.key, self.erase, self.add = (nn.Linear(width, word) for _ in range(3))
        self.strength, self.gate, self.sharpen = (nn.Linear(width, 1) for _ in range(3))
        self.shift = nn.Linear(width, 3)
        self.output = nn.Linear(width + word, inner - 1)
        self.memory = nn.Parameter(torch.rand(1, slots, word))

    def _address(self, h: Tensor, memory: Tensor, before: Tensor) -> Tensor:
        key = torch.tanh(self.key(h))
        near = functional.cosine_similarity(memory, key[:, None], dim=-1)
        content = torch.softmax(functional.softplus(self.strength(h)) * near, -1)
        gate = torch.sigmoid(self.gate(h))
        mixed = gate * content + (1 - gate) * before
        shift = torch.softmax(self.shift(h), -1)
        rolled = [torch.cat([mixed[:, 1:], mixed[:, :1]], 1), mixed]
        rolled.append(torch.cat([mixed[:, -1:], mixed[:, :-1]], 1))
        moved = sum(shift[:, n : n + 1] * rolled[n] for n in range(3))
        sharp = moved ** (1 + functional.softplus(self.sharpen(h)))
        return sharp / sharp.sum(1, keepdim=True)

    def forward(self, sequence: Tensor) -> Tensor:
        batch = sequence.shape[0]
        memory = self.memory.expand(batch, -1, -1)
        weights = torch.softmax(memory[..., 0], -1)
        read = (weights[:, :, None] * memory).sum(1)
        h = c = sequence.new_zeros(batch, 32)
        found = []
        for step in range(6):
            h, c = self.controller(torch.cat([sequence[:, step], read], 1), (h, c))
            weights = self._address(h, memory, weights)
            erase, add = torch.sigmoid(self.erase(h)), torch.tanh(self.add(h))
            spread = weights[:, :, None]
            memory = memory * (1 - spread * erase[:, None]) + spread * add[:, None]
            read = (spread * memory).sum(1)
            found.append(torch.sigmoid(self.output(torch.cat([h, read], 1))))
        return torch.stack(found, 1)


class FeedForwardTransformer(nn.Module):
    """Attention and convolutions of 9 and 1 (FastSpeech, figure 1b)."""

    def __init__(self, width: int, heads: int = 2) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.conv1 = nn.Conv1d(width, 4 * width, 9, padding=4)
        self.conv2 = nn.Conv1d(4 * width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
        y = self.conv2(functional.relu(self.conv1(x.transpose(1, 2)))).transpose(1, 2)
        return self.norm2(x + y)


class VariancePredictor(nn.Module):
    """Two convolutions, each with ReLU and norm, and a number for each place."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv1d(width, width, 3, padding=1) for _ in range(2))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(functional.relu(self.conv1(x.transpose(1, 2))).transpose(1, 2))
        x = self.norm2(functional.relu(self.conv2(x.transpose(1, 2))).transpose(1, 2))
        return self.linear(x).squeeze(-1)


class FastSpeech2(nn.Module):
    """Ren et al., FastSpeech 2, 2021, figure 1: four blocks before the variances, four behind.

    How long each phoneme is comes in as the matrix that repeats it.
    """

    def __init__(self, width: int = 32, phonemes: int = 80, bands: int = 80) -> None:
        super().__init__()
        self.embedding = nn.Embedding(phonemes, width)
        self.positions = nn.Parameter(torch.rand(1, 200, width))
        self.encoder = nn.Sequential(*(FeedForwardTransformer(width) for _ in range(4)))
        self.duration, self.pitch, self.energy = (VariancePredictor(width) for _ in range(3))
        self.register_buffer("bins", torch.linspace(-3, 3, 255))
        self.pitch_embedding, self.energy_embedding = (nn.Embedding(256, width) for _ in range(2))
        self.decoder = nn.Sequential(*(FeedForwardTransformer(width) for _ in range(4)))
        self.mel = nn.Linear(width, bands)
        self.postnet = nn.Sequential(
            nn.Conv1d(bands, 32, 5, padding=2),
            nn.Tanh(),
            *(m for _ in range(3) for m in (nn.Conv1d(32, 32, 5, padding=2), nn.Tanh())),
            nn.Conv1d(32, bands, 5, padding=2),
        )

    def _bin(self, x: Tensor) -> Tensor:
        return (x[..., None] > self.bins).sum(-1)

    def forward(self, phonemes: Tensor, repeats: Tensor) -> tuple[Tensor, Tensor]:
        x = self.embedding(phonemes) + self.positions[:, : phonemes.shape[1]]
        x = self.encoder(x)
        duration = self.duration(x)
        x = repeats @ x
        x = x + self.pitch_embedding(self._bin(self.pitch(x)))
        x = x + self.energy_embedding(self._bin(self.energy(x)))
        x = self.decoder(x + self.positions[:, : x.shape[1]])
        mel = self.mel(x)
        return mel + self.postnet(mel.transpose(1, 2)).transpose(1, 2), duration


class LocationAttention(nn.Module):
    """Scores of a query, the memory and where it has been read before."""

    def __init__(self, query: int, memory: int, width: int = 32) -> None:
        super().__init__()
        self.query, self.memory = nn.Linear(query, width), nn.Linear(memory, width)
        self.location = nn.Conv1d(2, 8, 31, padding=15)
        self.located, self.score = nn.Linear(8, width), nn.Linear(width, 1)

    def forward(self, query: Tensor, memory: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        place = self.located(self.location(seen).transpose(1, 2))
        scores = self.score(
            torch.tanh(self.query(query)[:, None] + self.memory(memory) + place)
        ).squeeze(-1)
        weights = torch.softmax(scores, 1)
        return (weights[:, None] @ memory).squeeze(1), weights


class Tacotron2(nn.Module):
    """Shen et al., Natural TTS Synthesis, 2018, figure 1; the decoder takes eight steps."""

    def __init__(self, width: int = 32, bands: int = 80) -> None:
        super().__init__()
        self.embedding = nn.Embedding(60, width)
        self.convs = nn.Sequential(
            *(
                layer
                for _ in range(3)
                for layer in (
                    nn.Conv1d(width, width, 5, padding=2),
                    nn.BatchNorm1d(width),
                    nn.ReLU(),
                )
            )
        )
        self.lstm = nn.LSTM(width, width // 2, bidirectional=True, batch_first=True)
        self.prenet = nn.Sequential(nn.Linear(bands, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.attention_rnn = nn.LSTMCell(16 + width, 64)
        self.attention = LocationAttention(64, width)
        self.decoder_rnn = nn.LSTMCell(64 + width, 64)
        self.projection, self.stop = nn.Linear(64 + width, bands), nn.Linear(64 + width, 1)
        self.postnet = nn.Sequential(
            nn.Conv1d(bands, 32, 5, padding=2),
            nn.BatchNorm1d(32),
            nn.Tanh(),
            *(
                layer
                for _ in range(3)
                for layer in (nn.Conv1d(32, 32, 5, padding=2), nn.BatchNorm1d(32), nn.Tanh())
            ),
            nn.Conv1d(32, bands, 5, padding=2),
            nn.BatchNorm1d(bands),
        )

    def forward(self, characters: Tensor) -> tuple[Tensor, Tensor]:
        x = self.convs(self.embedding(characters).transpose(1, 2)).transpose(1, 2)
        memory, _ = self.lstm(x)
        batch, length, width = memory.shape
        frame, context = memory.new_zeros(batch, 80), memory.new_zeros(batch, width)
        h1 = c1 = h2 = c2 = memory.new_zeros(batch, 64)
        weights = total = memory.new_zeros(batch, length)
        frames, stops = [], []
        for _ in range(8):
            h1, c1 = self.attention_rnn(torch.cat([self.prenet(frame), context], 1), (h1, c1))
            seen = torch.stack([weights, total], 1)
            context, weights = self.attention(h1, memory, seen)
            total = total + weights
            h2, c2 = self.decoder_rnn(torch.cat([h1, context], 1), (h2, c2))
            joined = torch.cat([h2, context], 1)
            frame = self.projection(joined)
            frames.append(frame)
            stops.append(self.stop(joined))
        mel = torch.stack(frames, 2)
        return mel + self.postnet(mel), torch.sigmoid(torch.cat(stops, 1))


def rwkv() -> onnx.ModelProto:
    return export(RWKV(), {"tokens": torch.randint(0, 500, (1, 4))}, ("logits",), dynamo=False)


def crnn() -> onnx.ModelProto:
    return export(CRNN(), {"line": torch.rand(1, 1, 32, 100)}, ("characters",), dynamo=False)


def turing_machine() -> onnx.ModelProto:
    return export(TuringMachine(), {"sequence": torch.rand(2, 6, 9)}, ("copy",), dynamo=False)


def fastspeech2() -> onnx.ModelProto:
    inputs = {"phonemes": torch.randint(0, 80, (1, 12)), "repeats": torch.rand(1, 40, 12)}
    return export(FastSpeech2(), inputs, ("mel", "duration"), dynamo=True)


def tacotron2() -> onnx.ModelProto:
    inputs = {"characters": torch.randint(0, 60, (1, 20))}
    return export(Tacotron2(), inputs, ("mel", "stop"), dynamo=False)


def perceiver() -> onnx.ModelProto:
    """Return a classifier of text: eight blocks of six layers that share their weights."""
    config = transformers.PerceiverConfig(
        num_latents=16,
        d_latents=32,
        d_model=24,
        num_blocks=1,
        num_self_attends_per_block=6,
        num_self_attention_heads=4,
        num_cross_attention_heads=4,
        vocab_size=262,
        max_position_embeddings=64,
        num_labels=5,
    )
    network = transformers.PerceiverForSequenceClassification(config)
    model = Outputs(network, ("inputs",), ("logits",))
    return export(model, {"inputs": torch.randint(0, 262, (1, 64))}, ("logits",), dynamo=True)


def decision_transformer() -> onnx.ModelProto:
    """Return Chen et al., Decision Transformer, 2021: blocks over returns, states, actions."""
    config = transformers.DecisionTransformerConfig(
        state_dim=17,
        act_dim=6,
        hidden_size=32,
        max_ep_len=64,
        n_layer=3,
        n_head=1,
        n_positions=128,
        vocab_size=1,
    )
    network = transformers.DecisionTransformerModel(config)
    names = ("states", "actions", "returns_to_go", "timesteps", "attention_mask")
    model = Outputs(network, names, ("action_preds",))
    length = 20
    inputs = {
        "states": torch.rand(1, length, 17),
        "actions": torch.rand(1, length, 6),
        "returns_to_go": torch.rand(1, length, 1),
        "timesteps": torch.arange(length)[None],
        "attention_mask": torch.ones(1, length, dtype=torch.int64),
    }
    return export(model, inputs, ("actions_out",), dynamo=True)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "exported/rwkv.legacy": rwkv,
    "exported/crnn.legacy": crnn,
    "exported/turing_machine.legacy": turing_machine,
    "exported/fastspeech2.dynamo": fastspeech2,
    "exported/tacotron2.legacy": tacotron2,
    "exported/perceiver.dynamo": perceiver,
    "exported/decision_transformer.dynamo": decision_transformer,
}
