"""Sounds of a telephone line that are no voice: tones, signalling, data, hum and noise. All at 8 kHz, about rms 0.1."""
import numpy as np

from corpus import RATE

DTMF_LOW, DTMF_HIGH = (697, 770, 852, 941), (1209, 1336, 1477, 1633)

# Frequencies in Hz and cadence in seconds (on, off, ...); no cadence: steady.
CALL_PROGRESS = [
    ((350, 440), ()), ((425,), ()), ((400, 450), ()), ((440,), ()), ((350, 450), ()), ((425,), (1, 0.2, 0.3, 0.2)),
    ((440, 480), (2, 4)), ((425,), (1, 4)), ((400, 450), (0.4, 0.2, 0.4, 2)), ((440,), (1.5, 3.5)), ((425,), (1, 3)), ((400,), (1, 2)),
    ((480, 620), (0.5, 0.5)), ((425,), (0.5, 0.5)), ((400,), (0.375, 0.375)), ((425,), (0.25, 0.25)), ((480, 620), (0.25, 0.25)), ((425,), (0.2, 0.2, 0.2, 0.6)),
    ((1100,), (0.5, 3)), ((2100,), ()), ((1000,), (0.3, 10)), ((1400,), (0.2, 0.5)), ((440,), (0.3, 10)),
]


def scaled(samples, rms=0.1):
    power = np.sqrt(np.mean(samples ** 2))
    return (samples * (rms / power) if power > 1e-9 else samples).astype(np.float32)


def tone(frequencies, count, rng):
    time = np.arange(count) / RATE
    return sum(rng.uniform(0.7, 1) * np.sin(2 * np.pi * f * time + rng.uniform(0, 2 * np.pi)) for f in frequencies)


def call_progress(count, rng):
    frequencies, cadence = CALL_PROGRESS[rng.integers(len(CALL_PROGRESS))]
    detune = rng.uniform(0.985, 1.015)
    samples = tone([f * detune for f in frequencies], count, rng)
    if cadence:
        edges = np.cumsum(np.tile(np.array(cadence) * rng.uniform(0.9, 1.1), 60))
        phase = np.searchsorted(edges, np.arange(count) / RATE + rng.uniform(0, edges[len(cadence) - 1]))
        samples = samples * (phase % 2 == 0)
    return scaled(samples + 1e-6)


def keys(count, rng):
    samples, at = np.zeros(count), int(rng.uniform(0, 0.5) * RATE)
    while at < count:
        length = int(rng.uniform(0.05, 0.4) * RATE)
        pair = (DTMF_LOW[rng.integers(4)], DTMF_HIGH[rng.integers(4)])
        if rng.random() < 0.1:
            pair = (rng.uniform(300, 3200),)
        end = min(count, at + length)
        samples[at:end] = tone(pair, end - at, rng)
        at = end + int(rng.choice([rng.uniform(0.04, 0.2), rng.uniform(0.3, 2)]) * RATE)
    return scaled(samples + 1e-6)


def information_tones(count, rng):
    samples, at = np.zeros(count), int(rng.uniform(0, 1) * RATE)
    while at < count:
        for frequency in rng.permutation([950, 1400, 1800]) * rng.uniform(0.97, 1.03):
            end = min(count, at + int(rng.choice([0.276, 0.38, 0.33]) * RATE))
            samples[at:end] = tone([frequency], max(0, end - at), rng)
            at = end
        at += int(rng.uniform(0.5, 3) * RATE)
    return scaled(samples + 1e-6)


def modem(count, rng):
    """Keyed frequencies, or keyed phases with shaped pulses: fax, modem and text telephone."""
    baud = rng.choice([45.45, 110, 300, 300, 600, 1200, 1600, 2400])
    symbols = rng.integers(0, 4, int(count / RATE * baud) + 2)[(np.arange(count) / RATE * baud).astype(int)]
    carrier = rng.choice([1080, 1170, 1700, 1750, 1800, 2125])
    if baud <= 600:
        return scaled(np.sin(2 * np.pi * np.cumsum(carrier + (symbols % 2) * rng.choice([85, 100, 170, 200, 400])) / RATE))
    shaped = np.convolve(np.exp(1j * np.pi / 2 * symbols), np.hanning(int(RATE / baud * 2) + 2), "same")
    return scaled(np.real(shaped * np.exp(2j * np.pi * carrier * np.arange(count) / RATE)))


def hum(count, rng):
    base, harmonics = rng.choice([50, 60]), np.arange(1, rng.integers(4, 40))
    strengths = rng.uniform(0, 1, len(harmonics)) / harmonics ** rng.uniform(0.2, 1.5)
    time = np.arange(count) / RATE
    return scaled(sum(a * np.sin(2 * np.pi * base * h * time + rng.uniform(0, 6.28)) for h, a in zip(harmonics, strengths)))


def coloured_noise(count, rng):
    """Noise with a random slope and a random resonance, steady or slowly changing, at times rhythmic (fans, wheels)."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.fft.rfftfreq(count, 1 / RATE)
    spectrum *= 1 / np.maximum(frequency, 30) ** rng.choice([0, 0, 0.5, 0.5, 1, rng.uniform(-0.3, 1.2)])
    if rng.random() < 0.5:
        spectrum *= 1 + rng.uniform(0, 8) * np.exp(-0.5 * ((frequency - rng.uniform(100, 3500)) / rng.uniform(50, 800)) ** 2)
    samples = np.fft.irfft(spectrum, count)
    time = np.arange(count) / RATE
    if rng.random() < 0.5:
        samples = samples * (1 + rng.uniform(0, 0.9) * np.sin(2 * np.pi * rng.choice([rng.uniform(0.05, 1), rng.uniform(1, 12)]) * time + rng.uniform(0, 6.28)))
    return scaled(samples)


def clicks(count, rng):
    samples = np.zeros(count)
    for at in rng.integers(0, count, rng.poisson(count / RATE * rng.choice([0.5, 2, 10, 50]))):
        length = min(count - at, int(RATE * rng.choice([0.0003, 0.002, 0.01, 0.03])) + 1)
        burst = rng.standard_normal(length) * np.exp(-np.arange(length) / (length / 4 + 1))
        samples[at:at + length] += rng.uniform(0.1, 1) * (tone([rng.uniform(200, 3000)], length, rng) * np.abs(burst) if rng.random() < 0.3 else burst)
    return scaled(samples + 1e-6)


def bursts(count, rng):
    """Rustling, breathing on the microphone, traffic: noise that comes and goes without a voice's pitch."""
    knots = np.linspace(0, count, 2 + int(count / RATE * rng.uniform(0.5, 8)))
    envelope = np.interp(np.arange(count), knots, rng.uniform(0, 1, len(knots)) ** rng.uniform(1, 4))
    return scaled(coloured_noise(count, rng) * envelope + 1e-6)


def comfort_noise(count, rng):
    """Soft noise that is switched on and off, between it digital silence."""
    knots = np.sort(rng.integers(0, count, rng.integers(0, 6)))
    gate = np.searchsorted(knots, np.arange(count)) % 2 == 0
    return scaled(coloured_noise(count, rng) * np.where(gate, 1, rng.choice([0, 0.1, 0.5])) + 1e-6)


def chirps(count, rng):
    """Sweeps, sirens, alarms and beeps of machines."""
    period = rng.uniform(0.1, 2) * RATE
    phase = (np.arange(count) % period) / period
    low, high = np.sort(rng.uniform(300, 3000, 2))
    shape = [phase, 0.5 - 0.5 * np.cos(2 * np.pi * phase), (phase > 0.5) * 1.0][rng.integers(3)]
    samples = np.sin(2 * np.pi * np.cumsum(low + (high - low) * shape) / RATE)
    if rng.random() < 0.5:
        samples = np.sign(samples) * np.abs(samples) ** rng.uniform(0.2, 1)
    if rng.random() < 0.4:
        samples = samples * ((np.arange(count) // (rng.uniform(0.05, 1) * RATE)) % 2 == 0)
    return scaled(samples + 1e-6)
