/**
 * Claim: a client's nightly update by delta takes a small part of the bytes of the whole file, and fewer than rsync or zsync
 * find by comparing blocks, of the compressed file or of the text.
 *
 *   npm run build && node dist/bench/delta.js [rows=2000000] [rounds=3]
 *
 * Every contender is a process of its own, on the same machine as the server; what starting ours takes is measured as well.
 */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, cp, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip } from 'node:zlib';
import { ArtefactDirectory } from '../pipelines/caches/store/artefact-directory.ts';
import type { ArtefactStore } from '../pipelines/caches/store/artefact-store.ts';
import { compareFiles } from '../pipelines/caches/build/delta-files.ts';
import type { StoredDelta } from '../pipelines/caches/artefact-facts.ts';
import type { ArtefactFile } from '../pipelines/caches/artefact-facts.ts';
import { SegmentCutter, type CutSegment } from '../format/artefact/segment-cutter.ts';
import { formatSegmentIndex, type Segment } from '../format/artefact/segment-index.ts';
import { inThread } from '../pipelines/caches/format/segment-threads.ts';
import { SegmentWriter } from '../pipelines/caches/format/segment-writer.ts';
import { startApiService } from './api-service.ts';
import { requirePrograms, runSideBySide, type ChildFigures, type Contender } from './side-by-side.ts';
import { sha256Of } from '../runtime/digest.ts';

const artefact = { cache: 'spammer_phones', country: '' } as const;
const segmentRowsMax = 16_000;
const blockRows = 20_000;

/** Which rows a night changes: of ten of them eight get another level, one is removed, and one is added next to it. */
interface Night {
  readonly share: number;
  readonly pattern: 'clustered' | 'spread';
}

const nights: readonly Night[] = [0.001, 0.01, 0.1].flatMap((share) =>
  (['clustered', 'spread'] as const).map((pattern) => ({ share, pattern })),
);

interface Version {
  readonly file: ArtefactFile;
  readonly segments: readonly Segment[];
  readonly index: { readonly sha256: string; readonly bytes: number };
  readonly rows: number;
}

/** Lines of some rows, as many as fit in one block; `night` absent: the version before. */
function linesOf(from: number, to: number, { rows, night }: { rows: number; night?: Night | undefined }): string[] {
  const lines: string[] = [];
  const gap = Math.floor(7_900_000_000 / rows);
  for (let n = from; n < to; n++) {
    const phone = 2_010_000_000 + n * gap;
    const h = Math.imul(n, 0x9e3779b1) >>> 0;
    const text = `${h % 10 < 6 ? 'NEUTRAL\t\t' : `SPAM\t${1 + ((h >>> 8) % 6)}\t`}${h % 10 < 6 ? `${names[(h >>> 4) % names.length]} ${h % 1000}` : ''}\t${h % 50 === 0 ? 'Customer service, Monday to Friday' : ''}\t\t`;
    const kind = night === undefined ? undefined : changeOf(n, rows, night);
    if (kind === 'add') lines.push(`+1${phone - 1}\tFRAUD\t7\t\t\t\t\n`);
    if (kind !== 'remove')
      lines.push(kind === 'change' ? `+1${phone}\tFRAUD\t${7 + (h % 3)}\t\t\t\t\n` : `+1${phone}\t${text}\n`);
  }
  return lines;
}

const names = [
  'Acme Dental',
  'Lakeside Plumbing',
  'Northern Bank',
  'First Pharmacy',
  'Union Roofing',
  'Cedar Insurance',
  'Harbor Clinic',
  'Summit Motors',
];

function changeOf(n: number, rows: number, { share, pattern }: Night): 'change' | 'remove' | 'add' | undefined {
  const start = Math.floor(rows / 3);
  const touched = pattern === 'clustered' ? n >= start && n < start + rows * share : n % Math.round(1 / share) === 0;
  if (!touched) return undefined;
  const turn = (Math.imul(n, 0x85ebca6b) >>> 16) % 10;
  return turn === 0 ? 'remove' : turn === 1 ? 'add' : 'change';
}

async function writeVersion(store: ArtefactStore, rows: number, night?: Night): Promise<Version> {
  const unfinished = await store.start('bench');
  const writer = await SegmentWriter.begin(unfinished.handle, segmentRowsMax);
  const write = async (cut: CutSegment) =>
    writer.append(await inThread({ kind: 'compress', cut, before: null, profile: 'compact' }));
  const cutter = new SegmentCutter({ regions: ['+'], rowsMax: segmentRowsMax, hasLevels: true });
  for (let from = 0; from < rows; from += blockRows) {
    const lines = linesOf(from, Math.min(rows, from + blockRows), { rows, night });
    const starts = new Int32Array(lines.length + 1);
    lines.forEach((line, at) => (starts[at + 1] = starts[at]! + line.length));
    for (const segment of cutter.push({ plain: Buffer.from(lines.join('')), rows: lines.length, starts }))
      await write(segment);
  }
  for (const segment of cutter.end()) await write(segment);
  const written = await writer.end(null);
  await unfinished.keep({ ...artefact, sha256: written.file.sha256 });
  const text = formatSegmentIndex(written.segments);
  return { ...written, index: { sha256: sha256Of(text), bytes: text.length } };
}

interface Service {
  readonly url: string;
  readonly key: string;
  /** Serves this version from now on. */
  publish(version: Version, number: number, deltas: readonly StoredDelta[]): Promise<void>;
  close(): Promise<unknown>;
}

async function startService(store: ArtefactDirectory): Promise<Service> {
  const { url, key, publish, close } = await startApiService(store);
  return {
    url,
    key,
    async publish({ file, index, segments, rows }, version, deltas) {
      const at = new Date();
      const published = {
        version,
        buildId: version,
        asOf: at,
        builtAt: at,
        publishedAt: at,
        rows,
        levels: {},
        categoriesVersion: 1,
        file,
        index: { ...index, segments: segments.length },
        filter: null,
        deltas,
      };
      const row = { ...artefact, status: 'fresh', stale: null, confirmedAsOf: at, published, previous: null };
      await publish(row);
    },
    close,
  };
}

/** Serves files with single and several ranges, as zsync asks for them, and counts the bytes of the bodies. */
async function startFileServer(directory: string): Promise<{ url: string; bytes: () => number; server: Server }> {
  let bytes = 0;
  const server = createHttpServer(async (request, response) => {
    const path = join(directory, request.url ?? '');
    const { size } = await stat(path);
    const ranges = [...(request.headers.range ?? '').matchAll(/(\d+)-(\d*)/g)].map(([, start, end]) => ({
      start: Number(start),
      end: end === '' ? size - 1 : Math.min(size - 1, Number(end)),
    }));
    const file = await open(path);
    const parts = await Promise.all(
      (ranges.length === 0 ? [{ start: 0, end: size - 1 }] : ranges).map(
        async ({ start, end }) => (await file.read(Buffer.alloc(end - start + 1), 0, end - start + 1, start)).buffer,
      ),
    );
    await file.close();
    const boundary = 'between-parts';
    const body =
      ranges.length < 2
        ? parts[0]!
        : Buffer.concat([
            ...ranges.flatMap(({ start, end }, at) => [
              Buffer.from(
                `\r\n--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${start}-${end}/${size}\r\n\r\n`,
              ),
              parts[at]!,
            ]),
            Buffer.from(`\r\n--${boundary}--\r\n`),
          ]);
    bytes += body.length;
    const one = ranges[0];
    if (one === undefined) response.writeHead(200, { 'Content-Length': body.length });
    else if (ranges.length === 1)
      response.writeHead(206, {
        'Content-Length': body.length,
        'Content-Range': `bytes ${one.start}-${one.end}/${size}`,
      });
    else
      response.writeHead(206, {
        'Content-Length': body.length,
        'Content-Type': `multipart/byteranges; boundary=${boundary}`,
      });
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bytes: () => bytes, server };
}

/** Runs a program to its end; returns what it printed and the CPU time that it used. */
async function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ stdout: string } & ChildFigures> {
  const script = '"$0" "$@"; code=$?; echo; times; exit $code';
  const { stdout } = await promisify(execFile)('bash', ['-c', script, command, ...args], {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [, user = '', system = ''] = /(\S+) (\S+)\n$/.exec(stdout) ?? [];
  const ms = (time: string) =>
    Number(/^(\d+)m/.exec(time)?.[1]) * 60_000 + Number.parseFloat(time.split('m')[1] ?? '0') * 1000;
  return { stdout, cpuMs: ms(user) + ms(system) };
}

interface Scene {
  readonly directory: string;
  readonly service: Service;
  readonly keyFile: string;
  readonly files: {
    readonly old: string;
    readonly fresh: string;
    readonly oldPlain: string;
    readonly freshPlain: string;
  };
  /** Bytes that each contender took, by its name. */
  readonly bytes: Map<string, number>;
}

function pullContender(
  { directory, service, keyFile, bytes }: Scene,
  { name, before }: { name: string; before: string | undefined },
): Contender {
  const copy = join(directory, 'copy');
  return {
    name,
    async prepare() {
      await rm(copy, { recursive: true, force: true });
      if (before !== undefined) await cp(before, copy, { recursive: true, verbatimSymlinks: true });
    },
    async run() {
      const { stdout, ...figures } = await runProgram(
        process.execPath,
        [
          join(import.meta.dirname, '../cli.js'),
          'pull',
          service.url,
          '--dir',
          copy,
          '--cache',
          artefact.cache,
          '--key-file',
          keyFile,
          '--json',
        ],
        directory,
      );
      bytes.set(name, Number(/"bytesReceived": (\d+)/.exec(stdout)?.[1]));
      return figures;
    },
  };
}

function rsyncContender(
  { directory, bytes }: Scene,
  { name, old, fresh, options }: { name: string; old: string; fresh: string; options: readonly string[] },
): Contender {
  const target = join(directory, 'rsync-target');
  return {
    name,
    prepare: () => copyFile(old, target),
    async run() {
      const { stdout, ...figures } = await runProgram(
        'rsync',
        ['--no-whole-file', '--ignore-times', '--stats', ...options, fresh, target],
        directory,
      );
      const sum = [...stdout.matchAll(/^Total bytes (?:sent|received): ([\d,]+)$/gm)].reduce(
        (total, [, count]) => total + Number(count!.replaceAll(',', '')),
        0,
      );
      bytes.set(name, sum);
      return figures;
    },
  };
}

async function zsyncContender({ directory, bytes, files }: Scene, name: string): Promise<Contender> {
  const { url, bytes: served, server } = await startFileServer(directory);
  server.unref();
  await copyFile(files.fresh, join(directory, 'zsync.gz'));
  await runProgram(
    'zsyncmake',
    ['-Z', '-u', `${url}/zsync.gz`, '-o', join(directory, 'zsync.zsync'), join(directory, 'zsync.gz')],
    directory,
  );
  const target = join(directory, 'zsync-target');
  return {
    name,
    prepare: () => rm(target, { force: true }),
    async run() {
      const before = served();
      const { cpuMs } = await runProgram(
        'zsync',
        ['-q', '-i', files.old, '-o', target, `${url}/zsync.zsync`],
        directory,
      );
      bytes.set(name, served() - before);
      return { cpuMs };
    },
  };
}

async function compareNight(scene: Scene, { before, rounds }: { before: string; rounds: number }): Promise<void> {
  const { files } = scene;
  const contenders: Contender[] = [
    pullContender(scene, { name: 'pull, whole file', before: undefined }),
    pullContender(scene, { name: 'pull, delta', before }),
    {
      name: 'start of the program',
      run: async () =>
        runProgram(process.execPath, [join(import.meta.dirname, '../cli.js'), '--version'], scene.directory),
    },
  ];
  const text = { old: files.oldPlain, fresh: files.freshPlain };
  contenders.push(
    rsyncContender(scene, { name: 'rsync of the gzip file', old: files.old, fresh: files.fresh, options: [] }),
    rsyncContender(scene, { name: 'rsync -z of the text', ...text, options: ['-z'] }),
    await zsyncContender(scene, 'zsync of the gzip file'),
  );
  const measured = await runSideBySide(contenders, rounds);
  const whole = measured[0]!;
  for (const { name, wallMs, cpuMs } of measured) {
    const bytes = scene.bytes.get(name) ?? 0;
    console.log(
      `  ${name.padEnd(24)} ${String(bytes).padStart(11)} bytes  x${(bytes / scene.bytes.get(whole.name)!).toFixed(4)}   ${(wallMs / 1000).toFixed(2)} s  x${(wallMs / whole.wallMs).toFixed(2)}   CPU ${(cpuMs / 1000).toFixed(2)} s`,
    );
  }
}

async function main(rows: number, rounds: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-delta-'));
  const store = new ArtefactDirectory(join(directory, 'store'));
  const service = await startService(store);
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, service.key);
  const old = await writeVersion(store, rows);
  const path = ({ file }: Version) => store.path({ ...artefact, sha256: file.sha256 });
  const unpack = (from: string, to: string) => pipeline(createReadStream(from), createGunzip(), createWriteStream(to));
  await service.publish(old, 1, []);
  const before = join(directory, 'before');
  await runProgram(
    process.execPath,
    [
      join(import.meta.dirname, '../cli.js'),
      'pull',
      service.url,
      '--dir',
      before,
      '--cache',
      artefact.cache,
      '--key-file',
      keyFile,
    ],
    directory,
  );
  const oldPlain = join(directory, 'old.tsv');
  await unpack(path(old), oldPlain);
  console.log(
    `${rows} rows, ${old.file.plainBytes} bytes of text, ${old.file.bytes} of gzip, ${old.segments.length} segments`,
  );
  for (const night of nights) {
    const fresh = await writeVersion(store, rows, night);
    const startedAt = performance.now();
    const delta = await compareFiles(
      { store, artefact, owner: 'bench' },
      { version: 1, sha256: old.file.sha256, segments: old.segments },
      { sha256: fresh.file.sha256, segments: fresh.segments },
    );
    const seconds = (performance.now() - startedAt) / 1000;
    await service.publish(fresh, 2, [delta]);
    const freshPlain = join(directory, 'fresh.tsv');
    await unpack(path(fresh), freshPlain);
    console.log(
      `${night.share * 100} % ${night.pattern}: the delta has ${delta.bytes} bytes, made and checked in ${seconds.toFixed(2)} s`,
    );
    await compareNight(
      {
        directory,
        service,
        keyFile,
        bytes: new Map(),
        files: { old: path(old), fresh: path(fresh), oldPlain, freshPlain },
      },
      { before, rounds },
    );
  }
  await service.close();
  await rm(directory, { recursive: true });
}

requirePrograms('rsync', 'zsync');
await main(Number(process.argv[2] ?? 2_000_000), Number(process.argv[3] ?? 3));
