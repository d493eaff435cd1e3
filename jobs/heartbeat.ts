import type pg from 'pg';
import { isServiceError, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { connect, destroy, queryRow, queryRows } from '../runtime/postgres.ts';
import { repeat, within } from '../runtime/processes/repeat.ts';
import { requireCompatibleSchema } from '../sql/migrate.ts';
import { sql } from '../sql/sql.ts';

interface HeartbeatOptions {
  readonly url: string;
  /** Seconds without a heartbeat after which a process is taken to be frozen or cut off. */
  readonly silentSecondsMax: number;
  readonly log: Log;
}

interface Heartbeat {
  readonly unsuitable: AbortSignal;
  stop(): Promise<void>;
}

/** Further beats of this process, a third of the seconds apart, in which the other one must stay silent. */
const confirmations = 2;

/**
 * Shows the database that this process lives, and ends the sessions of processes that have fallen silent: a frozen process, or
 * one whose network is gone, would keep its transactions and locks until TCP gives up, which takes hours. Its work is done
 * again by others; when it continues, its sessions are closed and its transactions rolled back.
 *
 * The last activity of a session of its own is the heartbeat, so nothing is written. Silence counts only while this process
 * beats itself: after a suspension of the machine all have been silent.
 *
 * It also notices when a later version of the service has made the schema incompatible: `unsuitable` fires with the error, and
 * the process must end.
 */
export function startHeartbeat({ url, silentSecondsMax, log }: HeartbeatOptions): Heartbeat {
  const unsuitable = new AbortController();
  let client: pg.Client | undefined;
  let silent = new Map<string, { readonly lastBeat: string; readonly beats: number }>();

  async function beat(): Promise<void> {
    client ??= await connect({ url, applicationName: 'caller-trust heartbeat' });
    await requireCompatibleSchema(client);
    const rows = await within(
      silentSecondsMax * 1000,
      queryRows<{ process: string; lastBeat: string }>(client, sql('jobs/list_silent_processes'), [silentSecondsMax]),
    );
    if (rows === undefined)
      throw new ServiceError('database_unavailable', {
        operation: 'beat',
        problem: `The database has not answered for ${silentSecondsMax} s.`,
      });
    const before = silent;
    silent = new Map();
    for (const { process, lastBeat } of rows) {
      const known = before.get(process);
      const beats = known?.lastBeat === lastBeat ? known.beats + 1 : 0;
      if (beats < confirmations) silent.set(process, { lastBeat, beats });
      else await endSessions(client, { process, lastBeat });
    }
  }

  async function endSessions(db: pg.Client, silentProcess: { process: string; lastBeat: string }): Promise<void> {
    const row = await queryRow<{ sessions: number }>(db, sql('jobs/end_sessions'), [silentProcess.process]);
    log.warn({ ...silentProcess, ...row }, 'a process is silent; its database sessions are ended');
  }

  function onError(error: unknown): void {
    if (isServiceError(error, 'database_too_new')) return unsuitable.abort(error);
    log.warn(
      { err: error },
      'no heartbeat: the database cannot be reached, or has ended the session of a silent process',
    );
    if (client !== undefined) destroy(client);
    client = undefined;
    silent = new Map();
  }

  const loop = repeat({ seconds: Math.max(1, silentSecondsMax / 3), work: beat, onError });
  return {
    unsuitable: unsuitable.signal,
    async stop() {
      await loop.stop();
      await client?.end().catch(() => {});
    },
  };
}
