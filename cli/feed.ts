import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { enqueueFeedLoad } from '../jobs/enqueue.ts';
import { FEEDS } from '../pipelines/intake/feed.ts';
import { listFeedLoads, listFeedRejects, readFeedLoad, submitFeed, type FeedLoad, type FeedReject } from '../pipelines/intake/feed-load.ts';
import type { Pool } from '../runtime/postgres.ts';
import { interruption, runCommand, withServices, type Outcome } from './command.ts';
import { parseCount, parseId } from './options.ts';
import { startProgress } from './progress.ts';
import { formatFacts, formatTable, formatTime } from './table.ts';
import { withQueues, withSomeWorker } from './with-worker.ts';

const pollMs = 100;
const rejectsPage = 1000;

/** `feed load|list|show|rejects`. */
export function addFeedCommands(program: Command): void {
  const feed = program.command('feed').description('load feeds and read what became of them');
  feed
    .command('load')
    .description(`load a file: ${FEEDS.map(({ name }) => name).join(', ')}`)
    .argument('<feed>', 'which feed it is')
    .argument('<file>', 'CSV or TSV, plain or gzipped')
    .option('--no-wait', 'return when the load is queued')
    .addHelpText('after', '\nExamples:\n  caller-trust feed load complaints dnc_complaint_numbers_2021-07-08.csv\n  caller-trust feed load reputation levels.tsv.gz --json')
    .action((name: string, file: string, options: { wait: boolean }, command: Command) => runCommand(command, () => loadFeed(name, file, options.wait)));
  feed
    .command('list')
    .description('list the latest loads')
    .option('--limit <n>', 'at most so many', parseCount, 20)
    .action((options: { limit: number }, command: Command) => runCommand(command, () => withServices(async ({ db }) => listOutcome(await listFeedLoads(db, options)))));
  feed
    .command('show')
    .description('show the report of a load')
    .argument('<load>', 'id of the load', parseId)
    .action((loadId: number, _options: object, command: Command) => runCommand(command, () => withServices(async ({ db }) => loadOutcome(await readFeedLoad(db, loadId)))));
  feed
    .command('rejects')
    .description('print the refused rows of a load with their lines')
    .argument('<load>', 'id of the load', parseId)
    .option('--after <line>', 'only rows after this line', parseCount, 0)
    .option('--limit <n>', 'at most so many; without it all', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust feed rejects 12 --limit 50')
    .action((loadId: number, options: { after: number; limit?: number }, command: Command) =>
      runCommand(command, () => withServices(({ db }) => rejectsOutcome(db, loadId, options))),
    );
}

async function loadFeed(feed: string, path: string, wait: boolean): Promise<Outcome> {
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { db, config } = services;
      const { loadId } = await submitFeed({ db, feedDir: config.feedDir, feed, path, submittedBy: `cli ${userInfo().username}` });
      await enqueueFeedLoad(queues, { loadId });
      if (!wait) return { json: { loadId, state: 'queued' }, text: `Load ${loadId} is queued.` };
      return loadOutcome(await withSomeWorker(services, queues, () => untilLoaded(db, loadId)));
    }),
  );
}

async function untilLoaded(db: Pool, loadId: number): Promise<FeedLoad> {
  const progress = startProgress();
  try {
    for (;;) {
      const load = await readFeedLoad(db, loadId);
      if (load.state === 'done' || load.state === 'failed') return load;
      progress.show(`load ${loadId}: ${load.state}`);
      await sleep(pollMs, undefined, { signal: interruption.signal }).catch(() => interruption.signal.throwIfAborted());
    }
  } finally {
    progress.end();
  }
}

function loadOutcome(load: FeedLoad): Outcome {
  const rejects = Object.entries(load.rejectsByCode).map(([code, rows]) => `${code} ${rows}`);
  const text = formatFacts([
    ['load', load.loadId],
    ['feed', load.feed],
    ['file', load.fileName],
    ['sha256', load.sha256],
    ['state', load.state],
    ['failure', load.failure && `${load.failure.reason} [${load.failure.code}]`],
    ['rows given', load.rowsGiven],
    ['accepted', load.rowsAccepted],
    ['rejected', load.rowsRejected],
    ['rejects', rejects.join(', ')],
    ['superseded', load.rowsSuperseded],
    ['changed', load.rowsChanged],
    ['labels withheld', load.labelsWithheld],
    ['finished', formatTime(load.finishedAt)],
  ]);
  return { json: load, text, failed: load.state === 'failed' };
}

function listOutcome(loads: FeedLoad[]): Outcome {
  const text = formatTable(loads, [
    { title: 'load', value: ({ loadId }) => String(loadId) },
    { title: 'feed', value: ({ feed }) => feed },
    { title: 'state', value: ({ state }) => state },
    { title: 'given', value: ({ rowsGiven }) => rowsGiven },
    { title: 'accepted', value: ({ rowsAccepted }) => rowsAccepted },
    { title: 'rejected', value: ({ rowsRejected }) => rowsRejected },
    { title: 'requested', value: ({ requestedAt }) => formatTime(requestedAt) },
    { title: 'file', value: ({ fileName }) => fileName },
  ]);
  return { json: loads, text };
}

async function rejectsOutcome(db: Pool, loadId: number, { after, limit = Infinity }: { after: number; limit?: number }): Promise<Outcome> {
  await readFeedLoad(db, loadId);
  const rejects: FeedReject[] = [];
  while (rejects.length < limit) {
    const page = await listFeedRejects(db, loadId, { after: rejects.at(-1)?.line ?? after, limit: Math.min(rejectsPage, limit - rejects.length) });
    if (page.length === 0) break;
    rejects.push(...page);
  }
  const text = formatTable(rejects, [
    { title: 'line', value: ({ line }) => String(line) },
    { title: 'code', value: ({ code }) => code },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'row', value: ({ excerpt }) => excerpt },
  ]);
  return { json: rejects, text: rejects.length === 0 ? 'No row was refused.' : text };
}
