"""The graph of telephone/2: power spectra of 10 ms frames in, a logit of voice a frame out."""
import numpy as np
import torch
from torch import nn

BINS, FFT, FRAME, HOP, RATE = 129, 256, 200, 80, 8000
STRIDE = 4  # the graph thinks every 40 ms and answers every 10: the number of frames must be a multiple of this


def mel_filters(bands, low=80, high=3800):
    """[bins, bands]: triangles that overlap by half on the mel scale, each at least two bins wide."""
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    edges = 700 * (10 ** (np.linspace(mel(low), mel(high), bands + 2) / 2595) - 1)
    bins = np.arange(BINS) * RATE / FFT
    width = RATE / FFT
    filters = np.zeros((BINS, bands), np.float32)
    for band in range(bands):
        middle = edges[band + 1]
        rise, fall = max(width, middle - edges[band]), max(width, edges[band + 2] - middle)
        filters[:, band] = np.clip(np.minimum((bins - middle) / rise + 1, (middle - bins) / fall + 1), 0, None)
    return filters / filters.sum(axis=0)


class Block(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation, groups=channels), nn.BatchNorm1d(channels), nn.ReLU(),
            nn.Conv1d(channels, channels, 1), nn.BatchNorm1d(channels))

    def forward(self, x):
        return torch.relu(x + self.body(x))


class VoiceNetwork(nn.Module):
    def __init__(self, bands=64, channels=96, dilations=(1, 2, 4, 8, 1, 2, 4, 8)):
        super().__init__()
        self.register_buffer("filters", torch.from_numpy(mel_filters(bands)))
        self.front = nn.Sequential(
            nn.Conv1d(bands, 64, 5, stride=2, padding=2), nn.BatchNorm1d(64), nn.ReLU(),
            nn.Conv1d(64, channels, 5, stride=2, padding=2), nn.BatchNorm1d(channels), nn.ReLU())
        self.blocks = nn.Sequential(*[Block(channels, dilation) for dilation in dilations])
        self.last = nn.Conv1d(channels, STRIDE, 1)

    def forward(self, power):
        return self.of_bands(power @ self.filters)

    def of_bands(self, power_bands):
        bands = torch.log(power_bands + 1e-4) * 0.25
        x = self.last(self.blocks(self.front(bands.transpose(1, 2))))
        return x.transpose(1, 2).flatten(1)


def power_spectrogram(samples):
    """[batch, frames, bins]: frame i is the middle of a window of 25 ms; 60 zeros before and after, as the product adds them."""
    margin = (FRAME - HOP) // 2
    windows = nn.functional.pad(samples, (margin, margin)).unfold(1, FRAME, HOP) * torch.hann_window(FRAME)
    return torch.fft.rfft(windows, FFT).abs() ** 2
