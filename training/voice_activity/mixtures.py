"""Telephone audio with known truth: speech in noise, and what is heard on a line when nobody speaks."""
import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

import line_sounds
from corpus import RATE
from music import music
from telephone_channel import room, telephone

FRAME = RATE // 100
SECONDS = 8
SAMPLES = SECONDS * RATE

# A frame is voice if its clean segment is within this many dB of the segment's loud frames; gaps and bursts shorter than this many frames are closed and dropped.
VOICE_RANGE_DB, GAP_FRAMES, BURST_FRAMES = 28, 15, 4

NOISES = [line_sounds.coloured_noise, line_sounds.coloured_noise, line_sounds.hum, line_sounds.clicks, line_sounds.bursts, line_sounds.comfort_noise]
LINE_SOUNDS = [line_sounds.call_progress, line_sounds.call_progress, line_sounds.keys, line_sounds.information_tones, line_sounds.modem, line_sounds.chirps, line_sounds.hum, line_sounds.clicks, line_sounds.bursts]


def voice_frames(samples):
    """1 for each 10 ms of a clean segment that is voice, 0 for the rest."""
    frames = samples[:len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    level = 10 * np.log10(np.mean(frames ** 2, axis=1) + 1e-9)
    voiced = (level > np.percentile(level, 95) - VOICE_RANGE_DB).astype(np.float32)
    closed = minimum_filter1d(maximum_filter1d(np.pad(voiced, GAP_FRAMES), GAP_FRAMES), GAP_FRAMES)[GAP_FRAMES:-GAP_FRAMES]
    return maximum_filter1d(minimum_filter1d(closed, BURST_FRAMES), BURST_FRAMES)


def random_level(rng):
    return 10 ** (rng.uniform(-42, -12) / 20)


def with_rms(samples, rms):
    power = np.sqrt(np.mean(samples ** 2))
    return samples * (rms / power) if power > 1e-7 else samples


class Mixtures:
    """Draws mixtures of 8 s from segments of speech and from real hold music, a list of arrays at 8 kHz."""

    def __init__(self, segments, hold_music, rng):
        self.segments, self.hold_music, self.rng = segments, hold_music, rng
        by_speaker = {}
        for segment in segments:
            by_speaker.setdefault(segment.speaker, []).append(segment)
        self.speakers = list(by_speaker.values())

    def segment(self):
        """By speaker half of the time, so that a voice with many segments does not drown the others."""
        pool = self.speakers[self.rng.integers(len(self.speakers))] if self.rng.random() < 0.5 else self.segments
        return pool[self.rng.integers(len(pool))].audio

    def music(self):
        if self.rng.random() < 0.35:
            song = self.hold_music[self.rng.integers(len(self.hold_music))]
            at = self.rng.integers(0, len(song) - SAMPLES)
            return line_sounds.scaled(song[at:at + SAMPLES] + 1e-6 * self.rng.standard_normal(SAMPLES))
        return music(SAMPLES, self.rng)

    def speech(self):
        samples, truth = np.zeros(SAMPLES, np.float32), np.zeros(SAMPLES // FRAME, np.float32)
        at = int(self.rng.choice([0, self.rng.uniform(0, 3)]) * 100)
        pause = self.rng.choice([0.05, 0.5, 2])
        while at < SAMPLES // FRAME:
            segment = self.segment()
            voiced = voice_frames(segment)
            count = min(len(voiced), SAMPLES // FRAME - at)
            part = with_rms(segment, 0.1) * 10 ** (self.rng.uniform(-3, 3) / 20)
            samples[at * FRAME:(at + count) * FRAME] = part[:count * FRAME]
            truth[at:at + count] = voiced[:count]
            at += count + int(self.rng.exponential(pause) * 100)
        return samples, truth

    def background(self):
        noise = NOISES[self.rng.integers(len(NOISES))](SAMPLES, self.rng)
        if self.rng.random() < 0.15:
            noise = noise + line_sounds.hum(SAMPLES, self.rng) * self.rng.uniform(0.1, 1)
        if self.rng.random() < 0.06:
            babble = sum(np.resize(self.segment(), SAMPLES) for _ in range(7))
            noise = line_sounds.scaled(babble + 0.1 * noise)
        return noise

    def other_sound(self):
        return self.music() if self.rng.random() < 0.55 else LINE_SOUNDS[self.rng.integers(len(LINE_SOUNDS))](SAMPLES, self.rng)

    def draw(self):
        """(samples, truth): speech alone, speech after another sound or before it, another sound alone, noise alone."""
        kind = self.rng.choice(["speech", "both", "other", "noise"], p=[0.4, 0.22, 0.28, 0.1])
        samples, truth = self.speech() if kind in ("speech", "both") else (np.zeros(SAMPLES, np.float32), np.zeros(SAMPLES // FRAME, np.float32))
        if self.rng.random() < 0.4:
            samples = room(samples, self.rng)
        if kind in ("both", "other"):
            samples, truth = self.joined(samples, truth, kind)
        snr = self.rng.uniform(0, 40) if kind != "noise" else 0
        noise = self.background() * 10 ** (-snr / 20)
        if self.rng.random() < 0.12 and kind != "noise":
            noise = noise * 0.001
        samples = (samples + noise) * random_level(self.rng) / 0.1
        return telephone(samples.astype(np.float32), self.rng), truth

    def joined(self, samples, truth, kind):
        other = self.other_sound() * 10 ** (self.rng.uniform(-8, 8) / 20)
        if kind == "other":
            return other, truth
        if self.rng.random() < 0.25:  # speech over music or tones, at 3 to 20 dB
            return samples + other * 10 ** (-self.rng.uniform(8, 22) / 20), truth
        edge = int(self.rng.uniform(0.15, 0.85) * len(truth))
        other_first = self.rng.random() < 0.5
        gate = np.arange(len(truth)) < edge if other_first else np.arange(len(truth)) >= edge
        gate_samples = np.repeat(gate, FRAME)
        return np.where(gate_samples, other, samples).astype(np.float32), np.where(gate, 0, truth).astype(np.float32)
