"""What a decision of the service is worth over the codecs of a line: `line_codecs.py render|threshold|table`.

    line_codecs.py render CLIPS FOLDER           one stretch of each speaker and each system of corpus/gather.py, and of eSpeak NG, over each line
    line_codecs.py threshold RESULTS.csv MODEL   where attacks begin: the condition of a model, chosen on half of the speakers, judged on the others
    line_codecs.py table RESULTS.csv             what was decided, by line and model

After `render`, `caller-trust verify FOLDER/recordings --wait --csv --output FOLDER/RESULTS.csv` decides, as it does for
anyone. No room and no noise is added. Nothing was trained on these recordings, and nothing but the threshold was chosen on any of
them. `threshold` and `table` write line-codecs.json.
"""
import csv
import json
import hashlib
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

import channel
from corpus import HERE
from unseen_systems import conditions_of, kept_apart, rows_of, score_of, speech_of

SECONDS = (4, 10)
ESPEAK_VOICES = ("en-us", "en-gb-scotland", "en-us+f3", "en-us+klatt2", "de", "fr", "es", "hi")
SENTENCES = ("This is the billing department of your telephone company. We noticed an unusual payment on your account, "
             "and would like you to confirm it today. Please call us back as soon as you can.")
# Name: rate, codec of channel.py, share of 20 ms frames that are lost.
LINES = {
    "wide band": (16000, "none", 0), "wide band, Opus 24k": (16000, "opus", 0),
    "narrow band": (8000, "none", 0), "G.711 mu-law": (8000, "mulaw", 0), "G.711 A-law": (8000, "alaw", 0), "GSM 06.10": (8000, "gsm", 0),
    "AMR-NB 12.2": (8000, "amr", 0), "AMR-NB 5.9": (8000, "amr_low", 0), "Opus 12k": (8000, "opus_low", 0),
    "mu-law, 3 % of frames lost": (8000, "mulaw", 0.03), "mu-law, 10 % of frames lost": (8000, "mulaw", 0.1),
}
channel.CODEC_ARGS["opus_low"] = ("ogg", ["-c:a", "libopus", "-b:a", "12k"])
FRAME_SECONDS, LEVEL = 0.02, 0.08
# The share of the genuine recordings of the worst line that is called synthesized, give or take one recording.
FALSE_ALARM = 0.05
REPORT = HERE / "line-codecs.json"


def stretches(clips: Path):
    """(name, label, family, speaker, wave at 16 kHz): one of each genuine speaker and of each system."""
    taken = set()
    for row in sorted(rows_of(clips), key=lambda row: hashlib.sha256(row["path"].encode()).hexdigest()):
        key = row["system"] or f"genuine {row['speaker']}"
        if key in taken or float(row["seconds"]) < SECONDS[0]:
            continue
        wave = speech_of(clips / row["path"])[:SECONDS[1] * 16000]
        if len(wave) >= SECONDS[0] * 16000:
            taken.add(key)
            yield row["path"][:-4], "synthetic" if row["system"] else "genuine", row["family"], row["speaker"], wave
    for voice in ESPEAK_VOICES:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "voice.wav"
            subprocess.run(["espeak-ng", "-v", voice, "-w", file, SENTENCES], check=True)
            wave, rate = soundfile.read(file)
        yield f"espeak-{voice}", "synthetic", "eSpeak NG", f"espeak-{voice}", resample_poly(wave, 16000, rate)[:SECONDS[1] * 16000]


def lossy(wave: np.ndarray, rate: int, share: float, rng) -> np.ndarray:
    """Lost frames are silence: the worst that a receiver does."""
    frame = int(rate * FRAME_SECONDS)
    lost = np.repeat(rng.random(len(wave) // frame + 1) < share, frame)[:len(wave)]
    return np.where(lost, 0, wave)


def render(clips: Path, folder: Path) -> None:
    recordings = folder / "recordings"
    recordings.mkdir(parents=True)
    made = list(stretches(clips))
    with open(folder / "lines.tsv", "w", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(("file", "line", "label", "family", "speaker"))
        for number, (line, (rate, codec, lost)) in enumerate(LINES.items()):
            waves = [w / channel.rms(w) * LEVEL for *_, w in made]
            coded = channel.code([np.clip(w if rate == 16000 else resample_poly(w, 1, 2), -1, 1) for w in waves], rate, codec)
            rng = np.random.default_rng(number)
            for (name, label, family, speaker, _), wave in zip(made, coded):
                soundfile.write(recordings / f"{number:02d}-{name}.wav", lossy(wave, rate, lost, rng) if lost else wave, rate, subtype="PCM_16")
                table.writerow((f"{number:02d}-{name}.wav", line, label, family, speaker))
            print(line, len(made), flush=True)


def rows_of_lines(results: Path) -> list:
    """Rows of the service's CSV with the line, label, family and speaker of what they decide; RESULTS.csv lies in the FOLDER of `render`."""
    with open(results, newline="") as file:
        decided = {Path(row["source"]).name: row for row in csv.DictReader(file)}
    with open(results.parent / "lines.tsv", newline="") as file:
        return [{**decided[row["file"]], **row} for row in csv.DictReader(file, delimiter="\t")]


def by_shortest_condition(row: dict, conditions: list) -> float:
    """The score that the first condition gives, whatever the seconds of voice."""
    odds = lambda p: float(np.log(p / (1 - p)))
    line = [c for c in conditions if c["voiceSecondsFrom"] <= float(row["voice_duration"])][-1]["calibration"]
    return score_of((odds(float(row["synthesis"])) - line["intercept"]) / line["slope"], conditions[0])


def threshold(results: Path, model: Path) -> None:
    """The lowest over the lines of the quantile FALSE_ALARM of genuine recordings, of the half of the speakers that is tuned on."""
    conditions = conditions_of(str(model))
    rows = [(row["line"], row["label"], row["family"], kept_apart(row["speaker"]), by_shortest_condition(row, conditions))
            for row in rows_of_lines(results) if row["model"] == str(model) and row["synthesis"]]
    genuine = lambda line, apart: np.array([p for at, label, _, judged, p in rows if (at, label, judged) == (line, "genuine", apart)])
    lines = sorted({row[0] for row in rows})
    below = round(min(float(np.quantile(genuine(line, False), FALSE_ALARM)) for line in lines), 4)
    share = lambda values: round(float(np.mean(np.array(values) < below)), 4)
    report = read_report()
    report["thresholds"][str(model)] = {
        "attackBelow": below, "tunedOn": len(genuine(lines[0], False)), "judgedOn": len(genuine(lines[0], True)),
        "falseAlarm": {line: share(genuine(line, True)) for line in lines},
        "found": {family: share([p for _, label, f, _, p in rows if label == "synthetic" and f == family]) for family in sorted({row[2] for row in rows if row[1] == "synthetic"})},
    }
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report["thresholds"][str(model)], indent=1))


def table(results: Path) -> None:
    """Shares of what the service decided, by line."""
    found, report = defaultdict(list), read_report()
    for row in rows_of_lines(results):
        found[row["line"], row["model"]].append(row)
    for (line, model), rows in found.items():
        share = lambda label, *decisions: round(float(np.mean([row["decision"] in decisions for row in rows if row["label"] == label])), 4)
        attacks = ("synthesized", "replayed", "synthesizedAndReplayed")
        report["decisions"].setdefault(line, {})[model] = {
            label: {"recordings": sum(row["label"] == label for row in rows), "attack": share(label, *attacks), "replayed": share(label, *attacks[1:]),
                    "undecided": share(label, "undecided"), "authentic": share(label, "authentic"), "withoutScore": share(label, "")} for label in ("genuine", "synthetic")}
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    for line, models in report["decisions"].items():
        for model, sides in models.items():
            print("|", line, "|", model, "|", " | ".join(f"{side['recordings']} | {100 * side['attack']:.1f} | {100 * side['authentic']:.1f} | {100 * side['withoutScore']:.1f}" for side in sides.values()), "|")


def read_report() -> dict:
    return json.loads(REPORT.read_text()) if REPORT.exists() else {"schema": "line-codecs/1", "quantile": FALSE_ALARM, "thresholds": {}, "decisions": {}}


if __name__ == "__main__":
    {"render": render, "threshold": threshold, "table": table}[sys.argv[1]](*map(Path, sys.argv[2:]))
