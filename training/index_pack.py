"""Writes the held-out clips of a family's corpus as WAV files with an index for `npm run evaluate`: `index_pack.py FAMILY FOLDER`."""
import csv
import sys
from pathlib import Path

import soundfile

from corpus import Store

COLUMNS = ("path", "label", "channel", "speaker", "synthesizer", "codec", "set", "snr_db", "base_label")


def main(family: str, folder: Path) -> None:
    store = Store(f"pack-{family}")
    audio = store.audio()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "index.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for number, clip in enumerate(store.clips()):
            if clip.split == "dev":
                soundfile.write(folder / f"{number:04d}.wav", audio[clip.start:clip.start + clip.length], clip.rate, subtype="PCM_16")
                table.writerow([f"{number:04d}.wav", clip.label, family, clip.speaker, clip.synthesizer, clip.codec, clip.source, clip.snr_db, clip.base_label])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
