"""A small neural vocoder, trained on the training speakers only, that makes paired copies of human speech.

`spectral` predicts magnitude and phase a frame from a mel spectrogram and inverts them (inverse STFT). Its faults are what
counts here. `neural_vocoders.py spectral --seconds 840`
"""
import argparse
import math
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from corpus import Store, WORK

RATE = 16000
SETTINGS = {"spectral": dict(bands=80, fft=1024, hop=256)}
RESOLUTIONS = ((256, 64), (512, 128), (1200, 240))
CROP_SAMPLES = 12800


def mel_filters(bands: int, fft: int, rate: int = RATE, low: float = 0.0, high: float = None) -> np.ndarray:
    """Triangular mel filters, [bands, fft/2 + 1]."""
    high = high or rate / 2
    to_mel = lambda f: 2595 * np.log10(1 + f / 700)
    edges = 700 * (10 ** (np.linspace(to_mel(low), to_mel(high), bands + 2) / 2595) - 1)
    bins = np.arange(fft // 2 + 1) * rate / fft
    rise = (bins[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - bins[None]) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rise, fall)).astype(np.float32)


class Mel(nn.Module):
    """Log mel spectrogram with a frame every `hop` samples, centred."""

    def __init__(self, bands: int, fft: int, hop: int):
        super().__init__()
        self.fft, self.hop = fft, hop
        self.register_buffer("filters", torch.from_numpy(mel_filters(bands, fft)))
        self.register_buffer("window", torch.hann_window(fft))

    def forward(self, wave):
        spectrum = torch.stft(wave, self.fft, self.hop, window=self.window, return_complex=True).abs()
        return torch.log(self.filters @ spectrum + 1e-4)


class Block(nn.Module):
    """Depthwise convolution over time, then a two-layer perceptron a frame."""

    def __init__(self, width: int):
        super().__init__()
        self.depth = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 3 * width), nn.Linear(3 * width, width)

    def forward(self, x):
        y = self.norm(self.depth(x).transpose(1, 2))
        return x + self.down(F.gelu(self.up(y))).transpose(1, 2)


class Spectral(nn.Module):
    def __init__(self, bands: int, fft: int, hop: int, width: int = 160, depth: int = 5):
        super().__init__()
        self.fft, self.hop = fft, hop
        self.enter = nn.Conv1d(bands, width, 7, padding=3)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.leave = nn.Conv1d(width, fft + 2, 1)
        self.register_buffer("window", torch.hann_window(fft))

    def forward(self, mel):
        magnitude, phase = self.leave(self.blocks(self.enter(mel))).chunk(2, dim=1)
        magnitude = torch.exp(magnitude.clamp(max=6.0))
        spectrum = torch.complex(magnitude * torch.cos(phase), magnitude * torch.sin(phase))
        return torch.istft(spectrum, self.fft, self.hop, window=self.window)


class Critic(nn.Module):
    """Strided convolutions over the waveform folded by a period; returns its score and the maps between."""

    def __init__(self, period: int):
        super().__init__()
        self.period = period
        widths = (1, 8, 16, 32)
        self.convs = nn.ModuleList(nn.Conv2d(a, b, (5, 1), (3, 1), padding=(2, 0)) for a, b in zip(widths, widths[1:]))
        self.score = nn.Conv2d(widths[-1], 1, (3, 1), padding=(1, 0))

    def forward(self, wave):
        x = wave[:, : wave.shape[1] // self.period * self.period].reshape(wave.shape[0], 1, -1, self.period)
        maps = []
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)
            maps.append(x)
        return self.score(x), maps


def spectral_loss(made, real):
    total = 0.0
    for fft, hop in RESOLUTIONS:
        window = torch.hann_window(fft)
        a, b = (torch.stft(x, fft, hop, window=window, return_complex=True).abs().clamp(min=1e-5) for x in (made, real))
        total = total + (a.log() - b.log()).abs().mean() + (a - b).norm() / b.norm()
    return total


def crops(rng, clips, audio, count: int):
    rows = []
    while len(rows) < count:
        clip = clips[rng.integers(len(clips))]
        if clip.length <= CROP_SAMPLES:
            continue
        at = clip.start + rng.integers(clip.length - CROP_SAMPLES)
        row = audio[at:at + CROP_SAMPLES].astype(np.float32) / 32768
        rows.append(row * (10 ** (rng.uniform(-28, -18) / 20)) / (np.sqrt(np.mean(row ** 2)) + 1e-4))
    return torch.from_numpy(np.clip(np.stack(rows), -1, 1))


def build(kind: str):
    return Spectral(**SETTINGS[kind])


def train(kind: str, seconds: float, seed: int = 7, batch: int = 8) -> None:
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    store = Store("clean")
    clips = [c for c in store.clips() if c.label == "bonafide" and c.split == "train" and not c.narrowband]
    audio = store.audio()
    mel, net = Mel(**SETTINGS[kind]), build(kind)
    critics = nn.ModuleList(Critic(p) for p in (1, 3, 7))
    fit = torch.optim.AdamW(net.parameters(), 1e-3, betas=(0.8, 0.99))
    judge = torch.optim.AdamW(critics.parameters(), 4e-4, betas=(0.8, 0.99))
    begun, step = time.time(), 0
    while time.time() - begun < seconds:
        part = (time.time() - begun) / seconds
        for group in fit.param_groups:
            group["lr"] = 1e-3 * min(1, (step + 1) / 50) * (0.1 + 0.9 * math.cos(part * math.pi / 2))
        real = crops(rng, clips, audio, batch)
        made = net(mel(real))
        length = min(made.shape[1], real.shape[1])
        made, real = made[:, :length], real[:, :length]
        loss = spectral_loss(made, real)
        adversarial = part > 0.35
        if adversarial:
            judge.zero_grad()
            cost = sum(((1 - c(real)[0]) ** 2).mean() + (c(made.detach())[0] ** 2).mean() for c in critics)
            cost.backward()
            judge.step()
            for critic in critics:
                (score, maps), (_, truths) = critic(made), critic(real)
                loss = loss + 0.3 * ((1 - score) ** 2).mean() + 0.6 * sum((a - b.detach()).abs().mean() for a, b in zip(maps, truths))
        fit.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        fit.step()
        if step % 100 == 0:
            print(kind, step, round(time.time() - begun), round(float(loss), 3), "critics" if adversarial else "", flush=True)
            torch.save(net.state_dict(), WORK / f"vocoder-{kind}.pt")
        step += 1
    torch.save(net.state_dict(), WORK / f"vocoder-{kind}.pt")


class Copier:
    """Runs a trained vocoder over one human clip."""

    def __init__(self, kind: str):
        self.net, self.mel = build(kind).eval(), Mel(**SETTINGS[kind])
        self.net.load_state_dict(torch.load(WORK / f"vocoder-{kind}.pt"))

    @torch.no_grad()
    def __call__(self, wave: np.ndarray, smooth: bool = False) -> np.ndarray:
        mel = self.mel(torch.from_numpy(wave.astype(np.float32))[None])
        if smooth:
            mel = F.avg_pool1d(mel, 3, 1, 1)
        return self.net(mel)[0].numpy().astype(np.float64)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("kind", choices=sorted(SETTINGS))
    options.add_argument("--seconds", type=float, default=900)
    chosen = options.parse_args()
    train(chosen.kind, chosen.seconds)
