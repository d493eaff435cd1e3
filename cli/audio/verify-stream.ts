import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOfTelephone } from '../../pipelines/audio/decode/recording.ts';
import { AUDIO_REASONS } from '../../pipelines/audio/reasons.ts';
import { StreamClient } from '../../pipelines/audio/streaming/stream-client.ts';
import { frameBytesOf, secondsOf, type StreamEncoding } from '../../pipelines/audio/streaming/stream-format.ts';
import type { ReadyMessage, ServerMessage, WindowMessage } from '../../pipelines/audio/streaming/stream-protocol.ts';
import type { VerificationDetailAnswer } from '../../pipelines/audio/batches/client-verification.ts';
import type { ChannelMode } from '../../pipelines/audio/verification.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { commandConfig, interruption, type Outcome } from '../command.ts';
import { readKeyFile } from '../caches/key-file.ts';
import { startProgress, type Progress } from '../progress.ts';
import { openStreamInput, type StreamInput } from './stream-input.ts';
import { formatTable } from '../table.ts';
import { describeTelephone } from './batch-output.ts';

/** Options of `verify --stream`. */
export interface StreamOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly realTime?: boolean;
  readonly encoding?: StreamEncoding;
  readonly rate?: number;
  readonly inputChannels?: number;
}

interface StreamRequest extends StreamOptions {
  readonly model?: string;
  readonly channels?: ChannelMode;
  readonly name?: string;
  /** Print windows as they arrive; otherwise only the outcome, as JSON. */
  readonly asText: boolean;
}

/**
 * `verify --stream`: sends audio to the console while reading it, and receives the scores of its windows.
 * @throws ServiceError the errors of the console, `stream_lost`, `items_failed` if it could not be scored
 */
export async function verifyStream(path: string, request: StreamRequest): Promise<Outcome> {
  const over = new AbortController();
  try {
    return await streamUntilOver(path, request, over);
  } finally {
    over.abort(); // a pending read of the input would keep the process alive
  }
}

/** `over` fires when the connection has closed. */
async function streamUntilOver(path: string, request: StreamRequest, over: AbortController): Promise<Outcome> {
  const config = commandConfig();
  const key = request.keyFile === undefined ? config.clientKey : await readKeyFile(request.keyFile);
  const url = request.url ?? (await urlOfConsole(config));
  const signal = AbortSignal.any([interruption.signal, over.signal]);
  const input = await openStreamInput(path, request, { config, signal });
  const progress = startProgress();
  const client = new StreamClient({
    url,
    key,
    signal: interruption.signal,
    onMessage: (message) => show(message, progress, request.asText),
    onEnd: (reason) => over.abort(reason),
  });
  try {
    const ready = await client.start({
      model: request.model,
      format: input.format,
      channels: request.channels,
      name: (request.name ?? input.name).slice(-nameCharactersMax),
    });
    if (request.asText) process.stdout.write(`${line(windowTitles)}\n`);
    await sendAll(client, input, { ...ready.limits, realTime: request.realTime === true, signal });
    return outcomeOf(await client.end(), { ready, input, asText: request.asText });
  } finally {
    progress.end();
    client.close();
  }
}

/** Characters kept of a path: its end. */
const nameCharactersMax = 200;

/** The address of this machine's console, from its discovery file. @throws ServiceError `stream_lost` */
async function urlOfConsole({ stateDir }: Config): Promise<string> {
  const text = await readFile(join(stateDir, 'console.json'), 'utf8').catch((cause: unknown) => {
    throw new ServiceError('stream_lost', {
      operation: 'find console',
      problem: 'No console runs with this STATE_DIR.',
      hint: 'Start one with `caller-trust start`, or give its address with --url.',
      cause,
    });
  });
  return (JSON.parse(text) as { url: string }).url;
}

interface Sending extends Pick<ReadyMessage['limits'], 'frameBytesMax'> {
  readonly realTime: boolean;
  /** Fires when the audio is no longer needed. */
  readonly signal: AbortSignal;
}

async function sendAll(
  client: StreamClient,
  { format, pieces }: StreamInput,
  { frameBytesMax, realTime, signal }: Sending,
): Promise<void> {
  const largest = Math.max(1, Math.floor(frameBytesMax / frameBytesOf(format))) * frameBytesOf(format);
  const started = performance.now();
  let sent = 0;
  for await (const piece of pieces()) {
    signal.throwIfAborted();
    for (let at = 0; at < piece.length; at += largest) await client.send(piece.subarray(at, at + largest));
    sent += piece.length;
    const early = secondsOf(sent, format) * 1000 - (performance.now() - started);
    if (realTime && early > 0) await sleep(early, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

const windowTitles = ['channel', 'start', 'end', 'label', 'synthesis', 'replay'];
const windowWidths = [7, 8, 8, 17, 9, 6];

function show(message: ServerMessage, progress: Progress, asText: boolean): void {
  if (!asText) return;
  if (message.type === 'progress')
    progress.show(`${message.receivedSeconds.toFixed(1)} s received, ${message.voiceSeconds.toFixed(1)} s of voice`);
  if (message.type !== 'window') return;
  progress.end();
  process.stdout.write(`${line(windowCells(message))}\n`);
}

function windowCells({ channel, start, end, label, scores }: WindowMessage): string[] {
  return [
    channel === null ? 'mixed' : String(channel),
    start.toFixed(2),
    end.toFixed(2),
    label,
    ...shownScores(scores),
  ];
}

function shownScores(scores: VerificationDetailAnswer['scores']): [string, string] {
  return [scores?.synthesis?.toFixed(3) ?? '-', scores?.replay?.toFixed(3) ?? '-'];
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, at) => (at === 3 ? cell.padEnd(windowWidths[at]!) : cell.padStart(windowWidths[at]!)))
    .join('  ')
    .trimEnd();
}

/** @throws ServiceError `items_failed` */
function outcomeOf(
  verification: VerificationDetailAnswer,
  { ready, input, asText }: { readonly ready: ReadyMessage; readonly input: StreamInput; readonly asText: boolean },
): Outcome {
  const { id, state, model, requestedModel, scores, decision, nextStep, reason, notes } = verification;
  const [synthesis, replay] = shownScores(scores);
  const table = formatTable(
    [verification],
    [
      { title: 'source', value: () => input.name },
      { title: 'model', value: () => model ?? requestedModel },
      { title: 'state', value: () => state },
      { title: 'synthesis', value: () => synthesis },
      { title: 'replay', value: () => replay },
      { title: 'decision', value: () => decision?.label ?? '-' },
      { title: 'next step', value: () => nextStep ?? '-' },
      { title: 'reason', value: () => reason ?? '-' },
    ],
  );
  const telephone = model !== null && isOfTelephone(notes) ? `${describeTelephone(model, 1)}\n` : '';
  if (asText) process.stdout.write(`\n${table}\n\n${telephone}Verification ${id}.\n`);
  else process.stdout.write(`${JSON.stringify({ stream: ready.stream, verification }, null, 2)}\n`);
  if (state === 'error') {
    const facts = reason === null ? undefined : AUDIO_REASONS[reason];
    throw new ServiceError('items_failed', {
      operation: 'verify',
      object: id,
      problem: `The stream could not be scored: ${reason ?? 'unknown'}.`,
      hint: facts?.retry === true ? `\`caller-trust batch retry ${verification.batch}\` tries it again.` : undefined,
    });
  }
  return { json: verification, text: '', written: true };
}
