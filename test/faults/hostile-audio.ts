import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { compiledPath } from '../../runtime/package-root.ts';
import type { DecodeLimits } from '../../pipelines/audio/decode/recording.ts';

/** What the reading process says of a recording; undefined if it died. */
interface HostileAnswer {
  readonly outcome: string;
  readonly detail?: string;
  readonly samples?: number;
  readonly notes?: readonly string[];
  readonly codec?: string;
  /** Processor time: what else runs on the machine does not count. */
  readonly cpuSeconds: number;
  readonly peakBytes: number;
}

/** The limits of the hostile runs; a recording of an hour is too long for them. */
const hostileLimits: DecodeLimits = {
  bytesMax: 16 * 1024 * 1024,
  channelsMax: 8,
  sampleRateMin: 4_000,
  sampleRateMax: 192_000,
  secondsMax: 1_800,
  wallSecondsMax: 100,
};

/** What reading one recording may take of a processor. */
export const cpuSecondsMax = 20;

/** What the process may hold: the limit of a worker. */
export const memoryBytesMax = 300 * 1024 * 1024;

/** Longer than `wallSecondsMax`: a call into the decoder that does not come back ends in a kill. */
const killSeconds = 120;

/** One process that is given recording after recording; a new one when it has died. */
export class RecordingReader {
  private child: ChildProcess | undefined;
  private lines: AsyncIterator<string> | undefined;
  private exit: Promise<string> = Promise.resolve('');
  /** What each process that died said of its end: a signal, or an exit code. */
  readonly deaths: string[] = [];

  async read(path: string, limits: DecodeLimits = hostileLimits): Promise<HostileAnswer | undefined> {
    const child = (this.child ??= this.start());
    child.stdin!.write(`${JSON.stringify({ path, limits })}\n`);
    const timer = setTimeout(() => child.kill('SIGKILL'), killSeconds * 1000);
    const line = await this.lines!.next();
    clearTimeout(timer);
    if (line.done !== true) return JSON.parse(line.value) as HostileAnswer;
    this.deaths.push(await this.exit);
    this.child = undefined;
    return undefined;
  }

  /** Ends the process and starts the next one afresh. */
  async end(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (child === undefined) return;
    child.stdin!.end();
    await this.exit;
  }

  private start(): ChildProcess {
    const script = compiledPath('test/faults/hostile-audio-program');
    const child = spawn(
      '/bin/sh',
      ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, '--max-old-space-size=128', '--no-warnings', script],
      { stdio: ['pipe', 'pipe', 'ignore'], env: {} },
    );
    child.stdin!.on('error', () => {});
    this.exit = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`)));
    this.lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    return child;
  }
}
