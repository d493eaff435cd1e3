"""Trains the cepstral scorer on cached statistics: `train_cepstral.py FRONT [--epochs 40] [--copies 0.2]`; seconds an epoch."""
import argparse

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn import functional as F

from corpus import WORK
from dataset import Set
from measure import report, show
from networks import Cepstral
from train_network import group_of

BATCH = 128
REGRESSION_STRENGTH = 1.2
GROUP_WEIGHTS = {"live": 1.0, "replay": 0.8, "synthesizer": 1.0}


def weights_of(data, copies: float, even: float) -> np.ndarray:
    """What each clip counts: groups by `GROUP_WEIGHTS`, synthesizers and speakers evened out as far as `even` says."""
    key = [(group_of(c), c.synthesizer or c.source, c.speaker) for c in data.clips]
    counts, pairs = {}, {}
    for group, kind, speaker in key:
        counts[group, kind] = counts.get((group, kind), 0) + 1
        pairs[group, kind, speaker] = pairs.get((group, kind, speaker), 0) + 1
    raw = np.array([(counts[g, k] ** -0.5 * pairs[g, k, s] ** -0.3) ** even for g, k, s in key])
    groups = np.array([g for g, *_ in key])
    for group in set(groups):
        share = copies if group == "copy" else GROUP_WEIGHTS[group]
        raw[groups == group] *= share / raw[groups == group].sum()
    return raw / raw.sum()


def cost_of(logits, human, live, smooth=0.03):
    soft = lambda v: v * (1 - 2 * smooth) + smooth
    synthesis = F.binary_cross_entropy_with_logits(logits[:, 0], soft(human), reduction="none") * (0.5 + 0.5 * live)
    replay = F.binary_cross_entropy_with_logits(logits[:, 1], soft(live), reduction="none") * (0.5 + 0.5 * human)
    return synthesis.mean() + 0.7 * replay.mean()


class Pool:
    """Statistics of all training clips, as they are and at other speeds, with what each row is and how often it is drawn."""

    def __init__(self, data, options):
        plain = data.cepstral()
        numbers, quick = data.cepstral_speeds()
        self.rows = torch.from_numpy(np.concatenate([plain, quick]))
        self.clip = np.concatenate([np.arange(len(plain)), numbers])
        self.plain = np.arange(len(self.clip)) < len(plain)
        self.human, self.live = (torch.from_numpy(v.astype(np.float32)[self.clip]) for v in (data.human(), data.live()))
        self.copy = np.array([bool(c.maker) for c in data.clips])[self.clip]
        chance = weights_of(data, options.copies, options.even)
        group = np.array([group_of(c) for c in data.clips])[numbers]
        quick_chance = np.zeros(len(numbers))
        for name in set(group):
            quick_chance[group == name] = chance[np.array([group_of(c) for c in data.clips]) == name].sum() / (group == name).sum()
        self.chance = np.concatenate([chance * (1 - options.speed), quick_chance / quick_chance.sum() * options.speed])
        self.chance /= self.chance.sum()


def train(net, pool, options) -> None:
    rng = np.random.default_rng(options.seed)
    net.mean.copy_(pool.rows[pool.plain].mean(0))
    net.scale.copy_(1 / (pool.rows[pool.plain].std(0) + 1e-3))
    fit = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=options.decay)
    steps = options.epochs * 10_000 // BATCH
    plan = torch.optim.lr_scheduler.OneCycleLR(fit, 2e-3, total_steps=steps + 1)
    order = rng.choice(len(pool.clip), steps * BATCH, p=pool.chance).reshape(steps, BATCH)
    average, averaged = None, 0
    for step, chosen in enumerate(order):
        x, h, l = pool.rows[chosen], pool.human[chosen], pool.live[chosen]
        x = x + options.noise * torch.from_numpy(rng.standard_normal(x.shape, dtype=np.float32)) / net.scale
        other, share = rng.permutation(BATCH), float(rng.beta(0.4, 0.4))
        x, h, l = (share * v + (1 - share) * v[other] for v in (x, h, l))
        net.train()
        cost = cost_of(net.from_statistics(x), h, l)
        fit.zero_grad()
        cost.backward()
        fit.step()
        plan.step()
        if step > 0.7 * steps:
            averaged += 1
            state = net.state_dict()
            average = {k: v.clone() for k, v in state.items()} if average is None else {k: average[k] + (state[k] - average[k]) / averaged for k in state}
    net.load_state_dict(average)


@torch.no_grad()
def add_regression(net, pool, options) -> None:
    """Adds a plain logistic regression on the same statistics to the direct part, each half scaled to a deviation of one.

    It knows nothing of copies; rows at other speeds weigh `speed_regression` as much in all as the plain ones.
    """
    keep = ~pool.copy & (pool.plain if options.speed_regression == 0 else True)
    x = ((pool.rows[keep] - net.mean) * net.scale).flatten(1)
    plain = pool.plain[keep]
    weight = np.where(plain, 1.0, options.speed_regression * plain.sum() / max((~plain).sum(), 1))
    made = net.eval().from_statistics(pool.rows[keep][plain])
    for column, target in enumerate((pool.human[keep], pool.live[keep])):
        target = target.numpy()
        even = np.where(target > 0, weight[target == 0].sum() / weight[target > 0].sum(), 1.0)
        fit = LogisticRegression(C=REGRESSION_STRENGTH / x.shape[1], max_iter=50).fit(x.numpy(), target, sample_weight=weight * even)
        line = torch.from_numpy(fit.coef_[0].astype(np.float32))
        ours, theirs = 1 / float(made[:, column].std()), 1 / float((x[plain] @ line).std())
        net.direct.weight[column] = net.direct.weight[column] * ours + line * theirs
        net.direct.bias[column] = net.direct.bias[column] * ours + float(fit.intercept_[0]) * theirs
        net.leave.weight[column] *= ours
        net.leave.bias[column] *= ours


@torch.no_grad()
def cepstral_logits(net, data) -> np.ndarray:
    net.eval()
    return net.from_statistics(torch.from_numpy(data.cepstral())).numpy()


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("front")
    parser.add_argument("--name", default="cepstral")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--copies", type=float, default=0.1)
    parser.add_argument("--speed", type=float, default=0.5)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--decay", type=float, default=0.3)
    parser.add_argument("--speed-regression", type=float, default=0.5)
    parser.add_argument("--even", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    data, dev = Set(options.front, "train"), Set(options.front, "dev")
    net = Cepstral(options.front)
    pool = Pool(data, options)
    train(net, pool, options)
    show("before the regression", report(dev, cepstral_logits(net, dev)))
    add_regression(net, pool, options)
    torch.save(net.state_dict(), WORK / f"{options.name}-{options.front}.pt")
    show(f"{options.name} {options.front} {vars(options)}", report(dev, cepstral_logits(net, dev)))
