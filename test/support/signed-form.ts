import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { certifySigner, sampleTrustRootPem } from '../../samples/letters/sample-keys.ts';
import { signForm } from '../../samples/letters/sign-form.ts';
import type { LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import { runCliJson } from './cli.ts';

interface FormFileOptions {
  readonly env: Record<string, string>;
  readonly directory: string;
  readonly name: string;
  readonly request: LetterFormRequest;
  /** Organization of the certificate. */
  readonly organization: string;
  readonly owner?: string;
  /** Path of a CSV of numbers. */
  readonly numbers?: string;
}

/**
 * Issues the form of a request with the command, signs it under the sample root as its signer would, and returns the path of the
 * signed file.
 */
export async function writeSignedForm({
  env,
  directory,
  name,
  request,
  organization,
  owner,
  numbers,
}: FormFileOptions): Promise<string> {
  const [path, form, signed] = [`${name}-request.json`, `${name}-form.pdf`, `${name}-signed.pdf`].map((file) =>
    join(directory, file),
  ) as [string, string, string];
  await writeFile(path, JSON.stringify(request));
  await runCliJson(
    env,
    'letter',
    'form',
    path,
    '-o',
    form,
    ...(owner === undefined ? [] : ['--owner', owner]),
    ...(numbers === undefined ? [] : ['--numbers', numbers]),
  );
  const certificate = certifySigner({ name: request.signer.name, organization, country: request.brand?.country });
  await writeFile(
    signed,
    signForm(await readFile(form), {
      certificate,
      signedAt: new Date(),
      lines: [`Digitally signed by ${request.signer.name}`],
    }),
  );
  return signed;
}

/** Writes the root under which the signed forms of the tests are trusted; returns its path, for LETTER_TRUST_ROOTS. */
export async function writeTrustRoots(directory: string): Promise<string> {
  const path = join(directory, 'roots.pem');
  await writeFile(path, sampleTrustRootPem());
  return path;
}
