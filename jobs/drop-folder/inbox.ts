import { join } from 'node:path';
import { isServiceError, type ServiceError, factsOf } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { finishFile, finishFolder, isFolder, replaceFile, statOrUndefined, type TakenEntry } from './taken-entry.ts';

/** The state of an entry of an inbox. */
export interface Observation {
  /** Changes whenever the entry does. */
  readonly fingerprint: string;
  /** Seconds without a change before the entry is taken. */
  readonly stableSeconds: number;
}

/** The result for the sender. By `id`, that of the taken entry, a later attempt recognizes its own. */
export interface DropResult {
  readonly id: string;
  readonly outcome: string;
  readonly failure: { readonly code: string; readonly reason: string } | null;
}

/** A folder of the drop folder: which entries are taken from it, and the job that each of them becomes. */
export interface InboxDefinition<Job, Result extends DropResult> {
  /** Its folder, and its folder in `taken/`. */
  readonly name: string;
  /** Null while the entry is gone or still being written. */
  readonly observe: (path: string) => Promise<Observation | null>;
  /** The job of a taken entry that an earlier poll, or another watcher, submitted. */
  readonly find: (client: Queryable, entry: TakenEntry) => Promise<Job | undefined>;
  /**
   * Submits a taken entry; undefined while it is not submitted completely, or where a later poll finds the job.
   * @throws ServiceError that another attempt cannot cure: the entry is refused
   */
  readonly submit: (entry: TakenEntry) => Promise<Job | undefined>;
  /** The result of an ended job; undefined before. May write files into a taken folder. */
  readonly end: (client: Queryable, entry: TakenEntry, job: Job) => Promise<Result | undefined>;
  /** The result of a refused entry. */
  readonly refuse: (entry: TakenEntry, error: ServiceError) => Promise<Result> | Result;
  /** True if the result of a folder is written into it, as `result.json`, and not next to it. */
  readonly answersInside: boolean;
  /** Clears a folder whose result is written, before it is moved. */
  readonly clear?: (entry: TakenEntry, result: Result) => Promise<void>;
  /** Waits for running submissions to end, when the watcher stops. */
  readonly close?: () => Promise<void>;
}

/** An inbox, independent of the type of its jobs. */
export interface Inbox {
  readonly name: string;
  observe(path: string): Promise<Observation | null>;
  /**
   * One step of a taken entry, which no other watcher touches meanwhile: submits it, checks its job, or finishes it.
   * Called at each poll until the entry is finished, also after a watcher was killed at any point.
   */
  advance(client: Queryable, entry: TakenEntry): Promise<void>;
  close(): Promise<void>;
}

/** Name of the result in a folder. */
const resultName = 'result.json';

/**
 * The inbox of a definition. The result is written before anything is moved: a watcher that finds the entry's own result only
 * finishes it.
 */
export function openInbox<Job, Result extends DropResult>(
  definition: InboxDefinition<Job, Result>,
  { dropDir, log }: { readonly dropDir: string; readonly log: Log },
): Inbox {
  const { name: inbox, find, submit, end, refuse, answersInside, clear } = definition;
  const jobOrRefusal = async (entry: TakenEntry): Promise<{ job: Job | undefined } | { refusal: Result }> => {
    try {
      return { job: await submit(entry) };
    } catch (error) {
      if (!isServiceError(error) || factsOf(error).retry || error.code === 'setting_invalid') throw error;
      return { refusal: await refuse(entry, error) };
    }
  };
  const finish = async (entry: TakenEntry, result: Result, isWritten: boolean): Promise<void> => {
    const folder = join(dropDir, result.outcome === 'rejected' ? 'rejected' : 'done');
    const inside = answersInside && (await isFolder(entry));
    if (inside && !isWritten)
      await replaceFile(join(entry.path, resultName), (append) => append(`${JSON.stringify(result, null, 2)}\n`));
    if (inside) await clear?.(entry, result);
    const name = inside ? await finishFolder(folder, entry) : await finishFile(folder, entry, result);
    log.info(
      { inbox, file: name, outcome: result.outcome, failure: result.failure?.code },
      'a dropped file is finished',
    );
  };
  return {
    name: inbox,
    observe: definition.observe,
    close: async () => definition.close?.(),
    async advance(client, entry) {
      const written = answersInside ? await readOwnResult<Result>(entry) : undefined;
      if (written !== undefined) return finish(entry, written, true);
      const found = await find(client, entry);
      const submitted = found === undefined ? await jobOrRefusal(entry) : { job: found };
      if ('refusal' in submitted) return finish(entry, submitted.refusal, false);
      const result = submitted.job === undefined ? undefined : await end(client, entry, submitted.job);
      if (result !== undefined) await finish(entry, result, false);
    },
  };
}

async function readOwnResult<Result extends DropResult>(entry: TakenEntry): Promise<Result | undefined> {
  if (!(await isFolder(entry))) return undefined;
  const fields = await readRequestFile(join(entry.path, resultName)).catch((error: unknown) => {
    if (isServiceError(error)) return undefined;
    throw error;
  });
  return fields?.['id'] === entry.id ? (fields as unknown as Result) : undefined; // no sender knows the id
}

/** Kept with the job of a taken entry, by which {@link InboxDefinition.find} finds it. */
export function requesterOf({ id }: Pick<TakenEntry, 'id'>): string {
  return `drop folder ${id}`;
}

/** The state of a single file. */
export async function observeFile(
  path: string | Buffer,
  { dropSettleSeconds }: { readonly dropSettleSeconds: number },
): Promise<Observation | null> {
  const stats = await statOrUndefined(path);
  return stats === undefined
    ? null
    : { fingerprint: `${stats.size} ${stats.mtimeMs} ${stats.ino}`, stableSeconds: dropSettleSeconds };
}

/** False for names that copying tools give to unfinished files. */
export function isOffered(name: string): boolean {
  return !name.startsWith('.') && !/\.(part|tmp|partial|crdownload)$/i.test(name);
}
