import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { issueLetterForm, type FormOrder } from '../../pipelines/branding/requests/letter-form.ts';
import {
  listOperationRows,
  readOperation,
  type Operation,
  type OperationKind,
  type OperationRow,
} from '../../pipelines/branding/operation.ts';
import type { OperationResult } from '../../pipelines/branding/operation-result.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import type { Vault } from '../../runtime/vault.ts';
import type { Config } from '../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import { requestBranding } from '../queues/branding-producer.ts';
import { isOffered, type Inbox, type Sight } from './drop-folder.ts';
import type { TakenEntry } from './put-away.ts';
import {
  formName,
  formOperation,
  readDroppedRequest,
  requesterOf,
  requestFilesMax,
  requestFilesOf,
  requestNames,
} from './dropped-request.ts';
import { sightOfFile } from './feed-drop.ts';
import { putFileAway, putFolderAway, replaceFile, statOrUndefined, type DropResult } from './put-away.ts';

/** What the inbox of branding requests works with. */
export interface BrandingInboxOptions {
  readonly config: Pick<
    Config,
    'dropDir' | 'dropSettleSeconds' | 'letterBytesMax' | 'numbersFileBytesMax' | 'numbersRowsMax' | 'feedLineBytesMax'
  >;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Asked at each submission, so that a service without requests makes no master key. */
  readonly openVault: () => Promise<Vault>;
}

/** Seconds after which a folder that has no request.json is rejected: somebody may copy its files by hand, one by one. */
const incompleteSeconds = 600;

/**
 * The inbox of branding requests: a folder with `request.json`, and at most one letter and one CSV of numbers. When its
 * operation has ended it lies in `done/` or `rejected/` with `result.json` and `numbers.result.csv` in it. Letter and CSV
 * are removed then: they are kept sealed in the database. A request for the form of a letter is answered at once with `letter-form.pdf`.
 */
export function brandingInbox(options: BrandingInboxOptions): Inbox {
  return {
    name: 'branding',
    sight: (path) => sightOfFolder(path, options.config),
    advance: (client, entry) => advanceRequest(options, client, entry),
  };
}

async function sightOfFolder(path: string, config: BrandingInboxOptions['config']): Promise<Sight | null> {
  const folder = await statOrUndefined(path);
  if (folder === undefined || !folder.isDirectory()) return sightOfFile(path, config);
  const names = requestFilesOf(await readdir(path));
  if (!names.every(isOffered)) return null;
  const files = await Promise.all(
    names
      .toSorted()
      .slice(0, requestFilesMax + 1)
      .map((name) => sightOfFile(join(path, name), config)),
  );
  const complete = names.includes(requestNames.request);
  return {
    seen: JSON.stringify([
      folder.ino,
      names.toSorted().slice(0, requestFilesMax + 1),
      names.length,
      files.map((file) => file?.seen ?? null),
    ]),
    settleSeconds: complete ? config.dropSettleSeconds : Math.max(config.dropSettleSeconds, incompleteSeconds),
  };
}

/** What `result.json` says. Of a request that was refused at once there is no operation. */
interface BrandingDropResult extends DropResult {
  readonly schema: 'caller-trust/branding-drop-result/1';
  /** Of the taken folder; kept with the operation as `drop folder <id>`. */
  readonly id: string;
  readonly folder: string;
  readonly outcome: OperationResult['outcome'];
  readonly operationId: number | null;
  readonly operation: OperationKind | typeof formOperation | null;
  readonly owner: string | null;
  readonly key: string | null;
  /** Why nothing was made of the request. */
  readonly failure: { readonly code: string; readonly reason: string; readonly hint: string } | null;
  readonly brand: OperationResult['brand'] | null;
  readonly letter: OperationResult['letter'];
  readonly numbers: OperationResult['numbers'];
  /** The form that was issued, where nothing else was asked for. */
  readonly form: {
    readonly formId: number;
    readonly code: string;
    readonly sha256: string;
    readonly numbers: number;
    readonly validUntil: Date;
    readonly file: string;
  } | null;
}

/** The result is written before anything is removed or moved: a watcher that finds its own only has to end what another one began. */
async function advanceRequest(options: BrandingInboxOptions, client: Queryable, entry: TakenEntry): Promise<void> {
  const written = await readOwnResult(entry);
  if (written !== null) return putAway(options, entry, written);
  const operation = (await findOperation(client, entry)) ?? (await submit(options, entry));
  if (operation === undefined || operation.state === 'queued') return;
  await writeRows(client, entry, operation);
  await conclude(options, entry, resultOf(entry, operation));
}

async function readOwnResult({ path, id }: TakenEntry): Promise<BrandingDropResult | null> {
  if ((await statOrUndefined(path))?.isDirectory() !== true) return null; // a link to a folder is not followed
  const fields = await readRequestFile(join(path, requestNames.result)).catch((error: unknown) => {
    if (isServiceError(error)) return null;
    throw error;
  });
  return fields?.['id'] === id ? (fields as unknown as BrandingDropResult) : null; // no sender knows the id
}

async function findOperation(client: Queryable, { id }: TakenEntry): Promise<Operation | undefined> {
  const row = await queryRow<{ operationId: number }>(client, sql('jobs/find_dropped_operation'), [requesterOf(id)]);
  return row === undefined ? undefined : readOperation(client, row.operationId);
}

/** The operation of a folder, which another folder may have asked for under the same key; undefined if the folder was refused, or asked for a form alone. */
async function submit(options: BrandingInboxOptions, entry: TakenEntry): Promise<Operation | undefined> {
  const { config, db, queues, log } = options;
  try {
    const submission = await readDroppedRequest(entry.path, { id: entry.id, limits: config });
    if (submission.kind === formOperation) {
      await issueForm(options, entry, submission.order);
      return undefined;
    }
    const { operationId } = await requestBranding({ db, vault: await options.openVault(), queues, log }, submission);
    log.info({ folder: entry.name, operationId }, 'a dropped request is queued');
    return await readOperation(db, operationId);
  } catch (error) {
    if (!isServiceError(error) || error.facts.retry || error.code === 'setting_invalid') throw error;
    await refuse(options, entry, error);
    return undefined;
  }
}

/** A watcher that is killed before the result is written issues another form; that of before has gone to nobody. */
async function issueForm(options: BrandingInboxOptions, entry: TakenEntry, order: FormOrder): Promise<void> {
  const { db, config } = options;
  const { file, formId, code, owner, sha256, validUntil, content } = await issueLetterForm(
    { db, limits: config, now: new Date() },
    order,
  );
  await replaceFile(join(entry.path, formName), (append) => append(file));
  const form = { formId, code, sha256, numbers: content.phones.length, validUntil, file: formName };
  await conclude(options, entry, { ...emptyResult(entry), outcome: 'accepted', operation: formOperation, owner, form });
}

async function refuse(
  options: BrandingInboxOptions,
  entry: TakenEntry,
  { code, problem, hint = '' }: ServiceError,
): Promise<void> {
  const result: BrandingDropResult = { ...emptyResult(entry), failure: { code, reason: problem, hint } };
  const stats = await statOrUndefined(entry.path);
  if (stats?.isDirectory() === true) return conclude(options, entry, result);
  const name = await putFileAway(join(options.config.dropDir, 'rejected'), entry, result);
  logEnd(options.log, name, result);
}

/** The result of a folder of which no operation was made. */
function emptyResult({ id, name }: TakenEntry): BrandingDropResult {
  return {
    schema: 'caller-trust/branding-drop-result/1',
    id,
    folder: name,
    outcome: 'rejected',
    operationId: null,
    operation: null,
    owner: null,
    key: null,
    failure: null,
    brand: null,
    letter: null,
    numbers: null,
    form: null,
  };
}

function resultOf(
  entry: TakenEntry,
  { operationId, kind, owner, key, result, failure }: Operation,
): BrandingDropResult {
  return {
    ...emptyResult(entry),
    outcome: result?.outcome ?? 'rejected',
    operationId,
    operation: kind,
    owner,
    key,
    failure: failure && {
      ...failure,
      hint: `Put the folder in again when that is cured${key === entry.id ? '' : ', with another key'}.`,
    },
    brand: result?.brand ?? null,
    letter: result?.letter ?? null,
    numbers: result?.numbers ?? null,
  };
}

const rowsPage = 10_000;

/** Writes every row of the request's numbers with what became of it; nothing if there were none. */
async function writeRows(client: Queryable, { path }: TakenEntry, { operationId }: Operation): Promise<void> {
  const readPage = (after: number) =>
    listOperationRows(client, operationId, { refused: false, after, limit: rowsPage });
  const first = await readPage(0);
  if (first.length === 0) return;
  await replaceFile(join(path, requestNames.rows), async (append) => {
    await append('line,phone,outcome,reason\n');
    for (let rows = first; rows.length > 0; rows = await readPage(rows.at(-1)!.line))
      await append(rows.map(formatRow).join(''));
  });
}

function formatRow({ line, phone, outcome, reason }: OperationRow): string {
  return `${[String(line), phone ?? '', outcome, reason].map(quoteField).join(',')}\n`;
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function conclude(options: BrandingInboxOptions, entry: TakenEntry, result: BrandingDropResult): Promise<void> {
  await replaceFile(join(entry.path, requestNames.result), (append) => append(`${JSON.stringify(result, null, 2)}\n`));
  await putAway(options, entry, result);
}

async function putAway(
  { config, log }: BrandingInboxOptions,
  entry: TakenEntry,
  result: BrandingDropResult,
): Promise<void> {
  if (result.operationId !== null && result.failure === null) await removeSealedFiles(entry.path);
  const name = await putFolderAway(join(config.dropDir, result.outcome === 'rejected' ? 'rejected' : 'done'), entry);
  logEnd(log, name, result);
}

/** Removes letter and CSV, which the database has. Of a request that came to nothing they stay, for its sender to try again. */
async function removeSealedFiles(folder: string): Promise<void> {
  const kept: readonly string[] = Object.values(requestNames);
  for (const name of await readdir(folder))
    if (!kept.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
}

function logEnd(log: Log, folder: string, { outcome, operationId, failure }: BrandingDropResult): void {
  log.info({ folder, outcome, operationId, failure: failure?.code }, 'a dropped request is put away');
}
