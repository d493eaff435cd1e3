/** The input of the detector's card: the printed lines of the bench, and how they were made. */
interface CardFacts {
  readonly parameters: number;
  readonly bytes: number;
  readonly printed: readonly string[];
  /** Held-out recordings without a score: the lines of a table. */
  readonly refused: readonly string[];
}

/** The card of `telephone/2`: its figures are what the bench printed, never typed. */
export function cardOf({ parameters, bytes, printed, refused }: CardFacts): string {
  return `# Voice activity detector telephone/2

Says of each 10 ms of telephone audio whether there is voice. It belongs to phone/v8. The models before that use energy/1, which takes whatever comes and goes for voice; those after it use combined/1, the same network at lower thresholds, because this one finds no voice in much replayed speech.

${parameters.toLocaleString('en')} parameters, ${Math.round(bytes / 1000)} kB. 64 mel bands of 8 kHz audio, dilated convolutions that see 2.5 s before and after a frame. A recording at 16 kHz is resampled to 8 kHz first.

## Figures

Written by \`node dist/bench/voice-activity.js --card\`: the scenes are made there, so that the truth of each frame is known. The speakers, and the recorded music, were not trained on; the synthesised music, tones and noises of the bench are made by other code than those of the training. Frames are 10 ms. A segment is missed if less than half of it was found, and false if less than half of it is voice.

${printed.join('\n')}

combined/1 runs both other detectors, and takes the time of both.

## Recordings without a score

Of held-out recordings of one speaker and condition, joined to a length, the share in percent that gets no score, since no window has 1.5 s of voice: genuine, synthetic and replayed (simulated), for each detector. An attack without a score has not passed, but it was not found either.

${refused.join('\n')}

## Data

Trained on mixtures that training/voice_activity makes: speech of the training corpus (human and synthesized, training/voice_activity/data-manifest.json has sources and licences) in noise, and line sounds and music without speech, through G.711, GSM 06.10, G.726 and Opus.

## Not for

Voices behind music or television: they are voice where they are as loud as a caller. Singing in hold music was not in the training. Laughter, coughs and children's voices were not measured. Noise as loud as the voice hides soft syllables: see the rows at 5 and 0 dB.
`;
}
