"""Recordings of the training and of the trials: segments of the corpus through random channels, as log bands and pitch histograms."""
import csv
import functools
import sys
from pathlib import Path

import numpy as np
import soundfile
import torch
from scipy.signal import resample_poly

sys.path.append(str(Path(__file__).resolve().parent.parent / "voice_activity"))
import line_sounds  # noqa: E402
from bands import BANDS, FRAMES, log_bands  # noqa: E402
from network import FFT, FRAME, HOP, mel_filters  # noqa: E402
from mixtures import with_rms  # noqa: E402
from pitch import PitchHistogram  # noqa: E402
from telephone_channel import code, room, telephone, tilt  # noqa: E402

NO_SPEAKER_KNOWN = ("Picovoice", "MarkHershey", "ming024")  # many people under one name, or one under two
NO_PERSON = "generated here (Debian)"            # eSpeak, Flite and Festival: they are no people's voices
SECONDS_MIN, SEGMENTS_MIN, SEGMENTS_MAX = 1.3, 2, 40
WINDOW = 24000                                   # 3 s at 8 kHz
TARGET_RMS = 10 ** (-26 / 20)
CODECS = ["none", "ULAW", "ALAW", "GSM610"] * 4 + ["G721_32", "OPUS"]  # the last two cost ten times the others
FILTERS = torch.from_numpy(mel_filters(BANDS))
PITCH = PitchHistogram()
NOISES = [line_sounds.coloured_noise, line_sounds.coloured_noise, line_sounds.bursts, line_sounds.hum, line_sounds.clicks]


def by_speaker(segments):
    """{speaker: segments} of the people, real or synthesized, of whom several segments are there."""
    speakers = {}
    for segment in segments:
        if not segment.source.startswith(NO_SPEAKER_KNOWN) and segment.source != NO_PERSON and len(segment.samples) >= SECONDS_MIN * 8000:
            speakers.setdefault(segment.speaker, []).append(segment)
    return {speaker: kept[:SEGMENTS_MAX] for speaker, kept in sorted(speakers.items()) if len(kept) >= SEGMENTS_MIN}


def at_speed(samples, speed):
    """Faster is also higher: another speaker."""
    return samples[:44000] if speed == 1 else resample_poly(samples[:44000], 10, round(10 * speed))[:46000].astype(np.float32)


@functools.lru_cache(maxsize=None)
def noise_of(number):
    """One of 96 noises of 6 s: drawing one is slow."""
    rng = np.random.default_rng(1000 + number)
    return NOISES[rng.integers(len(NOISES))](48000, rng)


class Channel:
    """One line: its room, its noise, its level and its codec, drawn from a seed, so that several recordings can share them."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, samples, moment):
        """`moment` says which stretch of the line's noise is heard; at most 5.9 s."""
        samples = samples[:47000]
        rng = np.random.default_rng(self.seed)
        noise, snr, rms = noise_of(int(rng.integers(96))), rng.uniform(8, 38), 10 ** (rng.uniform(-32, -14) / 20)
        if rng.random() < 0.4:
            samples = room(samples, rng)
        noise = np.roll(noise, -12 * moment)[:len(samples)]
        heard = ((with_rms(samples, 0.1) + noise * 10 ** (-snr / 20)) * rms / 0.1).astype(np.float32)
        if rng.random() < 0.3:  # not a telephone: wide band
            return code(tilt(heard, rng), "OPUS" if rng.random() < 0.1 else "none")
        return telephone(heard, rng, CODECS)


def window_of(samples):
    """The first 3 s, repeated from the start where there is less, at the level that the product gives a window."""
    samples = samples[:WINDOW] - np.mean(samples[:WINDOW])
    return np.resize(with_rms(samples, TARGET_RMS), WINDOW)


def windows_of(samples):
    """The windows that the product cuts: of 3 s each 1.5 s, the last one at the end."""
    last = max(0, len(samples) - WINDOW)
    return [window_of(samples[start:start + WINDOW]) for start in [*range(0, last, WINDOW // 2), last]]


def features_of(windows):
    """(log bands as float16 [windows, frames, bands], pitch histograms [windows, 2 * periods])."""
    frames = torch.from_numpy(np.stack(windows).astype(np.float32)).unfold(1, FRAME, HOP) * torch.hann_window(FRAME)
    assert frames.shape[1] == FRAMES
    power = torch.fft.rfft(frames, FFT).abs() ** 2
    return log_bands(power, FILTERS).half(), PITCH(power)


def corpus_paths(corpus):
    """{speaker: {segment: path}} of the bona fide recordings of INDEX.tsv, telephone and digital: their rooms, noises and codecs are not ours."""
    paths = {}
    with open(Path(corpus) / "INDEX.tsv") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["label"] == "bonafide":
                paths.setdefault(row["speaker"], {})[row["seg"]] = Path(corpus) / row["path"]
    return paths


def read_recording(path):
    samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return resample_poly(samples.mean(axis=1), 8000, rate).astype(np.float32)
