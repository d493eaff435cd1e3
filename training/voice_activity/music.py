"""Music on hold, composed and played at random: chords, arpeggios, melody, bass and percussion in many timbres."""
import numpy as np
from scipy.signal import fftconvolve, lfilter

from corpus import RATE
from line_sounds import scaled

SCALES = [(0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 4, 7, 9), (0, 2, 3, 5, 7, 9, 10)]


def partials_timbre(rng):
    """Organ, strings, flute, brass: harmonics with a random slope, vibrato and detuned copies."""
    slope, odd, count = rng.uniform(0.3, 2.5), rng.random() < 0.3, rng.integers(1, 14)
    vibrato, rate, copies = rng.choice([0, 0, 0.003, 0.01]), rng.uniform(4, 7), rng.integers(1, 4)

    def play(frequency, length):
        time = np.arange(length) / RATE
        phase = 2 * np.pi * frequency * (time + vibrato / (2 * np.pi * rate) * np.sin(2 * np.pi * rate * time))
        sound = np.zeros(length)
        for copy in range(copies):
            for h in range(1, count + 1):
                if h * frequency < 3900 and not (odd and h % 2 == 0):
                    sound += np.sin(phase * h * (1 + 0.003 * copy) + rng.uniform(0, 6.28)) / h ** slope
        return sound

    return play


def frequency_modulation_timbre(rng):
    """Electric piano, bells, synthesizers."""
    ratio, depth, fall = rng.choice([1, 2, 3, 0.5, 1.41, 3.5]), rng.uniform(0.3, 6), rng.uniform(0.5, 8)

    def play(frequency, length):
        time = np.arange(length) / RATE
        return np.sin(2 * np.pi * frequency * time + depth * np.exp(-fall * time) * np.sin(2 * np.pi * frequency * ratio * time))

    return play


def plucked_timbre(rng):
    """Guitar, harp, harpsichord (Karplus and Strong, 1983)."""
    loss, dull = rng.uniform(0.98, 0.999), rng.uniform(0.3, 0.7)

    def play(frequency, length):
        period = max(2, int(RATE / frequency))
        burst = np.zeros(length)
        burst[:min(period, length)] = rng.uniform(-1, 1, min(period, length))
        feedback = np.zeros(period + 2)
        feedback[0], feedback[period], feedback[period + 1] = 1, -loss * dull, -loss * (1 - dull)
        return lfilter([1], feedback, burst)

    return play


def envelope(length, rng_attack, rng_fall):
    time = np.arange(length) / RATE
    release = np.minimum(1, np.arange(length, 0, -1) / (0.02 * RATE))
    return np.minimum(1, time / rng_attack) * np.exp(-time * rng_fall) * release


class Band:
    def __init__(self, count, rng):
        self.count, self.rng = count, rng
        self.beat = 60 / rng.uniform(55, 170)
        self.scale, self.root = SCALES[rng.integers(len(SCALES))], rng.integers(40, 60)
        self.samples = np.zeros(count)

    def frequency(self, degree, octave=0):
        size = len(self.scale)
        return 440 * 2 ** ((self.root + 12 * octave + 12 * (degree // size) + self.scale[degree % size] - 69) / 12)

    def note(self, voice, frequency, start, seconds, loud=1.0):
        timbre, attack, fall = voice
        at, length = int(start * RATE), int(seconds * RATE)
        length = min(length, self.count - at)
        if at < 0 or length < 20 or frequency > 3500:
            return
        self.samples[at:at + length] += loud * timbre(frequency, length) * envelope(length, attack, fall)

    def voice(self):
        timbre = [partials_timbre, partials_timbre, frequency_modulation_timbre, plucked_timbre][self.rng.integers(4)](self.rng)
        return timbre, self.rng.choice([0.003, 0.01, 0.05, 0.2]), self.rng.choice([0, 0.5, 2, 5])

    def chords(self, progression):
        voice, arpeggio, loud = self.voice(), self.rng.random() < 0.5, self.rng.uniform(0.3, 1)
        bar = 4 * self.beat
        for index in range(int(self.count / RATE / bar) + 1):
            tones = [progression[index % len(progression)] + step for step in (0, 2, 4)]
            for step in range(8 if arpeggio else 1):
                for degree in ([tones[step % 3]] if arpeggio else tones):
                    self.note(voice, self.frequency(degree, 1), index * bar + step * self.beat / 2, self.beat / 2 if arpeggio else bar, loud)

    def melody(self):
        voice, loud, at, degree = self.voice(), self.rng.uniform(0.3, 1.2), 0.0, int(self.rng.integers(0, 8))
        while at < self.count / RATE:
            seconds = self.beat * self.rng.choice([0.25, 0.5, 0.5, 1, 1, 2])
            degree = int(np.clip(degree + self.rng.integers(-3, 4), -3, 14))
            if self.rng.random() < 0.85:
                self.note(voice, self.frequency(degree, 1 + self.rng.integers(2)), at, seconds * self.rng.uniform(0.6, 1), loud)
            at += seconds

    def bass(self, progression):
        voice, loud = self.voice(), self.rng.uniform(0.3, 1)
        for index in range(int(self.count / RATE / self.beat) + 1):
            self.note(voice, self.frequency(progression[index // 4 % len(progression)], -1), index * self.beat, self.beat * 0.9, loud)

    def drums(self):
        loud, pattern = self.rng.uniform(0.3, 1.5), self.rng.random((3, 8)) < np.array([[0.3], [0.25], [0.6]])
        for index in range(int(self.count / RATE / self.beat * 2) + 1):
            for drum in range(3):
                if pattern[drum, index % 8]:
                    self.hit(drum, index * self.beat / 2, loud)

    def hit(self, drum, start, loud):
        at, length = int(start * RATE), int((0.25, 0.2, 0.08)[drum] * RATE)
        length = min(length, self.count - at)
        if length < 20:
            return
        time = np.arange(length) / RATE
        noise = self.rng.standard_normal(length)
        sound = (np.sin(2 * np.pi * (50 * time + 4 * (1 - np.exp(-30 * time)))), noise + np.sin(2 * np.pi * 190 * time), np.diff(noise, prepend=0))[drum]
        self.samples[at:at + length] += loud * sound * np.exp(-time * (15, 20, 60)[drum])


def music(count, rng):
    band = Band(count, rng)
    progression = [int(degree) for degree in rng.integers(0, 6, rng.integers(2, 5))]
    parts = [lambda: band.chords(progression), band.melody, lambda: band.bass(progression), band.drums]
    chosen = [part for part in parts if rng.random() < 0.6] or [parts[rng.integers(2)]]
    for part in chosen:
        part()
    samples = band.samples
    if rng.random() < 0.5:
        length = int(rng.uniform(0.1, 0.8) * RATE)
        samples = samples + rng.uniform(0.2, 1) * fftconvolve(samples, rng.standard_normal(length) * np.exp(-np.arange(length) / (length / 5)))[:count] / 20
    if rng.random() < 0.4:
        samples = np.tanh(samples * rng.uniform(0.5, 3) / (np.sqrt(np.mean(samples ** 2)) + 1e-9))
    return scaled(samples + 1e-6)
