"""The graphs. Each takes power spectrograms [batch, frames, bins] and gives logits [batch, 2]: synthesis and replay,
higher = authentic. In training the cached log bands go in behind `Front`, through `from_bands`.
"""
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from features import CEPSTRAL_STRIDE, LOG_FLOOR, SINGLE_BANDS, band_bins, cepstral_transform

CEPSTRA = 20
CEPSTRAL_BANDS = 40


class Front(nn.Module):
    """Bands and logarithm; the means of neighbouring bins are those of `features.band_matrix`, by pooling."""

    def __init__(self, front: str):
        super().__init__()
        self.single, self.upper = band_bins(front)
        self.edge = self.single * SINGLE_BANDS + 1

    def forward(self, power):
        low, high = power[:, :, 1:self.edge], power[:, :, self.edge:]
        bands = torch.cat([pooled(low, self.single), pooled(high, self.upper)], dim=2)
        return torch.log(bands + LOG_FLOOR)


def pooled(x, size: int):
    return x if size == 1 else F.avg_pool1d(x, size)


class Scorer(nn.Module):
    """What every model shares: from the power spectrogram to bands, and on."""

    def __init__(self, front: str):
        super().__init__()
        self.front = Front(front)

    def forward(self, power):
        return self.from_bands(self.front(power))


def deviation(x, dim):
    centred = x - x.mean(dim, keepdim=True)
    return torch.sqrt((centred * centred).mean(dim) + 1e-5)


class Statistics(Scorer):
    """v1.1: means and deviations of bands and of their changes in time, and one logistic regression a score."""

    def __init__(self, front: str, bands: int):
        super().__init__(front)
        self.linear = nn.Linear(3 * bands, 2)
        self.register_buffer("mean", torch.zeros(3 * bands))
        self.register_buffer("scale", torch.ones(3 * bands))

    @staticmethod
    def statistics(bands):
        change = bands[:, 1:] - bands[:, :-1]
        return torch.cat([bands.mean(1), deviation(bands, 1), deviation(change, 1)], dim=1)

    def from_bands(self, bands):
        return self.linear((self.statistics(bands) - self.mean) * self.scale)


def cepstral_matrix(bands: int) -> np.ndarray:
    """Groups bands to `CEPSTRAL_BANDS`, then a DCT: [bands, CEPSTRA]."""
    edges = np.linspace(0, bands, CEPSTRAL_BANDS + 1)
    centre = np.arange(bands) + 0.5
    group = np.stack([(centre >= a) & (centre < b) for a, b in zip(edges, edges[1:])], axis=1).astype(float)
    group /= group.sum(axis=0, keepdims=True)
    k, n = np.arange(CEPSTRA)[None], np.arange(CEPSTRAL_BANDS)[:, None]
    return (group @ np.cos(np.pi * k * (2 * n + 1) / (2 * CEPSTRAL_BANDS)) * np.sqrt(2 / CEPSTRAL_BANDS)).astype(np.float32)


class Mixtures(Scorer):
    """v3: linear cepstra with both differences; mean log-likelihood ratio of two Gaussian mixtures a score."""

    def __init__(self, front: str, bands: int, components: int = 64):
        super().__init__(front)
        self.register_buffer("cepstral", torch.from_numpy(cepstral_matrix(bands)))
        size = 3 * CEPSTRA
        for name in ("synthesis_authentic", "synthesis_spoof", "replay_authentic", "replay_spoof"):
            self.register_buffer(f"{name}_square", torch.zeros(size, components))
            self.register_buffer(f"{name}_linear", torch.zeros(size, components))
            self.register_buffer(f"{name}_constant", torch.zeros(components))

    def cepstra(self, bands):
        c = torch.matmul(bands, self.cepstral)
        first = c[:, 2:] - c[:, :-2]
        second = first[:, 2:] - first[:, :-2]
        return torch.cat([c[:, 2:-2], first[:, 1:-1], second], dim=2)

    def likelihood(self, x, name):
        part = torch.matmul(x * x, getattr(self, f"{name}_square")) + torch.matmul(x, getattr(self, f"{name}_linear")) + getattr(self, f"{name}_constant")
        return torch.logsumexp(part, dim=2).mean(1)

    def set_mixture(self, name, weights, means, variances):
        square, linear = -0.5 / variances, means / variances
        constant = np.log(weights) - 0.5 * np.sum(means ** 2 / variances + np.log(2 * np.pi * variances), axis=1)
        for part, value in (("square", square.T), ("linear", linear.T), ("constant", constant)):
            getattr(self, f"{name}_{part}").copy_(torch.from_numpy(np.ascontiguousarray(value, dtype=np.float32)))

    def from_bands(self, bands):
        x = self.cepstra(bands)
        ratios = [self.likelihood(x, f"{score}_authentic") - self.likelihood(x, f"{score}_spoof") for score in ("synthesis", "replay")]
        return torch.stack(ratios, dim=1)


class Squeeze(nn.Module):
    """Squeeze and excitation over channels."""

    def __init__(self, width: int):
        super().__init__()
        self.down, self.up = nn.Linear(width, width // 4), nn.Linear(width // 4, width)

    def forward(self, x):
        gain = torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))
        return x * gain[:, :, None, None]


class Separable(nn.Module):
    """Residual block: depthwise 3x3, pointwise, squeeze and excitation."""

    def __init__(self, width: int):
        super().__init__()
        self.depth = nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False)
        self.point = nn.Conv2d(width, width, 1, bias=False)
        self.norm_a, self.norm_b = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.squeeze = Squeeze(width)

    def forward(self, x):
        return F.relu(x + self.squeeze(self.norm_b(self.point(F.relu(self.norm_a(self.depth(x)))))))


def strided(a, b, kernel=3, stride=2):
    return nn.Sequential(nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(b), nn.ReLU())


class Convolutional(Scorer):
    """v6 to v8: strided convolutions with squeeze-and-excitation blocks, statistics over time, two heads.

    The mean of each band over time is taken away, so that a recording's fixed colour carries no label; `keep_mean`
    hands it back to the replay head as a separate vector. Synthesis has two heads, one that learned from synthesizers and
    one that learned from vocoder copies of the same recordings; `share` adds them.
    """

    def __init__(self, front: str, bands: int, widths=(12, 24, 40, 64), keep_mean: bool = True, dropout: float = 0.3):
        super().__init__(front)
        self.keep_mean = keep_mean
        a, b, c, d = widths
        self.body = nn.Sequential(strided(1, a, 5), strided(a, b), Separable(b), strided(b, c), Separable(c), strided(c, d), Separable(d))
        self.rows = -(-bands // 16)
        self.mix = nn.Sequential(nn.Conv1d(d * self.rows, 96, 1, bias=False), nn.BatchNorm1d(96), nn.ReLU())
        self.dropout = nn.Dropout(dropout)
        self.synthesis = nn.Linear(2 * 96, 2)
        self.register_buffer("share", torch.tensor([1.0, 0.5]))
        self.replay = nn.Sequential(nn.Linear(2 * 96 + (bands if keep_mean else 0), 32), nn.ReLU(), nn.Linear(32, 1))

    def embed(self, bands):
        mean = bands.mean(1, keepdim=True)
        x = self.body(((bands - mean) * 0.5).unsqueeze(1))
        x = x.permute(0, 1, 3, 2).flatten(1, 2)
        x = self.mix(x)
        return torch.cat([x.mean(2), deviation(x, 2)], dim=1), mean.squeeze(1)

    def heads(self, bands):
        """Logits [batch, 3]: human against synthesizers, human against vocoder copies, live against replayed."""
        pooled, mean = self.embed(bands)
        pooled = self.dropout(pooled)
        shape = (mean - mean.mean(1, keepdim=True)) * 0.3
        return torch.cat([self.synthesis(pooled), self.replay(torch.cat([pooled, shape], 1) if self.keep_mean else pooled)], dim=1)

    def from_bands(self, bands):
        heads = self.heads(bands)
        return torch.stack([(heads[:, :2] * self.share).sum(1), heads[:, 2]], dim=1)


class Cepstral(nn.Module):
    """Statistics over time of high-quefrency cepstra of long frames.

    A neural vocoder works in steps of its own (often 11.6 ms); the steps leave a faint comb in the spectrum, at the same
    quefrency in every frame, where a voice's pitch moves. One part reads the statistics as they are; another looks for a
    peak at any quefrency (convolution, then the maximum), so that step lengths that training never saw count too.
    """

    def __init__(self, front: str, width: int = 48, maps: int = 12):
        super().__init__()
        transform = cepstral_transform(front)
        size = transform.shape[1]
        self.register_buffer("transform", torch.from_numpy(transform))
        self.register_buffer("mean", torch.zeros(3, size))
        self.register_buffer("scale", torch.ones(3, size))
        self.dropout = nn.Dropout(0.4)
        self.direct = nn.Linear(3 * size, 2)
        self.hidden, self.leave = nn.Linear(3 * size, width), nn.Linear(width + 2 * maps, 2)
        self.comb = nn.Sequential(nn.Conv1d(3, maps, 5, padding=2), nn.ReLU(), nn.Conv1d(maps, maps, 5, padding=2), nn.ReLU())

    @staticmethod
    def spread(x):
        centred = x - x.mean(1, keepdim=True)
        return 0.5 * torch.log((centred * centred).mean(1) + 1e-4)

    def from_statistics(self, statistics):
        x = (statistics - self.mean) * self.scale
        flat = self.dropout(x.flatten(1))
        comb = self.comb(x)
        hidden = torch.cat([F.relu(self.hidden(flat)), comb.amax(2), comb.mean(2)], dim=1)
        return self.direct(flat) + self.leave(self.dropout(hidden))

    def forward(self, power):
        cepstra = torch.matmul(torch.log(power[:, ::CEPSTRAL_STRIDE, 1:] + LOG_FLOOR), self.transform)
        return self.from_statistics(torch.stack([cepstra.mean(1), self.spread(cepstra), self.spread(cepstra[:, 1:] - cepstra[:, :-1])], dim=1))


class Fusion(nn.Module):
    """Several scorers on the same power spectrogram, their logits added with fixed weights a score; bands are made once."""

    def __init__(self, front: str, scorers, weights, bias):
        super().__init__()
        self.front = Front(front)
        self.scorers = nn.ModuleList(scorers)
        self.register_buffer("weights", torch.as_tensor(weights, dtype=torch.float32))
        self.register_buffer("bias", torch.as_tensor(bias, dtype=torch.float32))

    def forward(self, power):
        bands, total = self.front(power), self.bias
        for number, scorer in enumerate(self.scorers):
            logits = scorer(power) if isinstance(scorer, Cepstral) else scorer.from_bands(bands)
            total = total + logits * self.weights[number]
        return total
