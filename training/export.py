"""Writes `models/<family>-<version>/`: the graph, its manifest and a check that any runtime can repeat.

    export.py FAMILY VERSION KIND [STATE ...]     KIND: statistics | mixtures | network | fusion
"""
import hashlib
import json
from pathlib import Path

import numpy as np
import torch

from features import FRONTS, LEVEL_DBFS, WINDOW_SECONDS, family_of, power_spectrogram, window_of

MODELS = Path(__file__).resolve().parent.parent / "models"
OPSET = 13
CHECK_SEED = 20260421
CHECK_SECONDS = (4.0, 2.2)
MINIMUM_VOICE_SECONDS = 1.5
FORMULA = ("s[0] = seed; s[n+1] = (16807 * s[n]) mod 2147483647; u[n] = s[n+1] / 2147483647 - 0.5; t = n / sampleRate; "
           "x[n] = 0.2 * sin(2 pi 180 t) * (1 + sin(2 pi 3 t)) / 2 + 0.1 * sin(2 pi 1130 t) + 0.05 * u[n]")


def check_wave(seconds: float, rate: int) -> np.ndarray:
    """The waveform of `FORMULA`."""
    count = int(round(seconds * rate))
    state, noise = CHECK_SEED, np.empty(count)
    for n in range(count):
        state = (16807 * state) % 2147483647
        noise[n] = state / 2147483647 - 0.5
    t = np.arange(count) / rate
    return 0.2 * np.sin(2 * np.pi * 180 * t) * (1 + np.sin(2 * np.pi * 3 * t)) / 2 + 0.1 * np.sin(2 * np.pi * 1130 * t) + 0.05 * noise


@torch.no_grad()
def check_of(net, model: str, front: str) -> dict:
    rate = FRONTS[front]["rate"]
    cases = []
    for seconds in CHECK_SECONDS:
        power = power_spectrogram(window_of(check_wave(seconds, rate), front), front)
        logits = net(torch.from_numpy(power)[None])[0].double().tolist()
        cases.append({"seconds": seconds, "logits": logits, "meanPower": float(power.mean()), "firstFrame": [float(v) for v in power[0, :8]]})
    return {"schema": "model-check/1", "model": model, "formula": FORMULA, "seed": CHECK_SEED, "sampleRate": rate, "seconds": cases[0]["seconds"],
            "logits": cases[0]["logits"], "tolerance": 0.01, "cases": cases}


def input_of(front: str) -> dict:
    f = FRONTS[front]
    return {"kind": "power-spectrogram", "name": "input", "sampleRate": f["rate"], "sampleRateMin": f["rate"], "windowSeconds": WINDOW_SECONDS,
            "hopSeconds": 2, "padding": "repeat", "level": {"kind": "rms", "targetDbfs": int(LEVEL_DBFS)}, "frameSamples": f["frame"],
            "hopSamples": f["hop"], "fftSize": f["fft"]}


def write(net, front: str, version: str, fitted: dict, recipe: str, seed: int) -> None:
    """Exports a trained scorer; `fitted` has its calibration and thresholds."""
    net.eval()
    family = family_of(front)
    folder = MODELS / f"{family}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    f = FRONTS[front]
    frames = (f["rate"] * WINDOW_SECONDS - f["frame"]) // f["hop"] + 1
    example = torch.rand(2, frames, f["fft"] // 2 + 1)
    torch.onnx.export(net, example, str(folder / "model.onnx"), opset_version=OPSET, input_names=["input"], output_names=["output"],
                      dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}})
    graph = (folder / "model.onnx").read_bytes()
    model = f"{family}/{version}"
    manifest = {
        "schema": "model-manifest/1", "model": model, "kind": "authenticity", "file": "model.onnx",
        "sha256": hashlib.sha256(graph).hexdigest(), "bytes": len(graph), "parameters": parameters_of(net),
        "input": input_of(front),
        "output": {"name": "output", "layout": ["synthesis", "replay"], "activation": "logit", "polarity": "higher-is-authentic"},
        "calibration": fitted["calibration"], "thresholds": fitted["thresholds"],
        "voiceActivity": "telephone/2" if version == "v8" or (family, version) == ("digital", "v3") else "energy/1",
        "minimumVoiceSeconds": MINIMUM_VOICE_SECONDS, "limits": {"batchMax": 16},
        "training": {"recipe": recipe, "seed": seed, "data": "training/data-manifest.json"},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    (folder / "check.json").write_text(json.dumps(check_of(net, model, front), indent=1) + "\n")
    print(model, len(graph), "bytes", manifest["parameters"], "parameters", fitted, flush=True)


def parameters_of(net) -> int:
    """Learned numbers: weights, and the buffers that a fit filled (mixtures)."""
    learned = sum(p.numel() for p in net.parameters())
    return learned + sum(b.numel() for name, b in net.named_buffers() if name.endswith(("_square", "_linear", "_constant")))
