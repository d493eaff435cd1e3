import { CACHES, formatArtefact, type CacheName } from '../../pipelines/caches/definition.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import type { Publication } from '../../pipelines/caches/artefact-facts.ts';
import { listFeedArrivals, nameOfFeed, type FeedArrival } from '../../pipelines/feeds/feed-arrivals.ts';
import {
  describeEndingSignature,
  findEndingSignatures,
  listSignatureExpiries,
  type SignatureExpiry,
} from '../../pipelines/caches/signing/signature-expiry.ts';
import { countDeliveries, type DeliveryCounts } from '../../pipelines/webhooks/delivery.ts';
import type { Queues } from '../../jobs/queues/backend.ts';
import type { Config } from '../../runtime/config.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { adviceOn } from '../http/error-advice.ts';
import { countWaiting, type WaitingCounts } from './letter-answers.ts';
import { listNights, daysBefore, readTrend, type NightSummary, type TrendDay } from './night-answers.ts';
import { listQueues, type QueueSummary } from './queue-answers.ts';

/** Something that a person has to look at. `bad`: clients get old files, or work has stopped; `warn`: it waits for a decision. */
export interface Attention {
  readonly severity: 'bad' | 'warn';
  readonly title: string;
  readonly detail: string;
  /** The page of the console where it is dealt with. */
  readonly href: string;
}

/** The published files of one cache together. */
export interface CacheStanding {
  readonly cache: CacheName;
  readonly title: string;
  readonly files: number;
  readonly stale: number;
  readonly rows: number;
  readonly bytes: number;
  /** The snapshot that the oldest of its files is confirmed by; null if nothing is published. */
  readonly oldestAsOf: Date | null;
}

/** What the first page shows: is all well, and if not, what is not. */
export interface Overview {
  readonly at: Date;
  /** The most urgent first; empty while all is well. */
  readonly attention: readonly Attention[];
  /** The last finished night; null before the first. */
  readonly lastNight: NightSummary | null;
  readonly caches: readonly CacheStanding[];
  readonly feeds: readonly FeedArrival[];
  readonly waiting: WaitingCounts;
  readonly queues: readonly QueueSummary[];
  /** The last {@link trendDays} days that had such a night, oldest first. */
  readonly trend: readonly TrendDay[];
}

/** Days of the trends. */
const trendDays = 30;
/** Nights of these days are searched for the last finished one. */
const nightDays = 14;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface HeldCounts {
  readonly loadsHeld: number;
  readonly loadsFailed: number;
  readonly operationsFailed: number;
}

/** The current state, from which is decided what needs attention. */
export interface StandingFacts extends Pick<Overview, 'caches' | 'feeds' | 'waiting' | 'queues' | 'lastNight'> {
  readonly now: number;
  readonly publications: readonly Pick<Publication, 'cache' | 'country' | 'stale' | 'confirmedAsOf'>[];
  readonly held: HeldCounts;
  readonly signatures: readonly SignatureExpiry[];
  readonly webhooks: Pick<DeliveryCounts, 'failing' | 'givenUp'>;
  readonly ageHoursMax: number;
}

/** Reads what the first page shows. */
export async function readOverview(
  { db, queues, config }: { readonly db: Queryable; readonly queues: Queues; readonly config: Config },
  now = new Date(),
): Promise<Overview> {
  const days = daysBefore(new Date(now.getTime() + dayMs).toISOString().slice(0, 10), trendDays);
  const publications = await listPublications(db);
  const nights = await listNights(db, { oldest: days[nightDays - 1]!, newest: days[0]! });
  const facts = {
    now: now.getTime(),
    publications,
    ageHoursMax: config.artefactAgeHoursMax,
    lastNight: lastFinished(nights),
    caches: CACHES.map(({ name, title }) => standingOf({ cache: name, title }, publications)),
    feeds: await listFeedArrivals(db, config, now),
    waiting: await countWaiting(db),
    held: (await queryRow<HeldCounts>(db, sql('console/count_held')))!,
    signatures: await listSignatureExpiries(db),
    webhooks: await countDeliveries(db),
    queues: (await listQueues(queues)).queues,
  };
  const { lastNight, caches, feeds, waiting, queues: queueList } = facts;
  return {
    at: now,
    attention: decideAttention(facts),
    lastNight,
    caches,
    feeds,
    waiting,
    queues: queueList,
    trend: await readTrend(db, days[0]!),
  };
}

function lastFinished(nights: readonly NightSummary[]): NightSummary | null {
  const finished = nights.filter(({ finishedAt }) => finishedAt !== null);
  return finished.toSorted((a, b) => b.finishedAt!.getTime() - a.finishedAt!.getTime())[0] ?? null;
}

function standingOf(
  { cache, title }: Pick<CacheStanding, 'cache' | 'title'>,
  publications: readonly Publication[],
): CacheStanding {
  const files = publications.filter((publication) => publication.cache === cache);
  const published = files.flatMap(({ published }) => published ?? []);
  const instants = files.flatMap(({ confirmedAsOf }) => confirmedAsOf?.getTime() ?? []);
  return {
    cache,
    title,
    files: published.length,
    stale: files.filter(({ stale }) => stale !== null).length,
    rows: published.reduce((sum, { rows }) => sum + rows, 0),
    bytes: published.reduce((sum, { file }) => sum + file.bytes, 0),
    oldestAsOf: instants.length === 0 ? null : new Date(Math.min(...instants)),
  };
}

/** What a person has to look at, the most urgent first. Pure. */
export function decideAttention(facts: StandingFacts): Attention[] {
  const all = [
    ...attentionToFiles(facts),
    ...attentionToNight(facts),
    ...attentionToSignatures(facts),
    ...attentionToFeeds(facts),
    ...attentionToQueues(facts),
    ...attentionToWebhooks(facts),
    ...attentionToWork(facts),
  ];
  return [...all.filter(({ severity }) => severity === 'bad'), ...all.filter(({ severity }) => severity === 'warn')];
}

/** Files that are named in one line; more are counted. */
const namedMax = 4;

function attentionToFiles({ publications, now, ageHoursMax }: StandingFacts): Attention[] {
  const codes = [...new Set(publications.flatMap(({ stale }) => stale?.code ?? []))];
  const stale = codes.map((code): Attention => {
    const files = publications.filter((file) => file.stale?.code === code);
    return {
      severity: 'bad',
      title: `${counted(files.length, 'file is', 'files are')} of an earlier night: ${code.replaceAll('_', ' ')}`,
      detail: `${naming(files.map(formatArtefact))}. ${adviceOn(code) ?? files[0]!.stale!.reason}`,
      href: '/artefacts',
    };
  });
  const old = publications.filter(
    ({ stale: reason, confirmedAsOf }) =>
      reason === null && confirmedAsOf !== null && now - confirmedAsOf.getTime() > ageHoursMax * hourMs,
  );
  if (old.length === 0) return stale;
  return [
    ...stale,
    {
      severity: 'bad',
      title: `No night has confirmed ${counted(old.length, 'file', 'files')} for ${ageHoursMax} hours`,
      detail: `${naming(old.map(formatArtefact))}. Look whether scheduler and workers run.`,
      href: '/nights',
    },
  ];
}

function attentionToNight({ lastNight }: StandingFacts): Attention[] {
  if (lastNight === null)
    return [
      {
        severity: 'warn',
        title: 'There has been no night yet',
        detail: 'The scheduler runs one every night; an operator can run one now.',
        href: '/nights',
      },
    ];
  if (lastNight.outcome === 'ok') return [];
  return [
    {
      severity: 'bad',
      title: `The last night ended as ${lastNight.outcome ?? 'unknown'}`,
      detail: `Night ${lastNight.date}, run ${lastNight.runId}: ${lastNight.filesFailed} of ${lastNight.files} files were not built.`,
      href: `/nights/${lastNight.runId}`,
    },
  ];
}

/** The root waits for people to meet; the others are renewed by the scheduler, which then does not run or cannot. */
function attentionToSignatures({ signatures, now }: StandingFacts): Attention[] {
  return findEndingSignatures(signatures, now).map((ending) => ({
    severity: ending.expired || ending.role !== 'root' ? 'bad' : 'warn',
    title: `The signature of the ${ending.role} ${ending.expired ? 'has expired' : 'expires soon'}`,
    detail: describeEndingSignature(ending),
    href: '/artefacts',
  }));
}

function attentionToFeeds({ feeds, held }: StandingFacts): Attention[] {
  const late = feeds.filter((feed) => feed.late).map(nameOfFeed);
  const found: Attention[] = [];
  if (late.length > 0)
    found.push({
      severity: 'bad',
      title: `${counted(late.length, 'feed has', 'feeds have')} stopped coming`,
      detail: `${naming(late)}. Nights run on with what came before. Ask the provider.`,
      href: '/feeds',
    });
  if (held.loadsHeld > 0)
    found.push({
      severity: 'warn',
      title: `${counted(held.loadsHeld, 'load is', 'loads are')} held`,
      detail: 'A load that differs from those before it waits for an operator, who releases or discards it.',
      href: '/feeds?state=held',
    });
  if (held.loadsFailed > 0)
    found.push({
      severity: 'warn',
      title: `${counted(held.loadsFailed, 'load', 'loads')} failed in the last seven days`,
      detail: 'The page of a load says why.',
      href: '/feeds?state=failed',
    });
  return found;
}

function attentionToQueues({ queues }: StandingFacts): Attention[] {
  return queues.flatMap(({ name, isPaused, workers, counts }): Attention[] => {
    const found: Attention[] = [];
    if (isPaused)
      found.push({
        severity: 'bad',
        title: `The queue ${name} is paused`,
        detail: `${counted(counts.waiting, 'job waits', 'jobs wait')} until it is resumed.`,
        href: '/queues',
      });
    else if (workers === 0 && counts.waiting > 0)
      found.push({
        severity: 'bad',
        title: `No worker takes from the queue ${name}`,
        detail: `${counted(counts.waiting, 'job waits', 'jobs wait')}. Start a worker.`,
        href: '/queues',
      });
    if (counts.failed > 0)
      found.push({
        severity: 'warn',
        title: `${counted(counts.failed, 'job', 'jobs')} of the queue ${name} failed`,
        detail: 'An operator can look at them, and retry or remove them.',
        href: '/queues',
      });
    return found;
  });
}

function attentionToWebhooks({ webhooks: { failing, givenUp } }: StandingFacts): Attention[] {
  const found: Attention[] = [];
  if (givenUp.length > 0)
    found.push({
      severity: 'bad',
      title: `${counted(givenUp.length, 'endpoint of webhooks was', 'endpoints of webhooks were')} disabled, having failed`,
      detail: `${naming(givenUp)}. Once it answers again, enable it and replay what it has missed.`,
      href: '/webhooks',
    });
  if (failing.length > 0)
    found.push({
      severity: 'warn',
      title: `${counted(failing.length, 'endpoint of webhooks fails', 'endpoints of webhooks fail')}`,
      detail: `${naming(failing)}. Every attempt has failed for an hour or more; the deliveries say why.`,
      href: '/webhooks',
    });
  return found;
}

function attentionToWork({ waiting: { letters, brands, disputes }, held }: StandingFacts): Attention[] {
  const found: Attention[] = [];
  const wait = (count: number, [one, several]: readonly [string, string], href: string, detail: string) => {
    if (count > 0) found.push({ severity: 'warn', title: counted(count, one, several), detail, href });
  };
  const atTheDesk = (count: number) => `A reviewer decides ${count === 1 ? 'it' : 'them'} at the review desk.`;
  wait(letters, ['letter waits', 'letters wait'], '/review', atTheDesk(letters));
  wait(brands, ['brand waits', 'brands wait'], '/review', atTheDesk(brands));
  wait(disputes, ['dispute waits', 'disputes wait'], '/disputes', 'Somebody says that a label is wrong.');
  wait(
    held.operationsFailed,
    ['branding request failed', 'branding requests failed'],
    '/operations?standing=failed',
    'In the last seven days.',
  );
  return found;
}

function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

function naming(names: readonly string[]): string {
  const more = names.length - namedMax;
  return more <= 0 ? names.join(', ') : `${names.slice(0, namedMax).join(', ')} and ${more} more`;
}
