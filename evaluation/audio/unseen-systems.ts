import { join } from 'node:path';
import { z } from 'zod';
import { readModelFile } from '../../pipelines/audio/models/model-file.ts';

/** Name of the file next to a model's manifest that holds its figures on systems never seen; training/unseen_systems.py writes it. */
const fileName = 'unseen-systems.json';

const percentage = z.number().min(0).max(100);
const measured = z.object({ percent: percentage, interval: z.tuple([percentage, percentage]) });

const form = z.object({
  schema: z.literal('unseen-systems/1'),
  model: z.string(),
  lengths: z.record(
    z.string().regex(/^\d+ s$/),
    z.object({
      genuine: z.int(),
      genuineSpeakers: z.int(),
      synthetic: z.int(),
      systems: z.int(),
      families: z.int(),
      equalError: measured,
      genuineCalledAttacks: measured,
      attacksMissed: measured,
    }),
  ),
});

/** A share with its 95 % interval, from 0 to 1. */
interface Share {
  readonly rate: number;
  readonly interval: { readonly low: number; readonly high: number };
}

/** What the synthesis score of a model is worth on synthesizers that neither training nor calibration saw, at one length. */
export interface UnseenSystems {
  /** Length of the recordings. */
  readonly seconds: number;
  readonly systems: number;
  /** Of vocoders; shares of attacks are means over them. */
  readonly families: number;
  readonly genuine: number;
  readonly genuineSpeakers: number;
  readonly synthetic: number;
  readonly equalError: Share;
  readonly attacksMissed: Share;
  readonly genuineCalledAttacks: Share;
}

/**
 * Reads the figures of a model's directory, shortest recordings first; none where it has none. @throws z.ZodError if the file has
 * another form
 */
export async function readUnseenSystems(directory: string): Promise<UnseenSystems[]> {
  const measurements = await readModelFile(join(directory, fileName), form);
  return Object.entries(measurements?.lengths ?? {})
    .map(([length, { equalError, attacksMissed, genuineCalledAttacks, ...counts }]) => ({
      seconds: Number.parseInt(length),
      ...counts,
      equalError: shareOf(equalError),
      attacksMissed: shareOf(attacksMissed),
      genuineCalledAttacks: shareOf(genuineCalledAttacks),
    }))
    .sort((a, b) => a.seconds - b.seconds);
}

function shareOf({ percent, interval: [low, high] }: z.output<typeof measured>): Share {
  return { rate: percent / 100, interval: { low: low / 100, high: high / 100 } };
}

/** What the synthesis score of a model is worth, in two sentences; empty without figures. */
export function describeUnseenSystems(model: string, figures: readonly UnseenSystems[]): string {
  const [first] = figures;
  if (first === undefined) return '';
  const whole = (share: number) => `${Math.round(100 * share)} %`;
  const each = figures.map(
    ({ seconds, equalError, attacksMissed, genuineCalledAttacks }) =>
      `at ${seconds} s ${whole(1 - attacksMissed.rate)} of those recordings are called attacks, and ${whole(genuineCalledAttacks.rate)} of genuine ones (EER ${whole(equalError.rate)}; 50 % is chance)`,
  );
  return `What the synthesis score of ${model} is worth on ${first.systems} synthesizers that it never saw: ${each.join('; ')}. Its card has which kinds it finds and which not.`;
}
