"""Clean segments of speech at 8 kHz and the split of their speakers."""
import csv
import json
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

RATE = 8000

# Speakers and synthesizers that no model of the repository is trained on.
SPLIT = json.loads((Path(__file__).resolve().parent.parent / "split.json").read_text())


@dataclass
class Segment:
    path: str
    label: str
    speaker: str
    synthesizer: str
    source: str
    licence: str
    samples: np.ndarray  # int16 at 8 kHz

    @property
    def audio(self):
        return self.samples.astype(np.float32) / 32768


def is_held_out(segment):
    return segment.speaker in SPLIT["devSpeakers"] or segment.synthesizer in SPLIT["devSynthesizers"]


def read_segments(folder, cache):
    """Segments of CLEAN.tsv in `folder`, decoded once and kept in the file `cache`."""
    cache = Path(cache)
    if not cache.exists():
        with open(Path(folder) / "CLEAN.tsv") as table:
            segments = [read_segment(Path(folder), row) for row in csv.DictReader(table, delimiter="\t")]
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(pickle.dumps([vars(segment) for segment in segments], protocol=4))
    return [Segment(**fields) for fields in pickle.loads(cache.read_bytes())]


def read_segment(folder, row):
    samples, rate = soundfile.read(folder / row["path"], dtype="float32", always_2d=True)
    mono = resample_poly(samples.mean(axis=1), RATE, rate)
    pcm = np.clip(mono * 32768, -32768, 32767).astype(np.int16)
    return Segment(row["path"], row["label"], row["speaker"], row["synthesizer"], row["source"], row["licence"], pcm)
