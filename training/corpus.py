"""Reads the training corpus: its two tables, the audio, and the split by speaker and by synthesizer.

Everything that is held out is named in `split.json`; nothing is ever split by file.
"""
import csv
import json
import os
import sys
from dataclasses import dataclass, asdict
from pathlib import Path

import numpy as np
import soundfile

HERE = Path(__file__).resolve().parent
CORPUS = Path(os.environ.get("AUDIO_CORPUS", HERE.parent.parent / "shared" / "data" / "audio"))
WORK = Path(os.environ.get("TRAINING_WORK", "/tmp/ml"))
SPLIT = json.loads((HERE / "split.json").read_text())


@dataclass
class Clip:
    """One stretch of audio: where it lies in its store, and what is known of it."""
    start: int
    length: int
    label: str          # bonafide | synthetic | replay
    speaker: str
    synthesizer: str    # empty when human
    source: str
    narrowband: bool
    split: str          # train | dev
    rate: int
    codec: str = ""
    snr_db: float = 0.0
    base_label: str = ""
    segment: str = ""
    maker: str = ""     # the vocoder that made a paired copy; empty otherwise


def split_of(speaker: str, synthesizer: str) -> str:
    """`dev` when the speaker or the synthesizer is held out, else `train`."""
    held = speaker in SPLIT["devSpeakers"] or synthesizer in SPLIT["devSynthesizers"]
    return "dev" if held else "train"


class Store:
    """Many clips end to end in one int16 file, with a JSON table beside it."""

    def __init__(self, name: str):
        self.path = WORK / f"{name}.i16"
        self.table = WORK / f"{name}.json"

    def write(self, clips_and_audio) -> None:
        clips, at = [], 0
        with open(self.path, "wb") as out:
            for clip, audio in clips_and_audio:
                clip.start, clip.length = at, len(audio)
                out.write(to_int16(audio).tobytes())
                at += len(audio)
                clips.append(asdict(clip))
        self.table.write_text(json.dumps(clips))

    def clips(self) -> list:
        clips = [Clip(**row) for row in json.loads(self.table.read_text())]
        for clip in clips:
            clip.split = split_of(clip.speaker, clip.synthesizer)
        return clips

    def audio(self):
        return np.memmap(self.path, dtype=np.int16, mode="r")


def to_int16(audio: np.ndarray) -> np.ndarray:
    if audio.dtype == np.int16:
        return audio
    return np.clip(np.round(audio * 32767), -32768, 32767).astype(np.int16)


def rows(table: str) -> list:
    with open(CORPUS / table, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def clip_of(row: dict, rate: int) -> Clip:
    return Clip(start=0, length=0, label=row["label"], speaker=row["speaker"], synthesizer=row["synthesizer"],
                source=row["source"], narrowband=row.get("narrowband") == "1", split=split_of(row["speaker"], row["synthesizer"]),
                rate=rate, codec=row.get("codec", ""), snr_db=float(row.get("snr_db") or 0),
                base_label=row.get("base_label", ""), segment=row["seg"])


def decode_table(table: str, keep) -> None:
    """Decodes the rows that `keep` accepts, one after the other, with their clip records."""
    for row in rows(table):
        if keep(row):
            audio, rate = soundfile.read(CORPUS / row["path"], dtype="int16")
            yield clip_of(row, rate), audio


def decode_all() -> None:
    Store("clean").write(decode_table("CLEAN.tsv", lambda row: True))
    for channel in ("phone", "digital"):
        Store(f"pack-{channel}").write(decode_table("INDEX.tsv", lambda row: row["channel"] == channel))


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    decode_all()
    sys.exit(0)
