"""The shipped models on synthesizers that none of them saw: the corpus that `corpus/gather.py` gathers.

    unseen_systems.py render FAMILY CLIPS   renditions of 3 s and of 10 s through the channel, in TRAINING_WORK/unseen-3 and unseen-10
    unseen_systems.py measure MODEL         figures by family of vocoders, into unseen-systems.json beside its manifest
    unseen_systems.py table MODEL           those figures as the table of about.md

Between the two, `node dist/bench/window-scores.js FAMILY FOLDER` writes the logits of each folder. CLIPS is the output of gather.py;
TRAINING_WORK has the `clean` store of corpus.py, which babble is cut from. No clip is trained on here.
"""
import csv
import hashlib
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile

import channel
from build_data import noise_source, seed_of
from corpus import Clip, HERE, Store, WORK
from folds import equal_error

SECONDS = (3, 10)
# Shorter ones are left out: all renditions of a length are of that length, or nearly.
SHORTEST_SHARE = 0.85
PER_SYSTEM, PER_SPEAKER = {3: 40, 10: 12}, {3: 40, 10: 12}
GAP_SECONDS, SPEECH_LEVEL = 0.15, 0.02
RESAMPLES, SEED, PAIRS_MIN, TABLE_RENDITIONS_MIN = 1000, 1, 5, 12
REPORT = "unseen-systems.json"
# The models of one set of weights: their logits may be under any of the names in windows-FAMILY.jsonl.
SAME_WEIGHTS = {"phone": ("phone/v8", "phone/v8.1", "phone/v8.2"), "digital": ("digital/v3", "digital/v3.1", "digital/v3.2", "digital/v3.3")}
BATCH = 400


def kept_apart(family: str) -> bool:
    """Half of the families, by their names: what was tuned on the others is judged on these."""
    return int(hashlib.sha256(family.encode()).hexdigest(), 16) % 2 == 1


def rows_of(clips: Path) -> list:
    with open(clips / "clips.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def speech_of(path: Path) -> np.ndarray:
    """A clip without what comes before and after its speech."""
    wave = soundfile.read(path)[0]
    level = np.sqrt(np.convolve(wave ** 2, np.ones(320) / 320, "same"))
    active = np.flatnonzero(level > level.max() * SPEECH_LEVEL)
    return wave[active[0]:active[-1] + 1] if len(active) else wave[:0]


def trained_speakers() -> set:
    """Speakers of genuine recordings that the models were trained on."""
    return {clip.speaker for clip in Store("clean").clips() if clip.split == "train" and not clip.synthesizer}


def stretches(rows: list, folder: Path, seconds: int):
    """(row, name, wave): single files cut to 3 s; files of one speaker and synthesizer joined to 10 s."""
    size = seconds * 16000
    groups = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["utterance"], row["source_path"])):
        groups[row["family"], row["system"], row["speaker"]].append(row)
    taken = defaultdict(int)
    for (family, system, speaker), members in sorted(groups.items()):
        open_wave, number = np.zeros(0), 0
        for row in members:
            wave = speech_of(folder / row["path"])
            if seconds < 10:
                pieces = [wave[at:at + size] for at in range(0, max(len(wave), 1), size)]
            else:
                open_wave = np.concatenate([open_wave, np.zeros(int(GAP_SECONDS * 16000)), wave])
                pieces = [open_wave[at:at + size] for at in range(0, len(open_wave) - size + 1, size)]
                open_wave = open_wave[len(pieces) * size:]
            for piece in pieces:
                if len(piece) < SHORTEST_SHARE * size:
                    continue
                key = (family, system) if system else (speaker,)
                limit = (PER_SYSTEM if system else PER_SPEAKER)[seconds]
                if taken[key] < limit:
                    taken[key] += 1
                    number += 1
                    yield row, f"{speaker}|{row['utterance'] or row['source_path']}|{number}", piece


def rendered(folder: Path, rows: list, family: str, seconds: int):
    """Renditions of one length; the draws follow the speaker and the sentence, never the label."""
    channel.SECONDS = (seconds, seconds)
    noise, batch = noise_source(), []
    for row, name, wave in stretches(rows, folder, seconds):
        rng = np.random.default_rng(seed_of("unseen", name))
        out, snr = channel.transmit(wave, family, False, noise, rng)
        codec = channel.CODECS[family][seed_of("codec", name) % len(channel.CODECS[family])]
        # A speaker of its own keeps window-scores from joining renditions.
        clip = Clip(start=0, length=0, label="synthetic" if row["system"] else "bonafide", speaker=f"{row['speaker']}#{seed_of(row['path'], name)}",
                    synthesizer=row["system"], source=row["repository"], narrowband=False, split="dev", rate=channel.RATE[family], codec=codec,
                    snr_db=round(snr, 1), segment=row["family"])
        batch.append((clip, out))
        if len(batch) >= BATCH:
            yield from through(batch, family)
            batch = []
    if batch:
        yield from through(batch, family)


def through(batch, family: str):
    """Codes and packs a batch, one tool run for each codec."""
    done = []
    for codec in sorted({clip.codec for clip, _ in batch}):
        group = [(clip, wave) for clip, wave in batch if clip.codec == codec]
        coded = channel.code([wave for _, wave in group], channel.RATE[family], codec)
        done += [(clip, wave) for (clip, _), wave in zip(group, coded)]
    return [(clip, wave) for (clip, _), wave in zip(done, channel.pack([wave for _, wave in done], family))]


def render(family: str, folder: Path) -> None:
    seen = trained_speakers()
    rows = [row for row in rows_of(folder) if row["speaker"] not in seen]
    for seconds in SECONDS:
        made = list(rendered(folder, rows, family, seconds))
        place = WORK / f"unseen-{seconds}"
        place.mkdir(parents=True, exist_ok=True)
        store = Store(f"unseen-{seconds}/pack-{family}")
        store.write(made)
        print(family, seconds, "s:", len(made), "renditions,", sum(not clip.synthesizer for clip, _ in made), "genuine", flush=True)


def score_of(logit: float, condition: dict) -> float:
    line = condition["calibration"]
    return float(1 / (1 + np.exp(-(line["slope"] * logit + line["intercept"]))))


def folder_of(model: str) -> Path:
    return HERE.parent / "models" / model.replace("/", "-")


def conditions_of(model: str) -> list:
    """How the synthesis score of a shipped model is calibrated and decided."""
    return json.loads((folder_of(model) / "manifest.json").read_text())["conditions"]["synthesis"]


def recordings_of(speaker: str) -> str:
    """Whose recordings a speaker is of, as far as its name tells."""
    return {"lj": "LJSpeech", "vctk": "VCTK", "arctic": "CMU ARCTIC", "libri": "LibriSpeech and LibriTTS"}.get(re.match(r"lj$|vctk|arctic|libri|", speaker)[0], "others")


class Scored:
    """Calibrated scores and decisions of a model on the renditions of one length that have a score."""

    def __init__(self, model: str, seconds: int):
        family = model.split("/")[0]
        weights = SAME_WEIGHTS[family]
        clips = [Clip(**row) for row in json.loads((WORK / f"unseen-{seconds}" / f"pack-{family}.json").read_text())]
        conditions = conditions_of(model)
        kept, self.without, self.conditions = [], defaultdict(list), len(conditions)
        for line in open(WORK / f"unseen-{seconds}" / f"windows-{family}.jsonl"):
            item = json.loads(line)
            if item["joined"] is not None:
                continue
            clip, windows = clips[item["clips"][0]], item["voice"]["combined/1"]
            valid = [at for at, window in enumerate(windows) if window["label"] == "validVoice"]
            self.without[clip.label].append(not valid)
            if valid:
                voice = np.mean([window["voicedSeconds"] for window in windows]) * item["seconds"] / min(item["seconds"], 4)
                condition = [c for c in conditions if c["voiceSecondsFrom"] <= voice][-1]
                logits = next(v for name, v in item["logits"].items() if name in weights)
                logit = float(np.mean([logits[at][0] for at in valid]))
                kept.append((clip, logit, score_of(logit, condition), *(score_of(logit, c) < c["attackBelow"] for c in (condition, conditions[0]))))
        self.clips = [clip for clip, *_ in kept]
        self.logit, self.score = (np.array([row[at] for row in kept], float) for at in (1, 2))
        # By the condition of the length, and by that of the shortest.
        self.attack, self.attack_if_short = (np.array([row[at] for row in kept]) for at in (3, 4))
        self.score_if_short = np.array([score_of(row[1], conditions[0]) for row in kept])
        self.genuine = np.array([not clip.synthesizer for clip in self.clips])
        self.family = np.array([clip.segment for clip in self.clips])
        self.speaker = np.array([clip.speaker.split("#")[0] for clip in self.clips])
        self.system = np.array([clip.synthesizer for clip in self.clips])
        self.codec = np.array([clip.codec for clip in self.clips])
        self.source = np.array([recordings_of(speaker) for speaker in self.speaker])


def balanced(speakers) -> np.ndarray:
    """Speakers weigh as the square root of what they have."""
    names, place, count = np.unique(speakers, return_inverse=True, return_counts=True)
    return (count ** -0.5)[place]


def eer_of(values, scored: Scored, family: str, weight) -> float:
    keep = scored.genuine | (scored.family == family)
    return equal_error(values[keep], scored.genuine[keep], weight[keep])


def draws(scored: Scored):
    """Multipliers of the renditions: speakers of genuine speech and pairs of system and speaker are drawn anew, or single renditions
    where a family has fewer than PAIRS_MIN pairs."""
    rng = np.random.default_rng(SEED)
    unit = np.array([f"genuine|{s}" if g else f"{f}|{y}|{s}" for g, f, y, s in zip(scored.genuine, scored.family, scored.system, scored.speaker)])
    few = {f for f in set(scored.family) if len(set(unit[scored.family == f])) < PAIRS_MIN}
    unit = np.array([f"{u}|{at}" if f in few else u for at, (u, f) in enumerate(zip(unit, scored.family))])
    names, place = np.unique(unit, return_inverse=True)
    sides = np.array([name.split("|")[0] for name in names])
    for _ in range(RESAMPLES):
        multiplier = np.zeros(len(names))
        for side in np.unique(sides):
            mine = np.flatnonzero(sides == side)
            multiplier += np.bincount(rng.choice(mine, len(mine)), minlength=len(names))
        yield multiplier[place]


def interval(values) -> list:
    return [round(100 * float(v), 1) for v in np.nanpercentile(values, [2.5, 97.5])]


def percent(value) -> float:
    return round(100 * float(value), 1)


def share(hit, mask, weight) -> float:
    return float(np.sum(weight[mask] * hit[mask]) / max(np.sum(weight[mask]), 1e-12))


def cost_of(score, scored: Scored, weight) -> float:
    """Cllr in bits, families weighing the same; 1 is that of a score which always says one half."""
    bits = lambda p, mask: -np.sum(weight[mask] * np.log2(p[mask])) / np.sum(weight[mask])
    masks = [~scored.genuine & (scored.family == family) for family in set(scored.family[~scored.genuine])]
    return float((bits(score, scored.genuine) + np.mean([bits(1 - score, mask) for mask in masks if weight[mask].sum() > 0])) / 2)


def figures(scored: Scored) -> dict:
    """Equal error and errors at the shipped threshold, by family and as the mean over families, with 95 % intervals."""
    weight = balanced(np.where(scored.genuine, scored.speaker, scored.system))
    families = sorted(set(scored.family[~scored.genuine]))
    resampled = [weight * multiplier for multiplier in draws(scored)]
    mean = lambda w: np.nanmean([eer_of(scored.score, scored, f, w) for f in families])
    alarm = lambda w: share(scored.attack, scored.genuine, w)
    alarm_if_short = lambda w: share(scored.attack_if_short, scored.genuine, w)
    miss = lambda f: lambda w: share(~scored.attack, ~scored.genuine & (scored.family == f), w)
    misses = lambda w: np.nanmean([miss(f)(w) for f in families])
    told = lambda measure: {"percent": percent(measure(weight)), "interval": interval([measure(w) for w in resampled])}
    bits = lambda measure: {"bits": round(measure(weight), 3), "interval": [round(float(v), 3) for v in np.percentile([measure(w) for w in resampled], [2.5, 97.5])]}
    # Genuine and synthetic speech of the same people.
    both = set(scored.speaker[scored.genuine]) & set(scored.speaker[~scored.genuine])
    same = np.isin(scored.speaker, list(both))
    within = lambda w: equal_error(scored.score[same], scored.genuine[same], w[same])
    missed_if_short = lambda f: share(~scored.attack_if_short, ~scored.genuine & (scored.family == f), weight)
    shortest = {} if scored.conditions == 1 else {"byTheConditionOfTheShortest": {
        "likelihoodRatioCost": round(cost_of(scored.score_if_short, scored, weight), 3),
        "difference": bits(lambda w: cost_of(scored.score_if_short, scored, w) - cost_of(scored.score, scored, w)),
        "genuineCalledAttacks": percent(alarm_if_short(weight)),
        "genuineCalledAttacksDifference": told(lambda w: alarm_if_short(w) - alarm(w)),
        "attacksMissed": percent(np.mean([missed_if_short(f) for f in families])),
    }}
    return {
        "genuine": int(scored.genuine.sum()), "genuineSpeakers": len(set(scored.speaker[scored.genuine])), "synthetic": int((~scored.genuine).sum()),
        "systems": len(set(scored.system[~scored.genuine])), "families": len(families),
        "withoutScore": {label: percent(np.mean(v)) for label, v in sorted(scored.without.items())},
        "equalError": told(mean), "equalErrorOfSameSpeakers": told(within), "genuineCalledAttacks": told(alarm), "attacksMissed": told(misses),
        "byFamily": {f: {"systems": len(set(scored.system[scored.family == f])), "renditions": int((scored.family == f).sum()), "keptApart": kept_apart(f),
                         "equalError": told(lambda w, f=f: eer_of(scored.score, scored, f, w)), "missed": told(miss(f))} for f in families},
        "likelihoodRatioCost": bits(lambda w: cost_of(scored.score, scored, w)),
        **shortest,
        "genuineCalledAttacksBySource": {s: {"recordings": int((scored.genuine & (scored.source == s)).sum()), "percent": percent(np.mean(scored.attack[scored.genuine & (scored.source == s)]))}
                                         for s in sorted(set(scored.source[scored.genuine]))},
        "byCodec": {c: {"genuineCalledAttacks": percent(share(scored.attack, scored.genuine & (scored.codec == c), weight)),
                        "attacksMissed": percent(share(~scored.attack, ~scored.genuine & (scored.codec == c), weight))} for c in sorted(set(scored.codec))},
    }


def measure(model: str) -> None:
    lengths = {f"{seconds} s": figures(Scored(model, seconds)) for seconds in SECONDS}
    report = {"schema": "unseen-systems/1", "model": model, "resamples": RESAMPLES, "seed": SEED, "lengths": lengths}
    (folder_of(model) / REPORT).write_text(json.dumps(report, indent=1) + "\n")
    for length, f in lengths.items():
        print(model, length, {k: v for k, v in f.items() if not isinstance(v, dict) or "percent" in v})
        for name, row in f["byFamily"].items():
            print("  ", name, row)


def table(model: str) -> None:
    """The families with enough renditions, and all of them."""
    report = json.loads((folder_of(model) / REPORT).read_text())["lengths"]
    cell = lambda row: f"{row['percent']} ({row['interval'][0]} to {row['interval'][1]})"
    print("| family of vocoders | length | systems | renditions | EER % | not called attacks % |\n| --- | --- | --- | --- | --- | --- |")
    for length, f in report.items():
        print(f"| all {f['families']} | {length} | {f['systems']} | {f['synthetic']} | {cell(f['equalError'])} | {cell(f['attacksMissed'])} |")
        for name, row in f["byFamily"].items():
            if row["renditions"] >= TABLE_RENDITIONS_MIN:
                print(f"| {name} | {length} | {row['systems']} | {row['renditions']} | {cell(row['equalError'])} | {cell(row['missed'])} |")


if __name__ == "__main__":
    verb, name, *rest = sys.argv[1:]
    {"render": render, "measure": measure, "table": table}[verb](name, *map(Path, rest))
