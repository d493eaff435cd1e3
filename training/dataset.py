"""Cached features of the stores, and the sets that training and dev draw from."""
import sys

import numpy as np
from scipy.signal import resample_poly

from corpus import Store, WORK
from features import FRONTS, SPEEDS, band_matrix, cepstral_statistics, cepstral_transform, family_of, log_bands, power_spectrogram, window_of, LOG_FLOOR


HUMAN_SPEEDS = 2


def waves(store):
    """Every clip of a store, as float."""
    audio = store.audio()
    for clip in store.clips():
        yield clip, audio[clip.start:clip.start + clip.length].astype(np.float32) / 32768


def written(path, count: int, shape, rows) -> None:
    """Writes float16 rows to a file that appears only when it is whole."""
    unfinished = path.with_suffix(".unfinished")
    out = np.lib.format.open_memmap(unfinished, "w+", np.float16, (count, *shape))
    for i, row in enumerate(rows):
        out[i] = row
    out.flush()
    unfinished.rename(path)


def cache_bands(name: str, front: str) -> None:
    """`<name>.<front>.npy`: the log bands of every clip."""
    store, f = Store(name), FRONTS[front]
    frames = (f["rate"] * 4 - f["frame"]) // f["hop"] + 1
    rows = (log_bands(window_of(wave, front), front) for _, wave in waves(store))
    written(WORK / f"{name}.{front}.npy", len(store.clips()), (frames, band_matrix(front).shape[1]), rows)


def cache_long(name: str, front: str) -> None:
    """Bands and cepstral statistics, from one pass."""
    store, bands, transform = Store(name), band_matrix(front), cepstral_transform(front)
    statistics = []

    def rows():
        for _, wave in waves(store):
            power = power_spectrogram(window_of(wave, front), front)
            statistics.append(cepstral_statistics(power, transform).astype(np.float16))
            yield np.log(power @ bands + LOG_FLOOR)

    f = FRONTS[front]
    frames = (f["rate"] * 4 - f["frame"]) // f["hop"] + 1
    written(WORK / f"{name}.{front}.npy", len(store.clips()), (frames, bands.shape[1]), rows())
    np.save(WORK / f"{name}.{front}.cepstral.npy", np.stack(statistics))


def cache_speeds(name: str, front: str) -> None:
    """Cepstral statistics of training clips played at other speeds: every one for synthesizers, `HUMAN_SPEEDS` for the rest."""
    transform, numbers, statistics = cepstral_transform(front), [], []
    rng = np.random.default_rng(len(name))
    for i, (clip, wave) in enumerate(waves(Store(name))):
        if clip.split != "train":
            continue
        count = len(SPEEDS) if clip.label == "synthetic" else HUMAN_SPEEDS
        for speed in rng.permutation(len(SPEEDS))[:count]:
            quick = resample_poly(wave, *SPEEDS[speed])
            numbers.append(i)
            statistics.append(cepstral_statistics(power_spectrogram(window_of(quick, front), front), transform).astype(np.float16))
    np.savez(WORK / f"{name}.{front}.speeds.npz", numbers=np.array(numbers), statistics=np.stack(statistics))


def names_of(front: str) -> list:
    """The stores of the front's family whose features are there."""
    family = family_of(front)
    made = sorted(p.stem for p in WORK.glob(f"made-{family}-*.json"))
    return [n for n in [f"pack-{family}"] + made if (WORK / f"{n}.{front}.npy").exists()]


class Set:
    """Features and labels of all stores of a front, one split of it."""

    def __init__(self, front: str, split: str, keep=lambda clip: True, names=None):
        self.front, self.clips, self.stores, self.statistics, self.places = front, [], [], [], []
        for name in names or names_of(front):
            self.stores.append(np.load(WORK / f"{name}.{front}.npy", mmap_mode="r"))
            self.statistics.append(WORK / f"{name}.{front}.cepstral.npy")
            for i, clip in enumerate(Store(name).clips()):
                if clip.split == split and keep(clip):
                    self.clips.append(clip)
                    self.places.append((len(self.stores) - 1, i))
        self.frames, self.bands = self.stores[0].shape[1:]

    def __len__(self):
        return len(self.clips)

    def features(self, indices) -> np.ndarray:
        return np.stack([self.stores[s][i] for s, i in (self.places[k] for k in indices)]).astype(np.float32)

    def cepstral(self) -> np.ndarray:
        """[clips, 3, quefrencies]."""
        stores = [np.load(path) for path in self.statistics]
        return np.stack([stores[s][i] for s, i in self.places]).astype(np.float32)

    def cepstral_speeds(self):
        """Numbers of clips of this set, and their statistics at another speed, [count, 3, quefrencies]."""
        place, numbers, rows = {p: k for k, p in enumerate(self.places)}, [], []
        for store, path in enumerate(self.statistics):
            path = path.with_name(path.name.replace(".cepstral.npy", ".speeds.npz"))
            cached = np.load(path) if path.exists() else {"numbers": [], "statistics": []}
            for number, row in zip(cached["numbers"], cached["statistics"]):
                if (store, number) in place:
                    numbers.append(place[store, number])
                    rows.append(row)
        return np.array(numbers), np.stack(rows).astype(np.float32)

    def human(self) -> np.ndarray:
        return np.array([(c.base_label or c.label) == "bonafide" for c in self.clips])

    def live(self) -> np.ndarray:
        return np.array([c.label != "replay" for c in self.clips])


if __name__ == "__main__":
    name, front, *more = sys.argv[1:]
    if more:
        cache_speeds(name, front)
    else:
        (cache_long if front.endswith("long") else cache_bands)(name, front)
