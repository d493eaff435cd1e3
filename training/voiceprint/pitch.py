"""A histogram of a window's pitch periods, of which none is chosen: cepstra without their mean know little of how high a voice is,
and no telephone line changes it."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

from network import BINS, FFT, RATE

LOWEST_HZ, HIGHEST_HZ, PERIODS = 72, 444, 30
COMPRESSIONS = (0.5, 0.25)      # exponents of the power; the smaller, the less a formant counts
USED_BINS = (2, 100)            # 62 to 3,100 Hz: what every line lets through
SMOOTHED_BINS, SMOOTHING = 110, 15


class PitchHistogram(nn.Module):
    """Power spectra [batch, frames, bins] in, logarithms of two histograms over pitch periods out, [batch, 2 * PERIODS]."""

    def __init__(self):
        super().__init__()
        lags = np.arange(RATE // HIGHEST_HZ, RATE // LOWEST_HZ)
        counts = np.where(np.isin(np.arange(BINS), (0, BINS - 1)), 1, 2)
        for name, matrix in (("flatten", flattening()), ("counts", counts), ("cosines", counts[:, None] * np.cos(2 * np.pi * np.arange(BINS)[:, None] * lags / FFT)), ("periods", triangles(lags))):
            self.register_buffer(name, torch.from_numpy(matrix.astype(np.float32)))

    def forward(self, power):
        return torch.cat([self.histogram(power, exponent) for exponent in COMPRESSIONS], dim=1)

    def histogram(self, power, exponent):
        """Squares of the positive autocorrelation of the flattened spectrum, averaged over the louder frames."""
        flat = torch.pow(power.clamp(min=1e-6), exponent) @ self.flatten
        correlation = functional.relu(flat @ self.cosines) / ((flat * flat) @ self.counts).sqrt().add(1e-6).mul(11).unsqueeze(2)
        energy = torch.log(power.sum(dim=2) + 1e-3)
        loud = torch.sigmoid((energy - energy.mean(dim=1, keepdim=True)) * 1.5).unsqueeze(2)
        found = ((correlation * correlation * loud).sum(dim=1) / loud.sum(dim=1)) @ self.periods
        return torch.log(found / found.sum(dim=1, keepdim=True) + 3e-3)


def flattening():
    """[bins, bins]: takes a running mean over the spectrum away, inside the bins that are used."""
    bins = np.arange(BINS)
    near = np.abs(bins[:, None] - bins[None]) <= SMOOTHING // 2
    mean = near / near.sum(axis=0)
    heard = (bins >= USED_BINS[0]) & (bins < SMOOTHED_BINS)
    used = (bins >= USED_BINS[0]) & (bins < USED_BINS[1])
    return heard[:, None] * (np.eye(BINS) - mean) * used[None]


def triangles(lags):
    """[lags, PERIODS]: means around periods that are evenly spaced in their logarithm."""
    centres = np.linspace(np.log(20), np.log(105), PERIODS)
    weight = np.maximum(0, 1 - np.abs(np.log(lags)[:, None] - centres) / (centres[1] - centres[0]))
    return weight / (weight.sum(axis=0) + 1e-6)
