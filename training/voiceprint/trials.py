"""Trials of speakers that were not trained on: three recordings enrol, one is compared; equal error rate with its interval."""
import numpy as np
import torch

from recordings import Channel, features_of, corpus_paths, read_recording, windows_of

ENROLMENT, TESTS_MAX = 3, 8


def deal_through(speakers, rng, same_channel):
    """[(speaker, enrolment, tests)]: clean segments, each through a line of its own, or all of a speaker through one line."""
    dealt = []
    for speaker, segments in speakers.items():
        chosen = [segments[i] for i in rng.permutation(len(segments))[:ENROLMENT + TESTS_MAX]]
        line = Channel(int(rng.integers(1 << 30)))
        heard = [(line if same_channel else Channel(int(rng.integers(1 << 30))))(segment.audio, int(rng.integers(4000))) for segment in chosen]
        dealt.append((speaker, heard[:ENROLMENT], heard[ENROLMENT:]))
    return [each for each in dealt if each[2]]


def deal_corpus(speakers, corpus, rng):
    """[(speaker, enrolment, tests)] from the recordings of the corpus. No segment twice."""
    dealt = []
    for speaker, recordings in sorted(corpus_paths(corpus).items()):
        if speaker in speakers:
            paths = list(recordings.values())
            heard = [read_recording(paths[i]) for i in rng.permutation(len(paths))[:ENROLMENT + TESTS_MAX]]
            dealt.append((speaker, heard[:ENROLMENT], heard[ENROLMENT:]))
    return [each for each in dealt if each[2]]


def prepared(dealt):
    """The same with the features of each recording's windows in place of its samples."""
    return [(speaker, [features_of(windows_of(samples)) for samples in enrolment], [features_of(windows_of(samples)) for samples in tests]) for speaker, enrolment, tests in dealt]


def embeddings_of(network, recordings):
    """The mean of the embeddings of each recording's windows, at length 1."""
    with torch.no_grad():
        each = network.embed(torch.cat([bands for bands, _ in recordings]).float(), torch.cat([periods for _, periods in recordings]))
    return torch.stack([torch.nn.functional.normalize(part.mean(dim=0), dim=0) for part in each.split([len(bands) for bands, _ in recordings])]).numpy()


def scores_of(network, deals):
    """{"score", "owner", "tester"}: cosines of all tests with all voiceprints of a deal; "agreement": the least cosine of an
    enrolment's recordings with the mean of the others; "intruded": the same where the last one is of somebody else."""
    rows = {"score": [], "owner": [], "tester": [], "agreement": [], "intruded": []}
    names = sorted({speaker for dealt in deals for speaker, _, _ in dealt})
    for dealt in deals:
        enrolled = embeddings_of(network, [each for _, enrolment, _ in dealt for each in enrolment]).reshape(len(dealt), ENROLMENT, -1)
        prints = enrolled.mean(axis=1)
        prints /= np.linalg.norm(prints, axis=1, keepdims=True)
        tests = embeddings_of(network, [each for _, _, own in dealt for each in own])
        testers = np.repeat([names.index(speaker) for speaker, _, _ in dealt], [len(own) for _, _, own in dealt])
        owners = [names.index(speaker) for speaker, _, _ in dealt]
        rows["score"].append((prints @ tests.T).ravel())
        rows["owner"].append(np.repeat(owners, len(testers)))
        rows["tester"].append(np.tile(testers, len(owners)))
        rows["agreement"].append(agreement_of(enrolled))
        rows["intruded"].append(agreement_of(np.concatenate([enrolled[:, :-1], np.roll(enrolled[:, -1:], 1, axis=0)], axis=1)))
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def agreement_of(enrolled):
    others = enrolled.sum(axis=1, keepdims=True) - enrolled
    return np.sum(enrolled * others / np.linalg.norm(others, axis=2, keepdims=True), axis=2).min(axis=1)


def equal_error_rate(score, is_same, weight=None):
    """In percent. `weight` counts a trial several times (bootstrap)."""
    order = np.argsort(score)
    weight = np.ones(len(score)) if weight is None else weight
    same, other = (weight * is_same)[order], (weight * ~is_same)[order]
    missed, taken = np.cumsum(same) / same.sum(), 1 - np.cumsum(other) / other.sum()
    at = np.argmin(np.abs(missed - taken))
    return 50 * (missed[at] + taken[at])


def with_interval(rows, seed=1, draws=300):
    """(EER, low, high): 95 % over speakers drawn with replacement; a trial counts by the draws of both its speakers."""
    rng, count = np.random.default_rng(seed), int(max(rows["owner"].max(), rows["tester"].max())) + 1
    is_same = rows["owner"] == rows["tester"]
    drawn = []
    for _ in range(draws):
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        weight = np.where(is_same, times[rows["owner"]], times[rows["owner"]] * times[rows["tester"]]).astype(float)
        if (weight * is_same).sum() > 0 and (weight * ~is_same).sum() > 0:
            drawn.append(equal_error_rate(rows["score"], is_same, weight))
    return (equal_error_rate(rows["score"], is_same), *np.percentile(drawn, [2.5, 97.5]))
