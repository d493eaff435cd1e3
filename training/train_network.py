"""Trains one convolutional network: `train_network.py NAME FRONT --minutes 12 [options]`; the recipes are in README.md.

Batches are balanced over what a clip is (human live, human replayed, synthesizers, copies) and inside it over synthesizers
and speakers; the features are disturbed (noise floor, colour, band edges, masks, roll), alike for all labels.
"""
import argparse
import math
import time
from collections import defaultdict

import numpy as np
import torch
from torch.nn import functional as F

from corpus import WORK
from dataset import Set
from features import family_of
from measure import logits_of, report, show
from networks import Convolutional

AVERAGE_FROM = 0.7          # share of the time after which weights are averaged
MARGIN = 0.5
SHORT_SHARE = 0.5           # two seconds train twice as fast as the four of a window
SHORT_UNTIL = 0.75
SYNTHESIZERS_AS_COPIES = 0.25   # how much a real synthesizer counts for the head that learns from copies
SHARES = {"live": 0.26, "replay": 0.26, "synthesizer": 0.27, "copy": 0.21}   # a copy brings its live twin along


class Balanced:
    """Draws clip numbers: first the group, then the synthesizer (or source), then the speaker, then the clip."""

    def __init__(self, data, shares: dict, rng):
        self.twins = twins_of(data)
        self.rng, self.tree = rng, defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
        for i, clip in enumerate(data.clips):
            self.tree[group_of(clip)][clip.synthesizer or clip.source[:24]][clip.speaker].append(i)
        self.groups = [g for g in shares if g in self.tree and shares[g] > 0]
        weights = np.array([shares[g] for g in self.groups])
        self.weights = weights / weights.sum()

    def one(self) -> int:
        kinds = self.tree[self.rng.choice(self.groups, p=self.weights)]
        sizes = np.array([sum(map(len, speakers.values())) for speakers in kinds.values()], float) ** 0.5
        speakers = list(kinds.values())[self.rng.choice(len(sizes), p=sizes / sizes.sum())]
        sizes = np.array([len(v) for v in speakers.values()], float) ** 0.7
        clips = list(speakers.values())[self.rng.choice(len(sizes), p=sizes / sizes.sum())]
        return clips[self.rng.integers(len(clips))]

    def batch(self, count: int):
        """Clip numbers, and a seed for each: a copy comes with its human twin, and both are disturbed by the same draws."""
        chosen, seeds = [], []
        while len(chosen) < count:
            seed = int(self.rng.integers(1 << 31))
            clip = self.one()
            twin = self.twins.get(clip)
            chosen += [clip] if twin is None else [clip, twin]
            seeds += [seed] if twin is None else [seed, seed]
        return np.array(chosen[:count]), seeds[:count]


def twins_of(data) -> dict:
    """For each vocoder copy the number of the human clip that went through the same draws."""
    key = lambda clip: (clip.segment, clip.snr_db, clip.codec)
    humans = {key(c): i for i, c in enumerate(data.clips) if c.label == "bonafide" and not c.maker}
    return {i: humans[key(c)] for i, c in enumerate(data.clips) if c.maker and key(c) in humans}


def group_of(clip) -> str:
    if clip.label == "replay":
        return "replay"
    if clip.label == "bonafide":
        return "live"
    return "copy" if clip.maker else "synthesizer"


def rolled(x: np.ndarray, seeds, frames: int) -> np.ndarray:
    """A stretch of `frames` of each clip, from a place of its own (windows are repeated to their length, so they are round)."""
    return np.stack([np.roll(clip, np.random.default_rng(seed).integers(len(clip)), axis=0)[:frames] for clip, seed in zip(x, seeds)])


def disturb(x: np.ndarray, seeds) -> np.ndarray:
    """Log bands [batch, frames, bands], disturbed clip by clip."""
    _, frames, bands = x.shape
    axis = np.linspace(0, 1, bands, dtype=np.float32)
    for i, seed in enumerate(seeds):
        rng = np.random.default_rng(seed + 1)
        colour = rng.normal(0, 0.7) * axis + sum(rng.normal(0, 0.5) * np.cos(np.pi * k * axis + rng.random() * 6.28) for k in (1, 2, 3))
        x[i] += colour.astype(np.float32)
        if rng.random() < 0.5:
            level = x[i].max(axis=0).mean() - rng.uniform(4, 10) + rng.normal(0, 1.0) * axis
            noise = level + np.log(rng.standard_exponential((frames, bands), dtype=np.float32) + 1e-3)
            x[i] = np.logaddexp(x[i], noise.astype(np.float32))
        if rng.random() < 0.4:
            edge = rng.integers(int(bands * 0.7), bands)
            x[i, :, edge:] = np.maximum(x[i, :, edge:] - rng.uniform(1, 8), math.log(1e-5)) if rng.random() < 0.5 else x[i, :, edge:].mean()
        for _ in range(rng.integers(0, 3)):
            width, at = rng.integers(2, bands // 6), rng.integers(bands)
            x[i, :, at:at + width] = x[i].mean()
        if rng.random() < 0.3:
            width, at = rng.integers(5, 40), rng.integers(frames)
            x[i, at:at + width] = x[i].mean(axis=0, keepdims=True)
    return x


def cost_of(heads, targets, options, smooth=0.04):
    """Logistic losses of the three heads, with a margin for synthesis; `targets` has a value and a weight a head."""
    total = 0.0
    for column, (name, margin, weight) in enumerate((("synthesizer", MARGIN, 1.0), ("copy", MARGIN, options.copies), ("replay", 0.0, 0.7))):
        value, counts = targets[name]
        cost = F.binary_cross_entropy_with_logits(heads[:, column] - margin * (2 * value - 1), value * (1 - 2 * smooth) + smooth, reduction="none")
        total = total + weight * (cost * counts).sum() / (counts.sum() + 1e-6)
    return total


def targets_of(data) -> dict:
    """Value and weight of each clip for each head: a replayed clip counts half for synthesis, a synthetic one half for replay."""
    group = np.array([group_of(c) for c in data.clips])
    human, live = data.human().astype(np.float32), data.live().astype(np.float32)
    half = 0.5 + 0.5 * live
    weights = {"synthesizer": (human, half * (group != "copy")), "copy": (human, half * np.where((group == "copy") | (human > 0), 1.0, SYNTHESIZERS_AS_COPIES)),
               "replay": (live, 0.5 + 0.5 * human)}
    return {name: tuple(torch.from_numpy(v.astype(np.float32)) for v in pair) for name, pair in weights.items()}


def mixed(x, targets, rng):
    """Mixup: a second clip is blended in, in features, targets and weights."""
    other, share = torch.from_numpy(rng.permutation(len(x))), float(rng.beta(0.4, 0.4))
    blend = lambda v: share * v + (1 - share) * v[other]
    return blend(x), {name: (blend(value), blend(counts)) for name, (value, counts) in targets.items()}


def step_rate(part: float) -> float:
    warm = min(1.0, part / 0.03)
    return warm * (0.08 + 0.92 * 0.5 * (1 + math.cos(math.pi * min(part / 0.9, 1))))


def train(net, data, options) -> None:
    rng = np.random.default_rng(options.seed)
    sampler = Balanced(data, options.shares, rng)
    targets = targets_of(data)
    fit = torch.optim.AdamW(net.parameters(), options.rate, weight_decay=1e-2)
    average, averaged = None, 0
    begun, step, running = time.time(), 0, 0.0
    while (part := step / options.steps if options.steps else (time.time() - begun) / (60 * options.minutes)) < 1:
        fit.param_groups[0]["lr"] = options.rate * step_rate(part)
        chosen, seeds = sampler.batch(options.batch)
        x = rolled(data.features(chosen), seeds, int(data.frames * (SHORT_SHARE if part < SHORT_UNTIL else 1)))
        x = torch.from_numpy(disturb(x, seeds) if options.disturb else x)
        here = {name: (value[chosen], counts[chosen]) for name, (value, counts) in targets.items()}
        if options.mixup and rng.random() < 0.5:
            x, here = mixed(x, here, rng)
        net.train()
        cost = cost_of(net.heads(x), here, options)
        fit.zero_grad()
        cost.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 3.0)
        fit.step()
        running = 0.98 * running + 0.02 * float(cost)
        if part > AVERAGE_FROM and step % 5 == 0:
            state = {k: v.detach().clone().float() for k, v in net.state_dict().items()}
            averaged += 1
            average = state if average is None else {k: average[k] + (state[k] - average[k]) / averaged for k in state}
        step += 1
        if step % 100 == 0:
            print(step, f"{part:.2f}", f"{running / (1 - 0.98 ** step):.3f}", flush=True)
        if step % options.look == 0:
            show_short(net, options.dev)
    if average is not None:
        net.load_state_dict({k: v.to(net.state_dict()[k].dtype) for k, v in average.items()})
        settle(net, data, sampler)
    print("steps", step, flush=True)


@torch.no_grad()
def settle(net, data, sampler, batches=40) -> None:
    """Fresh batch-norm statistics for averaged weights, on clips as training sees them."""
    for module in net.modules():
        if hasattr(module, "running_mean"):
            module.reset_running_stats()
            module.momentum = None
    net.train()
    for _ in range(batches):
        chosen, seeds = sampler.batch(64)
        net.from_bands(torch.from_numpy(disturb(rolled(data.features(chosen), seeds, data.frames), seeds)))
    net.eval()


def show_short(net, dev) -> None:
    result = report(dev, logits_of(net, dev))
    print("dev", {k[:38]: v[0] for k, v in result.items() if not k.startswith("  ")}, flush=True)


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("front")
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--start", default="", help="a trained network to go on from")
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes, to repeat a training exactly")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--look", type=int, default=500)
    parser.add_argument("--copies", type=float, default=1.0)
    parser.add_argument("--disturb", type=int, default=1)
    parser.add_argument("--mixup", type=int, default=1)
    parser.add_argument("--widths", default="12,24,40,64")
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    options.shares = dict(SHARES) if options.copies else dict(SHARES, live=0.4, copy=0)
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    data = Set(options.front, "train", keep=lambda c: options.copies > 0 or not c.maker)
    options.dev = Set(options.front, "dev", names=[f"pack-{family_of(options.front)}"])
    net = Convolutional(options.front, data.bands, tuple(map(int, options.widths.split(","))))
    if not options.copies:
        net.share.copy_(torch.tensor([1.0, 0.0]))
    if options.start:
        net.load_state_dict(torch.load(WORK / f"{options.start}-{options.front}.pt"))
    print(options.name, len(data), "clips", sum(p.numel() for p in net.parameters()), "parameters", flush=True)
    train(net, data, options)
    torch.save(net.state_dict(), WORK / f"{options.name}-{options.front}.pt")
    show(f"{options.name} {options.front}", report(options.dev, logits_of(net, options.dev)))
