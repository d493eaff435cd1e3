"""Measures how well speech of a telephone is told at higher sample rates: telephone clips of the corpus through ten resamplers and nine
codecs against wide-band clips through thirteen. The numbers are those of pipelines/audio/signal/telephone-band.ts; half of the speakers
chose the least evidence, the other half is printed. Needs ffmpeg and sox. Ten minutes.

    AUDIO_CORPUS=... python3 training/telephone_band.py
"""
import csv
import hashlib
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import gcd
from pathlib import Path

import numpy as np
import soundfile
from scipy.interpolate import CubicSpline
from scipy.signal import resample_poly

CORPUS = Path(os.environ["AUDIO_CORPUS"])
RATES = [16000, 16000, 44100, 48000]
RESAMPLERS = {"sox -v": ["-v"], "sox -l": ["-l"], "sox -q": ["-q"], "ffmpeg": [], "soxr": ["-af", "aresample=resampler=soxr"],
              "polyphase": None, "line": None, "hold": None, "hold again": None, "cubic": None}
VOIP = ["-application", "voip"]
CODECS = {"none": None, "mp3 64": ["mp3", "-b:a", "64k"], "mp3 32": ["mp3", "-b:a", "32k"], "aac 48": ["m4a", "-b:a", "48k"],
          "opus 24": ["opus", "-b:a", "24k"], "opus 48": ["opus", "-b:a", "48k"], "opus 16": ["opus", "-b:a", "16k", *VOIP],
          "opus 12": ["opus", "-b:a", "12k", *VOIP], "vorbis": ["ogg", "-c:a", "libvorbis", "-q:a", "3"]}
WIDE_CODECS = {**CODECS, "g722": ["wav", "-ar", "16000", "-c:a", "g722"], "opus 9": ["opus", "-b:a", "9k", *VOIP],
               "low-pass 6.4": None, "low-pass 5.5": None}
LEAST = 0.9


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def convert(source, target, *options):
    run("ffmpeg", "-nostdin", "-y", "-v", "error", "-i", str(source), *options, str(target))
    return target


def upsample(source, target, rate, way):
    """`source` has 8 kHz."""
    if way.startswith("sox "):
        run("sox", str(source), str(target), "rate", *RESAMPLERS[way], str(rate))
    elif RESAMPLERS[way] is not None:
        convert(source, target, *RESAMPLERS[way], "-ar", str(rate))
    else:
        samples, _ = soundfile.read(source)
        places = np.arange(int(len(samples) * rate / 8000)) * 8000 / rate
        if way == "polyphase":
            made = resample_poly(samples, rate // gcd(rate, 8000), 8000 // gcd(rate, 8000))
        elif way == "line":
            made = np.interp(places, np.arange(len(samples)), samples)
        elif way == "cubic":
            made = CubicSpline(np.arange(len(samples)), samples)(places)
        else:
            made = samples[np.minimum(places.astype(int), len(samples) - 1)]
        soundfile.write(target, np.clip(made, -1, 1), rate)
    return target


def evidence(samples):
    """As `TelephoneBand.isTelephone` counts it; None where nothing is said."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, 512)[::256] * np.hanning(513)[:512]
    power = np.abs(np.fft.rfft(frames)) ** 2 + 1e-12
    hertz = np.arange(257) * 31.25
    band = lambda low, high: power[:, (hertz >= low) & (hertz < high)]  # noqa: E731
    speech, edge, above = band(300, 3400).sum(1), band(2200, 3400), band(4300, 5800)
    spoken = (speech > np.percentile(speech[speech >= 2e-3], 95) * 10 ** -2.5) & (speech >= 2e-3) if (speech >= 2e-3).any() else speech < 0
    if spoken.sum() < 31 or 10 * np.log10(np.percentile(edge.sum(1)[spoken], 97) / np.percentile(speech[speech >= 2e-3], 95)) < -45:
        return None
    low = np.arange(77, 116)
    a, b = np.log(power[:, low]), np.log(power[:, 256 - low])
    a, b = a - a.mean(1, keepdims=True), b - b.mean(1, keepdims=True)
    mirrored = (a * b).sum(1) / np.sqrt((a ** 2).sum(1) * (b ** 2).sum(1) + 1e-9)
    drop = 10 * np.log10(above.mean(1) / edge.mean(1))
    return mirrored[spoken].mean() / 0.35 - np.percentile(drop[spoken], 97) / 20


def hear(job, folder):
    """(kind, half, codec, way, noise, evidence) of one clip through a drawn chain."""
    kind, number, row, turn = job
    rng, base = random.Random(f"{kind}{number}{turn}"), Path(folder) / f"{kind}-{number}-{turn}"
    rate, way, noise, source = rng.choice(RATES), None, None, CORPUS / row["path"]
    if kind == "telephone":
        low = convert(source, f"{base}-8.wav", "-ac", "1", "-ar", "8000")
        way, codec = rng.choice(list(RESAMPLERS)), rng.choice(list(CODECS))
        heard = upsample(low, f"{base}-up.wav", rate, way)
        noise = rng.choice([None, None, None, 50, 40])
        if noise is not None:
            samples, _ = soundfile.read(heard)
            level = np.sqrt(np.mean(samples ** 2)) * 10 ** (-noise / 20)
            soundfile.write(heard, np.clip(samples + level * np.random.default_rng(number).normal(size=len(samples)), -1, 1), rate)
    else:
        codec = rng.choice(list(WIDE_CODECS))
        corner = {"low-pass 6.4": 6400, "low-pass 5.5": 5500}.get(codec)
        steep = [] if corner is None else ["-af", ",".join([f"lowpass=f={corner}:p=2"] * 3)]
        heard = convert(source, f"{base}-wide.wav", *steep, "-ac", "1", "-ar", str(rate))
    settings = WIDE_CODECS[codec]
    if settings is not None:
        heard = convert(heard, f"{base}.{settings[0]}", *settings[1:])
    samples, _ = soundfile.read(convert(heard, f"{base}-16.wav", "-ac", "1", "-ar", "16000"))
    for file in Path(folder).glob(f"{base.name}[-.]*"):
        file.unlink()
    person = row["seg"] if row["speaker"].startswith("picovoice") else row["speaker"]
    half = int(hashlib.md5(person.encode()).hexdigest(), 16) % 2
    return kind, half, codec, way, noise, evidence(samples)


def main():
    tables = {name: list(csv.DictReader(open(CORPUS / name), delimiter="\t")) for name in ("INDEX.tsv", "CLEAN.tsv")}
    narrow = {row["seg"] for row in tables["CLEAN.tsv"] if row["narrowband"] == "1"}
    rng = random.Random(5)
    draw = lambda rows, count: rng.sample(rows, min(count, len(rows)))  # noqa: E731
    telephone = draw([row for row in tables["INDEX.tsv"] if row["channel"] == "phone"], 400)
    wide = draw([row for row in tables["INDEX.tsv"] if row["channel"] == "digital" and row["seg"] not in narrow], 250)
    clean = draw([row for row in tables["CLEAN.tsv"] if row["narrowband"] != "1"], 250)
    jobs = [("telephone", n, row, turn) for n, row in enumerate(telephone) for turn in range(3)]
    jobs += [("wide", n, row, turn) for n, row in enumerate(wide + clean) for turn in range(2)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        heard = list(pool.map(lambda job: hear(job, folder), jobs))
    for half, name in ((1, "that chose"), (0, "kept apart")):
        own = [each for each in heard if each[1] == half]
        print_share(f"{name}: telephone", [e for k, *_, noise, e in own if k == "telephone" and noise is None])
        print_share(f"{name}: telephone with noise", [e for k, *_, noise, e in own if k == "telephone" and noise is not None])
        print_share(f"{name}: wide", [e for k, *_, e in own if k == "wide"])
        for place, values in ((3, RESAMPLERS), (2, WIDE_CODECS)):
            for value in values:
                for kind in ("telephone", "wide"):
                    print_share(f"  {kind}, {value}", [each[5] for each in own if each[0] == kind and each[place] == value and each[4] is None])


def print_share(name, evidences):
    if evidences:
        print(f"{name}: {100 * np.mean([e is not None and e >= LEAST for e in evidences]):.1f} % of {len(evidences)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
