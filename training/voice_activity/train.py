"""Trains telephone/2 and writes models/voice-activity-telephone-2. See README.md."""
import argparse
import hashlib
import json
import time
from pathlib import Path

import numpy as np
import soundfile
import torch

from corpus import RATE, is_held_out, read_segments
from mixtures import Mixtures
from network import BINS, FFT, FRAME, HOP, STRIDE, VoiceNetwork, power_spectrogram

SEED = 42
TRAIN_MIXTURES, DEV_MIXTURES, BATCH = 3600, 300, 16
HELD_OUT_MUSIC = ("reno_project", "manolo_camp")


def hold_music(folder, held_out):
    songs = [path for path in sorted(Path(folder).glob("*.wav")) if path.name.startswith(HELD_OUT_MUSIC) == held_out]
    return [soundfile.read(path, dtype="float32")[0] for path in songs]


def make_set(segments, songs, count, seed):
    mixtures = Mixtures(segments, songs, np.random.default_rng(seed))
    drawn = [mixtures.draw() for _ in range(count)]
    return torch.from_numpy(np.stack([np.clip(x, -1, 1) * 32767 for x, _ in drawn]).astype(np.int16)), torch.from_numpy(np.stack([y for _, y in drawn]))


def mixtures(options):
    """(training, dev), made once and kept in the working folder."""
    cache = Path(options.work) / "voice-activity-mixtures.pt"
    if not cache.exists():
        segments = read_segments(options.corpus, Path(options.work) / "segments.pickle")
        sets = {name: make_set([s for s in segments if is_held_out(s) == held_out], hold_music(options.hold_music, held_out), count, SEED + held_out)
                for name, held_out, count in (("data", False, TRAIN_MIXTURES), ("dev", True, DEV_MIXTURES))}
        torch.save(sets, cache)
    kept = torch.load(cache)
    return kept["data"], kept["dev"]


def with_bands(network, data):
    """(log of the powers of the bands as float16, truth): what the network sees of the mixtures, computed once."""
    parts = [torch.log(power_spectrogram(samples.float() / 32768) @ network.filters + 1e-7).half() for samples in data[0].split(50)]
    return torch.cat(parts), data[1]


def batches(data, order):
    for at in range(0, len(order), BATCH):
        chosen = order[at:at + BATCH]
        yield torch.exp(data[0][chosen].float()), data[1][chosen]


def frame_errors(network, data):
    """(error, miss, false alarm), in percent of the frames, of the frames with voice, of those without."""
    network.eval()
    wrong, counts = np.zeros(2), np.zeros(2)
    with torch.no_grad():
        for bands, truth in batches(data, torch.arange(len(data[0]))):
            said = network.of_bands(bands) > 0
            for kind in (0, 1):
                wrong[kind] += ((said != truth.bool()) & (truth == kind)).sum().item()
                counts[kind] += (truth == kind).sum().item()
    network.train()
    return 100 * wrong.sum() / counts.sum(), 100 * wrong[1] / counts[1], 100 * wrong[0] / counts[0]


def train(network, data, dev, epochs):
    """Adam with a cosine learning rate; the level of each mixture is drawn again each time. The last weights are kept."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-3)
    steps = epochs * -(-len(data[0]) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, 1e-5)
    loss_of, started = torch.nn.BCEWithLogitsLoss(), time.time()
    for epoch in range(1, epochs + 1):
        for bands, truth in batches(data, torch.randperm(len(data[0]))):
            gain = 10 ** (torch.empty(len(bands), 1, 1).uniform_(-10, 6) / 10)
            loss = loss_of(network.of_bands(bands * gain), truth * 0.98 + 0.01)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch, f"{time.time() - started:.0f} s", f"{loss.item():.3f}", "dev error, miss, false alarm: %.2f %.2f %.2f" % frame_errors(network, dev), flush=True)


def export(network, folder, epochs):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "model.onnx"
    network.eval()
    torch.onnx.export(network, torch.rand(1, 400, BINS), str(file), opset_version=13, input_names=["input"], output_names=["output"],
                      dynamic_axes={"input": {0: "batch", 1: "frames"}, "output": {0: "batch", 1: "frames"}})
    manifest = {
        "schema": "model-manifest/1", "model": "voice-activity/telephone-2", "kind": "voice-activity", "file": "model.onnx",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "bytes": file.stat().st_size, "parameters": sum(p.numel() for p in network.parameters()),
        "input": {"kind": "power-spectrogram", "name": "input", "sampleRate": RATE, "sampleRateMin": RATE, "frameSamples": FRAME, "hopSamples": HOP, "fftSize": FFT, "framesMultiple": STRIDE},
        "output": {"name": "output", "layout": ["voice"], "activation": "logit", "polarity": "higher-is-voice"},
        "training": {"recipe": "training/voice_activity/train.py", "seed": SEED, "data": "training/voice_activity/data-manifest.json", "epochs": epochs},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    write_check(network, folder / "check.json")


def write_check(network, path):
    """Logits for a signal that a formula makes: a tone with a voice's pitch that comes and goes four times a second, and a dial tone after it."""
    time_axis = np.arange(4 * RATE) / RATE
    voice = sum(np.sin(2 * np.pi * 140 * h * time_axis) / h for h in range(1, 20)) * (0.5 - 0.5 * np.cos(2 * np.pi * 4 * time_axis)) * 0.1
    dial = 0.1 * np.sin(2 * np.pi * 350 * time_axis) + 0.1 * np.sin(2 * np.pi * 440 * time_axis)
    samples = torch.from_numpy(np.where(time_axis < 2, voice, dial).astype(np.float32))[None]
    with torch.no_grad():
        logits = network(power_spectrogram(samples))[0]
    formula = "8000 Hz, 4 s, t = n/8000; t < 2: 0.1 (0.5 - 0.5 cos(2 pi 4 t)) sum over h = 1..19 of sin(2 pi 140 h t)/h; else 0.1 sin(2 pi 350 t) + 0.1 sin(2 pi 440 t)"
    path.write_text(json.dumps({"formula": formula, "margin": "60 zeros before and after the samples", "logits": [round(v, 4) for v in logits.tolist()]}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="folder with CLEAN.tsv")
    parser.add_argument("--hold-music", required=True, help="folder with the WAV files of Debian's asterisk-moh-opsound-wav")
    parser.add_argument("--work", default="var/voice-training", help="folder for intermediate files")
    parser.add_argument("--out", default="models/voice-activity-telephone-2")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    data, dev = mixtures(options)
    print(f"voice in {100 * data[1].mean():.0f} % of the frames", flush=True)
    network = VoiceNetwork()
    data, dev = with_bands(network, data), with_bands(network, dev)
    train(network, data, dev, options.epochs)
    torch.save(network.state_dict(), Path(options.work) / "voice-activity.pt")
    export(network, Path(options.out), options.epochs)


if __name__ == "__main__":
    main()
