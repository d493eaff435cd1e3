"""What regressions gain from the further synthesizers of `corpus/`: `new_families.py features|try FAMILY`, `folds FAMILY CANDIDATE`.

`features` caches the numbers of fold_scores.py for the old corpus and for the renditions of unseen_systems.py. `try` fits candidates
on the old corpus and on half of the further families (unseen_systems.kept_apart), chooses among them by leaving out families of that
half, and judges the chosen one on the half that was kept apart, on speakers that no fit saw. `folds` sets a candidate against
folds-FAMILY.npz in the folds of the old corpus. Differences have 95 % intervals of paired resamples over speakers and systems.
"""
import json
import sys

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from corpus import Clip, Store, WORK
from fold_scores import FAMILIES, PARTS, SOURCES, family_of_synthesizer, features_of, is_lj, items_of, source_of
from folds import RECIPES, equal_error
from unseen_systems import SAME_WEIGHTS, SECONDS, balanced, kept_apart

WEIGHTS = {"phone": "phone/v8", "digital": "digital/v3"}
RESAMPLES, SEED, ITERATIONS = 400, 1, 60
# Families with fewer renditions do not choose among candidates.
FOLDS, COMPONENTS, RENDITIONS_MIN = 4, 80, 12
# Vocoders of the synthesizers that the old corpus has from LJSpeech.
LJSPEECH_KIN = ("MelGAN", "WaveGlow", "Parallel WaveGAN", "HiFi-GAN generators")


class Unseen(Store):
    """The renditions of one length, whose split is not that of split.json."""

    def clips(self) -> list:
        return [Clip(**row) for row in json.loads(self.table.read_text())]


def cache(family: str) -> None:
    store = Store(f"pack-{family}")
    save(family, "old", store, items_of(store.clips()))
    for seconds in SECONDS:
        made = Unseen(f"unseen-{seconds}/pack-{family}")
        save(family, f"new-{seconds}", made, [[place] for place, clip in enumerate(made.clips()) if clip.split == "dev"])


def save(family: str, name: str, store, items) -> None:
    rows, owner = features_of(store, items, family)
    np.savez(WORK / f"features-{family}-{name}.npz", owner=owner, first=[places[0] for places in items], single=[len(places) == 1 for places in items], **rows)
    print(family, name, len(items), flush=True)


class Data:
    """Items of the old corpus or of the further one: features of their windows, and what they are."""

    def __init__(self, family: str, name: str):
        seconds = name.split("-")[-1]
        clips = (Store(f"pack-{family}") if name == "old" else Unseen(f"unseen-{seconds}/pack-{family}")).clips()
        stored = np.load(WORK / f"features-{family}-{name}.npz")
        self.x = {part: stored[part] for part in PARTS}
        self.owner, self.single, self.place = stored["owner"], stored["single"], stored["first"]
        first = [clips[at] for at in self.place]
        self.human = np.array([not c.synthesizer for c in first])
        self.label = np.array([c.label for c in first])
        self.system = np.array([c.synthesizer for c in first])
        self.speaker = np.array([c.speaker.split("#")[0] for c in first])
        self.family = np.array([family_of_synthesizer(c.synthesizer) if name == "old" else c.segment for c in first])
        self.source = np.array([source_of(c.source) for c in first])
        self.lj = np.array([is_lj(c) or c.speaker.startswith("lj#") for c in first])

    def rows(self, mask):
        """Places of the windows of some items."""
        return np.flatnonzero(mask[self.owner])

    def mean(self, values) -> np.ndarray:
        return np.bincount(self.owner, values) / np.bincount(self.owner)


def joined(datas, masks, part):
    x = np.concatenate([d.x[part][d.rows(m)] for d, m in zip(datas, masks)])
    human = np.concatenate([d.human[d.owner][d.rows(m)] for d, m in zip(datas, masks)])
    kind = np.concatenate([[f"{at}|{f}|{s}" for f, s in zip(d.family[d.owner][d.rows(m)], d.human[d.owner][d.rows(m)])] for at, (d, m) in enumerate(zip(datas, masks))])
    return x, human, kind


def even(human, kind) -> np.ndarray:
    """Classes weigh the same; within one, families weigh as the square root of what they have."""
    names, place, count = np.unique(kind, return_inverse=True, return_counts=True)
    weight = (count ** -0.5)[place]
    for side in (True, False):
        weight[human == side] *= len(human) / 2 / weight[human == side].sum()
    return weight


def regression(x, human, kind, part, evened):
    centre, scale = x.mean(0), 1 / (x.std(0) + 1e-3)
    strength = 1.2 / x.shape[1] if part == "cepstral" else 0.003
    weight = even(human, kind) if evened else None
    fit = LogisticRegression(C=strength, class_weight=None if evened else "balanced", max_iter=ITERATIONS).fit((x - centre) * scale, human, sample_weight=weight)
    return lambda rows: ((rows - centre) * scale) @ fit.coef_[0].astype(np.float32) + fit.intercept_[0]


def fused(datas, masks, recipe, evened=False):
    """A function from data to logits: regressions of the recipe, each scaled to a deviation of one on what it was fitted on."""
    parts = []
    for part, share in recipe.items():
        x, human, kind = joined(datas, masks, part)
        score = regression(x, human, kind, part, evened)
        parts.append((part, share / score(x).std(), score))
    return lambda data: data.mean(sum(share * score(data.x[part]) for part, share, score in parts))


def own_head(datas, masks, recipe, weight: float):
    """The regressions of the old corpus, and others of the further one beside them with a weight."""
    known, further = fused(datas[:1], masks[:1], recipe), fused(datas[1:], masks[1:], recipe)
    return lambda data: known(data) + weight * further(data)


def on_components(datas, masks, recipe, learner):
    """Another learner on principal components of all features of the recipe."""
    both = lambda d: np.concatenate([d.x[part] for part in recipe], axis=1)
    x = np.concatenate([both(d)[d.rows(m)] for d, m in zip(datas, masks)])
    _, human, kind = joined(datas, masks, next(iter(recipe)))
    centre, scale = x.mean(0), 1 / (x.std(0) + 1e-3)
    components = PCA(COMPONENTS, svd_solver="randomized", random_state=SEED).fit((x - centre) * scale)
    fit, weight = learner(), even(human, kind)
    z = components.transform((x - centre) * scale)
    if isinstance(fit, MLPClassifier):
        drawn = np.random.default_rng(SEED).choice(len(z), len(z), p=weight / weight.sum())
        fit.fit(z[drawn], human[drawn])
    else:
        fit.fit(z, human, sample_weight=weight)
    log_odds = lambda rows: np.diff(np.log(np.clip(fit.predict_proba(components.transform((rows - centre) * scale)), 1e-6, 1)), axis=1)[:, 0]
    return lambda data: data.mean(log_odds(both(data)))


CANDIDATES = {
    "regressions": lambda d, m, r: fused(d, m, r),
    "regressions, families evened": lambda d, m, r: fused(d, m, r, True),
    "a head of its own, 0.3": lambda d, m, r: own_head(d, m, r, 0.3),
    "a head of its own, 0.6": lambda d, m, r: own_head(d, m, r, 0.6),
    "a head of its own, 1.0": lambda d, m, r: own_head(d, m, r, 1.0),
    "perceptron on 80 components": lambda d, m, r: on_components(d, m, r, lambda: MLPClassifier((48,), alpha=1.0, max_iter=40, random_state=SEED)),
    "boosted trees on 80 components": lambda d, m, r: on_components(d, m, r, lambda: HistGradientBoostingClassifier(max_iter=80, max_depth=4, learning_rate=0.06, l2_regularization=5.0, random_state=SEED)),
}


def mean_eer(score, data, keep, families, weight) -> float:
    rates = []
    for family in families:
        here = keep & (data.human | (data.family == family))
        rates.append(equal_error(score[here], data.human[here], weight[here]))
    return float(np.nanmean(rates))


def compared(before, now, data, keep) -> dict:
    """Mean equal errors over families of two scores, and their difference on the same draws."""
    families = sorted(set(data.family[keep & ~data.human]))
    weight = balanced(np.where(data.human, data.speaker, data.system))
    unit = np.array([f"genuine|{s}" if h else f"{f}|{y}|{s}" for h, f, y, s in zip(data.human, data.family, data.system, data.speaker)])
    names, place = np.unique(unit, return_inverse=True)
    sides, rng, differences = np.array([n.split("|")[0] for n in names]), np.random.default_rng(SEED), []
    for _ in range(RESAMPLES):
        multiplier = sum(np.bincount(rng.choice(np.flatnonzero(sides == s), (sides == s).sum()), minlength=len(names)) for s in np.unique(sides))
        w = weight * multiplier[place]
        drawn = list(rng.choice(families, len(families)))
        differences.append(mean_eer(now, data, keep, drawn, w) - mean_eer(before, data, keep, drawn, w))
    low, high = np.nanpercentile(differences, [2.5, 97.5])
    percent = lambda v: round(100 * float(v), 1)
    each = {f: (percent(mean_eer(before, data, keep, [f], weight)), percent(mean_eer(now, data, keep, [f], weight))) for f in families}
    return {"before": percent(mean_eer(before, data, keep, families, weight)), "now": percent(mean_eer(now, data, keep, families, weight)),
            "difference": [percent(low), percent(high)], "genuine": int((keep & data.human).sum()), "synthetic": int((keep & ~data.human).sum()), "families": each}


class Halves:
    """Which of the 3 s renditions may be tuned on, and which speakers judge."""

    def __init__(self, short):
        apart = np.array([bool(f) and kept_apart(f) for f in short.family])
        # LJSpeech speaks for families of both halves: tuned on, and never judged on.
        self.judged = set(short.speaker[apart & ~short.lj]) | {s for s in set(short.speaker[short.human]) if kept_apart(s)} - {"lj"}
        self.tuned = ~np.isin(short.speaker, list(self.judged)) & ~apart

    def test_of(self, data) -> np.ndarray:
        return np.isin(data.speaker, list(self.judged)) & (data.human | np.array([bool(f) and kept_apart(f) for f in data.family]))


def shipped_logits(family: str, seconds: int, data) -> np.ndarray:
    """Mean logits of the shipped weights by rendition, where the detector combined/1 finds voice; nan elsewhere."""
    found = {}
    for line in open(WORK / f"unseen-{seconds}" / f"windows-{family}.jsonl"):
        item = json.loads(line)
        if item["joined"] is None:
            logits = next(v for name, v in item["logits"].items() if name in SAME_WEIGHTS[family])
            valid = [at for at, window in enumerate(item["voice"]["combined/1"]) if window["label"] == "validVoice"]
            found[item["clips"][0]] = np.mean([logits[at][0] for at in valid]) if valid else np.nan
    return np.array([found[at] for at in data.place])


def left_out(old, short, tuned, recipe) -> dict:
    """Equal error of each candidate on each family of the tuning half, fitted without its fold of families and on other speakers."""
    names = sorted(set(short.family[tuned & ~short.human]))
    others = np.array([sum(map(ord, s)) % 2 == 0 for s in short.speaker])
    rates = {name: {} for name in ("as before", *CANDIDATES)}
    for fold in range(FOLDS):
        out = names[fold::FOLDS]
        fit_on, known = tuned & ~np.isin(short.family, out) & ~(short.human & others), old.single & ~np.isin(old.family, out)
        scores = {"as before": fused([old], [known], recipe)(short), **{name: make([old, short], [known, fit_on], recipe)(short) for name, make in CANDIDATES.items()}}
        for name, score in scores.items():
            for family in out:
                rates[name][family] = mean_eer(score, short, tuned & ((short.family == family) | (short.human & others)), [family], np.ones(len(score)))
    return rates


def attempt(family: str) -> None:
    recipe = RECIPES[family][WEIGHTS[family]]
    old, new = Data(family, "old"), {seconds: Data(family, f"new-{seconds}") for seconds in SECONDS}
    halves = Halves(new[3])
    rates = left_out(old, new[3], halves.tuned, recipe)
    counts = {f: int((halves.tuned & (new[3].family == f)).sum()) for f in rates["as before"]}
    mean = lambda each: float(np.nanmean([rate for f, rate in each.items() if counts[f] >= RENDITIONS_MIN]))
    for name, each in rates.items():
        print(family, "tuning half, left out:", name, round(100 * mean(each), 1), {f: round(100 * r, 1) for f, r in each.items()}, flush=True)
    chosen = min(CANDIDATES, key=lambda name: mean(rates[name]))
    before, now = fused([old], [old.single], recipe), CANDIDATES[chosen]([old, new[3]], [old.single, halves.tuned], recipe)
    for seconds, data in new.items():
        test, score = halves.test_of(data), now(data)
        print(family, f"{seconds} s, half kept apart:", chosen, compared(before(data), score, data, test), flush=True)
        shipped = shipped_logits(family, seconds, data)
        scored = test & ~np.isnan(shipped)
        print(family, f"{seconds} s, half kept apart, beside the shipped weights:", chosen, compared(shipped, score, data, scored), flush=True)


def in_old_folds(family: str, candidate: str) -> None:
    """The folds of fold_scores.py, with the further families of the tuning half but those related to what is left out."""
    recipe, stored = RECIPES[family][WEIGHTS[family]], dict(np.load(WORK / f"folds-{family}.npz"))
    old, short = Data(family, "old"), Data(family, "new-3")
    tuned, sources, make = Halves(short).tuned, list(stored["sources"]), CANDIDATES[candidate]
    before = sum(share * stored[f"logits {part}"] / stored[f"logits {part}"].std() for part, share in recipe.items())
    now = np.zeros_like(before)
    for f, out in enumerate(FAMILIES):
        related = np.isin(short.family, LJSPEECH_KIN) | short.lj if out == "LJSpeech kin" else short.family == out
        for s, source in enumerate(sources):
            known, fit_on = old.single & (old.family != out) & (old.source != source), tuned & ~related
            if "LJSpeech" in (out.split()[0], source):
                known, fit_on = known & ~old.lj, fit_on & ~short.lj
            now[f, s] = make([old, short], [known, fit_on], recipe)(old)
    for single in (True, False):
        rows = []
        for f, out in enumerate(FAMILIES):
            attacks, values = (old.single == single) & (old.label == "synthetic") & (old.family == out), []
            for table in (before, now):
                value = table[f].mean(axis=0)
                for s, source in enumerate(sources):
                    mine = old.human & (old.source == source)
                    value[mine] = table[f, s][mine]
                values.append(value)
            rows.append((out, attacks, values))
        genuine = (old.single == single) & (old.label == "bonafide") & np.isin(old.source, sources)
        print(family, "folds of the old corpus,", "3 s:" if single else "10 s:", candidate, old_difference(old, genuine, rows), flush=True)


def old_difference(old, genuine, rows) -> dict:
    names, speaker = np.unique(old.speaker, return_inverse=True)
    weight = balanced(np.where(old.human, old.source, old.system))
    rate = lambda value, attacks, w: equal_error(value[genuine | attacks], old.human[genuine | attacks], w[genuine | attacks])
    rng, differences = np.random.default_rng(SEED), []
    for _ in range(RESAMPLES // 4):
        w = weight * np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))[speaker]
        drawn = rng.integers(len(rows), size=len(rows))
        # A draw may leave a family without an attack.
        differences.append(np.nanmean([rate(rows[at][2][1], rows[at][1], w) - rate(rows[at][2][0], rows[at][1], w) for at in drawn]))
    percent = lambda v: round(100 * float(v), 1)
    low, high = np.nanpercentile(differences, [2.5, 97.5])
    each = {out: tuple(percent(rate(v, attacks, weight)) for v in values) for out, attacks, values in rows}
    return {"before": percent(np.mean([b for b, _ in each.values()]) / 100), "now": percent(np.mean([n for _, n in each.values()]) / 100), "difference": [percent(low), percent(high)], "families": each}


if __name__ == "__main__":
    {"features": cache, "try": attempt, "folds": in_old_folds}[sys.argv[1]](*sys.argv[2:])
