"""Trains the statistics with logistic regression (`statistics`), and Gaussian mixtures (`mixtures`, or `mixtures-large` with
twice the components): `train_classic.py KIND FRONT [--first]`. `--first` leaves out what `synthesizers.py` generated, which came
later than the first models of `phone`.
"""
import sys

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture

from corpus import WORK
from dataset import Set
from measure import BATCH, logits_of, report, show
from networks import Mixtures, Statistics

FRAMES_A_MIXTURE = 120_000
COMPONENTS = {"mixtures": 64, "mixtures-large": 128}


def statistics_of(data) -> np.ndarray:
    return np.concatenate([Statistics.statistics(torch.from_numpy(data.features(range(a, min(a + BATCH, len(data)))))).numpy() for a in range(0, len(data), BATCH)])


def train_statistics(front: str, data) -> Statistics:
    net = Statistics(front, data.bands)
    values = statistics_of(data)
    mean, scale = values.mean(0), 1 / (values.std(0) + 1e-3)
    net.mean.copy_(torch.from_numpy(mean))
    net.scale.copy_(torch.from_numpy(scale))
    for row, target in enumerate((data.human(), data.live())):
        fit = LogisticRegression(C=0.003, class_weight="balanced", max_iter=300).fit((values - mean) * scale, target)
        net.linear.weight.data[row] = torch.from_numpy(fit.coef_[0].astype(np.float32))
        net.linear.bias.data[row] = float(fit.intercept_[0])
    return net


def train_mixtures(front: str, data, components: int, seed: int = 3) -> Mixtures:
    net, rng = Mixtures(front, data.bands, components), np.random.default_rng(seed)
    human, live = data.human(), data.live()
    for name, mask in (("synthesis_authentic", human), ("synthesis_spoof", ~human), ("replay_authentic", live), ("replay_spoof", ~live)):
        frames = cepstra_of(net, data, rng.permutation(np.flatnonzero(mask)), rng)
        fit = GaussianMixture(components, covariance_type="diag", max_iter=25, reg_covar=1e-2, random_state=seed, init_params="random_from_data", tol=1e-2).fit(frames)
        net.set_mixture(name, fit.weights_, fit.means_, fit.covariances_)
        print(name, len(frames), fit.n_iter_, flush=True)
    return net


@torch.no_grad()
def cepstra_of(net, data, indices, rng) -> np.ndarray:
    indices = indices[:FRAMES_A_MIXTURE // 40]
    parts = []
    for a in range(0, len(indices), BATCH):
        x = net.cepstra(torch.from_numpy(data.features(indices[a:a + BATCH]))).numpy()
        parts.append(x[:, rng.permutation(x.shape[1])[:40]].reshape(-1, x.shape[2]))
    return np.concatenate(parts)


if __name__ == "__main__":
    torch.set_num_threads(1)
    kind, front = sys.argv[1], sys.argv[2]
    first = "--first" in sys.argv
    data = Set(front, "train", keep=lambda c: not c.maker and not (first and c.source.startswith("generated (Debian)")))
    net = train_statistics(front, data) if kind == "statistics" else train_mixtures(front, data, COMPONENTS[kind])
    torch.save(net.state_dict(), WORK / f"{kind}-{front}.pt")
    dev = Set(front, "dev")
    show(f"{kind} {front}", report(dev, logits_of(net, dev)))
