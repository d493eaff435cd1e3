import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorMessageOf, isServiceError } from '../../../runtime/errors.ts';
import type { ModelManifest } from '../models/manifest.ts';
import { AudioRefusal } from '../reasons.ts';
import { OpenModels } from '../scoring/open-models.ts';
import { streamOrderForm, type StreamNews, type StreamOrder } from './stream-scorer-protocol.ts';
import { StreamScoring } from './stream-scoring.ts';

/**
 * The process in which streams are scored, several in turn, a piece of each at a time: `fork` starts it, and it ends with its parent. It has
 * no secrets, no network and no file to write; its death costs nothing, since the parent keeps what came and sends it to another one.
 */

/** Models stay open: a graph must not be closed while a stream uses it, and there are fewer models than this. */
const opened = new OpenModels({ modelsMax: 1000 });

/** Longest text of a refusal or fault that is sent: what the form takes. */
const detailMax = 1000;

interface OpenStream {
  readonly orders: StreamOrder[];
  scoring: StreamScoring | undefined;
  bytes: number;
}

const streams = new Map<number, OpenStream>();
let isRunning = false;

function tell(news: StreamNews): void {
  process.send!(news, undefined, undefined, (error) => {
    if (error !== null) process.exit(1); // the parent is gone
  });
}

function receive(message: unknown): void {
  const order = streamOrderForm.parse(message);
  if (order.kind === 'open') streams.set(order.stream, { orders: [], scoring: undefined, bytes: 0 });
  if (order.kind === 'forget') streams.delete(order.stream);
  else streams.get(order.stream)?.orders.push(order); // an order for a stream that has ended is late
  if (!isRunning) void run();
}

/** One order of each stream in turn, so that one that sends fast does not hold up the others. */
async function run(): Promise<void> {
  isRunning = true;
  for (let worked = true; worked;) {
    worked = false;
    for (const [number, stream] of streams) {
      const order = stream.orders.shift();
      if (order === undefined) continue;
      worked = true;
      await perform(stream, order).catch((error: unknown) => fail(number, error));
      await nextTurn(); // messages are heard in between
    }
  }
  isRunning = false;
}

async function perform(stream: OpenStream, order: StreamOrder): Promise<void> {
  const number = order.stream;
  if (order.kind === 'open') {
    const model = { ...order.model, manifest: order.model.manifest as ModelManifest }; // the parent checked it when it read the registry
    stream.scoring = await StreamScoring.open(
      { ...order, model },
      { opened, onWindow: (window) => tell({ kind: 'window', stream: number, window }) },
    );
  } else if (order.kind === 'audio') {
    await stream.scoring!.push(order.bytes);
    stream.bytes += order.bytes.length;
    tell({ kind: 'taken', stream: number, bytes: stream.bytes, voiceSeconds: stream.scoring!.voiceSeconds });
  } else if (order.kind === 'end') {
    const { channelScores, windows, notes, ...result } = await stream.scoring!.finish();
    streams.delete(number);
    tell({
      kind: 'scored',
      stream: number,
      result: { ...result, channelScores: [...channelScores], windows: [...windows], notes: [...notes] },
    });
  }
}

function fail(stream: number, error: unknown): void {
  streams.delete(stream);
  if (error instanceof AudioRefusal)
    return tell({ kind: 'refused', stream, reason: error.reason, detail: error.detail.slice(0, detailMax) });
  const problem = isServiceError(error) ? error.problem : errorMessageOf(error);
  tell({
    kind: 'failed',
    stream,
    isModelFault: isServiceError(error, 'model_invalid'),
    problem: problem.slice(0, detailMax),
  });
}

// A terminal and systemd signal the whole group: the parent decides what becomes of the streams in hand.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', receive);
tell({ kind: 'ready' });
