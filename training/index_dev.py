"""Writes a family's held-out set as WAV files with an index, for `npm run evaluate -- --index FILE`.

    index_dev.py FAMILY FOLDER

Taken are clips of speakers and synthesizers that no training saw: the corpus's own renditions and, through our channel, live
and replayed speech whose noise is drawn alike. Vocoder copies are marked in `set` and `synthesizer`.
"""
import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile

from corpus import Store
from dataset import Set, names_of
from measure import NEURAL_HELD_OUT, CLASSIC_HELD_OUT, matched, nuisance_baseline

QUOTA = {"bonafide": 400, "unseen": 300, "seen": 120, "copy": 80, "replay": 400}
COLUMNS = ("path", "label", "channel", "speaker", "synthesizer", "codec", "set", "snr_db", "duration", "base_label")


def stratum(clip) -> str:
    if clip.label in ("bonafide", "replay"):
        return clip.label
    if clip.maker:
        return "copy"
    return "unseen" if clip.synthesizer in NEURAL_HELD_OUT + CLASSIC_HELD_OUT else "seen"


def chosen(data, rng) -> list:
    """Clip numbers up to the quota of each stratum; live speech and both attacks are matched in their nuisances."""
    label = np.array(["copy" if c.maker else c.label for c in data.clips])
    live, synthetic = matched(data, label == "bonafide", label == "synthetic", rng)
    live, replayed = matched(data, live, label == "replay", rng)
    taken = live | synthetic | replayed | (label == "copy")
    groups = defaultdict(list)
    for i in rng.permutation(len(data)):
        if taken[i]:
            groups[stratum(data.clips[i])].append(i)
    return sorted(i for name, members in groups.items() for i in members[:QUOTA[name]])


def write_index(family: str, folder: Path) -> None:
    names, rng = names_of(family), np.random.default_rng(17)
    data = Set(family, "dev")
    stores = [Store(name).audio() for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    picked = chosen(data, rng)
    with open(folder / "index.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for number, i in enumerate(picked):
            clip, store = data.clips[i], data.places[i][0]
            path = f"{number:04d}.wav"
            soundfile.write(folder / path, stores[store][clip.start:clip.start + clip.length], clip.rate, subtype="PCM_16")
            table.writerow([path, clip.label, family, clip.speaker, clip.synthesizer, clip.codec, set_of(clip, names[store]),
                            clip.snr_db, round(clip.length / clip.rate, 2), clip.base_label])
    report(data, picked)


def set_of(clip, store: str) -> str:
    if clip.maker:
        return "vocoder copies"
    return "corpus" if store.startswith("pack") else "own channel"


def report(data, picked) -> None:
    """Prints what was taken, and how far nuisances alone separate the labels."""
    label = np.array([c.label for c in data.clips])
    taken = np.zeros(len(data), bool)
    taken[picked] = True
    print(len(picked), "clips", {name: int((label[picked] == name).sum()) for name in ("bonafide", "synthetic", "replay")})
    for attack in ("synthetic", "replay"):
        print("nuisance-only EER", attack, round(nuisance_baseline(data, (label == "bonafide") & taken, (label == attack) & taken), 1))


if __name__ == "__main__":
    write_index(sys.argv[1], Path(sys.argv[2]))
