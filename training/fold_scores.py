"""Scores of clips by models that saw neither their synthesizer's family nor their source: `fold_scores.py phone|digital`.

The regressions of the shipped recipes (cepstral statistics and statistics of bands) are fitted again for each pair of a family of
synthesizers and a source of recordings, without both; the networks and mixtures of the recipes are left out, since fitting them
for each pair is not affordable. Writes `folds-FAMILY.npz` to TRAINING_WORK, which folds.py reads.
"""
import re
import sys
from collections import defaultdict

import numpy as np
from sklearn.linear_model import LogisticRegression

from corpus import Store, WORK
from features import FRONTS, WINDOW_SECONDS, band_matrix, cepstral_statistics, cepstral_transform, power_spectrogram, window_of, LOG_FLOOR

JOINED_SECONDS = 10
HOP_SECONDS = 2
ITERATIONS = 60
# Synthesizers with related vocoders are one family; so is all that speaks with the voice of LJSpeech.
FAMILIES = {
    "LJSpeech kin": ("WaveFake-vocoder", "SpeedySpeech+MelGAN", "Tacotron2+WaveGlow-or-MelGAN", "FastSpeech2+HiFiGAN/MelGAN"),
    "HiFi-GAN generators": ("mimic3-VITS", "GlowTTS+HiFiGAN (larynx)"),
    "eSpeak NG": ("eSpeak-NG",),
    "diphones": ("festival-diphone-cs", "festival-diphone-fi", "festival-diphone-it", "festival-diphone-kal", "flite-diphone-kal16"),
    "cluster units": ("flite-CG-rms",),
}
SOURCES = {"LibriSpeech": "LibriSpeech", "crowd": "Picovoice", "prompts": "asterisk", "LJSpeech": "MarkHershey|janvainer|ming024"}
# The regressions: front and features. Strengths are those of train_cepstral.py and train_classic.py.
PARTS = {"statistics": ("", "bands"), "cepstral": ("-long", "cepstral"), "statistics-long": ("-long", "bands")}


def family_of_synthesizer(name: str) -> str:
    return next((family for family, names in FAMILIES.items() if name in names), "")


def source_of(source: str) -> str:
    return next((name for name, form in SOURCES.items() if re.search(form, source)), "synthesizers")


def is_lj(clip) -> bool:
    return "ljspeech" in clip.speaker or clip.speaker == "lj"


def items_of(clips) -> list:
    """Places of clips: each alone, and those of one speaker and condition joined to `JOINED_SECONDS`."""
    groups = defaultdict(list)
    for place, clip in enumerate(clips):
        groups[clip.label, clip.base_label, clip.speaker, clip.synthesizer, clip.codec].append(place)
    joined = []
    for members in groups.values():
        taken, length = [], 0
        for place in members:
            taken.append(place)
            length += clips[place].length
            if length >= JOINED_SECONDS * clips[place].rate:
                joined.append(taken)
                taken, length = [], 0
    return [[place] for place in range(len(clips))] + joined


def windows_of(wave: np.ndarray, rate: int) -> list:
    """Starts of the windows, as the runtime cuts them."""
    size, hop = WINDOW_SECONDS * rate, HOP_SECONDS * rate
    starts = [at for at in range(0, len(wave), hop) if at + size < len(wave)]
    return starts + [max(0, len(wave) - size)]


def statistics_of_bands(bands: np.ndarray) -> np.ndarray:
    spread = lambda x: np.sqrt(np.mean((x - x.mean(0)) ** 2, axis=0) + 1e-5)
    return np.concatenate([bands.mean(0), spread(bands), spread(np.diff(bands, axis=0))])


def features_of(store, items, family: str) -> dict:
    """[windows, numbers] of each part, and the item of each window."""
    clips, audio = store.clips(), store.audio()
    rows, owner = defaultdict(list), []
    fronts = {front: (band_matrix(family + front), cepstral_transform(family + front)) for front in ("", "-long")}
    for number, places in enumerate(items):
        wave = np.concatenate([audio[clips[p].start:clips[p].start + clips[p].length] for p in places]).astype(np.float32) / 32768
        rate = FRONTS[family]["rate"]
        wave = wave[:JOINED_SECONDS * rate] if len(places) > 1 else wave
        for start in windows_of(wave, rate):
            owner.append(number)
            for front, (matrix, transform) in fronts.items():
                power = power_spectrogram(window_of(wave, family + front, start), family + front)
                bands = np.log(power @ matrix + LOG_FLOOR)
                rows["statistics" + front].append(statistics_of_bands(bands).astype(np.float32))
                if front:
                    rows["cepstral"].append(cepstral_statistics(power, transform).reshape(-1).astype(np.float32))
    return {name: np.stack(values) for name, values in rows.items()}, np.array(owner)


def fitted(x, target, part: str):
    """A regression with even classes: function from features to logits."""
    mean, scale = x.mean(0), 1 / (x.std(0) + 1e-3)
    strength = 1.2 / x.shape[1] if part == "cepstral" else 0.003
    fit = LogisticRegression(C=strength, class_weight="balanced", max_iter=ITERATIONS).fit((x - mean) * scale, target)
    return lambda rows: ((rows - mean) * scale) @ fit.coef_[0].astype(np.float32) + fit.intercept_[0]


def main(family: str) -> None:
    store = Store(f"pack-{family}")
    clips = store.clips()
    items = items_of(clips)
    first = [clips[places[0]] for places in items]
    single = np.array([len(places) == 1 for places in items])
    x, owner = features_of(store, items, family)
    counts = np.bincount(owner)
    synthesizer = np.array([family_of_synthesizer(c.synthesizer) for c in first])
    source = np.array([source_of(c.source) for c in first])
    human = np.array([not c.synthesizer for c in first])
    lj = np.array([is_lj(c) for c in first])
    sources = [name for name in SOURCES if (source == name).any()]
    logits = {part: np.zeros((len(FAMILIES), len(sources), len(items)), np.float32) for part in PARTS}
    for f, left_family in enumerate(FAMILIES):
        for s, left_source in enumerate(sources):
            known = single & (synthesizer != left_family) & (source != left_source)
            if "LJSpeech" in (left_family.split()[0], left_source):
                known &= ~lj
            rows = known[owner]
            for part in PARTS:
                score = fitted(x[part][rows], human[owner][rows], part)(x[part])
                logits[part][f, s] = np.bincount(owner, score) / counts
        print(family, left_family, flush=True)
    np.savez(WORK / f"folds-{family}.npz", families=list(FAMILIES), sources=sources, synthesizer=synthesizer, source=source,
             label=[c.label for c in first], speaker=[c.speaker for c in first], codec=[c.codec for c in first], single=single,
             seconds=np.array([sum(clips[p].length for p in places) / clips[places[0]].rate for places in items]),
             name=[c.synthesizer for c in first], **{f"logits {part}": values for part, values in logits.items()})


if __name__ == "__main__":
    main(sys.argv[1])
