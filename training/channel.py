"""The channel that every clip passes, whatever its label: room, tilt, noise, level, low-pass, codec, packing.

The draws never look at the label. Replay adds a loudspeaker in a room before it; its noise is drawn as for live speech.
"""
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import butter, sosfilt, fftconvolve, resample_poly, lfilter

RATE = {"phone": 8000, "digital": 16000}
CODECS = {"phone": ("mulaw", "alaw", "gsm", "amr", "amr_low", "g726", "speex", "none"),
          "digital": ("none", "none", "mp3", "opus", "g722", "mp3_low", "aac")}
CODEC_ARGS = {
    "gsm": ("gsm", ["-c:a", "libgsm"]), "g726": ("wav", ["-c:a", "g726", "-b:a", "32k"]), "speex": ("ogg", ["-c:a", "libspeex", "-b:a", "15k"]),
    "mp3": ("mp3", ["-c:a", "libmp3lame", "-b:a", "64k"]), "mp3_low": ("mp3", ["-c:a", "libmp3lame", "-b:a", "32k"]),
    "opus": ("ogg", ["-c:a", "libopus", "-b:a", "24k"]), "g722": ("wav", ["-c:a", "g722"]), "aac": ("adts", ["-c:a", "aac", "-b:a", "40k"]),
}
PACKING = {"phone": "24k", "digital": "48k"}
GAP_SECONDS = 0.25
SECONDS = (1.3, 4.6)


@dataclass
class Noise:
    """What noise is cut from: babble is speech of training speakers only."""
    speech: list

    def draw(self, length: int, rate: int, rng):
        kind = rng.choice(["white", "pink", "brown", "babble", "hum", "breathing"], p=[0.2, 0.25, 0.15, 0.2, 0.1, 0.1])
        white = rng.standard_normal(length)
        if kind == "white":
            return white
        if kind == "babble":
            return sum(loop(self.speech[rng.integers(len(self.speech))], length, rng) for _ in range(rng.integers(3, 8)))
        if kind == "hum":
            base, t = rng.choice([50, 60]), np.arange(length) / rate
            return 0.3 * white + sum(np.sin(2 * np.pi * base * k * t + rng.random() * 6.28) / k for k in rng.integers(1, 20, 6))
        power = {"pink": 0.5, "brown": 1.0, "breathing": 0.5}[kind] * rng.uniform(0.7, 1.3)
        size = next_fast_len(length, True)
        coloured = irfft(rfft(white, size) / np.maximum(np.arange(size // 2 + 1), 20) ** power, size)[:length]
        if kind == "breathing":
            coloured *= 1.2 + np.sin(2 * np.pi * rng.uniform(0.3, 3) * np.arange(length) / rate + rng.random() * 6.28)
        return coloured


def loop(wave, length, rng):
    at = rng.integers(len(wave))
    return np.resize(np.roll(wave, -at), length)


def rms(x):
    return np.sqrt(np.mean(x ** 2)) + 1e-9


def impulse_response(rng, rate, decay, direct_db):
    """A made room: the direct path, some early reflections and a decaying tail, dull with time."""
    length = int(rate * min(decay, 0.7))
    t = np.arange(length) / rate
    tail = rng.standard_normal(length) * np.exp(-6.9 * t / decay)
    tail = 0.5 * tail + 0.5 * lfilter([1 - (a := rng.uniform(0.3, 0.85))], [1, -a], tail) * 2
    tail[:int(rate * rng.uniform(0.001, 0.006))] = 0
    early = np.zeros(length)
    taps = rng.integers(int(0.001 * rate), int(0.04 * rate), rng.integers(4, 14))
    early[np.minimum(taps, length - 1)] = rng.uniform(-1, 1, len(taps)) * np.exp(-taps / rate / 0.02)
    wet = early / (np.sqrt(np.sum(early ** 2)) + 1e-9) * rng.uniform(0.3, 1) + tail / (np.sqrt(np.sum(tail ** 2)) + 1e-9)
    response = wet / (np.sqrt(np.sum(wet ** 2)) + 1e-9) * 10 ** (-direct_db / 20)
    response[0] += 1.0
    return response


def in_room(wave, response):
    return fftconvolve(wave, response)[:len(wave)]


def loudspeaker(wave, rng, rate):
    """Band-pass, a few resonances, and a quadratic and a cubic term."""
    low, high = np.exp(rng.uniform(np.log(80), np.log(600))), min(np.exp(rng.uniform(np.log(3000), np.log(9000))), rate * 0.47)
    wave = sosfilt(butter(int(rng.integers(1, 4)), low, "high", fs=rate, output="sos"), wave)
    drive = rng.uniform(0.15, 1.0)
    x = wave / (np.abs(wave).max() + 1e-9) * drive
    x = x + rng.uniform(0, 0.35) * x ** 2 - rng.uniform(0, 0.35) * x ** 3
    if rng.random() < 0.25:
        x = np.tanh(x * rng.uniform(1, 3))
    x = sosfilt(butter(int(rng.integers(1, 5)), high, "low", fs=rate, output="sos"), x)
    for _ in range(rng.integers(0, 5)):
        x = peak(x, np.exp(rng.uniform(np.log(200), np.log(rate * 0.4))), rng.uniform(-8, 8), rng.uniform(0.7, 6), rate)
    return x - x.mean()


def peak(x, frequency, gain_db, quality, rate):
    """A peaking equaliser (one biquad)."""
    a, w = 10 ** (gain_db / 40), 2 * np.pi * frequency / rate
    alpha = np.sin(w) / (2 * quality)
    top = np.array([1 + alpha * a, -2 * np.cos(w), 1 - alpha * a])
    bottom = np.array([1 + alpha / a, -2 * np.cos(w), 1 - alpha / a])
    return lfilter(top / bottom[0], bottom / bottom[0], x)


def replayed(wave, rng, rate):
    """The attacker records in a room, and plays through a loudspeaker in another room."""
    if rng.random() < 0.8:
        wave = in_room(wave, impulse_response(rng, rate, rng.uniform(0.1, 0.5), rng.uniform(3, 18)))
    wave = loudspeaker(wave, rng, rate)
    return in_room(wave, impulse_response(rng, rate, rng.uniform(0.12, 0.7), rng.uniform(-3, 12)))


def tilt(wave, rng, rate):
    """A microphone: a gentle slope and one or two broad bumps."""
    a = rng.uniform(-0.35, 0.35)
    wave = lfilter([1, a], [1], wave)
    for _ in range(rng.integers(0, 3)):
        wave = peak(wave, np.exp(rng.uniform(np.log(150), np.log(rate * 0.4))), rng.uniform(-5, 5), rng.uniform(0.4, 1.5), rate)
    return wave


def crop(wave, rng, rate):
    """A stretch inside speech: it starts and ends where there is energy."""
    level = np.sqrt(np.convolve(wave ** 2, np.ones(rate // 50) / (rate // 50), "same"))
    active = np.flatnonzero(level > level.max() * 0.03)
    wave = wave[active[0]:active[-1]] if len(active) > rate else wave
    longest = int(min(rng.uniform(*SECONDS), SECONDS[1]) * rate)
    if len(wave) <= longest:
        return wave
    at = rng.integers(len(wave) - longest)
    return wave[at:at + longest]


def transmit(wave, channel: str, replay: bool, noise: Noise, rng):
    """Takes 16 kHz speech to the channel's rate, before its codec; returns it with the draws worth keeping."""
    rate = RATE[channel]
    wave = sosfilt(butter(2, 60, "high", fs=16000, output="sos"), crop(wave, rng, 16000))
    if replay:
        wave = replayed(wave, rng, 16000)
    if rng.random() < 0.6:
        wave = in_room(wave, impulse_response(rng, 16000, rng.uniform(0.08, 0.4), rng.uniform(6, 22)))
    wave = tilt(wave, rng, 16000)
    snr = float(rng.uniform(12, 40))
    hiss = noise.draw(len(wave), 16000, rng)
    wave = wave / rms(wave) + hiss / rms(hiss) * 10 ** (-snr / 20)
    wave = sosfilt(butter(int(rng.integers(4, 9)), rng.uniform(6400, 7700), "low", fs=16000, output="sos"), wave)
    if channel == "phone":
        if rng.random() < 0.5:
            wave = sosfilt(butter(2, [rng.uniform(100, 330), rng.uniform(3300, 3800)], "band", fs=16000, output="sos"), wave)
        wave = resample_poly(wave, 1, 2)
    wave = wave / rms(wave) * 10 ** (rng.uniform(-27, -16) / 20)
    return np.clip(wave, -1, 1), snr


def mu_law(x, mu=255.0):
    y = np.round((np.sign(x) * np.log1p(mu * np.abs(x)) / np.log1p(mu)) * 127) / 127
    return np.sign(y) * np.expm1(np.abs(y) * np.log1p(mu)) / mu


def a_law(x, a=87.6):
    b, k = np.abs(x), 1 + np.log(a)
    y = np.where(b < 1 / a, a * b / k, (1 + np.log(np.maximum(a * b, 1e-9))) / k)
    y = np.round(y * 127) / 127
    return np.sign(x) * np.where(y < 1 / k, y * k / a, np.exp(y * k - 1) / a)


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def coded_file(wave, rate, codec, folder: Path, packing=""):
    """Encodes and decodes one long wave with a tool; the result may be shifted and longer."""
    source, back = folder / "in.wav", folder / "out.wav"
    soundfile.write(source, wave, rate, subtype="PCM_16")
    if codec.startswith("amr"):
        mode = "7" if codec == "amr" else str(2)
        run(["sox", source, "-C", mode, folder / "x.amr-nb"])
        run(["sox", folder / "x.amr-nb", back])
    else:
        kind, args = ("ogg", ["-c:a", "libopus", "-b:a", packing, "-compression_level", "4"]) if codec == "packing" else CODEC_ARGS[codec]
        coded = folder / f"x.{kind}"
        run(["ffmpeg", "-y", "-i", source, *args, *(["-f", kind] if kind != "wav" else []), coded])
        run(["ffmpeg", "-y", "-i", coded, "-ar", str(rate), "-ac", "1", back])
    return soundfile.read(back)[0]


def delay_of(before, after, rate):
    """Samples by which `after` is late, from the first minute."""
    length = min(len(before), len(after), rate * 60)
    size = 1 << (2 * length).bit_length()
    cross = np.fft.irfft(np.fft.rfft(after[:length], size) * np.conj(np.fft.rfft(before[:length], size)), size)
    reach = rate // 5
    lags = np.r_[np.arange(reach), np.arange(-reach, 0)]
    return int(lags[np.argmax(cross[lags])])


def code(waves: list, rate: int, codec: str, packing: str = "") -> list:
    """Passes many waves through one codec in a single run, and cuts them out again at the codec's delay."""
    if codec == "none":
        return waves
    if codec in ("mulaw", "alaw"):
        return [(mu_law if codec == "mulaw" else a_law)(w) for w in waves]
    gap = np.zeros(int(rate * GAP_SECONDS))
    joined = np.concatenate([part for w in waves for part in (gap, w)] + [gap])
    with tempfile.TemporaryDirectory() as folder:
        after = coded_file(joined, rate, codec, Path(folder), packing)
    late = delay_of(joined, after, rate)
    after = np.pad(after, (rate, rate + max(0, len(joined) - len(after))))
    cut, at = [], rate + late
    for w in waves:
        at += len(gap)
        cut.append(after[at:at + len(w)])
        at += len(w)
    return cut


def pack(waves: list, channel: str) -> list:
    """The Opus packing that the whole corpus went through."""
    return code(waves, RATE[channel], "packing", PACKING[channel])
