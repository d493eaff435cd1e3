"""Classic vocoders, written here in numpy, that make a synthetic twin of a human clip: same words, speaker and recording.

Each takes a 16 kHz waveform and a random generator and gives a waveform of the same length.
"""
import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.ndimage import gaussian_filter, median_filter
from scipy.signal import resample_poly, lfilter

from neural_vocoders import mel_filters

RATE = 16000
F0_LOW, F0_HIGH = 65.0, 400.0
F0_HOP = 80
VOICING_THRESHOLD = 0.45


def frames_of(wave, size, hop):
    """Centred frames, [count, size]."""
    padded = np.pad(wave, (size // 2, size), mode="reflect" if len(wave) > size else "constant")
    count = len(wave) // hop + 1
    return np.lib.stride_tricks.sliding_window_view(padded, size)[::hop][:count]


def overlap_add(frames, hop, length):
    """Adds windowed frames back, the first one centred on sample 0; the hop divides the frame."""
    size = frames.shape[1]
    parts = size // hop
    out = np.zeros((len(frames) + parts + length // hop + 2, hop))
    for part in range(parts):
        out[part:part + len(frames)] += frames[:, part * hop:(part + 1) * hop]
    return out.ravel()[size // 2:size // 2 + length]


def stft(wave, size, hop):
    return np.fft.rfft(frames_of(wave, size, hop) * np.hanning(size + 1)[:-1], axis=1)


def istft(spectrum, size, hop, length):
    window = np.hanning(size + 1)[:-1]
    frames = np.fft.irfft(spectrum, size, axis=1) * window
    norm = overlap_add(np.tile(window ** 2, (len(spectrum), 1)), hop, length)
    return overlap_add(frames, hop, length) / np.maximum(norm, 1e-3)


def pitch(wave):
    """F0 in Hz every 5 ms (0 = unvoiced) by the normalised autocorrelation, median filtered."""
    size = 800
    frames = frames_of(wave, size, F0_HOP)
    frames = (frames - frames.mean(axis=1, keepdims=True)) * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, 2048, axis=1)) ** 2
    auto = np.fft.irfft(power, axis=1)[:, :size]
    window = np.hanning(size)
    bias = np.fft.irfft(np.abs(np.fft.rfft(window, 2048)) ** 2)[:size]
    auto = auto / (auto[:, :1] + 1e-9) / np.maximum(bias / bias[0], 0.05)
    low, high = int(RATE / F0_HIGH), int(RATE / F0_LOW)
    lags = np.arange(low, high)
    weighted = auto[:, low:high] * (1 - 0.0006 * lags)
    best = weighted.argmax(axis=1)
    energy = (frames ** 2).mean(axis=1)
    voiced = (weighted.max(axis=1) > VOICING_THRESHOLD) & (energy > energy.max() * 1e-4)
    voiced = median_filter(voiced.astype(float), 5) > 0.5
    return np.where(voiced, median_filter(RATE / lags[best], 5), 0.0)


def cepstral_envelope(wave, size=960, lifter=40):
    """Smooth magnitude spectrum every 5 ms by liftering the cepstrum, [frames, size/2 + 1]."""
    log = np.log(np.abs(stft(wave, size, F0_HOP)) + 1e-4)
    cepstrum = np.fft.irfft(log, axis=1)
    cepstrum[:, lifter:-lifter] = 0
    return np.exp(np.fft.rfft(cepstrum, axis=1).real + 0.3)


def minimum_phase(magnitude):
    """Complex minimum-phase spectrum of a magnitude, the last axis frequency."""
    cepstrum = np.fft.irfft(np.log(magnitude + 1e-6), axis=-1)
    size = cepstrum.shape[-1]
    fold = np.zeros(size)
    fold[0], fold[1:size // 2], fold[size // 2] = 1, 2, 1
    return np.exp(np.fft.rfft(cepstrum * fold, axis=-1))


def match_level(made, wave):
    return made * (np.sqrt(np.mean(wave ** 2)) / (np.sqrt(np.mean(made ** 2)) + 1e-9))


def pulse_times(f0, length):
    """Sample positions of glottal pulses for a track of F0, with a per-sample F0."""
    track = np.interp(np.arange(length), np.arange(len(f0)) * F0_HOP, np.where(f0 > 0, f0, 0))
    held = np.repeat(f0 > 0, F0_HOP)[:length]
    held = np.pad(held, (0, length - len(held)))
    phase = np.cumsum(np.where(held, np.maximum(track, F0_LOW), 0) / RATE)
    return np.flatnonzero(np.diff(np.floor(phase)) > 0), track


def griffin_lim(magnitude, size, hop, length, iterations, rng, momentum=0.0):
    angles = np.exp(2j * np.pi * rng.random(magnitude.shape))
    previous = 0
    for _ in range(iterations):
        rebuilt = stft(istft(magnitude * angles, size, hop, length), size, hop)[:len(magnitude)]
        moved = rebuilt + momentum * (rebuilt - previous)
        previous, angles = rebuilt, moved / (np.abs(moved) + 1e-9)
    return istft(magnitude * angles, size, hop, length)


def griffin_lim_linear(wave, rng):
    size, hop = [(512, 128), (1024, 256), (800, 200), (640, 160)][rng.integers(4)]
    return griffin_lim(np.abs(stft(wave, size, hop)), size, hop, len(wave), int(rng.integers(1, 14)), rng)


def mel_magnitude(wave, size, hop, bands, rng):
    filters = mel_filters(bands, size).astype(float)
    mel = np.abs(stft(wave, size, hop)) @ filters.T
    if rng.random() < 0.35:
        mel = np.exp(gaussian_filter(np.log(mel + 1e-4), (rng.uniform(0.3, 1.2), rng.uniform(0, 0.8))))
    return np.maximum(mel @ np.linalg.pinv(filters).T, 1e-6)


def griffin_lim_mel(wave, rng):
    size, hop = [(1024, 256), (800, 200), (1000, 200)][rng.integers(3)]
    magnitude = mel_magnitude(wave, size, hop, int(rng.choice([40, 64, 80, 80, 128])), rng)
    return griffin_lim(magnitude, size, hop, len(wave), int(rng.integers(4, 16)), rng, 0.9 * (rng.random() < 0.5))


def world_like(wave, rng):
    """Pulses and noise through minimum-phase envelopes, mixed by a band-wise aperiodicity."""
    size, length = 960, len(wave)
    f0, envelope = pitch(wave), cepstral_envelope(wave, lifter=int(rng.integers(28, 60)))
    count = min(len(f0), len(envelope))
    f0, envelope = f0[:count] * rng.uniform(0.95, 1.05), envelope[:count]
    bins = np.arange(size // 2 + 1) * RATE / size
    corner = rng.uniform(2500, 6500)
    periodic = np.where(f0[:, None] > 0, 1 / (1 + np.exp((bins - corner) / rng.uniform(200, 900))), 0.0)
    impulse = np.fft.irfft(minimum_phase(envelope * np.sqrt(periodic) + 1e-6), axis=1)
    times, track = pulse_times(f0, length)
    out = np.zeros(length + size)
    for t in times:
        out[t:t + size] += impulse[min(t // F0_HOP, count - 1)] * np.sqrt(RATE / max(track[t], F0_LOW)) * 12
    noise = stft(rng.standard_normal(length), size, F0_HOP)[:count] * envelope * np.sqrt(1 - periodic) / np.sqrt(size * 0.375)
    return match_level(out[:length] + istft(noise, size, F0_HOP, length) * 12, wave)


def linear_prediction(wave, rng):
    """All-pole envelopes driven by a pulse train or noise (the classic robotic voice), or by the coarse residual."""
    size, hop, order, length = 512, 128, int(rng.integers(12, 24)), len(wave)
    frames = frames_of(wave, size, hop) * np.hanning(size + 1)[:-1]
    power = np.abs(np.fft.rfft(frames, 1024, axis=1)) ** 2
    auto = np.fft.irfft(power, axis=1)[:, :order + 1]
    f0 = pitch(wave)
    times, _ = pulse_times(f0, length)
    excitation = rng.standard_normal(length) * (rng.uniform(0.05, 0.4) + (np.repeat(f0 == 0, F0_HOP)[:length] if len(f0) * F0_HOP >= length else 0))
    excitation[times] += 10.0
    source = stft(excitation, size, hop)
    made = np.zeros_like(source[:len(frames)])
    for i in range(min(len(frames), len(source))):
        coefficients = solve_toeplitz(auto[i, :order] + np.r_[auto[i, 0] * 1e-4 + 1e-9, np.zeros(order - 1)], auto[i, 1:])
        gain = np.sqrt(max(auto[i, 0] - coefficients @ auto[i, 1:], 1e-9))
        shape = 1 / (np.fft.rfft(np.r_[1, -coefficients], size) + 1e-3)
        energy = np.sqrt(np.mean(np.abs(source[i]) ** 2)) + 1e-6
        made[i] = source[i] / energy * shape * gain
    return match_level(istft(made, size, hop, length), wave)


def harmonic_noise(wave, rng):
    """A sum of harmonics up to a corner frequency with smooth amplitudes, and shaped noise for the rest."""
    size, length = 960, len(wave)
    f0 = pitch(wave)
    envelope = cepstral_envelope(wave, lifter=int(rng.integers(34, 70)))
    count = min(len(f0), len(envelope))
    f0, envelope = f0[:count], envelope[:count]
    at = np.arange(length) / F0_HOP
    track = np.interp(at, np.arange(count), np.where(f0 > 0, f0, 120.0))
    voiced = np.interp(at, np.arange(count), (f0 > 0).astype(float))
    phase, corner = 2 * np.pi * np.cumsum(track) / RATE, rng.uniform(2500, 7000)
    out, rows = np.zeros(length), np.arange(count)
    start = rng.random() * 2 * np.pi * (rng.random() < 0.5)
    for k in range(1, int(corner / F0_LOW)):
        bins = np.minimum(np.round(k * np.where(f0 > 0, f0, 120.0) * size / RATE).astype(int), size // 2)
        amplitude = np.where(k * f0 < corner, envelope[rows, bins], 0) * (f0 > 0)
        if not amplitude.any():
            break
        out += np.interp(at, rows, amplitude) * np.cos(k * phase + start * k * k * 0.1)
    frequencies = np.arange(size // 2 + 1) * RATE / size
    keep = np.where(f0[:, None] > 0, (frequencies > corner) * 1.0 + rng.uniform(0, 0.15), 1.0)
    noise = stft(rng.standard_normal(length), size, F0_HOP)[:count] * envelope * keep
    noise = istft(noise, size, F0_HOP, length) / np.sqrt(size * 0.375) * 1.4
    return match_level(out * voiced / 90 + noise * 0.35, wave)


def phase_jitter(wave, rng):
    """The same magnitudes with phases disturbed: by noise that grows with frequency, by rounding, or minimum phase."""
    size, hop = [(320, 80), (512, 128), (800, 200), (1024, 256)][rng.integers(4)]
    spectrum = stft(wave, size, hop)
    magnitude, angle = np.abs(spectrum), np.angle(spectrum)
    kind = rng.integers(4)
    if kind == 0:
        slope = np.clip(np.linspace(-0.3, rng.uniform(1.5, 4), angle.shape[1]), 0, None)
        angle = angle + slope * rng.standard_normal(angle.shape)
    elif kind == 1:
        step = 2 * np.pi / rng.integers(3, 7)
        angle = np.round(angle / step) * step
    elif kind == 2:
        angle = np.angle(minimum_phase(magnitude))
    else:
        rough = gaussian_filter(rng.standard_normal(angle.shape), (rng.uniform(0, 3), rng.uniform(0, 3)))
        angle = angle + rng.uniform(0.8, 2.5) * rough / (rough.std() + 1e-9)
    return match_level(istft(magnitude * np.exp(1j * angle), size, hop, len(wave)), wave)


def smoothed_magnitude(wave, rng):
    """Over-smoothed magnitudes with the phases of the recording, as a regression model with a good vocoder leaves."""
    size, hop = [(1024, 256), (800, 200)][rng.integers(2)]
    spectrum = stft(wave, size, hop)
    magnitude = np.abs(spectrum)
    smooth = np.exp(gaussian_filter(np.log(magnitude + 1e-4), (rng.uniform(0.5, 1.5), rng.uniform(0, 1.2))))
    return match_level(istft(smooth * spectrum / (magnitude + 1e-9), size, hop, len(wave)), wave)


def replicated_spectrum(wave, rng):
    """The upper band made from the lower one, as transposed convolutions do: images and a checkerboard tone."""
    factor = int(rng.choice([2, 2, 4]))
    low = resample_poly(wave, 1, factor)
    zeros = np.zeros(len(low) * factor)
    zeros[::factor] = low * factor
    kernel = rng.uniform(0.2, 1.0, 2 * factor + 1) * np.hanning(2 * factor + 3)[1:-1]
    raised = lfilter(kernel / kernel.sum(), 1, zeros)[:len(wave)]
    raised = np.pad(raised, (0, len(wave) - len(raised)))
    pattern = 1 + rng.uniform(0.0, 0.05) * np.tile(rng.standard_normal(factor * 4), len(wave) // (factor * 4) + 1)[:len(wave)]
    upper = stft(raised * pattern, 512, 128)
    base = stft(wave, 512, 128)
    bins = np.arange(257)
    corner = 257 / factor * rng.uniform(0.8, 1.0)
    gain = np.abs(base).mean(axis=0) / (np.abs(upper).mean(axis=0) + 1e-6)
    gain = np.exp(gaussian_filter(np.log(gain + 1e-3), 6))
    mixed = np.where(bins[None] < corner, base, upper * np.minimum(gain, 4))
    return match_level(istft(mixed, 512, 128, len(wave)), wave)


CLASSIC = {
    "griffin-lim-linear": griffin_lim_linear, "griffin-lim-mel": griffin_lim_mel, "world-like": world_like,
    "linear-prediction": linear_prediction, "harmonic-noise": harmonic_noise, "phase-jitter": phase_jitter,
    "smoothed-magnitude": smoothed_magnitude, "replicated-spectrum": replicated_spectrum,
}
