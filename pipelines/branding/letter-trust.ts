import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../runtime/errors.ts';

/** What the revocation of a certificate decides (setting LETTER_REVOCATION). */
export type RevocationPolicy = 'require' | 'check' | 'off';

/** Lists of revoked certificates (RFC 5280) and OCSP answers (RFC 6960), each in DER as base64. */
export interface RevocationData {
  readonly crls: readonly string[];
  readonly ocsps: readonly string[];
}

/** What the signatures of letters are checked against. */
export interface LetterTrust {
  /** Certificates of the roots, one PEM block after another. Without them a chain is `unchecked`. */
  readonly trustRootsPem?: string | undefined;
  readonly revocationData?: RevocationData | undefined;
}

interface TrustSettings {
  readonly letterTrustRoots?: string | undefined;
  readonly letterRevocation: RevocationPolicy;
  readonly letterRevocationData?: string | undefined;
}

/**
 * The files of LETTER_TRUST_ROOTS and LETTER_REVOCATION_DATA, read anew for each letter, so that lists may be replaced at any time.
 * @throws ServiceError `setting_invalid` if a file cannot be read or holds something else
 */
export async function readLetterTrust({
  letterTrustRoots,
  letterRevocation,
  letterRevocationData,
}: TrustSettings): Promise<LetterTrust> {
  const isAsked = letterRevocation !== 'off' && letterRevocationData !== undefined;
  return {
    trustRootsPem: letterTrustRoots === undefined ? undefined : await readRoots(letterTrustRoots),
    revocationData: isAsked ? await readRevocationData(letterRevocationData) : undefined,
  };
}

async function readRoots(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw invalid('The file of LETTER_TRUST_ROOTS cannot be read.', cause);
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw invalid('The file of LETTER_TRUST_ROOTS holds no certificate in PEM form.');
}

/** Bytes of all lists and answers, which each child that reads a signed letter gets. An authority of signers has some 10 KB to 1 MB. */
export const revocationBytesMax = 8 * 1024 * 1024;

async function readRevocationData(path: string): Promise<RevocationData> {
  const files = await listFiles(path).catch((cause: unknown) => {
    throw invalid('LETTER_REVOCATION_DATA cannot be read.', cause);
  });
  const data = { crls: [] as string[], ocsps: [] as string[] };
  let bytes = 0;
  for (const file of files) {
    const content = await readFile(file);
    bytes += content.length;
    if (bytes > revocationBytesMax)
      throw invalid(`The files of LETTER_REVOCATION_DATA have more than ${revocationBytesMax} bytes.`);
    const der = derOf(content);
    const kind = kindOf(der);
    if (kind === null)
      throw invalid(`A file of LETTER_REVOCATION_DATA is neither a revocation list nor an OCSP answer: ${file}`);
    data[kind].push(der.toString('base64'));
  }
  return data;
}

/** The file itself, or the files of a folder but for those whose names begin with a dot. */
async function listFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => join(path, name))
    .sort();
}

const pemList = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/;

function derOf(content: Buffer): Buffer {
  const base64 = pemList.exec(content.toString('latin1'))?.[1];
  return base64 === undefined ? content : Buffer.from(base64, 'base64');
}

const [sequence, enumerated] = [0x30, 0x0a];

/** By its first elements: a list begins with a sequence, an answer with its status. */
function kindOf(der: Buffer): keyof RevocationData | null {
  const lengthByte = der[1] ?? 0;
  const first = der[2 + (lengthByte < 0x80 ? 0 : lengthByte & 0x7f)];
  if (der[0] !== sequence) return null;
  return first === sequence ? 'crls' : first === enumerated ? 'ocsps' : null;
}

function invalid(problem: string, cause?: unknown): ServiceError {
  return new ServiceError('setting_invalid', { operation: 'read what signatures are checked against', problem, cause });
}
