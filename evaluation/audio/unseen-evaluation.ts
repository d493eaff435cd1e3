import { join } from 'node:path';
import { z } from 'zod';
import { readModelFile } from '../../pipelines/audio/models/model-file.ts';

/** Name of the file next to a model's manifest that holds its figures on what was left out; training/folds.py writes it. */
const unseenFileName = 'unseen.json';

const share = z.number().min(0).max(1);
const interval = z.object({ low: z.number(), high: z.number() }).nullable();
const decisions = z.object({ attack: share, undecided: share, authentic: share });
const part = z.object({
  recordings: z.int().nonnegative(),
  attack: share.nullable(),
  undecided: share.nullable(),
  authentic: share.nullable(),
});

const figures = z.object({
  genuine: z.int(),
  attacks: z.int(),
  speakers: z.int(),
  equalError: z.object({ rate: share, interval }),
  /** To the baseline, on the same resamples; below 0 is better. */
  difference: z.object({ rate: z.number(), interval }).nullable(),
  likelihoodRatioCost: z.number(),
  minimumLikelihoodRatioCost: z.number(),
  likelihoodRatioCostByCodecClass: z.number(),
  acceptance: z.object({ genuine: share, worstFamily: share, upperEnd: share, isStated: z.boolean() }),
  genuineDecisions: decisions,
  attackDecisions: decisions,
  families: z.record(z.string(), part.extend({ equalError: share })),
  sources: z.record(z.string(), part),
  codecs: z.record(z.string(), z.object({ genuine: part, attacks: part })),
});

const form = z.object({
  schema: z.literal('unseen-evaluation/1'),
  model: z.string(),
  /** The model that has the same weights. */
  weightsOf: z.string(),
  resamples: z.int(),
  seed: z.int(),
  /** True if the model is nothing but the regressions that were fitted again. */
  isExact: z.boolean(),
  parts: z.array(z.string()),
  baseline: z.string().nullable(),
  shrinkage: z.number(),
  /** Lengths with a calibration of their own, where not all have one; the others are judged by that of the first. */
  conditioned: z.array(z.string()).min(1).optional(),
  /**
   * Where attacks begin, if not the folds but recordings over the codecs of lines chose it (training/line_codecs.py); shares are of
   * speakers that it was not chosen on.
   */
  threshold: z
    .object({
      attackBelow: share,
      tunedOn: z.int(),
      judgedOn: z.int(),
      falseAlarm: z.record(z.string(), share),
      found: z.record(z.string(), share),
    })
    .optional(),
  acceptanceKnownMax: share,
  synthesis: z.record(z.string(), figures),
  replay: z.record(z.string(), figures),
  /** By detector, length and label. */
  refused: z.record(z.string(), z.record(z.string(), z.record(z.string(), z.object({ recordings: z.int(), share })))),
  shipped: z
    .record(z.string(), z.record(z.string(), z.object({ recordings: z.int(), meanScore: share, attack: share })))
    .optional(),
});

/** Figures of a model on families of synthesizers and sources of recordings that were left out. */
export type UnseenEvaluation = z.output<typeof form>;

/** The figures of one score at one length. */
export type UnseenFigures = z.output<typeof figures>;

/** Reads the figures of a model's directory, or undefined if it has none. @throws z.ZodError if the file has another form */
export function readUnseenEvaluation(directory: string): Promise<UnseenEvaluation | undefined> {
  return readModelFile(join(directory, unseenFileName), form);
}
