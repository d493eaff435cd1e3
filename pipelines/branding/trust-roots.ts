import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * The PEM text of LETTER_TRUST_ROOTS, or undefined where it is not set.
 * @throws ServiceError `setting_invalid` if the file cannot be read or holds no certificate.
 */
export async function readTrustRoots({
  letterTrustRoots,
}: {
  letterTrustRoots?: string | undefined;
}): Promise<string | undefined> {
  if (letterTrustRoots === undefined) return undefined;
  const text = await readFile(letterTrustRoots, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('setting_invalid', {
      operation: 'read trust roots',
      problem: 'The file of LETTER_TRUST_ROOTS cannot be read.',
      cause,
    });
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new ServiceError('setting_invalid', {
    operation: 'read trust roots',
    problem: 'The file of LETTER_TRUST_ROOTS holds no certificate in PEM form.',
  });
}
