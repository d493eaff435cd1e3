"""Platt scaling and thresholds from the dev set.

Classes weigh the same (an even prior), so that 0.5 is the even bet and not the corpus's mix of labels.
"""
import numpy as np
from sklearn.linear_model import LogisticRegression


def platt(authentic, spoof) -> dict:
    """slope and intercept of P(authentic | logit)."""
    values = np.concatenate([authentic, spoof])[:, None]
    target = np.concatenate([np.ones(len(authentic)), np.zeros(len(spoof))])
    fit = LogisticRegression(C=100.0, class_weight="balanced").fit(values, target)
    return {"slope": round(float(fit.coef_[0, 0]), 5), "intercept": round(float(fit.intercept_[0]), 5)}


def threshold(authentic, spoof) -> float:
    """The logit where misses and false alarms are alike."""
    grid = np.unique(np.concatenate([authentic, spoof]))
    gap = [abs(np.mean(authentic < t) - np.mean(spoof >= t)) for t in grid]
    return float(grid[int(np.argmin(gap))])


def fitted(data, logits) -> dict:
    """Calibration and thresholds (as probabilities) of both scores from a dev set's logits; vocoder copies are left out."""
    label = np.array(["copy" if c.maker else c.label for c in data.clips])
    out = {"calibration": {}, "thresholds": {}}
    for column, (score, attack) in enumerate((("synthesis", "synthetic"), ("replay", "replay"))):
        authentic, spoof = logits[label == "bonafide", column], logits[label == attack, column]
        line = platt(authentic, spoof)
        out["calibration"][score] = line
        at = threshold(authentic, spoof)
        out["thresholds"][score] = round(float(1 / (1 + np.exp(-(line["slope"] * at + line["intercept"])))), 4)
    return out
