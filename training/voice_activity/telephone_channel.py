"""What a telephone does to sound: room, microphone, band, level, codec, lost packets. All at 8 kHz."""
import io

import numpy as np
import soundfile
from scipy.signal import butter, fftconvolve, sosfilt

from corpus import RATE

CODECS = ["none", "ULAW", "ALAW", "GSM610", "G721_32", "OPUS"]


def code(samples, codec):
    """The samples after a codec of libsndfile: G.711, GSM 06.10, G.726 at 32 kbit/s (which it names G.721), or Opus."""
    if codec == "none":
        return samples
    file = io.BytesIO()
    form = {"OPUS": "OGG", "G721_32": "AU"}.get(codec, "WAV")
    soundfile.write(file, np.clip(samples, -1, 1), RATE, format=form, subtype=codec)
    file.seek(0)
    decoded = soundfile.read(file, dtype="float32")[0]
    return np.pad(decoded, (0, max(0, len(samples) - len(decoded))))[:len(samples)]


def room(samples, rng):
    """A small room: noise that dies away, 0.1 to 0.5 s, behind the direct sound."""
    length = int(rng.uniform(0.1, 0.5) * RATE)
    tail = rng.standard_normal(length) * np.exp(-6.9 * np.arange(length) / length)
    tail *= rng.uniform(0.05, 0.5) / np.sqrt(np.sum(tail ** 2))
    tail[0] = 1
    return fftconvolve(samples, tail)[:len(samples)].astype(np.float32)


def band(samples, rng):
    low, high = rng.uniform(60, 350), rng.uniform(3000, 3900)
    return sosfilt(butter(int(rng.integers(1, 4)), [low, high], "band", fs=RATE, output="sos"), samples).astype(np.float32)


def tilt(samples, rng):
    """A microphone's frequency response: a gentle slope and a bump."""
    frequency = np.fft.rfftfreq(len(samples), 1 / RATE)
    decibels = rng.uniform(-6, 6) * frequency / 4000 + rng.uniform(-6, 6) * np.exp(-0.5 * ((frequency - rng.uniform(200, 3800)) / rng.uniform(150, 600)) ** 2)
    return np.fft.irfft(np.fft.rfft(samples) * 10 ** (decibels / 20), len(samples)).astype(np.float32)


def lose_packets(samples, rng, share):
    """Packets of 20 ms that never came, played as silence or as the one before."""
    samples, packet = samples.copy(), RATE // 50
    for at in np.flatnonzero(rng.random(len(samples) // packet) < share) * packet:
        samples[at:at + packet] = samples[at - packet:at] * 0.7 if at >= packet and rng.random() < 0.5 else 0
    return samples


def telephone(samples, rng, codecs=CODECS):
    """A random channel. The level is set by the caller: codecs are given what they would be given."""
    if rng.random() < 0.6:
        samples = band(samples, rng)
    if rng.random() < 0.6:
        samples = tilt(samples, rng)
    if rng.random() < 0.05:
        samples = np.clip(samples * 3, -0.5, 0.5)
    samples = code(samples, codecs[rng.integers(len(codecs))])
    if rng.random() < 0.15:
        samples = code(samples, CODECS[rng.integers(1, 4)])
    return lose_packets(samples, rng, rng.uniform(0, 0.05)) if rng.random() < 0.15 else samples
