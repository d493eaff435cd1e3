"""Recordings of three lengths and more from the segments of a speaker: each segment through lines that speakers share, through lines of
its speaker's own and through none, as embeddings. A recording of several segments is the mean of their windows."""
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile
import torch
from scipy.signal import resample_poly

from recordings import Channel, features_of, windows_of

SHARED, OWN = 3, 2          # lines that all speakers go through; lines of each speaker alone
LINES = {"one line": [(line, line) for line in range(SHARED)],
         "two lines": [(line, (line + 1) % SHARED) for line in range(SHARED)],
         "lines of their own": [(SHARED, SHARED + 1)] * SHARED}
SEGMENTS_MAX = 26
PIECE = 24000               # digits are joined to pieces of some 3 s


@dataclass
class Speaker:
    name: str
    is_human: bool
    pieces: list                                  # samples at 8 kHz
    halves: list = None                           # of a corpus whose words differ between enrolment and test: 0 or 1 of each piece
    spoken: dict = field(default_factory=dict)    # (line, piece) -> (seconds, sum of the embeddings of its windows)

    def recording(self, line, pieces):
        """(embedding, seconds) of several pieces over one line."""
        parts = [self.spoken[line, piece] for piece in pieces]
        return unit(sum(vector for _, vector in parts)), sum(seconds for seconds, _ in parts)


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def speakers_of(groups):
    return [Speaker(name, own[0].label == "bonafide", [segment.audio for segment in own[:SEGMENTS_MAX]]) for name, own in groups.items()]


def digit_speakers(folder, apart):
    """The speakers of the free spoken digit dataset: digits joined to pieces; `apart`: 0 to 4 in one half of them, 5 to 9 in the other."""
    takes = defaultdict(list)
    for path in sorted(Path(folder).glob("*.wav")):
        digit, name, take = path.stem.split("_")
        takes[name].append((int(digit) >= 5 if apart else 0, int(take), int(digit), path))
    speakers = []
    for name, own in sorted(takes.items()):
        speaker, joined = Speaker(name, True, [], []), []
        for half, _, _, path in sorted(own):
            if joined and half != last:
                joined = []
            last = half
            samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
            joined.append(resample_poly(samples.mean(axis=1), 8000, rate).astype(np.float32) if rate != 8000 else samples.mean(axis=1))
            if sum(map(len, joined)) >= PIECE:
                speaker.pieces.append(np.concatenate(joined)[:36000])
                speaker.halves.append(int(half))
                joined = []
        if apart:
            kept = [place for half in (0, 1) for place in [i for i, h in enumerate(speaker.halves) if h == half][:SEGMENTS_MAX // 2]]
        else:
            kept, speaker.halves = range(min(2 * SEGMENTS_MAX, len(speaker.pieces))), None
        speaker.pieces = [speaker.pieces[i] for i in kept]
        speaker.halves = [speaker.halves[i] for i in kept] if apart else None
        speakers.append(speaker)
    return speakers


def speak(speaker, network, rng):
    """Sends all pieces through all lines, and embeds them."""
    lines = [Channel(1000 + line) for line in range(SHARED)] + [Channel(int(rng.integers(1 << 30))) for _ in range(OWN)]
    keys, bands, periods = [], [], []
    for line, channel in enumerate(lines):
        for piece, samples in enumerate(speaker.pieces):
            heard = channel(samples, int(rng.integers(4000)))
            features = features_of(windows_of(heard))
            keys.append((line, piece, len(heard) / 8000, len(features[0])))
            bands.append(features[0])
            periods.append(features[1])
    with torch.no_grad():
        each = torch.cat([network.embed(b.float(), p) for b, p in zip(torch.cat(bands).split(64), torch.cat(periods).split(64))]).numpy()
    place = 0
    for line, piece, seconds, windows in keys:
        speaker.spoken[line, piece] = (seconds, each[place:place + windows].sum(axis=0))
        place += windows
    return speaker
