"""From trained states to `models/`: builds a version's graph, calibrates it on dev and exports it. `build_models.py phone v1.1`"""
import sys

import numpy as np
import torch

from calibrate import fitted
from corpus import WORK
from dataset import Set
from export import write
from measure import logits_of, report, show
from networks import Cepstral, Convolutional, Fusion, Mixtures, Statistics
from train_cepstral import cepstral_logits

# The front of each version, and its parts with the weight of their logits (scaled to a deviation of one on dev) for
# synthesis and for replay.
RECIPES = {
    ("phone", "v1.1"): ("phone", [("statistics", 1, 1)]),
    ("phone", "v3"): ("phone", [("statistics", 1, 1), ("mixtures", 0.5, 0.3)]),
    ("phone", "v5"): ("phone", [("statistics", 1, 1), ("mixtures-large", 0.5, 0.5)]),
    ("phone", "v6"): ("phone", [("statistics", 1, 0), ("v6", 1, 1)]),
    ("phone", "v7"): ("phone-long", [("cepstral", 1, 0.4), ("network", 0.5, 1)]),
    ("phone", "v8"): ("phone-long", [("cepstral-more", 1, 0.4), ("statistics", 0.5, 0.45), ("network-more", 0.35, 1)]),
    ("digital", "v1.1"): ("digital", [("statistics", 1, 1)]),
    ("digital", "v3"): ("digital-long", [("cepstral", 1, 1), ("network", 0.2, 0.4), ("statistics", 0.2, 0.3)]),
}
NOT_SHIPPED = (("phone", "v5"),)
SEED = 11


def loaded(kind: str, front: str, bands: int):
    state = torch.load(WORK / f"{kind}-{front}.pt")
    if "transform" in state:
        net = Cepstral(front)
    elif kind == "statistics":
        net = Statistics(front, bands)
    elif kind.startswith("mixtures"):
        net = Mixtures(front, bands, len(state["synthesis_spoof_constant"]))
    else:
        net = Convolutional(front, bands, widths_of(state))
    net.load_state_dict({name: value for name, value in state.items() if name != "front.matrix"})
    return net.eval()


def dev_logits(net, dev) -> np.ndarray:
    return cepstral_logits(net, dev) if isinstance(net, Cepstral) else logits_of(net, dev)


def widths_of(state) -> tuple:
    """The channel counts of a convolutional network, read from its weights."""
    strided = [v for k, v in state.items() if k.startswith("body.") and k.endswith(".0.weight") and v.ndim == 4]
    return tuple(v.shape[0] for v in strided)


def assembled(front: str, parts, dev):
    """The version's graph, and its logits on dev."""
    nets = [loaded(kind, front, dev.bands) for kind, *_ in parts]
    logits = [dev_logits(net, dev) for net in nets]
    if len(nets) == 1:
        return nets[0], logits[0]
    shares = np.array([weight for _, *weight in parts], float)
    weights = shares / shares.sum(axis=0) * 2 / np.stack([values.std(axis=0) for values in logits])
    bias = -sum(weight * values.mean(axis=0) for weight, values in zip(weights, logits))
    return Fusion(front, nets, weights, bias), sum(weight * values for weight, values in zip(weights, logits)) + bias


def build(family: str, version: str) -> None:
    front, parts = RECIPES[family, version]
    dev = Set(front, "dev")
    net, logits = assembled(front, parts, dev)
    show(f"{family}/{version}", report(dev, logits))
    if (family, version) in NOT_SHIPPED:
        return
    write(net, front, version, fitted(dev, logits), f"training/README.md, {family}/{version}", SEED)


if __name__ == "__main__":
    torch.set_num_threads(1)
    build(sys.argv[1], sys.argv[2])
