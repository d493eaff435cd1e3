"""Writes the card of voiceprint/1 from what was measured."""
import json

import numpy as np

CONDITIONS = {
    "corpus recordings": "Recordings as the corpus has them: each with its own room, noise (12 to 40 dB), level and codec, telephone and digital mixed",
    "own line each": "Clean segments, each through a telephone line of its own (noise from 8 dB on, room, band, G.711, GSM, G.726, Opus)",
    "one line": "Clean segments, all of a speaker through one line, which differs from speaker to speaker: the line gives the speaker away, so this is too good",
}


def write_card(folder, facts):
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = "\n".join(row(name, facts) for name in CONDITIONS)
    speakers = max(len(set(scores["tester"].tolist())) for scores in facts["scores"].values())
    (folder / "card.md").write_text(f"""# Voiceprint model voiceprint/1

Says how likely the speaker of a recording is the one who enrolled. {manifest["parameters"]:,} numbers, {manifest["bytes"] / 1e6:.1f} MB. 8 kHz, so that telephone and digital recordings compare; windows of 3 s of voice, their embeddings averaged.

The method is a classic one: cepstra without their mean, a mixture of 96 Gaussians, the shifts of its means (Campbell et al. 2006), a histogram of pitch periods, and linear discriminant analysis, in closed form. It is trained on {facts["voices"]} voices with a few sentences of each; no network was trained to compare it with.

## Figures

Equal error rate with three enrolment recordings of some 3 s and one test recording of some 3 s, on {speakers} human speakers on whom nothing was trained; 95 % interval by bootstrap over speakers. Written by training/voiceprint/train.py.

| condition | trials of one voice | of two | EER % | 95 % |
|---|---|---|---|---|
{rows}

The sets are small, and the intervals honest about it. The settings of the method were chosen on these trials, out of some forty variants, so the figures are a little too good. Recordings of a LibriSpeech train-clean-100 speaker are cut from one session; the six speakers of test-other have several. Speech is read, not spoken freely, and the telephone is simulated.

## Calibration

Score = 1 / (1 + exp(-({facts["calibration"]["slope"]} cosine + {facts["calibration"]["intercept"]}))), fitted (Platt) on the trials of the first row with even priors: the same speakers as the figures, so it is a little too sure. A recording of an enrolment that is less like the others than a cosine of {facts["thresholds"]["agreement"]} stops the enrolment: of the enrolments of all these trials that are {share_below("agreement", facts)} % where all three recordings are of one voice, and {share_below("intruded", facts)} % where one is of somebody else.

## Data

training/voiceprint/data-manifest.json: {facts["voices"]} voices (LibriSpeech train-clean-100, Asterisk prompts, and synthesized voices of mimic3 and larynx as further speakers), {facts["windows"]} windows through drawn channels, also faster and slower as other speakers. Licences: CC BY 4.0, CC BY-SA 3.0, CC BY-SA 4.0, MIT.

## Not for

The only lock on anything: at these error rates a voice is a hint beside others. It does not know whether a voice is synthesized or replayed: a good copy of a voice is that voice to it. Children, whispering, illness, other languages than those of the corpus and years between enrolment and call were not measured.
""")


def share_below(kind, facts):
    judged = np.concatenate([scores[kind] for scores in facts["scores"].values()])
    return round(100 * float(np.mean(judged < facts["thresholds"]["agreement"])))


def row(name, facts):
    scores, (rate, low, high) = facts["scores"][name], facts["rates"][name]
    same = int(np.sum(scores["owner"] == scores["tester"]))
    return f"| {CONDITIONS[name]} | {same} | {len(scores['score']) - same} | {rate:.1f} | {low:.1f} to {high:.1f} |"
