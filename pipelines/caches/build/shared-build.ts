import { ServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { queryRow, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ArtefactStore } from '../store/artefact-store.ts';
import { buildFormat } from '../format/build-format.ts';
import type { CacheName } from '../definition.ts';
import { SegmentIndexes } from './plan/basis.ts';
import type { BuildPlan } from './plan/build-plan.ts';
import { buildShare, type BuildSettings, type BuildSharing } from './build.ts';
import type { KeyRange } from './plan/key-ranges.ts';
import type { MadeShare } from './made-share.ts';

/** An attempt at a build whose ranges several workers make. */
export interface SharedAttempt {
  readonly buildId: number;
  readonly attempt: number;
}

export interface SharingOptions extends SharedAttempt {
  readonly db: Pool;
  /** Identifies what the bytes depend on besides the rows. */
  readonly format: string;
  /** Asks at most `helpersMax` workers to call {@link helpBuild}. */
  readonly callHelpers: (shared: SharedAttempt, helpersMax: number) => Promise<unknown>;
  readonly log: Log;
}

/**
 * Shares a build through the database. Other workers are lent shares from the end while the build itself advances from the start
 * and waits for none of them: where it meets a share that is not made yet, it takes it back. So a build ends without any other
 * worker, and one that is killed costs a share.
 */
export function shareBuild({ db, buildId, attempt, format, callHelpers, log }: SharingOptions): BuildSharing {
  return {
    async offer(shares) {
      const ranges = shares.map((share) => JSON.stringify(share));
      await db.query(sql('nights/offer_shares'), [buildId, attempt, format, ranges]);
      await callHelpers({ buildId, attempt }, shares.length - 1).catch((error: unknown) =>
        log.warn({ err: error, buildId }, 'no helper could be queued; the build continues alone'),
      );
    },
    async take(share) {
      const row = await queryRow<{ made: MadeShare | null }>(db, sql('nights/take_share'), [buildId, attempt, share]);
      log.debug({ buildId, share, byOther: row?.made != null }, 'a share of the build is taken');
      return row?.made ?? null;
    },
  };
}

export interface HelpOptions extends SharedAttempt {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: BuildSettings;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface LentShareRow {
  share: number;
  format: string;
  ranges: KeyRange[];
  cache: CacheName;
  country: string;
  plan: BuildPlan;
  snapshot: string;
  evaluatedAt: Date;
}

/**
 * Makes shares of a build of another worker, as long as there are open ones. Returns how many. What is made in vain, because
 * the build has ended or has taken the share back, is removed with the garbage of the store.
 * @throws as `buildShare`; the build then makes the share itself
 */
export async function helpBuild(options: HelpOptions): Promise<number> {
  const { db, store, settings, buildId, attempt, log } = options;
  const indexes = new SegmentIndexes(store);
  for (let count = 0; ; count++) {
    const lent = await queryRow<LentShareRow>(db, sql('nights/lend_share'), [buildId, attempt]);
    if (lent === undefined) return count;
    if (lent.format !== buildFormat(lent.cache, settings)) {
      log.warn({ buildId }, 'the build has other settings or another version; this worker makes no share of it');
      return count;
    }
    const made = await makeLentShare({ ...options, indexes }, lent);
    if (made === undefined) return count;
    await db.query(sql('nights/record_share'), [buildId, attempt, lent.share, JSON.stringify(made)]);
    log.debug({ buildId, share: lent.share }, 'a share of a build is made');
  }
}

/** Milliseconds between two checks whether the share is still needed. */
const checkMs = 1000;

/** Undefined if the build has taken the share back, or has ended. */
async function makeLentShare(
  { db, buildId, attempt, ...options }: HelpOptions & { readonly indexes: SegmentIndexes },
  { share, ranges, cache, country, plan, snapshot, evaluatedAt }: LentShareRow,
): Promise<MadeShare | undefined> {
  const unneeded = new ServiceError('interrupted', {
    operation: 'make share',
    problem: 'The build no longer needs it.',
  });
  let lastChecked = Date.now();
  const onProgress = async () => {
    if (Date.now() - lastChecked < checkMs) return;
    lastChecked = Date.now();
    if ((await queryRow(db, sql('nights/is_share_lent'), [buildId, attempt, share])) === undefined) throw unneeded;
  };
  try {
    return await buildShare({
      ...options,
      artefact: { cache, country },
      plan,
      ranges,
      snapshotId: snapshot,
      evaluatedAt,
      owner: `build-${buildId}-${attempt}.share-${share}`,
      onProgress,
    });
  } catch (error) {
    if (error === unneeded) return undefined;
    throw error;
  }
}
