"""A small convolutional network on log spectrograms, against the shipped weights: `spectrogram_network.py FAMILY FOLD [--epochs N]`.

Two folds: it is trained on the old corpus and on one half of the families of unseen_systems.py, and judged on the other half, on speakers
that it never heard (FOLD 0); for FOLD 1 the halves change places. Bands lose their mean, so that neither a source's colour nor a level can be learnt.
All clips have passed the channels of the corpus (rooms, noise, codecs); lost packets and masks are drawn in training. Differences of equal
error rates have 95 % intervals of paired resamples over speakers, systems and families. Needs what new_families.py needs.
"""
import argparse

import numpy as np
import torch
from torch import nn

from corpus import Store
from new_families import Halves, Unseen, compared, even, shipped_logits, source_of
from unseen_systems import SECONDS, kept_apart

BANDS, HOP_SECONDS, FRAMES, CROP_HOP = 64, 0.02, 150, 100
BATCH, RATE, SEED = 32, 2e-3, 1
CLIPS_AT_ONCE = 64


class Clips:
    """Spectrograms of clips, and what new_families.compared needs to know of them."""

    def __init__(self, store, places):
        clips, audio = store.clips(), store.audio()
        chosen = [clips[at] for at in places]
        self.spectra = [spectrum(audio[c.start:c.start + c.length].astype(np.float32) / 32768, c.rate) for c in chosen]
        self.place = np.array(places)
        self.human = np.array([not c.synthesizer for c in chosen])
        self.system = np.array([c.synthesizer for c in chosen])
        self.speaker = np.array([c.speaker.split("#")[0] for c in chosen])
        self.family = np.array([c.segment if isinstance(store, Unseen) else c.synthesizer for c in chosen])
        self.source = np.array([source_of(c.source) for c in chosen])
        self.lj = np.array([c.speaker.startswith("lj#") for c in chosen])


def spectrum(wave: np.ndarray, rate: int) -> np.ndarray:
    """[frames, bands]: log power of even bands up to half the rate, without each band's mean."""
    size, hop = 2 * rate // 62 // 2 * 2, int(rate * HOP_SECONDS)
    wave = np.pad(wave, (0, max(0, size + hop - len(wave))))
    frames = np.lib.stride_tricks.sliding_window_view(wave, size)[::hop]
    power = np.abs(np.fft.rfft(frames * np.hanning(size).astype(np.float32), 4 * BANDS)) ** 2
    bands = np.log(power[:, 1:].reshape(len(frames), BANDS, -1).mean(2) + 1e-7)
    return (bands - bands.mean(0)).astype(np.float16)


class HalfOf(nn.Module):
    """Max-feature-map (Wu, He, Sun and Tan 2018): the larger of two halves of the channels."""

    def forward(self, x):
        return torch.maximum(*x.chunk(2, 1))


def network() -> nn.Module:
    block = lambda inside, out, size: [nn.Conv2d(inside, 2 * out, size, padding=size // 2), HalfOf(), nn.BatchNorm2d(out)]
    return nn.Sequential(
        *block(1, 12, 5), nn.MaxPool2d(2), *block(12, 12, 1), *block(12, 32, 3), nn.MaxPool2d(2), *block(32, 32, 1), *block(32, 64, 3), nn.MaxPool2d(2),
        *block(64, 48, 1), *block(48, 48, 3), MomentsOverTime(), nn.Dropout(0.4), nn.Linear(2 * 48 * (BANDS // 8), 1))


class MomentsOverTime(nn.Module):
    def forward(self, x):
        x = x.permute(0, 1, 3, 2).flatten(1, 2)
        return torch.cat([x.mean(2), x.std(2)], 1)


def crop(x: np.ndarray, at: int) -> np.ndarray:
    return np.take(x, np.arange(at, at + FRAMES) % len(x), axis=0).astype(np.float32)


def disturbed(x: np.ndarray, rng) -> np.ndarray:
    """Lost packets of 20 ms, and a mask over time and one over bands."""
    if rng.random() < 0.4:
        lost = rng.random(FRAMES) < rng.uniform(0, 0.1)
        x[lost] = x.min()
    at, low = rng.integers(FRAMES), rng.integers(BANDS)
    x[at:at + rng.integers(15)] = 0
    x[:, low:low + rng.integers(10)] = 0
    return x


def trained(clips: list, masks: list, epochs: int) -> nn.Module:
    """Classes weigh the same, families within them as the square root of what they have."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    spectra = [c.spectra[at] for c, mask in zip(clips, masks) for at in np.flatnonzero(mask)]
    human = np.concatenate([c.human[mask] for c, mask in zip(clips, masks)])
    kind = np.concatenate([[f"{number}|{f}|{s if h else ''}|{h}" for f, s, h in zip(c.family[mask], c.source[mask], c.human[mask])] for number, (c, mask) in enumerate(zip(clips, masks))])
    share = even(human, kind)
    model, steps = network(), epochs * len(spectra) // BATCH
    optimiser = torch.optim.AdamW(model.parameters(), RATE, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    for step in range(steps):
        drawn = rng.choice(len(spectra), BATCH, p=share / share.sum())
        x = np.stack([disturbed(crop(spectra[at], rng.integers(len(spectra[at]))), rng) for at in drawn])
        loss = nn.functional.binary_cross_entropy_with_logits(model(torch.from_numpy(x)[:, None])[:, 0], torch.tensor(human[drawn], dtype=torch.float32))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print("step", step, "of", steps, "loss", round(float(loss), 3), flush=True)
    return model.eval()


def scores(model: nn.Module, clips: Clips) -> np.ndarray:
    """Mean logit over crops of 3 s each 2 s."""
    crops = [(number, crop(x, at)) for number, x in enumerate(clips.spectra) for at in range(0, max(1, len(x) - FRAMES + CROP_HOP), CROP_HOP)]
    owner = np.array([number for number, _ in crops])
    with torch.no_grad():
        logits = torch.cat([model(torch.from_numpy(np.stack([x for _, x in crops[at:at + CLIPS_AT_ONCE]]))[:, None])[:, 0] for at in range(0, len(crops), CLIPS_AT_ONCE)]).numpy()
    return np.bincount(owner, logits) / np.bincount(owner)


def main(family: str, fold: int, epochs: int) -> None:
    torch.set_num_threads(1)
    pack = Store(f"pack-{family}")
    old = Clips(pack, [at for at, clip in enumerate(pack.clips()) if clip.label != "replay"])
    made = {seconds: Unseen(f"unseen-{seconds}/pack-{family}") for seconds in SECONDS}
    new = {seconds: Clips(store, list(range(len(store.clips())))) for seconds, store in made.items()}
    print(family, "parameters", sum(p.numel() for p in network().parameters()), flush=True)
    apart = Halves(new[3])
    other = lambda data: ~np.isin(data.speaker, list(apart.judged)) & ~data.lj & (data.human | np.array([not kept_apart(f) for f in data.family]))
    within = new[3].human | np.array([kept_apart(f) for f in new[3].family])
    known, judged = (apart.tuned, apart.test_of) if fold == 0 else (np.isin(new[3].speaker, list(apart.judged)) & within, other)
    model = trained([old, new[3]], [np.ones(len(old.human), bool), known], epochs)
    for seconds, data in new.items():
        shipped = shipped_logits(family, seconds, data)
        keep = judged(data) & ~np.isnan(shipped)
        print(family, "fold", fold, f"{seconds} s, trained on", int(known.sum()), "renditions:", compared(shipped, scores(model, data), data, keep), flush=True)


if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("family", choices=("phone", "digital"))
    reader.add_argument("fold", type=int, choices=(0, 1))
    reader.add_argument("--epochs", type=int, default=3)
    given = reader.parse_args()
    main(given.family, given.fold, given.epochs)
