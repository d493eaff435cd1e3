import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { packageRoot } from '../../../runtime/package-root.ts';
import { parseReleaseName } from './releases.ts';
import { FAMILIES, modelNameForm, type Family } from './manifest.ts';
import type { DefaultRow, RegistryRow } from './registry-rows.ts';

/** Directory of the shipped models, the same from source and from dist. */
export const shippedModelsDirectory = join(packageRoot, 'models');

/** A row of models/registry.json: with the directory of the model's manifest, null where no weights are shipped. */
export interface ShippedRow extends RegistryRow {
  readonly directory: string | null;
}

const release = z
  .string()
  .refine((name) => parseReleaseName(name)?.service === 'audio', 'must be a release of the audio service');
const modelName = z.string().regex(modelNameForm);
const directoryName = z.string().regex(/^[a-z0-9][a-z0-9.-]*$/);

const registryForm = z.strictObject({
  schema: z.literal('model-registry/1'),
  models: z.array(
    z.strictObject({
      model: modelName,
      release,
      removedIn: release.nullable(),
      replacedBy: modelName.nullable(),
      directory: directoryName.nullable(),
      note: z.string().nullable(),
    }),
  ),
  defaults: z.array(z.strictObject({ family: z.enum(FAMILIES), model: modelName, release })),
});

/** The rows of models/registry.json, or of another file of its form. */
export async function readShippedRows(
  file = join(shippedModelsDirectory, 'registry.json'),
): Promise<{ models: ShippedRow[]; defaults: DefaultRow[] }> {
  const { models, defaults } = registryForm.parse(JSON.parse(await readFile(file, 'utf8')));
  return { models: models.map((row) => ({ ...row, family: familyOf(row.model) })), defaults };
}

/** The family of a canonical name: `phone` of `phone/v8`. */
export function familyOf(model: string): Family {
  const family = FAMILIES.find((name) => model.startsWith(`${name}/`));
  if (family === undefined) throw new Error(`${model} is of no family`);
  return family;
}
