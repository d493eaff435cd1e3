import { join } from 'node:path';
import { z } from 'zod';
import type { DriftReport } from './drift-report.ts';
import { readModelFile } from '../models/model-file.ts';

/** Name of the file next to a model's manifest with the report on which the registry made it the default: the output of `models drift`. */
const fileName = 'drift.json';

const form = z.looseObject({
  schema: z.literal('drift-report/1'),
  old: z.looseObject({ model: z.string(), manifestSha256: z.string() }),
  new: z.looseObject({ model: z.string(), manifestSha256: z.string() }),
  counts: z.object({ items: z.int(), recordings: z.int(), compared: z.int(), notCompared: z.int(), flips: z.int() }),
});

/** The drift report that came with a model, without its lists. */
export interface ShippedDrift {
  /** The default before. */
  readonly old: string;
  readonly counts: DriftReport['counts'];
  /** Where the whole report is. */
  readonly file: string;
}

/** Reads the report of a model's directory, or null if it has none. @throws z.ZodError if the file has another form */
export async function readShippedDrift(directory: string | null): Promise<ShippedDrift | null> {
  if (directory === null) return null;
  const file = join(directory, fileName);
  const report = await readModelFile(file, form);
  return report === undefined ? null : { old: report.old.model, counts: report.counts, file };
}
