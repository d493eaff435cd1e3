import { InvalidArgumentError, type Command } from 'commander';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { requestFeedLoad } from '../../jobs/queues/feed-producer.ts';
import { ENCODINGS } from '../../pipelines/rows/feed-encoding.ts';
import { FEEDS } from '../../pipelines/feeds/feed.ts';
import {
  decideHeldLoad,
  discardFeedLoad,
  listFeedLoads,
  listFeedRejects,
  readFeedLoad,
  type FeedLoad,
  type FeedReject,
} from '../../pipelines/feeds/feed-load.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { parseCount, parseId } from '../options.ts';
import { readPages } from '../paging.ts';
import { formatFacts, formatTable, formatTime } from '../table.ts';
import { withQueues, withWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';
import type { Services } from '../../runtime/services/services.ts';

interface LoadOptions {
  readonly wait: boolean;
  readonly column: Record<string, string>;
  readonly delimiter?: string;
  readonly source?: string;
  readonly level?: string;
  readonly category?: string;
  readonly country?: string;
  readonly comment?: string;
  readonly encoding?: string;
  readonly dates?: string;
}

const pollMs = 100;

/** `feed load|list|show|rejects|release|discard`. */
export function addFeedCommands(feed: Command): void {
  addLoadCommand(feed);
  feed
    .command('list')
    .description('list the latest loads')
    .option('--limit <n>', 'at most this many', parseCount, 20)
    .action(runWith(async ({ db }, options: { limit: number }) => listOutcome(await listFeedLoads(db, options))));
  feed
    .command('show')
    .description('show the report of a load')
    .argument('<load>', 'id of the load', parseId)
    .action(runWith(async ({ db }, loadId: number) => loadOutcome(await readFeedLoad(db, loadId))));
  feed
    .command('rejects')
    .description('print the refused rows of a load with their lines')
    .argument('<load>', 'id of the load', parseId)
    .option('--after <line>', 'only rows after this line', parseCount, 0)
    .option('--limit <n>', 'at most this many; all by default', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust feed rejects 12 --limit 50')
    .action(runWith(rejectsOutcome));
  feed
    .command('release')
    .description('merge a load that its gates hold')
    .argument('<load>', 'id of the load', parseId)
    .requiredOption('--reason <text>', 'why it is right, kept with the load')
    .option('--no-wait', 'return when the load is queued')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust feed release 12 --reason 'The provider sends three days at once, ticket 4711'",
    )
    .action(runWith(releaseLoad));
  feed
    .command('discard')
    .description('end a load that its gates hold; nothing of it is merged')
    .argument('<load>', 'id of the load', parseId)
    .requiredOption('--reason <text>', 'why, kept with the load')
    .action(runWith(discardLoad));
}

function addLoadCommand(feed: Command): void {
  feed
    .command('load')
    .description(`load a file: ${FEEDS.map(({ name }) => name).join(', ')}`)
    .argument('<feed>', 'which feed it is')
    .argument('<file>', 'CSV or TSV, plain or gzipped')
    .option('--source <name>', 'which provider the file is from; gates compare loads of one source')
    .option('--level <level>', 'level of rows that have none: NEUTRAL, SPAM or FRAUD')
    .option('--category <id|name>', 'category of rows that have none')
    .option('--country <XX>', 'country of numbers in national form; for complaints US by default')
    .option(
      '--column <name=header>',
      "the file's name of a column; with nothing behind = the file has no such column",
      collectColumn,
      {},
    )
    .option('--comment <text>', 'leave out lines that begin so, and empty ones')
    .option('--delimiter <character>', 'separator of fields: , ; | or tab; detected from the header by default')
    .option('--encoding <name>', `${ENCODINGS.join(', ')}; by default as the byte order mark says, else utf-8`)
    .option(
      '--dates <form>',
      'dates with slashes: mdy (month first) or dmy; serial: numbers of a spreadsheet; by default inferred from all dates',
    )
    .option('--no-wait', 'return when the load is queued')
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust feed load complaints dnc_complaint_numbers_2021-07-08.csv\n  caller-trust feed load reputation levels.tsv.gz --json\n' +
        "  caller-trust feed load reputation blocklist.txt --level SPAM --country DE --comment '#' --source example\n" +
        "  caller-trust feed load complaints fcc.csv --source fcc --column 'Company_Phone_Number=Caller ID Number' --column 'Created_Date=Ticket Created' \\\n" +
        "    --column 'Violation_Date=Date of Issue' --column 'Consumer_State=State' --column 'Subject=Issue' --column 'Recorded_Message_Or_Robocall=Type of Call or Messge'",
    )
    .action(run(loadFeed));
}

/** Collects repeated `name=header` options. */
function collectColumn(text: string, columns: Record<string, string>): Record<string, string> {
  const [name = '', ...header] = text.split('=');
  if (name.trim() === '' || header.length === 0) throw new InvalidArgumentError('Write it as NAME=HEADER.');
  return { ...columns, [name.trim()]: header.join('=').trim() };
}

async function loadFeed(
  feed: string,
  path: string,
  { wait, column, delimiter, ...rest }: LoadOptions,
): Promise<Outcome> {
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { db } = services;
      const options = {
        ...rest,
        ...(Object.keys(column).length === 0 ? {} : { columns: column }),
        ...(delimiter === undefined ? {} : { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
      };
      const { loadId } = await requestFeedLoad(
        { ...services, queues },
        { feed, path, submittedBy: currentActor(), options },
      );
      if (!wait) return { json: { loadId, state: 'queued' }, text: `Load ${loadId} is queued.` };
      return loadOutcome(await withWorker(services, queues, () => untilLoaded(db, loadId)));
    }),
  );
}

function releaseLoad(
  services: Services,
  loadId: number,
  { reason, wait }: { reason: string; wait: boolean },
): Promise<Outcome> {
  return withQueues(services, async (queues) => {
    const { db, config } = services;
    await decideHeldLoad({ db, loadId, decision: 'release', reason, actor: currentActor(), eyes: config });
    await enqueueJob(queues, 'load-feed', { loadId });
    if (!wait) return { json: { loadId, state: 'queued' }, text: `Load ${loadId} is released and queued.` };
    return loadOutcome(await withWorker(services, queues, () => untilLoaded(db, loadId)));
  });
}

async function discardLoad({ db, config }: Services, loadId: number, { reason }: { reason: string }): Promise<Outcome> {
  const load = await discardFeedLoad({
    db,
    feedDir: config.feedDir,
    loadId,
    reason,
    actor: currentActor(),
    eyes: config,
  });
  return { json: load, text: `Load ${loadId} is discarded; nothing of it was merged.` };
}

function untilLoaded(db: Pool, loadId: number): Promise<FeedLoad> {
  return untilEnded({
    read: () => readFeedLoad(db, loadId),
    hasEnded: ({ state }) => state !== 'queued' && state !== 'running',
    describe: ({ state }) => `load ${loadId}: ${state}`,
    pollMs,
  });
}

function loadOutcome(load: FeedLoad): Outcome {
  const rejects = Object.entries(load.rejectsByCode).map(([code, rows]) => `${code} ${rows}`);
  const text = formatFacts([
    ['load', load.loadId],
    ['feed', load.feed],
    ['file', load.fileName],
    ['source', load.source],
    ['sha256', load.sha256],
    ['options', Object.keys(load.options).length === 0 ? null : JSON.stringify(load.options)],
    ['dates read as', load.dateForm],
    ['state', load.state],
    ...load.gates.map(({ gate, reason }) => [`gate ${gate}`, reason] as const),
    [
      'decision',
      load.decision &&
        `${load.decision.kind} by ${load.decision.by} at ${formatTime(load.decision.at)}: ${load.decision.reason}`,
    ],
    [
      'to do',
      load.state === 'held'
        ? `\`feed release ${load.loadId} --reason TEXT\` merges it, \`feed discard ${load.loadId} --reason TEXT\` does not`
        : null,
    ],
    ['failure', load.failure && `${load.failure.reason} [${load.failure.code}]`],
    ['rows given', load.rowsGiven],
    ['accepted', load.rowsAccepted],
    ['rejected', load.rowsRejected],
    ['rejects', rejects.join(', ')],
    ['superseded', load.rowsSuperseded],
    ['changed', load.rowsChanged],
    ['too old to count', load.rowsTooOld],
    ['labels withheld', load.labelsWithheld],
    ['finished', formatTime(load.finishedAt)],
  ]);
  return { json: load, text, failed: load.state === 'failed' || load.state === 'held' };
}

function listOutcome(loads: FeedLoad[]): Outcome {
  const text = formatTable(loads, [
    { title: 'load', value: ({ loadId }) => String(loadId) },
    { title: 'feed', value: ({ feed }) => feed },
    { title: 'source', value: ({ source }) => source },
    { title: 'state', value: ({ state }) => state },
    { title: 'given', value: ({ rowsGiven }) => rowsGiven },
    { title: 'accepted', value: ({ rowsAccepted }) => rowsAccepted },
    { title: 'rejected', value: ({ rowsRejected }) => rowsRejected },
    { title: 'requested', value: ({ requestedAt }) => formatTime(requestedAt) },
    { title: 'file', value: ({ fileName }) => fileName },
  ]);
  return { json: loads, text };
}

async function rejectsOutcome(
  { db }: Services,
  loadId: number,
  { after, limit }: { after: number; limit?: number },
): Promise<Outcome> {
  await readFeedLoad(db, loadId);
  const rejects = await readPages<FeedReject>(
    (last, size) => listFeedRejects(db, loadId, { after: last?.line ?? after, limit: size }),
    limit,
  );
  const text = formatTable(rejects, [
    { title: 'line', value: ({ line }) => String(line) },
    { title: 'code', value: ({ code }) => code },
    { title: 'reason', value: ({ reason }) => reason },
    { title: 'row', value: ({ excerpt }) => excerpt },
  ]);
  return { json: rejects, text: rejects.length === 0 ? 'No row was refused.' : text };
}
