import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { findInCopy } from '../../clients/typescript/files/find-in-copy.ts';
import { lookUpKept } from '../../clients/typescript/files/look-up-kept.ts';
import { pull } from '../../clients/typescript/files/pull.ts';
import { isClientError } from '../../format/base/errors.ts';
import { MemoryStore } from '../../clients/typescript/service/byte-store.ts';
import { PublicationTrust } from '../../clients/typescript/service/publication-trust.ts';
import { readFilter } from '../../clients/typescript/service/read-filter.ts';
import { ServiceClient } from '../../clients/typescript/service/service-client.ts';
import { trustPath } from '../../format/trust/targets.ts';
import { sha256Of } from '../../runtime/digest.ts';
import { sendFile } from '../support/mirror.ts';
import {
  anchor,
  beginning,
  makeRoot,
  makeSet,
  otherSigners,
  rowCountOf,
  rowsOf,
  signers,
  type Deviations,
  type PublicationSet,
} from './publication-set.ts';

/** What a client is asked to do with what a server has. */
type Step =
  | { readonly kind: 'pull'; readonly serves: PublicationSet; readonly gives: Outcome }
  | { readonly kind: 'find'; readonly phone: string; readonly gives: Outcome }
  | {
      readonly kind: 'look up';
      readonly serves: PublicationSet;
      readonly phone: string;
      readonly padTo?: number;
      readonly filterFirst?: boolean;
      readonly gives: Outcome;
    }
  | {
      readonly kind: 'read filter';
      readonly serves: PublicationSet;
      readonly probes: readonly string[];
      readonly gives: Outcome;
    };

/** `rows`: the SHA-256 of the copy's text afterwards; `cuts`: of what its index says about segments but for compressed bytes. */
type Outcome = Readonly<Record<string, unknown>>;

interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
}

const textOf = (version: number) => sha256Of(rowsOf(version));
const fileIn = (set: PublicationSet, ending: string) =>
  set.get([...set.keys()].find((path) => path.endsWith(ending))!)!;
const indexOf = (set: PublicationSet) => fileIn(set, '.index.tsv').toString();

/** Of each segment its prefix, plain bytes, rows, CRC and digest, and of each page its prefix: what does not depend on a compressor. */
function cutsIn(index: string): string {
  const fields = index.split('\n').map((line) => line.split('\t'));
  return sha256Of(
    fields.map((of) => (of.length === 8 ? [0, 3, 4, 5, 7] : [0]).map((at) => of[at]).join(' ')).join('\n'),
  );
}
const [first, second, third] = [await makeSet(1), await makeSet(2), await makeSet(3)];
const expired = '2020-01-01T00:00:00Z';

const pulls = (serves: PublicationSet, gives: Outcome): Step => ({ kind: 'pull', serves, gives });
const takes = (serves: PublicationSet, how: string, version: number): Step =>
  pulls(serves, { how, version, refused: false, rows: textOf(version), cuts: cutsIn(indexOf(serves)) });
/** The copy of version 1 stays as it is. */
const refuses = (serves: PublicationSet, error: string): Step => pulls(serves, { error, rows: textOf(1) });
const afterFirst = (...steps: Step[]) => [takes(first, 'full', 1), ...steps];
const without = (set: PublicationSet, ending: string) => new Map([...set].filter(([path]) => !path.endsWith(ending)));
const withFile = (set: PublicationSet, path: string, bytes: Buffer) => new Map([...set, [path, bytes]]);

/** One byte of the kind of file is another one: that at a share of its length. */
const damaging =
  (kind: string, share = 0.5): NonNullable<Deviations['damage']> =>
  (each, bytes) => {
    if (each !== kind) return bytes;
    const damaged = Buffer.from(bytes);
    damaged[Math.floor(damaged.length * share)]! ^= 1;
    return damaged;
  };
/** A byte of each signature of a role is another one. */
function withWrongSignature(set: PublicationSet, path: string): PublicationSet {
  const document = set
    .get(path)!
    .toString()
    .replace(/"sig":"(.)/g, (_, digit) => `"sig":"${digit === '0' ? '1' : '0'}`);
  return withFile(set, path, Buffer.from(document));
}

const [, lastLine = ''] = /([^\n]*)\n$/.exec(rowsOf(3).toString()) ?? [];
const [phone = '', level = '', category = ''] = lastLine.split('\t');
const row = { phone, reputation_level: level, reputation_category: category };
function rowOf(key: string): Record<string, string> {
  const line = rowsOf(3)
    .toString()
    .split('\n')
    .find((each) => each.startsWith(`${key}\t`))!;
  const [, itsLevel = '', itsCategory = ''] = line.split('\t');
  return { phone: key, reputation_level: itsLevel, reputation_category: itsCategory };
}
const damagedDownload = { error: 'download_damaged', rows: null };
const damagedPage = await makeSet(3, { damage: damaging('index', 0.1) });
const damagedDirectory = await makeSet(3, { damage: damaging('index', 0.999) });
const found = { version: 3, row, verified: true };
const absent = { version: 3, row: null, verified: true };
/** Numbers from the first row of the list to the last, between rows, and where the list has no segment. */
const spread = [
  beginning,
  '+12025000000',
  '+12025003702',
  '+12025006401',
  '+12025059990',
  phone,
  '+1202',
  '+4930123456',
];
const padded = (padTo: number): Step[] =>
  spread.map((each) => ({
    kind: 'look up',
    serves: third,
    phone: each,
    padTo,
    gives: rowsOf(3).includes(`${each}\t`) ? { version: 3, row: rowOf(each), verified: true } : absent,
  }));
const listed = rowsOf(3)
  .toString()
  .match(/^\+\d{8,}/gm)!;
/** Numbers that are not listed; the filter finds none of them. */
const unlisted = ['+4930123456', '+12025000001', '+12025000002', '+18005550100'];
const absentEverywhere = [...unlisted, '+1', '+12024999999', `${beginning}9`, `${phone}0`];
/** One of the 1 in 256 that it finds though they are not listed. */
const falseHit = '+12025000020';
const rotated = makeRoot(2, otherSigners, [...signers.root.slice(0, 2), ...otherSigners.root.slice(0, 2)]);

const exactCase = 'looks a number up in the published file';
const paddedCase = 'looks a number up with requests of one length';
const filterFirstCase = 'asks only for a number that the filter finds, and for none where there is no filter';
const indexAsFilter = { href: '/v1/caches/spammer_phones/filter', sha256: '0'.repeat(64), bytes: 1000 };

const cases: readonly Case[] = [
  { name: 'takes the whole file, then nothing', steps: afterFirst(takes(first, 'unchanged', 1)) },
  { name: 'takes a delta', steps: afterFirst(takes(second, 'delta', 2), takes(second, 'unchanged', 2)) },
  { name: 'takes a delta over two versions', steps: afterFirst(takes(third, 'delta', 3)) },
  {
    name: 'finds a number in a copy, whether it was downloaded or made with a delta',
    steps: [
      takes(third, 'full', 3),
      { kind: 'find', phone, gives: found },
      { kind: 'find', phone: beginning, gives: { version: 3, row: rowOf(beginning), verified: true } },
      ...absentEverywhere.map((each): Step => ({ kind: 'find', phone: each, gives: absent })),
    ],
  },
  {
    name: 'finds a number in a copy that a delta made',
    steps: afterFirst(
      takes(third, 'delta', 3),
      { kind: 'find', phone, gives: found },
      ...absentEverywhere.map((each): Step => ({ kind: 'find', phone: each, gives: absent })),
    ),
  },
  {
    name: exactCase,
    steps: [
      { kind: 'look up', serves: third, phone, gives: found },
      ...absentEverywhere.map((each): Step => ({ kind: 'look up', serves: third, phone: each, gives: absent })),
      {
        kind: 'look up',
        serves: third,
        phone: '+12025000000',
        gives: { version: 3, row: rowOf('+12025000000'), verified: true },
      },
    ],
  },
  { name: paddedCase, steps: padded(64) },
  {
    name: filterFirstCase,
    steps: [
      { kind: 'look up', serves: third, phone, filterFirst: true, gives: found },
      ...unlisted.map((each): Step => ({
        kind: 'look up',
        serves: third,
        phone: each,
        filterFirst: true,
        gives: absent,
      })),
      { kind: 'look up', serves: third, phone: falseHit, filterFirst: true, gives: absent },
      {
        kind: 'look up',
        serves: await makeSet(3, { filter: null }),
        phone,
        filterFirst: true,
        gives: { error: 'artefact_not_found', rows: null },
      },
    ],
  },
  {
    name: 'refuses to pad a request to nothing, or to more than 1 GiB',
    steps: [0, 2 ** 30 + 1].map((padTo) => ({
      kind: 'look up',
      serves: third,
      phone,
      padTo,
      gives: { error: 'usage_invalid', rows: null },
    })),
  },
  {
    name: 'finds every number of the list in the filter',
    steps: [
      {
        kind: 'read filter',
        serves: third,
        probes: [...listed, falseHit, ...unlisted],
        gives: {
          version: 3,
          keys: rowCountOf(3),
          found: [...listed.map(() => true), true, ...unlisted.map(() => false)],
        },
      },
    ],
  },
  {
    name: 'refuses a damaged filter, one that is too long, and a version without one',
    steps: (
      [
        ['download_damaged', await makeSet(3, { damage: damaging('filter') })],
        ['filter_invalid', await makeSet(3, { filter: { ...indexAsFilter, bytes: 64 * 1024 * 1024 + 1 } })],
        ['download_damaged', await makeSet(3, { filter: { ...indexAsFilter, sha256: 'no digest' } })],
        ['artefact_not_found', await makeSet(3, { filter: null })],
      ] as const
    ).map(([error, serves]) => ({ kind: 'read filter', serves, probes: [], gives: { error, rows: null } })),
  },
  {
    name: 'refuses the rows of a segment that are not those of the index',
    steps: [
      {
        kind: 'look up',
        serves: await makeSet(3, {
          damage: (kind, bytes) => (kind === 'rows' ? Buffer.alloc(bytes.length, 0x55) : bytes),
        }),
        phone,
        gives: { error: 'segment_index_invalid', rows: null },
      },
    ],
  },
  {
    name: 'says that there is no copy',
    steps: [{ kind: 'find', phone, gives: { error: 'artefact_not_found', rows: null } }],
  },
  {
    name: 'refuses a damaged file',
    steps: [pulls(await makeSet(1, { damage: damaging('rows') }), { error: 'download_damaged', rows: null })],
  },
  {
    name: 'refuses a file and an index that are shorter or longer than they were published',
    steps: await Promise.all(
      (['rows', 'index'] as const).flatMap((damaged) =>
        [(bytes: Buffer) => bytes.subarray(0, -100), (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(100)])].map(
          async (change) =>
            pulls(await makeSet(1, { damage: (kind, bytes) => (kind === damaged ? change(bytes) : bytes) }), {
              error: 'download_damaged',
              rows: null,
            }),
        ),
      ),
    ),
  },
  {
    name: 'takes the whole file instead of a damaged delta',
    steps: afterFirst(
      pulls(await makeSet(2, { damage: damaging('delta') }), {
        how: 'full',
        version: 2,
        refused: true,
        rows: textOf(2),
        cuts: cutsIn(indexOf(second)),
      }),
    ),
  },
  {
    name: 'refuses rows whose digest is not that of the manifest',
    steps: [
      pulls(await makeSet(1, { file: { plainSha256: '0'.repeat(64) } }), { error: 'download_damaged', rows: null }),
    ],
  },
  {
    name: 'refuses rows whose digest is not that of the manifest from a delta, and from the file in its place',
    steps: afterFirst(refuses(await makeSet(2, { file: { plainSha256: '0'.repeat(64) } }), 'download_damaged')),
  },
  {
    name: 'refuses a damaged index, and in a look-up a damaged page or directory that it needs',
    steps: [
      pulls(damagedPage, { error: 'download_damaged', rows: null }),
      { kind: 'look up', serves: damagedPage, phone: '+12025000000', gives: damagedDownload },
      { kind: 'look up', serves: damagedPage, phone, gives: found },
      { kind: 'look up', serves: damagedPage, phone, padTo: 64, gives: damagedDownload },
      { kind: 'look up', serves: damagedDirectory, phone, gives: damagedDownload },
    ],
  },
  {
    name: 'refuses an index whose directory is not that of the manifest',
    steps: [
      {
        kind: 'look up',
        serves: await makeSet(3, { index: { directory: { offset: 0, bytes: 10, sha256: '0'.repeat(64) } } }),
        phone,
        gives: damagedDownload,
      },
    ],
  },
  {
    name: 'refuses a manifest that names a file of another server',
    steps: [
      pulls(await makeSet(1, { file: { href: 'https://elsewhere.example/rows' } }), {
        error: 'download_damaged',
        rows: null,
      }),
    ],
  },
  {
    name: 'refuses a manifest with other bytes',
    steps: afterFirst(refuses(await makeSet(2, { damage: damaging('manifest') }), 'trust_mixed')),
  },
  {
    name: 'refuses an older list',
    steps: [takes(second, 'full', 2), pulls(first, { error: 'trust_older', rows: textOf(2) })],
  },
  {
    name: 'takes an older version that a newer list names: the publisher has said so',
    steps: [takes(second, 'full', 2), takes(await makeSet(1, { metadataVersion: 2000 }), 'full', 1)],
  },
  {
    name: 'refuses an expired timestamp',
    steps: afterFirst(refuses(await makeSet(2, { timestampExpires: expired }), 'trust_expired')),
  },
  {
    name: 'refuses expired targets',
    steps: afterFirst(refuses(await makeSet(2, { targetsExpires: expired }), 'trust_expired')),
  },
  {
    name: 'refuses a snapshot of another set',
    steps: afterFirst(
      refuses(
        withFile(
          second,
          `${trustPath}/1002.snapshot.json`,
          (await makeSet(2, { targetsExpires: '2098-01-01T00:00:00Z' })).get(`${trustPath}/1002.snapshot.json`)!,
        ),
        'trust_mixed',
      ),
    ),
  },
  {
    name: 'refuses targets that are missing',
    steps: afterFirst(refuses(without(second, '1002.targets.json'), 'trust_mixed')),
  },
  {
    name: 'refuses a service that signs no more',
    steps: afterFirst(refuses(without(second, 'timestamp.json'), 'trust_unsigned')),
  },
  {
    name: 'refuses a wrong signature',
    steps: afterFirst(refuses(withWrongSignature(second, `${trustPath}/timestamp.json`), 'trust_invalid')),
  },
  {
    name: 'refuses the signatures of others',
    steps: afterFirst(refuses(await makeSet(2, { by: otherSigners }), 'trust_invalid')),
  },
  {
    name: 'refuses a root with one signature of two',
    steps: [
      takes(first, 'full', 1),
      refuses(
        await makeSet(2, {
          roots: [anchor, makeRoot(2, otherSigners, [signers.root[0]!, ...otherSigners.root])],
          by: otherSigners,
        }),
        'trust_invalid',
      ),
    ],
  },
  {
    name: 'refuses a root that its own keys have not signed',
    steps: afterFirst(
      refuses(
        await makeSet(2, { roots: [anchor, makeRoot(2, otherSigners, signers.root)], by: otherSigners }),
        'trust_invalid',
      ),
    ),
  },
  {
    name: 'refuses a root that leaves a version out',
    steps: afterFirst(
      refuses(
        await makeSet(2, {
          roots: [anchor, makeRoot(3, otherSigners, [...signers.root, ...otherSigners.root])],
          by: otherSigners,
        }),
        'trust_older',
      ),
    ),
  },
  {
    name: 'follows a change of all keys, after which those before sign nothing',
    steps: afterFirst(
      takes(await makeSet(2, { roots: [anchor, rotated], by: otherSigners }), 'delta', 2),
      pulls(await makeSet(3, { roots: [anchor, rotated] }), { error: 'trust_invalid', rows: textOf(2) }),
    ),
  },
];

/** Test vectors of RFC 8032, section 7.1, and what must not pass: another message, another key, a scalar of l or more. */
const vectors = [
  {
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    isValid: true,
  },
  {
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    isValid: true,
  },
  {
    key: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    isValid: true,
  },
  {
    key: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af83',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    isValid: false,
  },
  {
    key: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    isValid: false,
  },
  {
    key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature: `e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155${'f'.repeat(64)}`,
    isValid: false,
  },
];

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-conformance-'));
afterAll(() => rm(directory, { recursive: true }));

// Each step has a path of its own below which its set is served, so that both clients can take the cases in any order.
const ranges: { readonly of: string; readonly step: number; readonly range: string }[] = [];
const rangesOf = (client: Language, name: string, file: 'rows.tsv.gz' | 'index.tsv' = 'rows.tsv.gz') =>
  ranges.filter(({ of }) => of === `${client} ${file} ${name}`);
const server = createServer((request, response) => {
  const [, client = '', at, stepAt, path = ''] = /^\/(\w+)-(\d+)-(\d+)(\/.*)$/.exec(request.url!) ?? [];
  const step = cases[Number(at)]?.steps[Number(stepAt)];
  const { range } = request.headers;
  const file = /\.(rows\.tsv\.gz|index\.tsv)$/.exec(path)?.[1];
  if (range !== undefined && file !== undefined)
    ranges.push({ of: `${client} ${file} ${cases[Number(at)]?.name}`, step: Number(stepAt), range });
  sendFile(request, response, step !== undefined && 'serves' in step ? step.serves.get(path) : undefined);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => void server.close().closeAllConnections());
type Language = 'typescript' | 'python';
const urlOf = (client: Language, at: number, stepAt: number) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/${client}-${at}-${stepAt}`;

async function rowsIn(copies: string): Promise<string | null> {
  const bytes = await readFile(join(copies, 'spammer_phones', 'rows.tsv.gz')).catch(() => null);
  return bytes === null ? null : sha256Of(gunzipSync(bytes));
}

async function cutsOf(copies: string): Promise<string> {
  return cutsIn(await readFile(join(copies, 'spammer_phones', 'index.tsv'), 'utf8'));
}

async function runStep(step: Step, url: string, copies: string): Promise<Outcome> {
  const retryPolicy = { triesMax: 2, firstWaitMs: 10, waitMsMax: 100, silenceMsMax: 5000, bytesPerSecondMin: 1 };
  const client = new ServiceClient({ url, retryPolicy });
  const artefact = { cache: 'spammer_phones', country: '' } as const;
  try {
    if (step.kind === 'pull') {
      const wanted = { caches: ['spammer_phones'], countries: 'all' } as const;
      const [pulled] = await pull({ client, directory: copies, wanted, parallel: 2, trustAnchor: anchor });
      const { how, version, failure, deltaRefused } = pulled!;
      const rows = await rowsIn(copies);
      if (failure !== null) return { error: failure.code, rows };
      return { how, version, refused: deltaRefused !== null, rows, cuts: await cutsOf(copies) };
    }
    if (step.kind === 'find') {
      const { isVerified, ...looked } = await findInCopy({ directory: copies, artefact, phone: step.phone });
      return { ...looked, verified: isVerified };
    }
    if (step.kind === 'read filter') {
      const trust = await PublicationTrust.open({ client, store: new MemoryStore(), anchor });
      const { version, filter } = await readFilter({ client, artefact, trust });
      return { version, keys: filter.facts.keys, found: step.probes.map((each) => filter.has(each)) };
    }
    const {
      version,
      row: its,
      trust,
    } = await lookUpKept({
      client,
      artefact,
      phone: step.phone,
      padTo: step.padTo,
      filterFirst: step.filterFirst,
      trustAnchor: anchor,
    });
    return { version, row: its, verified: trust !== undefined };
  } catch (error) {
    if (!isClientError(error)) throw error;
    return { error: error.code, rows: await rowsIn(copies) };
  }
}

describe('the client in TypeScript', () => {
  it.for(cases.map((each, at) => ({ ...each, at })))('$name', async ({ steps, at }) => {
    for (const [stepAt, step] of steps.entries())
      expect(await runStep(step, urlOf('typescript', at, stepAt), join(directory, String(at)))).toEqual(step.gives);
  });
  itAsksFor('typescript');
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.runIf(hasPython)('the client in Python', async () => {
  const { outcomes, signatures } = hasPython ? await runPython() : { outcomes: [], signatures: [] };

  it.for(cases.map((each, at) => ({ ...each, at })))('$name', ({ steps, at }) => {
    expect(outcomes[at]).toEqual(steps.map(({ gives }) => gives));
  });

  itAsksFor('python');

  it('verifies the signatures of RFC 8032, and no others', () => {
    expect(signatures).toEqual(vectors.map(({ isValid }) => isValid));
  });

  it('is written in the grammar of Python 3.9', async () => {
    const program = 'import ast, sys; ast.parse(sys.stdin.read(), feature_version=(3, 9))';
    const parses = (text: string) => spawnSync('python3', ['-c', program], { input: text }).status === 0;
    expect(parses('with (open("a") as a, open("b") as b): pass\nmatch a:\n  case 1: pass\n')).toBe(false); // of 3.10
    for (const name of ['caller_trust.py', 'wheel_builder.py'])
      expect(parses(await readFile(join(import.meta.dirname, '../../clients/python', name), 'utf8')), name).toBe(true);
  });
});

/** What is on the wire; after the cases. */
function itAsksFor(client: Language): void {
  it('asks for the directory and one page of the index, each with one request', () => {
    const asked = rangesOf(client, exactCase, 'index.tsv');
    const { length } = indexOf(third);
    const ofStep = (step: number) => asked.filter((each) => each.step === step).map(({ range }) => range);
    const [directory, page] = ofStep(0);
    const bytes = [directory, page].map((range) => /^bytes=(\d+)-(\d+)$/.exec(range!)!.slice(1).map(Number));
    expect(bytes[0]![1]).toBe(length - 1);
    expect(bytes[1]![1]).toBe(bytes[0]![0]! - 1); // the last page, for the last number
    expect(bytes[1]![0]).toBeGreaterThan(0);
    const before = 1 + absentEverywhere.indexOf('+12024999999');
    expect(ofStep(before)).toEqual([directory]); // no page has numbers before the first
    const last = cases.find(({ name }) => name === exactCase)!.steps.length - 1;
    expect(ofStep(last)).toEqual([directory, `bytes=0-${bytes[1]![0]! - 1}`]);
  });

  it('asks for ranges of one length on one grid, whatever the number is', () => {
    expect(rangesOf(client, paddedCase, 'index.tsv').map(({ range }) => range)).toEqual(
      spread.map(() => `bytes=0-${indexOf(third).length - 1}`),
    );
    const asked = rangesOf(client, paddedCase);
    expect(asked.map(({ step }) => step)).toEqual(spread.map((_, at) => at)); // once each, listed or not
    const bytes = asked.map(({ range }) => /^bytes=(\d+)-(\d+)$/.exec(range)!.slice(1).map(Number) as [number, number]);
    const file = fileIn(third, 'rows.tsv.gz');
    const [length] = bytes.map(([start, end]) => end + 1 - start);
    expect(Math.log2(length!) % 1).toBe(0);
    expect(bytes.every(([start, end]) => end + 1 - start === length)).toBe(true);
    expect(bytes.every(([start, end]) => start % (length! / 2) === 0 || end + 1 === file.length)).toBe(true);
    expect(new Set(bytes.map(([start]) => start)).size).toBeGreaterThan(1);
    expect(length!).toBeLessThan(file.length);
  });

  it('asks for no rows of a number that the filter does not find', () => {
    const last = cases.find(({ name }) => name === filterFirstCase)!.steps.length - 1;
    expect(rangesOf(client, filterFirstCase).map(({ step }) => step)).toEqual([0, last - 1]);
  });
}

/** All cases in one process. */
async function runPython(): Promise<{ outcomes: Outcome[][]; signatures: boolean[] }> {
  const child = spawn('python3', [
    join(import.meta.dirname, 'conformance_driver.py'),
    join(import.meta.dirname, '../../clients/python'),
  ]);
  const asked = cases.map(({ steps }, at) =>
    steps.map((step, stepAt) => ({ ...step, serves: undefined, gives: undefined, url: urlOf('python', at, stepAt) })),
  );
  child.stdin.end(JSON.stringify({ root: anchor.toString('base64'), cases: asked, vectors }));
  const [out, errors]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(Buffer.concat(errors).toString());
  return JSON.parse(Buffer.concat(out).toString()) as { outcomes: Outcome[][]; signatures: boolean[] };
}
