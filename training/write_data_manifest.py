"""Writes `data-manifest.json`: what the weights were trained on, counted from the tables themselves."""
import json
from collections import defaultdict

from corpus import HERE, SPLIT, Store, WORK, rows
from build_data import CLASSIC
from channel import CODECS

OWN = {"neural-spectral": "training/neural_vocoders.py: our network, trained on the training speakers of this corpus"}


def counted(clips, key) -> dict:
    out = defaultdict(lambda: [0, 0.0])
    for clip in clips:
        out[key(clip)][0] += 1
        out[key(clip)][1] += clip.length / clip.rate / 3600
    return {name: {"clips": count, "hours": round(hours, 3)} for name, (count, hours) in sorted(out.items())}


def licences() -> dict:
    out = defaultdict(set)
    for row in rows("CLEAN.tsv"):
        out[row["source"]].add(row["licence"])
    return {source: sorted(names) for source, names in sorted(out.items())}


def manifest() -> dict:
    clean = Store("clean").clips()
    made = {}
    for table in sorted(WORK.glob("made-*.json")) + sorted(WORK.glob("pack-*.json")):
        clips = Store(table.stem).clips()
        made[table.stem] = {part: counted([c for c in clips if c.split == part], lambda c: c.label) for part in ("train", "dev")}
    return {
        "schema": "training-data/1",
        "corpus": {"name": "Caller Trust training corpus", "licence": "CC BY-SA 4.0 as a whole", "licences": licences(),
                   "clean": {part: counted([c for c in clean if c.split == part], lambda c: c.synthesizer or "human: " + c.source) for part in ("train", "dev")}},
        "made": {"vocoderCopies": {**{name: "training/vocoders.py" for name in sorted(CLASSIC)}, **OWN},
                 "generated": counted(Store("generated").clips(), lambda c: c.synthesizer),
                 "generatedLicence": "output of eSpeak NG, Festival and the Debian voices named in packages.txt; our own sentences",
                 "codecs": {family: sorted(set(names)) for family, names in CODECS.items()},
                 "replay": "simulated (two made rooms and a loudspeaker model); there are no real re-recordings"},
        "heldOut": SPLIT, "sets": made,
    }


if __name__ == "__main__":
    (HERE / "data-manifest.json").write_text(json.dumps(manifest(), indent=1, ensure_ascii=False) + "\n")
