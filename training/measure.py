"""Equal error rates on the dev sets, and the nuisance-only baseline that must stay near 50 %."""
import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

CLASSIC_HELD_OUT = ("festival-diphone-it", "flite-CG-rms")
NEURAL_HELD_OUT = ("WaveFake-vocoder", "SpeedySpeech+MelGAN", "Tacotron2+WaveGlow-or-MelGAN", "FastSpeech2+HiFiGAN/MelGAN")
BATCH = 64


def eer(authentic, spoof) -> float:
    """Equal error rate in percent; higher scores are authentic."""
    scores = np.concatenate([authentic, spoof])
    labels = np.concatenate([np.ones(len(authentic)), np.zeros(len(spoof))])
    order = np.argsort(scores, kind="mergesort")
    labels = labels[order]
    misses = np.concatenate([[0], np.cumsum(labels)]) / max(len(authentic), 1)
    alarms = 1 - np.concatenate([[0], np.cumsum(1 - labels)]) / max(len(spoof), 1)
    at = np.argmin(np.abs(misses - alarms))
    return float(50 * (misses[at] + alarms[at]))


@torch.no_grad()
def logits_of(net, data) -> np.ndarray:
    net.eval()
    return np.concatenate([net.from_bands(torch.from_numpy(data.features(range(a, min(a + BATCH, len(data)))))).numpy() for a in range(0, len(data), BATCH)])


def report(data, logits) -> dict:
    """EER of both scores: all, by kind of attack, by synthesizer, and replay."""
    label = np.array([c.label for c in data.clips])
    kind = np.array([c.synthesizer for c in data.clips])
    real, made = label == "bonafide", label == "synthetic"
    copies = np.array([bool(c.maker) for c in data.clips])
    unseen = made & np.isin(kind, CLASSIC_HELD_OUT + NEURAL_HELD_OUT)
    out = {"synthesis unseen all": unseen, "synthesis unseen classic": made & np.isin(kind, CLASSIC_HELD_OUT),
           "synthesis unseen neural": made & np.isin(kind, NEURAL_HELD_OUT), "synthesis seen, unseen speaker": made & ~unseen & ~copies,
           "synthesis copies, unseen speaker": made & copies}
    result = {name: (round(eer(logits[real, 0], logits[mask, 0]), 1), int(mask.sum())) for name, mask in out.items() if mask.any()}
    result["replay"] = (round(eer(logits[real, 1], logits[label == "replay", 1]), 1), int((label == "replay").sum()))
    lj = real & np.array([c.speaker in ("lj", "aishell3") for c in data.clips])
    neural = out["synthesis unseen neural"]
    result["synthesis unseen neural against the same speakers"] = (round(eer(logits[lj, 0], logits[neural, 0]), 1), int(lj.sum()))
    live, replayed = matched(data, real, label == "replay", np.random.default_rng(1))
    result["replay, nuisances matched"] = (round(eer(logits[live, 1], logits[replayed, 1]), 1), int(replayed.sum()))
    for name in sorted(set(kind[made])):
        mask = made & (kind == name)
        result["  " + name] = (round(eer(logits[real, 0], logits[mask, 0]), 1), int(mask.sum()))
    return result


def show(title: str, result: dict) -> None:
    print(f"== {title}")
    for name, (value, count) in result.items():
        print(f"  {name:52s} {value:5.1f} %  n={count}")
    print(flush=True)


def nuisances(data) -> np.ndarray:
    """Level, length, noise floor, bandwidth and silence of the stored audio of a set's clips (from the cached bands)."""
    rows = []
    for a in range(0, len(data), BATCH):
        x = data.features(range(a, min(a + BATCH, len(data))))
        energy = np.log(np.exp(x).mean(2))
        floor = np.percentile(energy, 10, axis=1) - np.percentile(energy, 90, axis=1)
        high = x[:, :, -x.shape[2] // 6:].mean((1, 2)) - x.mean((1, 2))
        rows.append(np.stack([floor, high, (energy < energy.max(1, keepdims=True) - 6).mean(1)], axis=1))
    lengths = np.array([[c.length] for c in data.clips], float)
    return np.hstack([np.concatenate(rows), lengths / lengths.max()])


def nuisance_scores(data, keep, target) -> np.ndarray:
    """Logits of a logistic regression on nuisances alone, cross-validated, for the clips of `keep`."""
    values = nuisances(data)[keep]
    values = (values - values.mean(0)) / (values.std(0) + 1e-9)
    values = np.hstack([values, values ** 2])
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    return cross_val_predict(LogisticRegression(class_weight="balanced"), values, target, cv=folds, method="decision_function")


def nuisance_baseline(data, authentic, spoof) -> float:
    """EER of nuisances alone."""
    keep = authentic | spoof
    target = authentic[keep].astype(int)
    scores = nuisance_scores(data, keep, target)
    return eer(scores[target == 1], scores[target == 0])


def matched(data, authentic, spoof, rng, slices: int = 12):
    """Subsets of both that nuisances cannot tell apart: as many of each in every slice of the nuisance score."""
    keep = np.flatnonzero(authentic | spoof)
    scores = nuisance_scores(data, authentic | spoof, authentic[keep].astype(int))
    edges = np.quantile(scores, np.linspace(0, 1, slices + 1)[1:-1])
    taken = np.zeros(len(data), bool)
    for slot in range(slices):
        here = rng.permutation(keep[np.digitize(scores, edges) == slot])
        both = [here[authentic[here]], here[spoof[here]]]
        count = min(map(len, both))
        for side in both:
            taken[side[:count]] = True
    return authentic & taken, spoof & taken
