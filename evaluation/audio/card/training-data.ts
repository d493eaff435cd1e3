import { z } from 'zod';
import { readModelFile } from '../../../pipelines/audio/models/model-file.ts';

/** The facts about training data in a card. */
export interface TrainingData {
  readonly name: string;
  readonly licence: string;
  /** Licences by source. */
  readonly licences: Readonly<Record<string, readonly string[]>>;
  /** Names of the vocoders whose copies of human speech were trained on. */
  readonly copies: readonly string[];
  /** Terms of what synthesizers made for the training; null for none. */
  readonly generated: string | null;
  readonly heldOutSpeakers: readonly string[];
  readonly heldOutSynthesizers: readonly string[];
}

const form = z.looseObject({
  schema: z.literal('training-data/1'),
  corpus: z.looseObject({ name: z.string(), licence: z.string(), licences: z.record(z.string(), z.array(z.string())) }),
  made: z
    .looseObject({
      vocoderCopies: z.record(z.string(), z.string()).default({}),
      generatedLicence: z.string().optional(),
    })
    .default({ vocoderCopies: {} }),
  heldOut: z
    .looseObject({ devSpeakers: z.array(z.string()).default([]), devSynthesizers: z.array(z.string()).default([]) })
    .default({ devSpeakers: [], devSynthesizers: [] }),
});

/** Reads a stated data manifest, or undefined if there is none. @throws z.ZodError if the file has another form */
export async function readTrainingData(file: string): Promise<TrainingData | undefined> {
  const data = await readModelFile(file, form);
  if (data === undefined) return undefined;
  const { corpus, made, heldOut } = data;
  return {
    ...corpus,
    copies: Object.keys(made.vocoderCopies).sort(),
    generated: made.generatedLicence ?? null,
    heldOutSpeakers: heldOut.devSpeakers,
    heldOutSynthesizers: heldOut.devSynthesizers,
  };
}
