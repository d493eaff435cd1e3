import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import {
  readNight,
  type BuildState,
  type NightReport,
  type NightState,
} from '../../pipelines/caches/night/night-report.ts';
import { releaseHeldFiles } from '../../pipelines/caches/night/night-release.ts';
import {
  evaluationInstant,
  everything,
  parseScope,
  requestNightOnce,
} from '../../pipelines/caches/night/night-request.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { parseId } from '../options.ts';
import { showNightLabels } from '../labels/night-labels.ts';
import { formatBar } from '../progress.ts';
import { formatCount, formatFacts, formatTable, formatTime } from '../table.ts';
import { withQueues, withWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';

const pollMs = 200;

interface RunOptions {
  date?: string;
  only?: string;
  acceptShrink?: boolean;
  key?: string;
  wait: boolean;
}

/** `night run|status|report|labels|release`. */
export function addNightCommands(night: Command): void {
  night
    .command('run')
    .description('run a night now')
    .option('--date <YYYY-MM-DD>', 'evaluate scores and brands as of 01:00 UTC of a past date')
    .option(
      '--only <cache[/country]>',
      'build only this; publishes no label of which a file that is not built has another',
    )
    .option('--accept-shrink', 'publish files that lose more rows than SHRINK_PERCENT_MAX')
    .option('--key <key>', 'idempotency key: the same request under the same key is one night; by default a new one')
    .option('--no-wait', 'return when the night is queued')
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust night run\n  caller-trust night run --only phones/US\n  caller-trust night run --date 2021-07-08 --accept-shrink',
    )
    .action(run(runNight));
  for (const [name, description] of [
    ['status', 'show the progress of a night; by default the latest'],
    ['report', 'show the report of a night; by default the latest'],
  ] as const) {
    night
      .command(name)
      .description(description)
      .option('--run <id>', 'the night of this id', parseId)
      .option('--date <YYYY-MM-DD>', 'the latest night of this date')
      .action(run(showNight));
  }
  night
    .command('labels')
    .description('show the labels that a night saw, from the history of labels; by default the latest')
    .option('--run <id>', 'the night of this id', parseId)
    .option('--save <file>', 'write them to a new file: phone, level, category and source, tab separated')
    .option('--recompute', 'compute those from complaints again, as of then, and fail if one differs')
    .action(runWith(showNightLabels));
  night
    .command('release')
    .description('let files through that gates hold: the next night publishes them')
    .argument('[cache[/country]]', 'which file; by default all that are held')
    .requiredOption('--reason <text>', 'why it is right, kept with the file')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust night release phones/US --reason 'New provider since Monday, ticket 4711'\n  caller-trust night run",
    )
    .action(run((scope: string | undefined, { reason }: { reason: string }) => release(scope, reason)));
}

function release(scopeText: string | undefined, reason: string): Promise<Outcome> {
  const scope = scopeText === undefined ? everything : parseScope(scopeText);
  return withServices(async ({ db, config }) => {
    const released = await releaseHeldFiles(db, { scope, reason, actor: currentActor(), eyes: config });
    const lines = released.map(
      ({ gates, ...artefact }) =>
        `${formatArtefact(artefact)}: ${gates.map(({ reason: why }) => why).join(' ') || 'held with others'}`,
    );
    return { json: released, text: `Released; the next night publishes:\n${lines.join('\n')}` };
  });
}

async function runNight(options: RunOptions): Promise<Outcome> {
  const now = new Date();
  const nightDate = options.date ?? now.toISOString().slice(0, 10);
  const evaluatedAt = evaluationInstant(nightDate, now);
  const scope = options.only === undefined ? everything : parseScope(options.only);
  const key = options.key ?? `cli-${randomUUID()}`;
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { runId, repeated, state } = await requestNightOnce(services.db, {
        key,
        nightDate,
        scope,
        acceptShrink: options.acceptShrink === true,
        evaluatedAt,
        requestedBy: currentActor(),
      });
      if (state === 'finished') return nightOutcome(await readNight(services.db, { runId }));
      await enqueueJob(queues, 'open-night', { runId });
      if (!options.wait)
        return { json: { runId, key, state, repeated }, text: `Night ${runId} is queued under the key ${key}.` };
      return nightOutcome(await withWorker(services, queues, () => untilFinished(services.db, runId)));
    }),
  );
}

async function showNight({ run, date }: { run?: number; date?: string }): Promise<Outcome> {
  if (date !== undefined) evaluationInstant(date, new Date());
  return withServices(async ({ db }) => nightOutcome(await readNight(db, { runId: run, date })));
}

function untilFinished(db: Pool, runId: number): Promise<NightState> {
  return untilEnded({
    read: () => readNight(db, { runId }),
    hasEnded: ({ state }) => state === 'finished',
    describe: describeProgress,
    pollMs,
  });
}

function describeProgress({ runId, state, builds }: NightState): string {
  const expected = builds.reduce((sum, { rowsExpected }) => sum + (rowsExpected ?? 0), 0);
  const written = builds.reduce((sum, { rows }) => sum + (rows ?? 0), 0);
  const ended = builds.filter((build) => build.state !== 'pending' && build.state !== 'running').length;
  if (builds.length === 0) return `night ${runId}: ${state === 'due' ? 'waiting for a worker' : 'opening'}`;
  return `night ${runId} ${formatBar(expected === 0 ? 1 : written / expected)} ${ended} of ${builds.length} files, ${formatCount(written)} rows`;
}

function nightOutcome(night: NightState): Outcome {
  const failed = night.state === 'finished' && night.outcome !== 'ok';
  if (night.report !== null) return { json: night.report, text: formatReport(night.report), failed };
  const facts = formatFacts([
    ['night', `${night.date} (run ${night.runId}, ${night.trigger})`],
    ['state', night.outcome ?? night.state],
    ['failure', night.failure && `${night.failure.reason} [${night.failure.code}]`],
    ['requested', `${formatTime(night.requestedAt)} by ${night.requestedBy}`],
    ['opened', formatTime(night.openedAt)],
    ['attempt', night.generation],
  ]);
  return { json: night, text: night.builds.length === 0 ? facts : `${facts}\n\n${formatBuilds(night.builds)}`, failed };
}

function formatBuilds(builds: readonly BuildState[]): string {
  return formatTable(builds, [
    { title: 'artefact', value: formatArtefact },
    { title: 'state', value: ({ state }) => state },
    { title: 'rows', value: ({ rows }) => rows },
    { title: 'of', value: ({ rowsExpected }) => rowsExpected },
    { title: 'attempts', value: ({ attempts }) => attempts },
    { title: 'failure', value: ({ failureCode }) => failureCode },
  ]);
}

/** The report by which the operator judges tonight's files. */
function formatReport(report: NightReport): string {
  const { night, counts } = report;
  const seconds = (Date.parse(report.finishedAt) - Date.parse(night.openedAt)) / 1000;
  const head = `Night ${night.date} (run ${night.runId}, ${night.trigger}): ${report.outcome}. Snapshot ${formatTime(night.asOf)}, ${seconds.toFixed(1)} s.`;
  const table = formatTable(report.artefacts, [
    { title: 'artefact', value: formatArtefact },
    { title: 'outcome', value: ({ outcome }) => outcome },
    { title: 'version', value: ({ version }) => version },
    { title: 'rows', value: ({ rows }) => rows },
    { title: 'before', value: ({ rowsBefore }) => rowsBefore },
    { title: 'bytes', value: ({ bytes }) => bytes },
    { title: 'plain bytes', value: ({ plainBytes }) => plainBytes },
    { title: 'seconds', value: (artefact) => artefact.seconds?.toFixed(2) },
  ]);
  const reasons = report.artefacts.flatMap(({ failure, ...artefact }) =>
    failure === null ? [] : [`${formatArtefact(artefact)}: ${failure.reason} [${failure.code}]`],
  );
  const lapsed = report.lapsed.map(
    ({ brand, validUntil, numbers }) =>
      `brand ${brand}: ${numbers} numbers left the files, because their letter ended ${formatTime(validUntil)}`,
  );
  const sum = `${counts.published} published, ${counts.unchanged} unchanged, ${counts.failed} failed.`;
  const late = (report.lateFeeds ?? []).map(({ feed, source, lastAt, expectedHours }) => {
    const since = lastAt === null ? 'it never came' : `its last load was submitted ${formatTime(lastAt)}`;
    return `feed ${source === '' ? feed : `${feed}/${source}`}: ALARM: ${since}, and one is expected every ${expectedHours} hours; labels rest on what came before`;
  });
  const trace = report.traceId === undefined ? [] : [`Trace ${report.traceId}.`];
  return [head, '', table, '', ...reasons, ...lapsed, ...late, sum, ...trace].join('\n');
}
