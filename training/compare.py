"""Prints one table of all versions of a family on dev: `compare.py FAMILY`; all held-out clips, and the matched index set."""
import sys

import numpy as np
import torch

from build_models import RECIPES, assembled
from dataset import Set
from index_dev import chosen
from measure import CLASSIC_HELD_OUT, NEURAL_HELD_OUT, eer, nuisance_baseline

HELD_OUT_SPEAKERS = ("lj", "aishell3")


def groups_of(data) -> dict:
    """Name, column of the score, and the clips of both sides."""
    label = np.array(["copy" if c.maker else c.label for c in data.clips])
    kind = np.array([c.synthesizer for c in data.clips])
    live, made = label == "bonafide", label == "synthetic"
    classic, neural = made & np.isin(kind, CLASSIC_HELD_OUT), made & np.isin(kind, NEURAL_HELD_OUT)
    same = live & np.array([c.speaker in HELD_OUT_SPEAKERS for c in data.clips])
    return {"unseen": (0, live, classic | neural), "classic": (0, live, classic), "neural": (0, live, neural), "neural, same speakers": (0, same, neural),
            "seen kind": (0, live, made & ~classic & ~neural), "copies": (0, live, label == "copy"), "replay": (1, live, label == "replay")}


def line(name: str, logits, groups, taken) -> None:
    values = []
    for column, authentic, spoof in groups.values():
        a, s = logits[authentic & taken, column], logits[spoof & taken, column]
        values.append(f"{eer(a, s):6.1f}" if len(a) and len(s) else "     -")
    print(f"| {name:14s} | " + " | ".join(values) + " |", flush=True)


def table(family: str) -> None:
    base = Set(family, "dev")
    indexed = np.zeros(len(base), bool)
    indexed[chosen(base, np.random.default_rng(17))] = True
    groups, everything = groups_of(base), np.ones(len(base), bool)
    cached = {}
    for version in (v for f, v in RECIPES if f == family):
        front, parts = RECIPES[family, version]
        cached[version] = assembled(front, parts, Set(front, "dev"))[1]
    for title, taken in (("all held-out clips", everything), ("matched index set", indexed)):
        print(f"\n{family}, {title}: " + ", ".join(f"{k} {int((s & taken).sum())}" for k, (_, _, s) in groups.items()) + f", live {int((groups['unseen'][1] & taken).sum())}")
        print("| model          | " + " | ".join(groups) + " |")
        for version, logits in cached.items():
            line(f"{family}/{version}", logits, groups, taken)
        label = np.array([c.label for c in base.clips])
        nuisance = [nuisance_baseline(base, (label == "bonafide") & taken, (label == attack) & taken) for attack in ("synthetic", "replay")]
        print("nuisances only: synthesis %.1f, replay %.1f" % tuple(nuisance))


if __name__ == "__main__":
    torch.set_num_threads(1)
    table(sys.argv[1])
