import { InvalidArgumentError, Option, type Command } from 'commander';
import { requestRetry } from '../../jobs/queues/verification-producer.ts';
import {
  BATCH_STATES,
  cancelBatch,
  countReasons,
  countStates,
  hasEnded,
  listBatches,
  readBatch,
  type BatchState,
  type StateCounts,
} from '../../pipelines/audio/batches/batch.ts';
import type { Services } from '../../runtime/services/services.ts';
import {
  addOutputOptions,
  batchFacts,
  openResultOutput,
  outputForm,
  printEnd,
  printResults,
  requireWait,
  type OutputForm,
  type OutputOptions,
} from './batch-output.ts';
import { waitForBatch } from './batch-wait.ts';
import { runCommand, runWith, withServices, type Outcome } from '../command.ts';
import { parseCount } from '../options.ts';
import { formatCount, formatFacts, formatTable, formatTime } from '../table.ts';
import { hasWorker, noWorkerText, withQueues } from '../with-worker.ts';

interface ListOptions {
  readonly owner?: string;
  readonly state?: BatchState;
  readonly limit: number;
}

interface ResultOptions extends OutputOptions {
  readonly failed?: boolean;
  readonly wait?: boolean;
}

interface RetryOptions extends OutputOptions {
  readonly all?: boolean;
  readonly wait?: boolean;
}

/** `batch list|status|results|retry|cancel`. */
export function addBatchCommands(batch: Command): void {
  addReadingCommands(batch);
  const retry = batch
    .command('retry')
    .description(
      'queue items again that ended in error, if the cause may lie in the service; a cancelled batch continues',
    )
    .argument('<batch>', 'id of the batch')
    .option('--all', 'also items whose recording is the cause of the error')
    .option('--wait', 'wait for the results');
  addOutputOptions(retry)
    .addHelpText('after', '\nExample:\n  caller-trust batch retry 5f0c2a9e-6a0c-4d5e-9f6e-0d8f4f3f7a10 --wait')
    .action((id: string, options: RetryOptions, command: Command) =>
      runCommand(command, () => retryCommand(id, options, outputForm(command, options))),
    );
  batch
    .command('cancel')
    .description('cancel a batch: items without an outcome end in error')
    .argument('<batch>', 'id of the batch')
    .action(runWith(cancelCommand));
}

function addReadingCommands(batch: Command): void {
  batch
    .command('list')
    .description('list the latest batches')
    .option('--owner <client>', 'only batches of this client')
    .addOption(new Option('--state <state>', 'only batches in this state').choices(BATCH_STATES))
    .option('--limit <n>', 'at most this many', parseLimit, 20)
    .addHelpText('after', '\nExample:\n  caller-trust batch list --state performing')
    .action(runWith(listCommand));
  batch
    .command('status')
    .description('show the progress of a batch')
    .argument('<batch>', 'id of the batch')
    .action(runWith(statusCommand));
  const results = batch
    .command('results')
    .description('print the items of a batch with their outcomes')
    .argument('<batch>', 'id of the batch')
    .option('--failed', 'only items that ended in error')
    .option('--wait', 'wait until it has ended');
  addOutputOptions(results)
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust batch results 5f0c2a9e-6a0c-4d5e-9f6e-0d8f4f3f7a10 --csv --output results.csv',
    )
    .action((id: string, options: ResultOptions, command: Command) =>
      runCommand(command, () => resultsCommand(id, options, outputForm(command, options))),
    );
}

/** A limit of 0 is a mistake. */
function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit === 0) throw new InvalidArgumentError('Give an integer of 1 or more.');
  return limit;
}

async function listCommand({ db }: Services, options: ListOptions): Promise<Outcome> {
  const batches = await listBatches(db, options);
  const text = formatTable(batches, [
    { title: 'batch', value: ({ id }) => id },
    { title: 'state', value: ({ state }) => state },
    { title: 'items', value: ({ items }) => items },
    { title: 'model', value: ({ requestedModel }) => requestedModel },
    { title: 'owner', value: ({ owner }) => owner },
    { title: 'requested', value: ({ requestedAt }) => formatTime(requestedAt) },
    { title: 'name', value: ({ name }) => name },
  ]);
  return {
    json: batches.map(({ batchId: _batchId, settingsSha256: _settings, generation: _generation, ...batch }) => batch),
    text: batches.length === 0 ? 'There is no batch.' : text,
  };
}

async function statusCommand(services: Services, id: string): Promise<Outcome> {
  const { db } = services;
  const batch = await readBatch(db, id);
  const [counts, reasons] = [await countStates(db, batch.batchId), await countReasons(db, batch.batchId)];
  const text = formatFacts([
    ['batch', batch.id],
    ['name', batch.name],
    ['state', batch.state],
    ['owner', batch.owner],
    ['key', batch.key],
    ['model', batch.requestedModel],
    ['phone is', batch.pinned.phone],
    ['digital is', batch.pinned.digital],
    ['release', batch.release],
    ['channels', batch.settings.channels],
    ['items', batch.items],
    ...Object.entries(counts).map(([state, count]) => [`  ${state}`, count] as const),
    ...reasons.map(({ reason, items }) => [`  ${reason}`, items] as const),
    ['requested', `${formatTime(batch.requestedAt)} by ${batch.requestedBy}`],
    ['ended', formatTime(batch.endedAt)],
  ]);
  const isWaiting = batch.state === 'queued' || batch.state === 'performing';
  const workerConnected = isWaiting ? await withQueues(services, hasWorker) : null; // irrelevant once the batch has ended
  const json = {
    ...batchFacts(batch, counts),
    reasons: Object.fromEntries(reasons.map(({ reason, items }) => [reason, items])),
    workerConnected,
  };
  return { json, text: workerConnected === false ? `${text}\n\n${noWorkerText}` : text };
}

async function resultsCommand(id: string, options: ResultOptions, form: OutputForm): Promise<Outcome> {
  return withServices(async (services) => {
    const batch = await readBatch(services.db, id);
    const ended =
      options.wait === true ? await withQueues(services, (queues) => waitForBatch(services, queues, batch)) : batch;
    const request = {
      form,
      output: await openResultOutput(options),
      states: options.failed === true ? (['error'] as const) : undefined,
    };
    return options.wait === true ? printEnd(services.db, ended, request) : printResults(services.db, ended, request);
  });
}

async function retryCommand(id: string, options: RetryOptions, form: OutputForm): Promise<Outcome> {
  requireWait('retry batch', options);
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { db, log } = services;
      const { batch, retried } = await requestRetry({ db, queues, log }, id, { all: options.all === true });
      if (options.wait === true && !hasEnded(batch))
        return printEnd(db, await waitForBatch(services, queues, batch), {
          form,
          output: await openResultOutput(options),
        });
      if (retried === 0)
        return {
          json: { batch: id, retried, state: batch.state },
          text: explainEmptyRetry(id, await countStates(db, batch.batchId)),
        };
      const isPerformed = await hasWorker(queues);
      const text = `${formatCount(retried)} ${retried === 1 ? 'item' : 'items'} of batch ${id} ${retried === 1 ? 'is' : 'are'} queued again.${isPerformed ? '' : ` ${noWorkerText}`}`;
      return { json: { batch: id, retried, state: batch.state, workerConnected: isPerformed }, text };
    }),
  );
}

/** Why nothing was queued again: no item ended in error, or a retry would fail for the same reason. */
function explainEmptyRetry(id: string, { error }: StateCounts): string {
  if (error === 0) return `No item of batch ${id} ended in error: there is nothing to try again.`;
  return `${formatCount(error)} ${error === 1 ? 'item' : 'items'} of batch ${id} ended in error, for causes in the recordings; --all tries ${error === 1 ? 'it' : 'them'} again all the same.`;
}

async function cancelCommand({ db }: Services, id: string): Promise<Outcome> {
  const { cancelled } = await cancelBatch(db, id);
  return {
    json: { batch: id, state: 'cancelled', cancelled },
    text: `Batch ${id} is cancelled; ${formatCount(cancelled)} ${cancelled === 1 ? 'item' : 'items'} had no outcome yet.`,
  };
}
