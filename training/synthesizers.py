"""Runs the synthesizers that Debian carries over our own sentences, and stores what they say at 16 kHz."""
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import resample_poly

from corpus import Clip, Store

FESTIVAL = {"cmu_us_slt_arctic_hts": "festival-HTS", "upc_ca_ona_hts": "festival-HTS", "czech_dita": "festival-diphone-cs",
            "czech_krb": "festival-diphone-cs", "ked_diphone": "festival-diphone-ked", "suo_fi_lj_diphone": "festival-diphone-fi",
            "hindi_NSK_diphone": "festival-diphone-hi", "msu_ru_nsh_clunits": "festival-clunits-ru"}
ESPEAK = ("en-us+f3", "en-gb+m5", "es+f2", "fr+m2", "de+f1", "ru+m3", "it+f4", "en-us+croak", "pl+m7", "en-us+klatt2", "en-us+klatt4")
SENTENCES_A_VOICE = 24
TIMEOUT_SECONDS = 60
OPENINGS = ("Good morning, this is a message about", "Please call us back concerning", "We would like to inform you about", "Your attention is needed for",
            "Thank you for your interest in", "This is a friendly reminder of")
TOPICS = ("the delivery of your parcel on Thursday.", "your recent order and its invoice.", "an appointment at half past nine.", "the warranty of your vehicle.",
          "changes to the opening hours.", "your account and the last payment.", "a survey among our customers.", "the meeting in the town hall.")


def sentences():
    return [f"{a} {b}" for b in TOPICS for a in OPENINGS]


def festival_script(voice: str, texts: list, folder: Path) -> str:
    lines = [f"(voice_{voice})"]
    for i, text in enumerate(texts):
        lines.append(f'(utt.save.wave (utt.synth (Utterance Text "{text}")) "{folder}/{i:03d}.wav" \'riff)')
    return "\n".join(lines)


def run_festival(voice: str, folder: Path) -> None:
    script = folder / "say.scm"
    script.write_text(festival_script(voice, sentences()[:SENTENCES_A_VOICE], folder))
    try:
        subprocess.run(["festival", "-b", str(script)], timeout=TIMEOUT_SECONDS, check=False, capture_output=True)
    except subprocess.TimeoutExpired:
        print(voice, "was stopped after", TIMEOUT_SECONDS, "s; what it said until then is kept", flush=True)


def run_espeak(voice: str, folder: Path) -> None:
    for i, text in enumerate(sentences()[10:10 + SENTENCES_A_VOICE // 2]):
        subprocess.run(["espeak-ng", "-v", voice, "-s", str(140 + 7 * i), "-w", str(folder / f"{i:03d}.wav"), text], timeout=60, check=False, capture_output=True)


def spoken(run, voice: str, kind: str):
    with tempfile.TemporaryDirectory() as name:
        run(voice, Path(name))
        for file in sorted(Path(name).glob("*.wav")):
            wave, rate = soundfile.read(file)
            if len(wave) < rate:
                continue
            wave = resample_poly(wave, 16000, rate) if rate != 16000 else wave
            wave = wave / (np.abs(wave).max() + 1e-9) * 0.7
            yield Clip(0, 0, "synthetic", f"debian-{voice}", kind, "generated (Debian)", False, "train", 16000, segment=f"{voice}-{file.stem}"), wave


def all_voices():
    for voice, kind in FESTIVAL.items():
        yield from spoken(run_festival, voice, kind)
    for voice in ESPEAK:
        yield from spoken(run_espeak, voice, "eSpeak-NG-klatt" if "klatt" in voice else "eSpeak-NG")


if __name__ == "__main__":
    Store("generated").write(all_voices())
