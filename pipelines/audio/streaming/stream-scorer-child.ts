import { setImmediate as nextTurn } from 'node:timers/promises';
import { openParentChannel } from '../../../runtime/processes/parent-channel.ts';
import { OpenModels } from '../scoring/open-models.ts';
import { streamCommandForm, type StreamEvent, type StreamCommand } from './stream-scorer-protocol.ts';
import { StreamScoring } from './stream-scoring.ts';
import { failureOfTask } from '../scoring/scorer-protocol.ts';

// The process that scores streams: several in turn, one message of each at a time. It has no secrets, no network and no writable
// files. If it dies, the parent sends the audio, which it keeps, to another one.

/** Models stay open: a graph must not be closed while a stream uses it, and there are fewer models than this. */
const opened = new OpenModels({ modelsMax: 1000 });

interface ScoredStream {
  readonly commands: StreamCommand[];
  scoring: StreamScoring | undefined;
  bytes: number;
}

const streams = new Map<number, ScoredStream>();
let isRunning = false;

const emit = openParentChannel<StreamEvent>(receive);

function receive(message: unknown): void {
  const command = streamCommandForm.parse(message);
  if (command.kind === 'open') streams.set(command.stream, { commands: [], scoring: undefined, bytes: 0 });
  if (command.kind === 'cancel') streams.delete(command.stream);
  else streams.get(command.stream)?.commands.push(command); // a late command of an ended stream is dropped
  if (!isRunning) void performCommands();
}

/** One command of each stream in turn, so that a fast sender does not delay the others. */
async function performCommands(): Promise<void> {
  isRunning = true;
  for (let worked = true; worked;) {
    worked = false;
    for (const [number, stream] of streams) {
      const command = stream.commands.shift();
      if (command === undefined) continue;
      worked = true;
      await performCommand(stream, command).catch((error: unknown) => refuseStream(number, error));
      await nextTurn(); // messages are received in between
    }
  }
  isRunning = false;
}

async function performCommand(stream: ScoredStream, command: StreamCommand): Promise<void> {
  const number = command.stream;
  if (command.kind === 'open') {
    stream.scoring = await StreamScoring.open(command, {
      opened,
      onWindow: (window) => emit({ kind: 'window', stream: number, window }),
    });
  } else if (command.kind === 'audio') {
    await stream.scoring!.push(command.bytes);
    stream.bytes += command.bytes.length;
    emit({ kind: 'progress', stream: number, bytes: stream.bytes, voiceSeconds: stream.scoring!.voiceSeconds });
  } else if (command.kind === 'end') {
    const { channelScores, windows, notes, ...result } = await stream.scoring!.finish();
    streams.delete(number);
    emit({
      kind: 'scored',
      stream: number,
      result: { ...result, channelScores: [...channelScores], windows: [...windows], notes: [...notes] },
    });
  }
}

function refuseStream(stream: number, error: unknown): void {
  streams.delete(stream);
  emit({ ...failureOfTask(error), stream });
}

emit({ kind: 'ready' });
