import { join } from 'node:path';
import { isServiceError, type ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { putFileAway, putFolderAway, replaceFile, statOrUndefined, type TakenEntry } from './put-away.ts';

/** What is seen of something that lies in an inbox. */
export interface Sight {
  /** Changes whenever the thing does. */
  readonly seen: string;
  /** Seconds for which it must stay as it is before it is taken. */
  readonly settleSeconds: number;
}

/** What is written for the sender; `id` is that of the taken thing, by which a later try knows its own. */
export interface DropResult {
  readonly id: string;
  readonly outcome: string;
  readonly failure: { readonly code: string; readonly reason: string } | null;
}

/** A folder of the drop folder: what is taken from it, and the job that each taken thing becomes. */
export interface InboxDefinition<Job, Result extends DropResult> {
  /** Its folder, and its folder in `taken/`. */
  readonly name: string;
  /** Null while the thing is gone or still being written. */
  readonly sight: (path: string) => Promise<Sight | null>;
  /** The job that an earlier look, or another watcher, has submitted of a taken thing. */
  readonly find: (client: Queryable, entry: TakenEntry) => Promise<Job | undefined>;
  /**
   * Submits a taken thing; undefined while it is not submitted whole, or where a later look finds the job.
   * @throws ServiceError that no second try cures: the thing is refused
   */
  readonly submit: (entry: TakenEntry) => Promise<Job | undefined>;
  /** What the sender gets when the job has ended; undefined before. May write files into a taken folder. */
  readonly end: (client: Queryable, entry: TakenEntry, job: Job) => Promise<Result | undefined>;
  /** What the sender gets when the thing is refused. */
  readonly refuse: (entry: TakenEntry, error: ServiceError) => Promise<Result> | Result;
  /** Whether the result of a folder is written into it, as `result.json`, and not beside it. */
  readonly answersInside: boolean;
  /** Clears a folder whose result is written, before it is moved. */
  readonly clear?: (entry: TakenEntry, result: Result) => Promise<void>;
  /** Ends what is being submitted, when the watcher stops. */
  readonly close?: () => Promise<void>;
}

/** An inbox, whatever its jobs are. */
export interface Inbox {
  readonly name: string;
  sight(path: string): Promise<Sight | null>;
  /**
   * One step of a taken thing, which no other watcher touches meanwhile: submit it, wait for its job, or put it away.
   * Called at each look until the thing is put away, also after a watcher was killed at any point of it.
   */
  advance(client: Queryable, entry: TakenEntry): Promise<void>;
  close(): Promise<void>;
}

/** Name of the result in a folder. */
export const resultName = 'result.json';

/**
 * The inbox of a definition. A result is written before anything is moved: a watcher that finds its own has only to end what
 * another one began.
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
      if (!isServiceError(error) || error.facts.retry || error.code === 'setting_invalid') throw error;
      return { refusal: await refuse(entry, error) };
    }
  };
  const putAway = async (entry: TakenEntry, result: Result, isWritten: boolean): Promise<void> => {
    const folder = join(dropDir, result.outcome === 'rejected' ? 'rejected' : 'done');
    const inside = answersInside && (await isFolder(entry));
    if (inside && !isWritten)
      await replaceFile(join(entry.path, resultName), (append) => append(`${JSON.stringify(result, null, 2)}\n`));
    if (inside) await clear?.(entry, result);
    const name = inside ? await putFolderAway(folder, entry) : await putFileAway(folder, entry, result);
    log.info(
      { inbox, file: name, outcome: result.outcome, failure: result.failure?.code },
      'a dropped file is put away',
    );
  };
  return {
    name: inbox,
    sight: definition.sight,
    close: async () => definition.close?.(),
    async advance(client, entry) {
      const written = answersInside ? await readOwnResult<Result>(entry) : undefined;
      if (written !== undefined) return putAway(entry, written, true);
      const found = await find(client, entry);
      const submitted = found === undefined ? await jobOrRefusal(entry) : { job: found };
      if ('refusal' in submitted) return putAway(entry, submitted.refusal, false);
      const result = submitted.job === undefined ? undefined : await end(client, entry, submitted.job);
      if (result !== undefined) await putAway(entry, result, false);
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

/** False for a link to a folder, which is not followed. */
async function isFolder({ path }: TakenEntry): Promise<boolean> {
  return (await statOrUndefined(path))?.isDirectory() === true;
}

/** Kept with the job of a taken thing, by which {@link InboxDefinition.find} finds it. */
export function requesterOf({ id }: Pick<TakenEntry, 'id'>): string {
  return `drop folder ${id}`;
}

/** What is seen of a single file. */
export async function sightOfFile(
  path: string,
  { dropSettleSeconds }: { readonly dropSettleSeconds: number },
): Promise<Sight | null> {
  const stats = await statOrUndefined(path);
  return stats === undefined
    ? null
    : { seen: `${stats.size} ${stats.mtimeMs} ${stats.ino}`, settleSeconds: dropSettleSeconds };
}

/** Files that are still being written are named so, or begin with a dot, by the tools that copy them. */
export function isOffered(name: string): boolean {
  return !name.startsWith('.') && !/\.(part|tmp|partial|crdownload)$/i.test(name);
}
