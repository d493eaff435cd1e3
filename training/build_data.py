"""Makes the training and dev material: paired vocoder copies, then the channel for everything.

    build_data.py copies PART PARTS     classic vocoder copies of the human clips
    build_data.py neural KIND           copies by a trained neural vocoder
    build_data.py channel STORE [FAMILY]  the channel of both families (or one) over a clean store, and the features of the result
"""
import sys
import zlib
from dataclasses import replace

import numpy as np

import channel
from corpus import Store
from dataset import cache_bands
from neural_vocoders import Copier
from vocoders import CLASSIC

NEURAL_SHARE = 0.8
REPLAY_SHARE = {"bonafide": 1.0, "synthetic": 0.15}
CODEC_BATCH = 400


def seed_of(*parts) -> int:
    return zlib.crc32("|".join(map(str, parts)).encode())


def wave_of(audio, clip):
    return audio[clip.start:clip.start + clip.length].astype(np.float64) / 32768


def humans():
    store = Store("clean")
    return [c for c in store.clips() if c.label == "bonafide"], store.audio()


def copy_of(clip, kind):
    return replace(clip, label="synthetic", synthesizer=kind, maker=kind)


def classic_copies(part: int, parts: int):
    clips, audio = humans()
    kinds = sorted(CLASSIC)
    for i, clip in enumerate(clips):
        if i % parts != part or clip.length < 16000:
            continue
        rng = np.random.default_rng(seed_of("copy", clip.segment))
        kind = kinds[(i // parts) % len(kinds)]
        made = CLASSIC[kind](wave_of(audio, clip), rng)
        yield copy_of(clip, kind), np.clip(np.nan_to_num(made), -1, 1)


def neural_copies(vocoder: str):
    clips, audio = humans()
    copier = Copier(vocoder)
    for clip in clips:
        rng = np.random.default_rng(seed_of(vocoder, clip.segment))
        if clip.length < 16000 or rng.random() > NEURAL_SHARE:
            continue
        wave = wave_of(audio, clip)
        scale = 0.07 / channel.rms(wave)
        made = copier(wave * scale, smooth=rng.random() < 0.3) / scale
        yield copy_of(clip, f"neural-{vocoder}"), np.clip(made, -1, 1)


def renditions(clip):
    """(replay, number) of each pass through the channel; human clips pass more often, copies share pass 0 with them."""
    passes = [(False, 0)]
    if clip.label == "bonafide" and not clip.narrowband and clip.split == "train":
        passes.append((False, 1))
    if not clip.maker:
        rng = np.random.default_rng(seed_of("replay", clip.segment))
        if rng.random() < REPLAY_SHARE[clip.label]:
            passes.append((True, 2))
    return passes


def more_renditions(clip):
    """A second round, of training clips only: other rooms, noises and codecs."""
    if clip.split != "train":
        return []
    if clip.label == "synthetic":
        return [(False, 3)]
    return [(True, 4)] if clip.narrowband else [(False, 3), (True, 4)]


def sources(name: str):
    """(clip, wave) of a clean store, without what is too short."""
    store = Store(name)
    audio = store.audio()
    for clip in store.clips():
        if clip.length >= 16000:
            yield clip, wave_of(audio, clip)


def rendered(clip, wave, noise, family, replay, number):
    rng = np.random.default_rng(seed_of(clip.segment, number))
    out, snr = channel.transmit(wave, family, replay, noise, rng)
    codec = rng.choice(channel.CODECS[family])
    label = "replay" if replay else clip.label
    return replace(clip, label=label, base_label=clip.label, codec=str(codec), snr_db=round(snr, 1), rate=channel.RATE[family]), out


def through_codecs(batch, family):
    """Codes and packs a batch, one tool run for each codec."""
    done = []
    for codec in sorted({clip.codec for clip, _ in batch}):
        group = [(clip, wave) for clip, wave in batch if clip.codec == codec]
        coded = channel.code([wave for _, wave in group], channel.RATE[family], codec)
        done += [(clip, wave) for (clip, _), wave in zip(group, coded)]
    packed = channel.pack([wave for _, wave in done], family)
    return [(clip, wave) for (clip, _), wave in zip(done, packed)]


def noise_source():
    clips, audio = humans()
    rng = np.random.default_rng(5)
    picked = [c for c in clips if c.split == "train" and not c.narrowband]
    return channel.Noise([wave_of(audio, picked[i]) for i in rng.permutation(len(picked))[:150]])


def family_stream(family: str, name: str, passes=renditions):
    noise, batch = noise_source(), []
    for clip, wave in sources(name):
        if family == "digital" and clip.narrowband:
            continue
        batch += [rendered(clip, wave, noise, family, *one) for one in passes(clip)]
        if len(batch) >= CODEC_BATCH:
            yield from through_codecs(batch, family)
            batch = []
    if batch:
        yield from through_codecs(batch, family)


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    if verb == "copies":
        Store(f"copies-classic-{rest[0]}").write(classic_copies(int(rest[0]), int(rest[1])))
    elif verb == "neural":
        Store(f"copies-neural-{rest[0]}").write(neural_copies(rest[0]))
    elif verb == "more":
        Store(f"made-{rest[1]}-{rest[0]}-more").write(family_stream(rest[1], rest[0], more_renditions))
    else:
        for family in rest[1:] or ("phone", "digital"):
            Store(f"made-{family}-{rest[0]}").write(family_stream(family, rest[0]))
            cache_bands(f"made-{family}-{rest[0]}", family)
