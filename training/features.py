"""From audio to what the networks see; the same numbers as the runtime's signal path gives.

A window of 4 s: padded by repetition, mean removed and level set before the padding, then power spectra of frames
without centre padding under a periodic Hann window. Bands and logarithm belong to the graph; they are done here only to
keep a small cache.
"""
import numpy as np

WINDOW_SECONDS = 4
LEVEL_DBFS = -26.0
LOG_FLOOR = 1e-5
# `long` frames resolve the comb that a synthesizer's own frame rate leaves in the spectrum.
FRONTS = {
    "phone": dict(rate=8000, frame=256, hop=128, fft=256), "digital": dict(rate=16000, frame=512, hop=256, fft=512),
    "phone-long": dict(rate=8000, frame=512, hop=160, fft=512), "digital-long": dict(rate=16000, frame=1024, hop=320, fft=1024),
}
BAND_HZ = 31.25
SINGLE_BANDS = 96           # up to 3 kHz a band is 31.25 Hz wide; above, in `digital`, twice that
CEPSTRAL_RANGE = (8, 456)   # quefrencies kept, in samples of 16 kHz (0.5 to 28 ms)
CEPSTRAL_STRIDE = 2         # every second frame is enough for their statistics
# Speeds that move the comb of 22.05 kHz / 256 samples to where other usual step lengths lie: 80, 75, 62.5, 94, 100 Hz.
SPEEDS = ((14, 13), (31, 27), (62, 45), (147, 160), (31, 36))


def family_of(front: str) -> str:
    return front.split("-")[0]


def level(wave: np.ndarray) -> np.ndarray:
    wave = wave.astype(np.float32)
    wave = wave - wave.mean()
    return wave * (10 ** (LEVEL_DBFS / 20) / max(float(np.sqrt(np.mean(wave ** 2))), 1e-9))


def window_of(wave: np.ndarray, front: str, start: int = 0) -> np.ndarray:
    """Exactly one window of samples."""
    size = FRONTS[front]["rate"] * WINDOW_SECONDS
    return np.resize(level(wave[start:start + size]), size)


def power_spectrogram(window: np.ndarray, front: str) -> np.ndarray:
    """[frames, bins] of |X|^2."""
    f = FRONTS[front]
    hann = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(f["frame"]) / f["frame"])).astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(window, f["frame"])[::f["hop"]]
    spectrum = np.fft.rfft(frames * hann, f["fft"], axis=1)
    return (spectrum.real ** 2 + spectrum.imag ** 2).astype(np.float32)


def band_bins(front: str) -> tuple:
    """How many bins make a band, in the single bands and above them."""
    single = round(BAND_HZ * FRONTS[front]["fft"] / FRONTS[front]["rate"])
    return single, single * (1 if family_of(front) == "phone" else 2)


def band_matrix(front: str) -> np.ndarray:
    """[bins, bands] means of neighbouring bins; the DC bin is left out."""
    bins = FRONTS[front]["fft"] // 2 + 1
    single, upper = band_bins(front)
    edges = list(range(1, single * SINGLE_BANDS + 1, single)) + list(range(single * SINGLE_BANDS + 1, bins, upper)) + [bins]
    matrix = np.zeros((bins, len(edges) - 1), np.float32)
    for band, (low, high) in enumerate(zip(edges, edges[1:])):
        matrix[low:high, band] = 1.0 / (high - low)
    return matrix


def cepstral_transform(front: str) -> np.ndarray:
    """Cosine transform of the log spectrum without DC: [bins - 1, quefrencies]; the same quefrencies at both rates."""
    f = FRONTS[front]
    bins = f["fft"] // 2
    low, high = (k * f["rate"] // 16000 for k in CEPSTRAL_RANGE)
    k, n = np.arange(low, high)[None], np.arange(bins)[:, None]
    return (np.cos(np.pi * k * (2 * n + 1) / (2 * bins)) * np.sqrt(2 / bins)).astype(np.float32)


def log_bands(window: np.ndarray, front: str) -> np.ndarray:
    """Cached feature of one window: [frames, bands] as float16."""
    return np.log(power_spectrogram(window, front) @ band_matrix(front) + LOG_FLOOR).astype(np.float16)


def cepstral_statistics(power: np.ndarray, transform: np.ndarray) -> np.ndarray:
    """[3, quefrencies]: mean, log deviation and log deviation of differences over the kept frames."""
    cepstra = np.log(power[::CEPSTRAL_STRIDE, 1:] + LOG_FLOOR) @ transform
    spread = lambda x: 0.5 * np.log(np.mean((x - x.mean(0)) ** 2, axis=0) + 1e-4)
    return np.stack([cepstra.mean(0), spread(cepstra), spread(np.diff(cepstra, axis=0))])
