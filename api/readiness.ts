import type { z } from 'zod';
import { formatArtefact } from '../pipelines/caches/definition.ts';
import { findEndingSignatures, type SignatureExpiry } from '../pipelines/caches/signing/signature-expiry.ts';
import type { FeedArrival } from '../pipelines/feeds/feed-arrivals.ts';
import type { PublicationSnapshot } from './downloads/publication-index.ts';
import type { DatabaseProblem } from './http/reader-database.ts';
import type { readinessSchema } from './documents/schemas.ts';

export type Readiness = z.output<typeof readinessSchema>;

interface ReadinessFacts {
  readonly now: number;
  readonly snapshot: Pick<PublicationSnapshot, 'artefacts' | 'unavailable'> | undefined;
  /** When the database was last read, in milliseconds. */
  readonly databaseReadAt: number | undefined;
  /** Why the last read failed. */
  readonly databaseProblem: DatabaseProblem | undefined;
  /** The database counts as unreachable if it was not read for this long. */
  readonly databaseSilenceMsMax: number;
  /** The last arrival of each feed. */
  readonly feeds: readonly FeedArrival[];
  /** When the present signatures expire. */
  readonly signatures: readonly SignatureExpiry[];
  readonly keysKnown: boolean;
  readonly stopping: boolean;
  readonly ageHoursMax: number;
}

const hourMs = 3_600_000;

/**
 * Decides readiness. `not_ready` only if requests would be refused: nothing has been read yet, or the process is stopping.
 * An unreachable database, an old artefact, a late feed or a signature that ends is `degraded`: the known files are still served,
 * and removing every server from a load balancer would turn the degradation into an outage.
 */
export function decideReadiness(facts: ReadinessFacts): Readiness {
  const { now, snapshot, databaseReadAt, keysKnown, stopping } = facts;
  const artefacts = [...(snapshot?.artefacts.values() ?? [])];
  const stale = artefacts.flatMap(({ name, manifest: { stale } }) =>
    stale === null ? [] : [{ artefact: formatArtefact(name), code: stale.code, since: stale.since }],
  );
  const old = artefacts
    .map(({ name, manifest: { confirmedAsOf } }) => ({
      artefact: formatArtefact(name),
      confirmedAsOf,
      ageHours: round((now - Date.parse(confirmedAsOf)) / hourMs),
    }))
    .filter(({ ageHours }) => ageHours > facts.ageHoursMax);
  const unavailable = [...(snapshot?.unavailable ?? [])];
  const lateFeeds = facts.feeds
    .filter(({ late }) => late)
    .map(({ feed, source, lastAt, ageHours, expectedHours }) => ({
      feed,
      source,
      lastAt: lastAt?.toISOString() ?? null,
      ageHours,
      expectedHours,
    }));
  const endingSignatures = findEndingSignatures(facts.signatures, now);
  const isRead = databaseReadAt !== undefined && now - databaseReadAt <= facts.databaseSilenceMsMax;
  const problem = isRead ? null : (facts.databaseProblem ?? 'unreachable');
  const serves = snapshot !== undefined && keysKnown && !stopping;
  const good = isRead && [stale, old, lateFeeds, unavailable, endingSignatures].every(({ length }) => length === 0);
  return {
    status: !serves ? 'not_ready' : good ? 'ready' : 'degraded',
    database: {
      reachable: problem !== 'unreachable',
      problem,
      lastReadAt: databaseReadAt === undefined ? null : new Date(databaseReadAt).toISOString(),
    },
    publications: { known: snapshot !== undefined, served: artefacts.length, unavailable },
    keys: { known: keysKnown },
    stopping,
    stale,
    old,
    lateFeeds,
    endingSignatures,
  };
}

function round(hours: number): number {
  return Math.round(hours * 100) / 100;
}
