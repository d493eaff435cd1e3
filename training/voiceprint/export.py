"""Writes the graph, its manifest with calibration and thresholds, and the check that the product repeats."""
import hashlib
import json

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

from bands import FRAMES
from network import BINS, FFT, FRAME, HOP, RATE


def calibrate(rows):
    """Platt: probability that two voices are one, with as many trials of one voice as of two."""
    is_same = rows["owner"] == rows["tester"]
    fitted = LogisticRegression(C=1e6, class_weight="balanced").fit(rows["score"][:, None], is_same)
    return {"slope": round(float(fitted.coef_[0, 0]), 4), "intercept": round(float(fitted.intercept_[0]), 4)}


def check_samples():
    """3 s of a buzz whose pitch glides, at 8 kHz, made by the formula below."""
    t = np.arange(3 * RATE) / RATE
    phase = 2 * np.pi * (130 * t + 8 * np.sin(2 * np.pi * 0.9 * t))
    return (0.05 * sum(np.sin(h * phase) / h for h in range(1, 16)) * (0.6 - 0.4 * np.cos(2 * np.pi * 3 * t))).astype(np.float32)


FORMULA = "8000 Hz, 3 s, t = n/8000, p = 2 pi (130 t + 8 sin(2 pi 0.9 t)): 0.05 (0.6 - 0.4 cos(2 pi 3 t)) sum over h = 1..15 of sin(h p)/h; then the level of the manifest"


def spectrogram_of(samples):
    samples = samples - samples.mean()
    samples = samples * 10 ** (-26 / 20) / np.sqrt(np.mean(samples ** 2))
    frames = torch.from_numpy(samples.astype(np.float32))[None].unfold(1, FRAME, HOP) * torch.hann_window(FRAME)
    return torch.fft.rfft(frames, FFT).abs() ** 2


def export(network, folder, facts):
    """`facts`: seed, calibration, thresholds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "model.onnx"
    network.eval()
    torch.onnx.export(network, torch.rand(1, FRAMES, BINS), str(file), opset_version=13, input_names=["input"], output_names=["output"],
                      dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}})
    manifest = {
        "schema": "model-manifest/1", "model": "voiceprint/1", "kind": "voiceprint", "file": "model.onnx",
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(), "bytes": file.stat().st_size, "parameters": sum(b.numel() for name, b in network.named_buffers() if not name.startswith("pitch.")),
        "input": {"kind": "power-spectrogram", "name": "input", "sampleRate": RATE, "sampleRateMin": RATE, "windowSeconds": 3, "hopSeconds": 1.5, "padding": "repeat",
                  "level": {"kind": "rms", "targetDbfs": -26}, "frameSamples": FRAME, "hopSamples": HOP, "fftSize": FFT},
        "output": {"name": "output", "layout": ["embedding"], "dimensions": network.projection.shape[1]},
        "calibration": {"identity": facts["calibration"]},
        "thresholds": facts["thresholds"],
        "voiceActivity": "telephone/2",
        "minimumVoiceSeconds": 1.5,
        "limits": {"batchMax": 16},
        "training": {"recipe": "training/voiceprint/train.py", "seed": facts["seed"], "data": "training/voiceprint/data-manifest.json"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    with torch.no_grad():
        embedding = network(spectrogram_of(check_samples()))[0]
    (folder / "check.json").write_text(json.dumps({"formula": FORMULA, "embedding": [round(v, 5) for v in embedding.tolist()]}) + "\n")
