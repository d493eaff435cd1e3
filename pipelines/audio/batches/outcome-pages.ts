import { factsOf, isServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { inTransaction, isConnectionLoss, queryRows, sqlStateOf, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { AudioRefusal } from '../reasons.ts';
import { findBatchOfJob, hasEnded, type Batch } from './batch.ts';
import { recordOutcomes, type Outcome, type TimedOutcome } from './record-outcomes.ts';

/** How long an outcome may wait for others before it is written. */
const pageMs = 1000;

/** Outcomes after which a page is full. */
const pageOutcomes = 100;

/** An item that is being scored. */
interface InHand {
  readonly sinceMs: number;
  /** True once a statement records that it is begun. */
  isRecorded: boolean;
  /** How often it was begun, this time included; known once that is recorded. */
  attempts?: number | undefined;
}

/**
 * The outcomes of a chunk, written by the page: once it is full or a second old. Items that are still in hand by then are recorded
 * as begun; one that takes less time is written once. While any item is in hand, at least one is recorded: so a worker that finds
 * none can tell that no other has died here.
 */
export class OutcomePages {
  /** True: each begin and each outcome is written at once, for items of which one may end the process. */
  isCareful = false;
  /** What was written so far. */
  readonly counts = { scored: 0, reused: 0, refused: 0 };
  readonly #db: Pool;
  readonly #batch: Batch;
  readonly #log: Log;
  readonly #inHand = new Map<number, InHand>();
  /** Lines that are recorded as begun and have no written outcome. */
  readonly #begun = new Set<number>();
  #ended: TimedOutcome[] = [];
  #released: number[] = [];
  #isOvertaken = false;
  #writtenMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  /** Statements follow one another; after a failure there are none, and each call throws it. */
  #statements = Promise.resolve();
  #nextBegin: Promise<void> | undefined;

  constructor({ db, batch, log }: { readonly db: Pool; readonly batch: Batch; readonly log: Log }) {
    this.#db = db;
    this.#batch = batch;
    this.#log = log;
  }

  /** Takes an item in hand. Returns how often it was begun; undefined if it has ended, or its batch is not performed any more. */
  async begin({ line }: { readonly line: number }): Promise<number | undefined> {
    if (this.#isOvertaken) return undefined;
    const item: InHand = { sinceMs: performance.now(), isRecorded: false };
    this.#inHand.set(line, item);
    if (this.#begun.size > 0 && !this.isCareful) {
      this.#writeInTime();
      return 1;
    }
    await (this.#nextBegin ??= this.#inTurn(() => this.#recordBegun())); // one statement for all that begin now
    if (item.attempts === undefined) this.#inHand.delete(line);
    return item.attempts;
  }

  /** Ends items. */
  async end(outcome: Outcome): Promise<void> {
    const { line } = outcome.first;
    const item = this.#inHand.get(line);
    this.#inHand.delete(line);
    this.#ended.push({ ...outcome, begunSeconds: item && secondsSince(item) });
    const isDue = this.#ended.length >= pageOutcomes || performance.now() - this.#writtenMs >= pageMs;
    if (isDue || this.isCareful) await this.write();
    else this.#writeInTime();
  }

  /** Lets go of an item whose scoring was interrupted, which does not count. */
  release({ line }: { readonly line: number }): void {
    if (this.#inHand.get(line)?.isRecorded) this.#released.push(line);
    this.#inHand.delete(line);
  }

  /** Writes everything. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inTurn(() => this.#writePage());
  }

  #writeInTime(): void {
    const ms = Math.max(0, this.#writtenMs + pageMs - performance.now());
    this.#timer ??= setTimeout(() => void this.write().catch(() => {}), ms); // the next call throws it
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    return (this.#statements = this.#statements.then(work));
  }

  async #writePage(): Promise<void> {
    this.#writtenMs = performance.now();
    await this.#recordBegun();
    const [ended, released] = [this.#ended, this.#released];
    [this.#ended, this.#released] = [[], []];
    if (ended.length > 0) await this.#record(ended);
    const { batchId, generation } = this.#batch;
    if (released.length > 0) await this.#db.query(sql('audio/release_verifications'), [batchId, generation, released]);
    for (const line of [...ended.map(({ first }) => first.line), ...released]) this.#begun.delete(line);
  }

  async #recordBegun(): Promise<void> {
    this.#nextBegin = undefined;
    const begun = [...this.#inHand].filter(([, { isRecorded }]) => !isRecorded);
    if (begun.length === 0) return;
    for (const [, item] of begun) item.isRecorded = true;
    const { batchId, generation } = this.#batch;
    const rows = await queryRows<{ line: number; attempts: number }>(this.#db, sql('audio/start_verifications'), [
      batchId,
      generation,
      begun.map(([line]) => line),
      begun.map(([, item]) => secondsSince(item)),
    ]);
    const attempts = new Map(rows.map((row) => [row.line, row.attempts]));
    for (const [line, item] of begun) item.attempts = attempts.get(line);
    for (const { line } of rows) this.#begun.add(line);
    if (rows.length < begun.length) await this.#findOvertaking();
  }

  /** An outcome that the database does not take is the fault of that recording alone. */
  async #record(outcomes: readonly TimedOutcome[]): Promise<void> {
    try {
      const counts = await inTransaction(this.#db, (client) => recordOutcomes(client, this.#batch, outcomes));
      for (const kind of ['scored', 'reused', 'refused'] as const) this.counts[kind] += counts[kind];
      const items = outcomes.reduce((sum, { others }) => sum + 1 + others.length, 0);
      if (counts.scored + counts.reused + counts.refused < items) await this.#findOvertaking();
    } catch (error) {
      if (await isTemporary(this.#db, error)) throw error;
      const [outcome] = outcomes;
      if (outcomes.length > 1) {
        for (const each of outcomes) await this.#record([each]);
      } else if (outcome!.ended instanceof AudioRefusal) throw error;
      else {
        this.#log.error({ err: error, verification: outcome!.first.publicId }, 'scores could not be stored');
        await this.#record([{ ...outcome!, ended: new AudioRefusal('scoring_failed') }]);
      }
    }
  }

  /** Some items had ended already: another worker does the same, or the batch was cancelled or tried again. */
  async #findOvertaking(): Promise<void> {
    const batch = await findBatchOfJob(this.#db, this.#batch.batchId);
    this.#isOvertaken = batch?.generation !== this.#batch.generation || hasEnded(batch);
  }
}

function secondsSince({ sinceMs }: InHand): number {
  return (performance.now() - sinceMs) / 1000;
}

/**
 * True for faults that are not a recording's: an unavailable service, a broken connection, a deadlock, a full disk, a database that shuts
 * down (SQLSTATE classes 40, 53, 55, 57) or cannot be reached.
 */
export async function isTemporary(db: Pool, error: unknown): Promise<boolean> {
  return (
    (isServiceError(error) && factsOf(error).retry) ||
    isConnectionLoss(error) ||
    /^(40|53|55|57)/.test(sqlStateOf(error) ?? '') ||
    (await db.query('SELECT 1').then(
      () => false,
      () => true,
    ))
  );
}
