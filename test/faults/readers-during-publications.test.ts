import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it, vi } from 'vitest';
import { collectGarbage } from '../../pipelines/caches/store/artefact-check.ts';
import type { ArtefactFile } from '../../pipelines/caches/artefact-facts.ts';
import { applyDeltaFile } from '../../clients/typescript/files/apply-delta-file.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { useTestApi } from '../api/support/running-api.ts';
import { useTestDatabase } from '../support/database.ts';
import { type Figures, inPortions, sizes } from '../support/run-size.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';

const { publications } = sizes;
/** Between two publications. */
const readsEach = 1000;
const readersAtATime = 8;
vi.setConfig({ testTimeout: 300_000 + publications * 10_000 });

const database = await useTestDatabase();
const api = await useTestApi(database);
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-readers-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const path = '/v1/caches/spammer_phones';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** What a reader has: a file with its version. */
interface Held {
  readonly version: number;
  readonly bytes: Buffer;
}

class Reader {
  readonly #choose: Seeded;
  readonly #name: string;
  readonly counts = { full: 0, range: 0, delta: 0, unchanged: 0, applied: 0 };
  readonly mismatched: string[] = [];
  #held: Held | undefined;
  /** The version before, from which deltas are applied. */
  #older: Held | undefined;

  constructor(at: number, seed: number) {
    this.#choose = new Seeded(seed * readersAtATime + at);
    this.#name = join(directory, `reader-${at}`);
  }

  async read(): Promise<void> {
    const kind =
      this.#held === undefined
        ? 'full'
        : this.#choose.pick(['full', 'range', 'range', 'range', 'delta', 'unchanged'] as const);
    this.counts[kind]++;
    if (kind === 'full') this.#held = await this.#readWhole();
    else if (kind === 'range') await this.#readInParts();
    else if (kind === 'unchanged') await this.#ask(this.#held!);
    else if (this.#older !== undefined) await this.#applyDelta(this.#older);
  }

  async #readWhole(): Promise<Held> {
    const answer = await api.get(path);
    return this.#check('full', answer, Buffer.from(await answer.arrayBuffer()));
  }

  /** As a client that was cut off: the rest with If-Range, or the whole of a newer version. */
  async #readInParts(): Promise<void> {
    const head = await api.get(path, {}, 'HEAD');
    const [etag, length] = [head.headers.get('etag')!, Number(head.headers.get('content-length'))];
    const middle = this.#choose.whole(1, length - 1);
    const first = await api.get(path, { range: `bytes=0-${middle - 1}`, 'if-range': etag });
    const start = Buffer.from(await first.arrayBuffer());
    if (first.status === 200) return void (this.#held = this.#check('range', first, start));
    const second = await api.get(path, { range: `bytes=${middle}-`, 'if-range': etag });
    const rest = Buffer.from(await second.arrayBuffer());
    this.#held = this.#check('range', second, second.status === 200 ? rest : Buffer.concat([start, rest]));
  }

  async #ask(held: Held): Promise<void> {
    const answer = await api.get(path, { 'if-none-match': `"${sha256(held.bytes)}"` });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 304) this.#held = this.#check('unchanged', answer, bytes);
  }

  async #applyDelta({ version, bytes }: Held): Promise<void> {
    const manifest = (await (await api.get(`${path}/manifest`)).json()) as { file: ArtefactFile; version: number };
    if (manifest.version === version) return;
    const answer = await api.get(`${path}/delta?from=${version}`);
    const delta = Buffer.from(await answer.arrayBuffer());
    if (answer.status === 410) return; // older than what is kept
    const [oldPath, deltaPath, outputPath] = ['old', 'delta', 'new'].map((part) => `${this.#name}.${part}`) as [
      string,
      string,
      string,
    ];
    await Promise.all([writeFile(oldPath, bytes), writeFile(deltaPath, delta)]);
    if (Number(answer.headers.get('x-cache-version')) !== manifest.version) return; // published in between
    const { plainSha256 } = manifest.file;
    await applyDeltaFile({ oldPath, deltaPath, outputPath, plainSha256 }).catch((error: unknown) => {
      this.mismatched.push(`delta from ${version} to ${manifest.version}: ${String(error)}`);
    });
    this.counts.applied++;
    await rm(outputPath, { force: true });
  }

  #check(kind: string, answer: Response, bytes: Buffer): Held {
    const version = Number(answer.headers.get('x-cache-version'));
    if (answer.headers.get('etag') !== `"${sha256(bytes)}"`) this.mismatched.push(`${kind} of version ${version}`);
    else gunzipSync(bytes);
    if (this.#held !== undefined && this.#held.version !== version) this.#older = this.#held;
    return { version, bytes };
  }
}

const history = new PublishedHistory({
  db: database.db,
  store: api.store,
  artefact: { cache: 'spammer_phones', country: '' },
});

async function publishUnderReaders({ size, seed }: { size: number; seed: number }): Promise<Figures> {
  const choose = new Seeded(seed);
  const publish = async (turn: number) => {
    const changed = choose.below(3000);
    await history.publish(
      inventedRows(3000, (n) => (n % 97 === changed % 97 ? `FRAUD\t${7 + (turn % 4)}` : `SPAM\t${1 + (n % 5)}`)),
      { deltasKept: 4 },
    );
    if (turn % 5 === 0) await collectGarbage({ db: database.db, store: api.store, versionsKept: 3, dryRun: false });
  };
  await publish(0);
  while ((await api.get(path)).status !== 200) await sleep(20);
  const readers = Array.from({ length: readersAtATime }, (_none, at) => new Reader(at, seed));
  let [reads, published] = [0, 1];
  const readAll = async (reader: Reader) => {
    while (reads < size * readsEach) {
      reads++;
      await reader.read();
    }
  };
  const publishAll = async () => {
    for (; published < size; published++) {
      await publish(published);
      while (reads < published * readsEach) await sleep(5);
    }
  };
  await Promise.all([publishAll(), ...readers.map(readAll)]);
  const sum = (kind: keyof Reader['counts']) => readers.reduce((total, { counts }) => total + counts[kind], 0);
  expect(readers.flatMap(({ mismatched }) => mismatched)).toEqual([]);
  expect(sum('range')).toBeGreaterThan(0);
  expect(sum('applied')).toBeGreaterThan(0);
  const counts = { whole: sum('full'), 'in two parts': sum('range'), unchanged: sum('unchanged') };
  return { publications: published, reads, ...counts, 'deltas applied': sum('applied') };
}

it(`${publications} publications under ${publications * readsEach} reads give no reader bytes of two versions`, () =>
  inPortions('publications', { size: publications, portion: 50 }, publishUnderReaders));
