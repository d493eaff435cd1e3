"""Trains the weights of voiceprint/1 and voiceprint/2, with the manifest and card of the first. See README.md."""
import argparse
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parent.parent / "voice_activity"))
from card import write_card  # noqa: E402
from corpus import is_held_out, read_segments  # noqa: E402
from export import calibrate, export  # noqa: E402
from recordings import Channel, at_speed, by_speaker, features_of, window_of  # noqa: E402
from supervector import SupervectorEmbedder, fit_mixture, fit_projection, supervectors  # noqa: E402
from trials import deal_corpus, deal_through, prepared, scores_of, with_interval  # noqa: E402

SEED = 7
COPIES = {1.0: 3, 0.9: 1, 1.1: 1}  # by speed: how many channels a segment is sent through


def training_windows(segments, work):
    """(bands [n, frames, bands] float16, pitch histograms, speaker numbers), made once and kept in the working folder."""
    cache = Path(work) / "voiceprint-windows.pt"
    if not cache.exists():
        rng = np.random.default_rng(SEED)
        features, labels = [], []
        for number, own in enumerate(by_speaker([s for s in segments if not is_held_out(s)]).values()):
            for turn, (speed, copies) in enumerate(COPIES.items()):
                heard = [Channel(int(rng.integers(1 << 30)))(at_speed(segment.audio, speed), 0) for segment in own for _ in range(copies)]
                features.append(features_of([window_of(samples) for samples in heard]))
                labels += [number * len(COPIES) + turn] * len(heard)
        torch.save((*(torch.cat(parts) for parts in zip(*features)), torch.tensor(labels)), cache)
    return torch.load(cache)


def trial_sets(speakers, corpus, work):
    """The recordings of the trials by the name of their condition, made once and kept in the working folder."""
    cache = Path(work) / "voiceprint-trials.pt"
    if not cache.exists():
        rng = np.random.default_rng(SEED)
        torch.save({
            "own line each": [prepared(deal_through(speakers, rng, same_channel=False)) for _ in range(2)],
            "one line": [prepared(deal_through(speakers, rng, same_channel=True))],
            "corpus recordings": [prepared(deal_corpus(speakers, corpus, rng)) for _ in range(2)],
        }, cache)
    return torch.load(cache)


def agreement_threshold(scores):
    """One enrolment in twenty of true recordings is asked for again."""
    return round(float(np.percentile(np.concatenate([rows["agreement"] for rows in scores.values()]), 5)), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="folder with CLEAN.tsv and INDEX.tsv")
    parser.add_argument("--work", default="var/voice-training", help="folder for intermediate files")
    parser.add_argument("--out", default="var/voiceprint-1")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    segments = read_segments(options.corpus, Path(options.work) / "segments.pickle")
    bands, periods, labels = training_windows(segments, options.work)
    speakers = by_speaker([s for s in segments if is_held_out(s) and s.label == "bonafide"])

    network = SupervectorEmbedder()
    fit_mixture(network, bands, torch.Generator().manual_seed(SEED))
    fit_projection(network, supervectors(network, bands), periods.numpy(), labels.numpy())

    scores = {name: scores_of(network, deals) for name, deals in trial_sets(speakers, options.corpus, options.work).items()}
    rates = {name: with_interval(rows) for name, rows in scores.items()}
    for name, rate in rates.items():
        print(f"{name}: EER %.1f %% [%.1f, %.1f]" % rate, flush=True)
    thresholds = {"identity": 0.5, "agreement": agreement_threshold(scores)}
    calibration = calibrate(scores["corpus recordings"])
    export(network, Path(options.out), {"seed": SEED, "calibration": calibration, "thresholds": thresholds})
    write_card(Path(options.out), {"rates": rates, "scores": scores, "windows": len(bands), "voices": len(torch.unique(labels)) // len(COPIES), "calibration": calibration, "thresholds": thresholds})


if __name__ == "__main__":
    main()
