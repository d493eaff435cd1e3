import { lstat, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { z } from 'zod';
import type { FormOrder, LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import { FORM_LANGUAGES } from '../../pipelines/branding/form/letter-form-texts.ts';
import {
  OPERATIONS,
  type OperationKind,
  type OperationRequest,
  type Submission,
} from '../../pipelines/branding/operation.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { readSubmittedFile } from '../../pipelines/branding/submitted-file.ts';
import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { ownAccountName } from '../../runtime/processes/account.ts';
import { requesterOf } from './inbox.ts';
import { describeKind, type TakenEntry } from './taken-entry.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Names in the folder of a request: the sender's request, and the watcher's answers. */
export const requestNames = { request: 'request.json', result: 'result.json', rows: 'numbers.result.csv' } as const;

/** The operation of a request for a letter form alone. */
export const formOperation = 'issue_letter_form';

/** Name of the form in the folder. With an operation, a file of this name is its letter like any other. */
export const formName = 'letter-form.pdf';

/** A request for a form, besides the submissions of operations. */
interface DroppedFormOrder {
  readonly kind: typeof formOperation;
  readonly order: FormOrder;
}

/** Files in the folder of a request at most; it needs three. */
export const requestFilesMax = 20;

/** Files that desktops write; they are no part of a request. */
const desktopNames = ['.DS_Store', 'Thumbs.db', 'desktop.ini'];

/** The names that count: without the answers of an earlier attempt and the files of a desktop. */
export function requestFilesOf(names: readonly string[]): string[] {
  const ignored: readonly string[] = [requestNames.result, requestNames.rows, ...desktopNames];
  return names.filter((name) => !ignored.includes(name));
}

/** The letter and the list of numbers of a request, by their names. */
interface RequestFiles {
  readonly letter: string | null;
  readonly numbers: string | null;
}

/**
 * Sorts the files of a request by their endings; whether the letter is one is checked later, by its bytes.
 * @throws ServiceError `brand_request_invalid`, `letter_file_invalid`, `numbers_file_invalid`
 */
function sortRequestFiles(names: readonly string[]): RequestFiles {
  if (names.length > requestFilesMax)
    throw invalidDroppedRequest(
      'brand_request_invalid',
      `The folder holds more than ${requestFilesMax} files.`,
      'Give request.json, one letter and one CSV.',
    );
  if (names.some((name) => name.includes('\uFFFD')))
    throw invalidDroppedRequest(
      'brand_request_invalid',
      'The name of a file in the folder is not UTF-8.',
      'Give it a name of plain letters and digits.',
    );
  if (!names.includes(requestNames.request))
    throw invalidDroppedRequest(
      'brand_request_invalid',
      'The folder holds no request.json.',
      'Add request.json and put the folder in again.',
    );
  const others = names.filter((name) => name !== requestNames.request);
  const ofKind = (kind: 'json' | 'csv' | 'letter') => others.filter((name) => fileKindOf(name) === kind);
  if (ofKind('json').length > 0)
    throw invalidDroppedRequest(
      'brand_request_invalid',
      'The folder holds more than one JSON file.',
      'Keep request.json only: one folder is one request.',
    );
  if (ofKind('csv').length > 1)
    throw invalidDroppedRequest(
      'numbers_file_invalid',
      'The folder holds more than one CSV of numbers.',
      'Join them, or make a request of each.',
    );
  if (ofKind('letter').length > 1)
    throw invalidDroppedRequest(
      'letter_file_invalid',
      'The folder holds more than one letter.',
      'Give one letter, a PDF or PNG, with all its pages.',
    );
  return { letter: ofKind('letter')[0] ?? null, numbers: ofKind('csv')[0] ?? null };
}

function fileKindOf(name: string): 'json' | 'csv' | 'letter' {
  const ending = extname(name).toLowerCase();
  if (ending === '.json') return 'json';
  return ending === '.csv' ? 'csv' : 'letter';
}

const requestKinds = [...(Object.keys(OPERATIONS) as OperationKind[]), formOperation] as const;

/** The fields of request.json besides those of the operation. */
const envelopeSchema = z.looseObject({
  operation: z.enum(requestKinds, `is not one of ${requestKinds.join(', ')}`),
  owner: z.string('is missing, or not a text'),
  key: z.string('is not a text').optional(),
});

/** The field of a request for a form besides those of the form. */
const formEnvelopeSchema = z.looseObject({
  language: z.enum(FORM_LANGUAGES, `is not one of ${FORM_LANGUAGES.join(', ')}`).default('en'),
});

/**
 * Reads the folder of a request. Nothing in it is followed, and nothing is read past its limit.
 * @throws ServiceError `brand_request_invalid`, `letter_file_invalid`, `numbers_file_invalid`
 */
export async function readDroppedRequest(entry: TakenEntry): Promise<Submission | DroppedFormOrder> {
  const folder = entry.path;
  await requireFolder(folder);
  const names = requestFilesOf(await readdir(folder));
  const files = sortRequestFiles(names);
  for (const name of names) await requireRequestFile(folder, name, codeOf(name, files));
  const {
    operation: kind,
    owner,
    ...fields
  } = parseEnvelope(envelopeSchema, await readRequestFile(join(folder, requestNames.request)));
  const read = async (kind: 'letter' | 'numbers') => {
    const name = files[kind];
    return name === null ? undefined : readSubmittedFile(join(folder, name), kind);
  };
  const numbersFile = await read('numbers');
  if (kind === formOperation)
    return { kind, order: { ...formOrderOf(fields, files), owner, numbersFile, issuedBy: requesterOf(entry) } };
  const { key = entry.id, ...request } = fields;
  return {
    kind,
    owner,
    key,
    request: request as OperationRequest, // checked at the submission
    requestedBy: requesterOf(entry),
    person: await accountName((await lstat(join(folder, requestNames.request))).uid),
    letter: await read('letter'),
    numbersFile,
  };
}

/** A form that a killed watcher left behind is not taken for a letter. */
function formOrderOf(
  fields: Record<string, unknown>,
  { letter }: RequestFiles,
): Pick<FormOrder, 'request' | 'language'> {
  if (letter !== null && letter !== formName && letter !== `${formName}.tmp`)
    throw invalidDroppedRequest(
      'letter_file_invalid',
      'A request for a form came with a letter.',
      'Submit the letter with the operation that it is for.',
    );
  const { language, ...request } = parseEnvelope(formEnvelopeSchema, fields);
  return { language, request: request as LetterFormRequest }; // checked when it is issued
}

function parseEnvelope<Schema extends z.ZodType>(schema: Schema, fields: Record<string, unknown>): z.output<Schema> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const problem = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw invalidDroppedRequest(
    'brand_request_invalid',
    `${problem}.`,
    'docs/branding.md shows what request.json holds.',
  );
}

async function requireFolder(path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isDirectory()) return;
  const problem = `A request is a folder with request.json, and this is ${describeKind(stats)}.`;
  throw invalidDroppedRequest(
    'brand_request_invalid',
    problem,
    'Make a folder, put request.json and its files there, and move the folder in.',
  );
}

async function requireRequestFile(folder: string, name: string, code: RequestCode): Promise<void> {
  const stats = await lstat(join(folder, name));
  if (!stats.isFile())
    throw invalidDroppedRequest(
      code,
      `${name} is ${describeKind(stats)}, and must be a regular file.`,
      'Copy the file itself into the folder.',
    );
}

function codeOf(name: string, { letter, numbers }: RequestFiles): RequestCode {
  if (name === letter) return 'letter_file_invalid';
  return name === numbers ? 'numbers_file_invalid' : 'brand_request_invalid';
}

type RequestCode = Extract<ErrorCode, 'brand_request_invalid' | 'letter_file_invalid' | 'numbers_file_invalid'>;

function invalidDroppedRequest(code: RequestCode, problem: string, hint: string): ServiceError {
  return new ServiceError(code, { operation: 'take dropped request', problem, hint });
}

const secondsMax = 5;

/** Name of the account with a user id, as the system resolves it (also from a directory service); `uid N` where it has none. */
async function accountName(uid: number): Promise<string> {
  if (uid === process.getuid?.()) return ownAccountName();
  const { stdout } = await promisify(execFile)('id', ['-nu', String(uid)], { timeout: secondsMax * 1000 }).catch(
    () => ({ stdout: '' }),
  );
  return stdout.trim() || `uid ${uid}`;
}
