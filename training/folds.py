"""Calibrates and measures models on families of synthesizers and sources that were left out: `folds.py phone|digital`.

Synthesis comes from fold_scores.py: regressions fitted again without the family and without the source. Replay comes from the
shipped weights (`bench/window-scores.ts`), on held-out speakers, one source left out at a time. Calibration and thresholds are
fitted on the other families and sources, then used on the one that was left out. Writes `unseen.json` beside each model, which its
card is made from, and prints the conditions of a manifest.
"""
import json
import sys
from collections import defaultdict

import numpy as np
from scipy.special import expit

from corpus import HERE, Store, WORK
from fold_scores import source_of

RESAMPLES, SEED = 1000, 1
LENGTHS = {"3 s": True, "10 s": False}
LEFT_OUT = {"synthesis": "group", "replay": "part"}
VOICE_SECONDS_FROM = {"3 s": 0, "10 s": 6}
# At most this share of a source's genuine recordings may be called an attack, and of a family's attacks authentic.
FALSE_ALARM_MAX, FALSE_ACCEPTANCE_MAX = 0.10, 0.10
# A score is called enough only if the upper end of the 95 % interval of each left-out family's acceptance is at most this.
ACCEPTANCE_KNOWN_MAX = 0.20
# The slope that the known families give, times this, is used for those that are not known: of 1, 0.7, 0.5, 0.35 and 0.25 the one that
# keeps most at 3 s without a family costing more than saying nothing, where the regressions allow it. Replay has one kind.
SHRINKAGE = {"synthesis": 0.5, "replay": 1.0}
# Keeps the slope finite where a few recordings are told apart without an error.
RIDGE = 0.01
# The regressions in each model, with the weight of their logits; networks and mixtures are left out.
RECIPES = {
    "phone": {"phone/v1.1": {"statistics": 1}, "phone/v3": {"statistics": 1}, "phone/v6": {"statistics": 1}, "phone/v7": {"cepstral": 1},
              "phone/v8": {"cepstral": 1, "statistics-long": 0.5}},
    "digital": {"digital/v1.1": {"statistics": 1}, "digital/v3": {"cepstral": 1, "statistics-long": 0.2}},
}
EXACT = ("phone/v1.1", "digital/v1.1")
# The newer rows of the same weights, with the lengths that have a condition of their own: joined clips of 10 s have each passed a channel
# of their own, which a recording has not.
CALIBRATED = {"phone/v8": {"phone/v8.1": ("3 s", "10 s"), "phone/v8.2": ("3 s",)},
              "digital/v3": {"digital/v3.1": ("3 s", "10 s"), "digital/v3.2": ("3 s",), "digital/v3.3": ("3 s",)}}
# Rows whose threshold of synthesis line_codecs.py chose, by the row that it was chosen with.
THRESHOLD_OF = {"phone/v8.2": "phone/v8.1", "digital/v3.3": "digital/v3.2"}
CODED = {"gsm", "amr7.95", "amr12.2", "mp3_64", "opus24"}


class Trials:
    """Pairs of genuine recordings and attacks: `group` is what may be left out, `part` the source of genuine recordings or of replays."""

    def __init__(self, score, authentic, group, part, speaker, codec):
        self.score, self.authentic, self.group, self.part, self.speaker, self.codec = map(np.asarray, (score, authentic, group, part, speaker, codec))

    def take(self, keep) -> "Trials":
        return Trials(*(v[keep] for v in (self.score, self.authentic, self.group, self.part, self.speaker, self.codec)))

    def weights(self, multiplier=None) -> np.ndarray:
        """Classes weigh the same, within them groups, and within the genuine ones of a group their sources."""
        cell, side = self.cells()
        m = np.ones(len(cell)) if multiplier is None else multiplier
        mass = np.bincount(cell, m, len(side))
        there = mass > 0
        groups = np.zeros(len(side))
        for group in np.unique(side):
            groups[(side == group) & there] = 1 / max((there & (side == group)).sum(), 1)
        share = np.zeros(len(side))
        for genuine in (True, False):
            mine = np.array([g.startswith(str(genuine)) for g in side]) & there
            share[mine] = groups[mine] / max(groups[mine].sum(), 1e-12)
        return m * np.divide(share, mass, out=np.zeros(len(side)), where=there)[cell]

    def cells(self) -> tuple:
        """The cell of class, group and source of each trial, and the class and group of each cell."""
        if not hasattr(self, "_cells"):
            part = np.where(self.authentic, self.part, "")
            names, cell = np.unique(np.stack([self.authentic.astype(str), self.group, part], axis=1), axis=0, return_inverse=True)
            self._cells = cell.reshape(-1), np.array([f"{a}|{g}" for a, g, _ in names])
        return self._cells


def platt(trials: Trials, shrink: float = 1.0) -> tuple:
    """Slope and intercept; the slope is shrunk and the intercept fitted again."""
    w, y = trials.weights(), trials.authentic.astype(float)
    x = trials.score
    a, b = 1 / (x.std() + 1e-9), 0.0
    ridge = RIDGE * x.var()
    for _ in range(30):
        p = expit(a * x + b)
        gradient, curve = w * (p - y), w * np.maximum(p * (1 - p), 1e-9)
        h = np.array([[np.sum(curve * x * x) + ridge, np.sum(curve * x)], [np.sum(curve * x), np.sum(curve)]]) + 1e-9 * np.eye(2)
        a, b = np.array([a, b]) - np.linalg.solve(h, [np.sum(gradient * x) + ridge * a, np.sum(gradient)])
    a = max(a, 1e-3) * shrink
    for _ in range(20):
        p = expit(a * x + b)
        b -= np.sum(w * (p - y)) / np.sum(w * np.maximum(p * (1 - p), 1e-9))
    return float(a), float(b)


def calibrated(score, line) -> np.ndarray:
    return expit(line[0] * score + line[1])


def cllr(trials: Trials, a: float, b: float) -> float:
    w, sign = trials.weights(), np.where(trials.authentic, -1.0, 1.0)
    return float(np.sum(w * np.logaddexp(0, sign * (a * trials.score + b))) / w.sum() / np.log(2))


def minimum_cllr(trials: Trials) -> float:
    """The cost of the best rising calibration (pool adjacent violators), with the same weights."""
    order = np.lexsort((trials.authentic, trials.score))
    w, y = trials.weights()[order], trials.authentic[order]
    blocks = []
    for weight, good in zip(w, y):
        blocks.append([weight * good, weight])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            good_mass, mass = blocks.pop()
            blocks[-1][0] += good_mass
            blocks[-1][1] += mass
    total = 0.0
    for good, mass in blocks:
        share = good / mass if mass > 0 else 0
        total -= good * np.log2(share) if share > 0 else 0
        total -= (mass - good) * np.log2(1 - share) if share < 1 else 0
    return total / w.sum()


def equal_error(score, authentic, w) -> float:
    order = np.argsort(score, kind="mergesort")
    y, w = authentic[order], w[order]
    good, bad = np.where(y, w, 0), np.where(y, 0, w)
    if good.sum() <= 0 or bad.sum() <= 0:
        return np.nan
    misses = np.concatenate([[0], np.cumsum(good)]) / good.sum()
    alarms = 1 - np.concatenate([[0], np.cumsum(bad)]) / bad.sum()
    at = np.argmin(np.abs(misses - alarms))
    return abs(float((misses[at] + alarms[at]) / 2))


def mean_equal_error(trials: Trials, multiplier=None, groups=None) -> float:
    """Mean over the groups, or over those that were drawn, as often as they were."""
    w, rates = trials.weights(multiplier), {}
    for group in np.unique(trials.group[~trials.authentic]):
        here = trials.group == group
        rates[group] = equal_error(trials.score[here], trials.authentic[here], w[here])
    drawn = list(rates) if groups is None else groups
    return float(np.nanmean([rates[g] for g in drawn]))


def thresholds_of(trials: Trials, line) -> dict:
    """Below one an attack, from the other on authentic; the worst source and the worst family count."""
    p = calibrated(trials.score, line)
    genuine, parts, groups = trials.authentic, trials.part, trials.group
    attack_below = min(np.quantile(p[genuine & (parts == s)], FALSE_ALARM_MAX) for s in np.unique(parts[genuine]))
    enough = max(np.quantile(p[~genuine & (groups == g)], 1 - FALSE_ACCEPTANCE_MAX) for g in np.unique(groups[~genuine]))
    return {"attackBelow": float(attack_below), "authenticFrom": float(max(attack_below, enough))}


def weighted_share(trials: Trials, hit, authentic: bool) -> float:
    mine = trials.authentic == authentic
    w = trials.weights()[mine]
    return float(np.sum(w * hit[mine]) / w.sum()) if w.sum() > 0 else float("nan")


def in_folds(trials: Trials, known: Trials, by: str, shrink: float, codecs: bool = False, attack_below: float = None) -> tuple:
    """Calibrated logits and decisions of each trial, by what was fitted on `known` without its family or source, or with a threshold that is given."""
    log_odds, decided = np.zeros(len(trials.score)), np.full(len(trials.score), "undecided", dtype="U12")
    classes = lambda t: np.isin(t.codec, list(CODED)) if codecs else np.zeros(len(t.codec), bool)
    for name in np.unique(getattr(trials, by)):
        for side in np.unique(classes(trials)):
            here = (getattr(trials, by) == name) & (classes(trials) == side)
            fit = known.take((getattr(known, by) != name) & (classes(known) == side))
            line = platt(fit, shrink)
            limits = thresholds_of(fit, line)
            p = calibrated(trials.score[here], line)
            log_odds[here] = line[0] * trials.score[here] + line[1]
            decided[here] = np.where(p < (attack_below or limits["attackBelow"]), "attack", np.where(p >= limits["authenticFrom"], "authentic", "undecided"))
    return log_odds, decided


def upper_end(share: float, count: int, z: float = 1.96) -> float:
    """Of the 95 % interval of a share (Wilson)."""
    return (share + z * z / (2 * count) + z * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))) / (1 + z * z / count)


def measured(trials: Trials, known: Trials, score: str, baseline: Trials = None, attack_below: float = None) -> dict:
    """The figures of one score at one length, in folds; calibration and thresholds are fitted on `known`."""
    by, shrink = LEFT_OUT[score], SHRINKAGE[score]
    log_odds, decided = in_folds(trials, known, by, shrink, attack_below=attack_below)
    logits = Trials(log_odds, trials.authentic, trials.group, trials.part, trials.speaker, trials.codec)
    by_codec, _ = in_folds(trials, known, by, shrink, codecs=True)
    candidate = acceptance_of(trials, decided)
    if not candidate["isStated"]:
        decided = np.where(decided == "authentic", "undecided", decided)
    rates, differences = resampled(trials, baseline)
    share = lambda mask, value: round(float(np.mean(decided[mask] == value)), 4) if mask.any() else None
    side = lambda authentic, value: round(weighted_share(trials, decided == value, authentic), 4)
    parts = lambda mask: {"recordings": int(mask.sum()), "attack": share(mask, "attack"), "undecided": share(mask, "undecided"), "authentic": share(mask, "authentic")}
    genuine_once = trials.authentic & (trials.group == trials.group[trials.authentic][0]) if by == "group" else trials.authentic
    return {
        "genuine": int(genuine_once.sum()), "attacks": int((~trials.authentic).sum()),
        "speakers": len(np.unique(trials.speaker)),
        "equalError": {"rate": round(mean_equal_error(trials), 4), "interval": interval(rates)},
        "difference": None if baseline is None else {"rate": round(mean_equal_error(trials) - mean_equal_error(baseline), 4), "interval": interval(differences)},
        "likelihoodRatioCost": round(cllr(logits, 1, 0), 4), "minimumLikelihoodRatioCost": round(minimum_cllr(logits), 4),
        "likelihoodRatioCostByCodecClass": round(cllr(Trials(by_codec, trials.authentic, trials.group, trials.part, trials.speaker, trials.codec), 1, 0), 4),
        "acceptance": candidate,
        "genuineDecisions": {v: side(True, v) for v in ("attack", "undecided", "authentic")},
        "attackDecisions": {v: side(False, v) for v in ("attack", "undecided", "authentic")},
        "families": {g: {"equalError": round(equal_error(*(v[trials.group == g] for v in (trials.score, trials.authentic, trials.weights()))), 4),
                         **parts(~trials.authentic & (trials.group == g))} for g in np.unique(trials.group[~trials.authentic])},
        "sources": {s: {**parts(trials.authentic & (trials.part == s)), "recordings": int((genuine_once & (trials.part == s)).sum())} for s in np.unique(trials.part[trials.authentic])},
        "codecs": {c: {"genuine": parts(genuine_once & (trials.codec == c)), "attacks": parts(~trials.authentic & (trials.codec == c))} for c in np.unique(trials.codec)},
    }


def acceptance_of(trials: Trials, decided) -> dict:
    """Who reaches the score that would be called authentic, and whether that is known well enough to say it."""
    share = lambda g: float(np.mean(decided[~trials.authentic & (trials.group == g)] == "authentic"))
    count = lambda g: int((~trials.authentic & (trials.group == g)).sum())
    families = np.unique(trials.group[~trials.authentic])
    highest = max(upper_end(share(g), count(g)) for g in families)
    return {"genuine": round(weighted_share(trials, decided == "authentic", True), 4), "worstFamily": round(max(map(share, families)), 4),
            "upperEnd": round(float(highest), 4), "isStated": bool(highest <= ACCEPTANCE_KNOWN_MAX)}


def resampled(trials: Trials, baseline) -> tuple:
    """Mean equal errors over draws of speakers and of groups, and differences to the baseline on the same draws."""
    rng, rates, differences = np.random.default_rng(SEED), [], []
    names, speaker = np.unique(trials.speaker, return_inverse=True)
    groups = np.unique(trials.group[~trials.authentic])
    for _ in range(RESAMPLES):
        multiplier = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))[speaker].astype(float)
        drawn = list(rng.choice(groups, len(groups)))
        rates.append(mean_equal_error(trials, multiplier, drawn))
        if baseline is not None:
            differences.append(rates[-1] - mean_equal_error(baseline, multiplier, drawn))
    return rates, differences


def interval(values) -> dict:
    if len(values) == 0 or np.all(np.isnan(values)):
        return None
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return {"low": round(float(low), 4), "high": round(float(high), 4)}


def synthesis_trials(data, recipe: dict, single: bool, deviation_of_single: bool = None) -> Trials:
    """For each family left out: its attacks, with the genuine recordings as the models without the family score them.

    Logits are divided by their deviation at the length itself, or at the one that `deviation_of_single` names: a line of one length fits the
    scores of another only in the same unit. The published conditions for 6 s were fitted in the unit of their own length, and `scale_to`
    carries that of 3 s (notes.md).
    """
    families, sources = list(data["families"]), list(data["sources"])
    keep = data["single"] == single
    unit = keep if deviation_of_single is None else data["single"] == deviation_of_single
    total = sum(weight * data[f"logits {part}"] / data[f"logits {part}"][:, :, unit].std() for part, weight in recipe.items())
    rows = []
    genuine = np.flatnonzero(keep & (data["label"] == "bonafide") & np.isin(data["source"], sources))
    for f, family in enumerate(families):
        for i in genuine:
            rows.append((total[f, sources.index(data["source"][i]), i], True, family, data["source"][i], data["speaker"][i], data["codec"][i]))
        for i in np.flatnonzero(keep & (data["label"] == "synthetic") & (data["synthesizer"] == family)):
            rows.append((total[f, :, i].mean(), False, family, "", data["speaker"][i], data["codec"][i]))
    return Trials(*zip(*rows))


def shipped_rows(family: str) -> list:
    """Held-out items that the detector combined/1 finds voice in, with the mean logits of each model."""
    clips = Store(f"pack-{family}").clips()
    rows = []
    for line in open(WORK / f"windows-{family}.jsonl"):
        item = json.loads(line)
        if item["joined"] not in (None, 10):
            continue
        valid = [at for at, window in enumerate(item["voice"]["combined/1"]) if window["label"] == "validVoice"]
        if valid:
            rows.append((clips[item["clips"][0]], item["joined"] is None, {m: np.mean([v[at] for at in valid], axis=0) for m, v in item["logits"].items()}))
    return rows


def replay_trials(rows, model: str, single: bool) -> Trials:
    """One group, 'simulated'; the part is the source of what was recorded or replayed."""
    found = [(logits[model][1], clip.label == "bonafide", "simulated", source_of(clip.source), clip.speaker, clip.codec)
             for clip, alone, logits in rows if alone == single and clip.label in ("bonafide", "replay")]
    return Trials(*zip(*found))


def condition(known: Trials, score: str, voice_seconds: float, figures: dict, scale=(1.0, 0.0), threshold: dict = None) -> dict:
    """What a manifest says: fitted on all families and sources; error rates are those of the folds.

    `scale` maps the shipped model's logits to those that were calibrated: slope and offset.
    """
    line = platt(known, SHRINKAGE[score])
    limits, acceptance = thresholds_of(known, line), figures["acceptance"]
    return {
        "voiceSecondsFrom": voice_seconds,
        "calibration": {"slope": round(line[0] * scale[0], 5), "intercept": round(line[0] * scale[1] + line[1], 5)},
        "attackBelow": threshold["attackBelow"] if threshold else round(limits["attackBelow"], 4), "authenticFrom": round(limits["authenticFrom"], 4) if acceptance["isStated"] else None,
        "falseAlarm": max([figures["genuineDecisions"]["attack"], *(threshold["falseAlarm"].values() if threshold else ())]),
        "falseAcceptance": acceptance["worstFamily"] if acceptance["isStated"] else None,
    }


def scale_to(trials: Trials, rows, model: str) -> tuple:
    """Slope and offset that give the shipped model's logits of genuine held-out speech the mean and deviation of the refitted one's."""
    ours = np.array([logits[model][0] for clip, alone, logits in rows if alone and clip.label == "bonafide"])
    theirs = trials.score[trials.authentic]
    slope = theirs.std() / ours.std()
    return slope, theirs.mean() - slope * ours.mean()


def main(family: str) -> None:
    for model in RECIPES[family]:
        report_of(family, model, model, ("3 s", "10 s"))
        for name, conditioned in CALIBRATED.get(model, {}).items():
            print(json.dumps({name: report_of(family, model, name, conditioned)}))


def report_of(family: str, model: str, name: str, conditioned: tuple) -> dict:
    """Writes the figures of `name`, which has the weights of `model`, and gives its conditions. Lengths that are not `conditioned` are
    calibrated with the shortest one."""
    data, rows = dict(np.load(WORK / f"folds-{family}.npz")), shipped_rows(family)
    recipe, first = RECIPES[family][model], next(iter(RECIPES[family]))
    report = {"schema": "unseen-evaluation/1", "weightsOf": model, "resamples": RESAMPLES, "seed": SEED, "isExact": model in EXACT,
              "parts": sorted(recipe), "baseline": None if model == first else first, "shrinkage": SHRINKAGE["synthesis"],
              "acceptanceKnownMax": ACCEPTANCE_KNOWN_MAX, "synthesis": {}, "replay": {}, "refused": refused_of(family)}
    if conditioned != tuple(LENGTHS):
        report["conditioned"] = list(conditioned)
    threshold = json.loads((HERE / "line-codecs.json").read_text())["thresholds"][THRESHOLD_OF[name]] if name in THRESHOLD_OF else None
    if threshold is not None:
        report["threshold"] = {key: threshold[key] for key in ("attackBelow", "tunedOn", "judgedOn", "falseAlarm", "found")}
    attack_below = threshold["attackBelow"] if threshold else None
    stated, at_length = {"synthesis": [], "replay": []}, {}
    known = replay_trials(rows, model, True)
    shortest = synthesis_trials(data, recipe, True)
    scale = scale_to(shortest, rows, model)
    for length, single in LENGTHS.items():
        own = length in conditioned
        trials = synthesis_trials(data, recipe, single, None if own else True)
        baseline = None if model == first else synthesis_trials(data, RECIPES[family][first], single)
        report["synthesis"][length] = figures = measured(trials, trials if own else shortest, "synthesis", baseline, attack_below)
        if own:
            stated["synthesis"].append(condition(trials, "synthesis", VOICE_SECONDS_FROM[length], figures, scale, threshold))
        at_length[length] = stated["synthesis"][-1]
        before = None if model == first else replay_trials(rows, first, single)
        report["replay"][length] = measured(replay_trials(rows, model, single), known, "replay", before)
    stated["replay"].append(condition(known, "replay", 0, report["replay"]["3 s"]))
    if model in CALIBRATED:
        report["shipped"] = {length: shipped_decisions(rows, model, at_length[length], single) for length, single in LENGTHS.items()}
    folder = HERE.parent / "models" / name.replace("/", "-")
    (folder / "unseen.json").write_text(json.dumps({**report, "model": name}, indent=1) + "\n")
    show({**report, "model": name})
    return stated


def shipped_decisions(rows, model: str, stated: dict, single: bool) -> dict:
    """Held-out recordings under the calibration of the manifest and the shipped weights, by who made them: attacks found, scores."""
    found = defaultdict(list)
    for clip, alone, logits in rows:
        if alone == single and clip.label != "replay":
            line = stated["calibration"]["slope"], stated["calibration"]["intercept"]
            found[clip.synthesizer or "genuine"].append(float(calibrated(logits[model][0], line)))
    return {name: {"recordings": len(p), "meanScore": round(float(np.mean(p)), 4), "attack": round(float(np.mean(np.array(p) < stated["attackBelow"])), 4)} for name, p in sorted(found.items())}


def refused_of(family: str) -> dict:
    """Share of held-out recordings, joined to a length, without a score: by detector, length and label."""
    clips, found = Store(f"pack-{family}").clips(), defaultdict(list)
    for line in open(WORK / f"windows-{family}.jsonl"):
        item = json.loads(line)
        if item["joined"] is not None:
            for detector, windows in item["voice"].items():
                found[detector, f"{item['joined']} s", clips[item["clips"][0]].label].append(all(w["label"] != "validVoice" for w in windows))
    report = defaultdict(lambda: defaultdict(dict))
    for (detector, length, label), values in sorted(found.items()):
        report[detector][length][label] = {"recordings": len(values), "share": round(float(np.mean(values)), 4)}
    return report


def show(report: dict) -> None:
    for score in ("synthesis", "replay"):
        for length, f in report[score].items():
            print(report["model"], score, length, "EER", f["equalError"], "diff", f["difference"], "Cllr", f["likelihoodRatioCost"], "min", f["minimumLikelihoodRatioCost"],
                  "codec", f["likelihoodRatioCostByCodecClass"], "genuine", f["genuineDecisions"], "attacks", f["attackDecisions"],
                  {g: (v["equalError"], v["authentic"]) for g, v in f["families"].items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
