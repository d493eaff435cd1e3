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
import type { Vault } from '../../runtime/secrets/vault.ts';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import { requestBranding } from '../queues/branding-producer.ts';
import {
  isOffered,
  openInbox,
  requesterOf,
  observeFile,
  type DropResult,
  type Inbox,
  type InboxDefinition,
  type Observation,
} from './inbox.ts';
import type { TakenEntry } from './taken-entry.ts';
import {
  formName,
  formOperation,
  readDroppedRequest,
  requestFilesMax,
  requestFilesOf,
  requestNames,
} from './dropped-request.ts';
import { replaceFile, statOrUndefined } from './taken-entry.ts';
import { formatSheetField } from '../../pipelines/rows/csv-field.ts';

/** Settings and services of the inbox of branding requests. */
interface BrandingInboxOptions {
  readonly config: Pick<Config, 'dropDir' | 'dropSettleSeconds'>;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  /** Called for each submission, so that a service without requests makes no master key. */
  readonly openVault: () => Promise<Vault>;
}

/** Seconds after which a folder without request.json is rejected: its files may be copied one by one. */
const incompleteSeconds = 600;

/**
 * The inbox of branding requests: a folder with `request.json`, and at most one letter and one CSV of numbers. When its
 * operation has ended, it is moved to `done/` or `rejected/` with `result.json` and `numbers.result.csv`. Letter and CSV
 * are then removed: the database has them, sealed. A request for a letter form is answered at once with `letter-form.pdf`.
 */
export function brandingInbox(options: BrandingInboxOptions): Inbox {
  const { config, log } = options;
  const definition: InboxDefinition<Operation | BrandingDropResult, BrandingDropResult> = {
    name: 'branding',
    answersInside: true,
    observe: (path) => observeRequestFolder(path, config),
    find: findOperation,
    submit: (entry) => submitRequest(options, entry),
    end: async (client, entry, job) => {
      if ('schema' in job) return job;
      if (job.state === 'queued') return undefined;
      await writeNumberRows(client, entry, job);
      return brandingResult(entry, job);
    },
    refuse: (entry, { code, problem, hint = '' }) => ({
      ...emptyBrandingResult(entry),
      failure: { code, reason: problem, hint },
    }),
    clear: async ({ path }, { operationId, failure }) => {
      if (operationId !== null && failure === null) await removeSealedFiles(path);
    },
  };
  return openInbox(definition, { dropDir: config.dropDir, log });
}

async function observeRequestFolder(path: string, config: BrandingInboxOptions['config']): Promise<Observation | null> {
  const folder = await statOrUndefined(path);
  if (folder === undefined || !folder.isDirectory()) return observeFile(path, config);
  const names = requestFilesOf(await readdir(path));
  if (!names.every(isOffered)) return null;
  const files = await Promise.all(
    names
      .toSorted()
      .slice(0, requestFilesMax + 1)
      .map((name) => observeFile(join(path, name), config)),
  );
  const complete = names.includes(requestNames.request);
  return {
    fingerprint: JSON.stringify([
      folder.ino,
      names.toSorted().slice(0, requestFilesMax + 1),
      names.length,
      files.map((file) => file?.fingerprint ?? null),
    ]),
    stableSeconds: complete ? config.dropSettleSeconds : Math.max(config.dropSettleSeconds, incompleteSeconds),
  };
}

/** The content of `result.json`. A request that is refused at once has no operation. */
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
  /** Why the request had no effect. */
  readonly failure: { readonly code: string; readonly reason: string; readonly hint: string } | null;
  readonly brand: OperationResult['brand'] | null;
  readonly letter: OperationResult['letter'];
  readonly numbers: OperationResult['numbers'];
  /** The issued form, for a request for a form alone. */
  readonly form: {
    readonly formId: number;
    readonly code: string;
    readonly sha256: string;
    readonly numbers: number;
    readonly validUntil: Date;
    readonly file: string;
  } | null;
}

async function findOperation(client: Queryable, entry: TakenEntry): Promise<Operation | undefined> {
  const row = await queryRow<{ operationId: number }>(client, sql('jobs/find_dropped_operation'), [requesterOf(entry)]);
  return row === undefined ? undefined : readOperation(client, row.operationId);
}

/** The operation of a folder (that of an earlier folder with the same key), or the result of a request for a form alone. */
async function submitRequest(
  options: BrandingInboxOptions,
  entry: TakenEntry,
): Promise<Operation | BrandingDropResult> {
  const { db, queues, log } = options;
  const submission = await readDroppedRequest(entry);
  if (submission.kind === formOperation) return issueRequestedForm(options, entry, submission.order);
  const { operationId } = await requestBranding({ db, vault: await options.openVault(), queues, log }, submission);
  log.info({ folder: entry.name, operationId }, 'a dropped request is queued');
  return readOperation(db, operationId);
}

/** A watcher that is killed before it writes the result issues another form the next time; nobody has received the first. */
async function issueRequestedForm(
  { db }: BrandingInboxOptions,
  entry: TakenEntry,
  order: FormOrder,
): Promise<BrandingDropResult> {
  const { file, formId, code, owner, sha256, validUntil, content } = await issueLetterForm(
    { db, now: new Date() },
    order,
  );
  await replaceFile(join(entry.path, formName), (append) => append(file));
  const form = { formId, code, sha256, numbers: content.phones.length, validUntil, file: formName };
  return { ...emptyBrandingResult(entry), outcome: 'accepted', operation: formOperation, owner, form };
}

/** The result of a folder without an operation. */
function emptyBrandingResult({ id, name }: TakenEntry): BrandingDropResult {
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

function brandingResult(
  entry: TakenEntry,
  { operationId, kind, owner, key, result, failure }: Operation,
): BrandingDropResult {
  return {
    ...emptyBrandingResult(entry),
    outcome: result?.outcome ?? 'rejected',
    operationId,
    operation: kind,
    owner,
    key,
    failure: failure && {
      ...failure,
      hint: `Put the folder in again when the cause is removed${key === entry.id ? '' : ', with another key'}.`,
    },
    brand: result?.brand ?? null,
    letter: result?.letter ?? null,
    numbers: result?.numbers ?? null,
  };
}

const rowsPage = 10_000;

/** Writes the outcome of each row of the request's numbers; nothing if there are none. */
async function writeNumberRows(client: Queryable, { path }: TakenEntry, { operationId }: Operation): Promise<void> {
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
  return `${[String(line), phone ?? '', outcome, reason].map(formatSheetField).join(',')}\n`;
}

/** Removes letter and CSV, which the database has. A refused request keeps them, so that its sender can try again. */
async function removeSealedFiles(folder: string): Promise<void> {
  const kept: readonly string[] = Object.values(requestNames);
  for (const name of await readdir(folder))
    if (!kept.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
}
