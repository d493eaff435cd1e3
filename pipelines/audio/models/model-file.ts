import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { ifExists } from '../../../runtime/files/if-exists.ts';

/**
 * A JSON file that comes with models, such as one next to a manifest, or undefined if there is none. @throws z.ZodError if it has
 * another form
 */
export async function readModelFile<Form extends z.ZodType>(
  file: string,
  form: Form,
): Promise<z.output<Form> | undefined> {
  const text = await ifExists(readFile(file, 'utf8'));
  return text === undefined ? undefined : form.parse(JSON.parse(text));
}
