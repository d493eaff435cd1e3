import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { DriftReport } from './drift-report.ts';

/** Name of the file beside a model's manifest with the report on which the registry made it the default: the output of `models drift`. */
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
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const { old, counts } = form.parse(JSON.parse(text));
  return { old: old.model, counts, file };
}
