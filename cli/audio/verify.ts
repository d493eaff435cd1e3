import { randomUUID } from 'node:crypto';
import { Option, type Command } from 'commander';
import { defaultOwner } from '../../jobs/drop-folder/dropped-recordings.ts';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { hasEnded } from '../../pipelines/audio/batches/batch.ts';
import { batchNameCharactersMax } from '../../pipelines/audio/batches/batch-intake.ts';
import { openItemSource, type ItemSource } from '../../pipelines/audio/batches/batch-list.ts';
import { parseRawAudio } from '../../pipelines/audio/decode/raw-audio.ts';
import { STREAM_ENCODINGS } from '../../pipelines/audio/streaming/stream-format.ts';
import { CHANNEL_MODES, type ChannelMode } from '../../pipelines/audio/verification.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import {
  addOutputOptions,
  openResultOutput,
  outputForm,
  printEnd,
  requireWait,
  type OutputForm,
  type OutputOptions,
} from './batch-output.ts';
import { waitForBatch } from './batch-wait.ts';
import { commandConfig, currentActor, interruption, runCommand, withServices, type Outcome } from '../command.ts';
import { parseCount } from '../options.ts';
import { formatBar, startProgress } from '../progress.ts';
import type { ResultOutput } from '../result-output.ts';
import { formatCount } from '../table.ts';
import { verifyStream, type StreamOptions } from './verify-stream.ts';
import { hasWorker, noWorkerText, withQueues } from '../with-worker.ts';

interface VerifyOptions extends OutputOptions, StreamOptions {
  readonly model?: string;
  readonly channels?: ChannelMode;
  readonly raw?: string;
  readonly owner: string;
  readonly key?: string;
  readonly name?: string;
  readonly wait?: boolean;
  readonly stream?: boolean;
}

const examples = `
A list ends with .csv, .tsv, .jsonl or .ndjson and names a path in each row, relative to the list, with an optional model, name and raw.

Examples:
  caller-trust verify call.wav --wait
  caller-trust verify recordings/ --model phone --wait --csv --output results.csv
  caller-trust verify list.jsonl --key 2026-11-monday
  caller-trust verify legs/ --raw mulaw@8000 --wait
  caller-trust verify call.wav --stream --key-file key
  arecord -f S16_LE -r 16000 -t wav | caller-trust verify - --stream --key-file key`;

/** `verify`. */
export function defineVerify(command: Command): void {
  command
    .argument(
      '<path>',
      'a recording, a folder of recordings, or a list; with --stream a recording, or - for standard input',
    )
    .option('--model <model>', 'such as phone/v8, phone or digital; by default the band of each recording decides')
    .addOption(
      new Option(
        '--channels <mode>',
        'score the channels apart (the two sides of a call; the default), or mixed into one',
      ).choices(CHANNEL_MODES),
    )
    .option(
      '--raw <form>',
      'the recordings have no header: mulaw, alaw, s16le, gsm, g722 or vox, and the rate, such as mulaw@8000',
    )
    .option('--owner <client>', 'whose batch it is, as API keys name the client', defaultOwner)
    .option(
      '--key <key>',
      'idempotency key: the same recordings under the same key are one batch; by default a new one',
    )
    .option('--name <name>', 'name of the batch; by default that of the path')
    .option('--wait', 'wait for the results')
    .option(
      '--stream',
      'send the audio to a console while it is read, and print the scores of its windows as they come',
    )
    .option('--url <url>', 'with --stream: address of the console; by default the one of this machine')
    .option(
      '--key-file <file>',
      'with --stream: file that holds an API key with the scope verifications:stream; by default CALLER_TRUST_KEY',
    )
    .option('--real-time', 'with --stream: send a file no faster than it plays')
    .addOption(
      new Option('--encoding <name>', 'with --stream -: standard input is raw samples; without it, a WAV file').choices(
        STREAM_ENCODINGS,
      ),
    )
    .option('--rate <hertz>', 'with --encoding: their sample rate', parseCount)
    .option('--input-channels <count>', 'with --encoding: their channels, by default 1', parseCount);
  addOutputOptions(command)
    .addHelpText('after', examples)
    .action((path: string, options: VerifyOptions) =>
      runCommand(command, () => verifyCommand(path, options, outputForm(command, options))),
    );
}

async function verifyCommand(path: string, options: VerifyOptions, form: OutputForm): Promise<Outcome> {
  requireMatchingOptions(options);
  if (options.stream === true) return verifyStream(path, { ...options, asText: form === 'table' });
  requireWait('verify', options);
  if (options.name !== undefined && options.name.length > batchNameCharactersMax)
    throw new ServiceError('usage_invalid', {
      operation: 'verify',
      problem: `--name has ${options.name.length} characters, and at most ${batchNameCharactersMax} are kept (batchNameCharactersMax).`,
    });
  const raw = options.raw === undefined ? undefined : parseRawAudio(options.raw);
  const source = await openItemSource(path, commandConfig(), raw);
  const output = await openResultOutput(options);
  try {
    return await verifySource(source, { ...options, form, output });
  } catch (error) {
    await output.discard();
    throw error;
  }
}

/** Refuses stream options without `--stream`, and batch options with it. @throws ServiceError `usage_invalid` */
function requireMatchingOptions(options: VerifyOptions): void {
  const { stream, csv, output, key, wait, raw, url, keyFile, realTime, encoding, rate, inputChannels } = options;
  const given = (names: Record<string, unknown>) =>
    Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const wrong =
    stream === true
      ? given({ '--csv': csv, '--output': output, '--key': key, '--wait': wait, '--raw': raw })
      : given({
          '--url': url,
          '--key-file': keyFile,
          '--real-time': realTime,
          '--encoding': encoding,
          '--rate': rate,
          '--input-channels': inputChannels,
        });
  if (wrong.length === 0) return;
  throw new ServiceError('usage_invalid', {
    operation: 'verify',
    problem: stream === true ? `${wrong[0]} has no meaning with --stream.` : `${wrong[0]} needs --stream.`,
  });
}

async function verifySource(
  source: ItemSource,
  options: Omit<VerifyOptions, 'output'> & { readonly form: OutputForm; readonly output: ResultOutput },
): Promise<Outcome> {
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const { db, config, log } = services;
      const key = options.key ?? `cli-${randomUUID()}`;
      const { batch, repeated } = await withSubmissionProgress(source, key, (onProgress) =>
        requestVerification(
          { db, config, queues, log, onProgress, signal: interruption.signal },
          {
            owner: options.owner,
            key,
            name: options.name ?? source.name,
            requestedBy: currentActor(),
            model: options.model,
            settings: options.channels === undefined ? {} : { channels: options.channels },
            items: source.items(),
          },
        ),
      );
      if (options.wait === true || hasEnded(batch))
        return printEnd(db, await waitForBatch(services, queues, batch), options);
      const { id, state, items } = batch;
      const isPerformed = await hasWorker(queues);
      const text = [
        `Batch ${id} with ${formatCount(items)} ${items === 1 ? 'recording' : 'recordings'} is ${state}, under the key ${key}.`,
        `  caller-trust batch status ${id}     its progress`,
        `  caller-trust batch results ${id}    its results`,
        ...(isPerformed ? [] : [noWorkerText]),
      ].join('\n');
      return {
        json: { batch: { id, key, owner: batch.owner, state, items, repeated }, workerConnected: isPerformed },
        text,
      };
    }),
  );
}

async function withSubmissionProgress<Result>(
  { count }: ItemSource,
  key: string,
  work: (onProgress: (items: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = startProgress();
  try {
    return await work((items) =>
      progress.show(`${formatBar(items / count)} ${formatCount(items)} of ${formatCount(count)} recordings submitted`),
    );
  } catch (error) {
    if (!isServiceError(error, 'interrupted')) throw error;
    throw new ServiceError('interrupted', {
      operation: 'submit recordings',
      hint: `The batch is open: the same command with --key ${key} continues it.`,
    });
  } finally {
    progress.end();
  }
}
