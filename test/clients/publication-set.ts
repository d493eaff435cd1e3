import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { cutSegments } from '../../format/artefact/segment-cutter.ts';
import { compressSegment, SegmentIndexWriter } from '../../format/artefact/segment-index.ts';
import { gzipHeader } from '../../format/gzip/gzip-member.ts';
import { writeGzip, writeMember } from '../../format/gzip/gzip-writing.ts';
import type { Signed } from '../../format/trust/metadata.ts';
import { targetHref, trustPath } from '../../format/trust/targets.ts';
import { buildFilter } from '../../pipelines/caches/artefact/filter-building.ts';
import { differenceOfRows } from '../../pipelines/caches/artefact/row-difference.ts';
import {
  describeKey,
  describeMetadata,
  signMetadata,
  specVersion,
} from '../../pipelines/caches/signing/signed-metadata.ts';
import { sha256Of } from '../../runtime/digest.ts';

/**
 * Sets of published files with their signatures, as a mirror serves them: made from nothing but what is written here, so that each
 * run of the conformance suite has the same bytes.
 */
export type PublicationSet = ReadonlyMap<string, Buffer>;

const columns = ['phone', 'reputation_level', 'reputation_category'].map((name) => ({ name, type: 'text' }));

/** The key of a role, from a seed (RFC 8410). */
function keyOf(seed: number): KeyObject {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  return createPrivateKey({ key: Buffer.concat([prefix, Buffer.alloc(32, seed)]), format: 'der', type: 'pkcs8' });
}

/** Who signs. */
interface Signers {
  readonly root: readonly KeyObject[];
  readonly online: KeyObject;
}

export const signers: Signers = { root: [keyOf(1), keyOf(2), keyOf(3)], online: keyOf(4) };
export const otherSigners: Signers = { root: [keyOf(11), keyOf(12), keyOf(13)], online: keyOf(14) };

/** Rows of a version. */
export const rowCountOf = (version: number) => 33_001 + 7 * version;

/** A listed number that all others begin with. */
export const beginning = '+12025';

/**
 * The rows of a version: another tenth of them has another category in each, and 7 more are there. The first one has a segment of its
 * own, the others 333 or 334 each: so the index has more than one page.
 */
export const rowsOf = onceEach((version) => {
  const lines = Array.from({ length: rowCountOf(version) - 1 }, (_, n) => {
    const category = n % 10 === version % 10 ? 6 : 1 + (n % 4);
    return `+1202${5_000_000 + n * 3}\tSPAM\t${category}\n`;
  });
  return Buffer.from(`${beginning}\tSPAM\t1\n${lines.join('')}`);
});

/** A function of a version that makes what it gives once. */
function onceEach<Made>(make: (version: number) => Made): (version: number) => Made {
  const made = new Map<number, Made>();
  return (version) => {
    if (!made.has(version)) made.set(version, make(version));
    return made.get(version)!;
  };
}

/** A file of rows with its index, and what a manifest says of them. */
export async function writeFile(rows: AsyncIterable<Uint8Array>) {
  const [file, index]: [Uint8Array[], Uint8Array[]] = [[], []];
  const [plain, writer] = [createHash('sha256'), new SegmentIndexWriter()];
  let offset = gzipHeader.length;
  async function* segments() {
    for await (const cut of cutSegments(rows)) {
      plain.update(cut.plain);
      yield { ...cut, sha256: sha256Of(cut.plain) };
    }
  }
  const facts = await writeMember(segments(), {
    write: async (bytes) => void file.push(bytes),
    compress: compressSegment,
    onBlock({ segment }) {
      index.push(writer.add({ ...segment, offset }));
      offset += segment.bytes;
    },
  });
  const end = writer.end();
  return {
    bytes: Buffer.concat(file),
    index: Buffer.concat([...index, end.bytes]),
    facts: { ...facts, plainSha256: plain.digest('hex') },
    indexFacts: end.facts,
  };
}

const makeFile = onceEach((version) => writeFile(once(rowsOf(version))));
const makeFilter = onceEach((version) => filterOf(rowsOf(version)));

function filterOf(rows: Buffer): Buffer {
  const phones = rows.toString().match(/^\+\d+/gm)!;
  return Buffer.from(buildFilter(Float64Array.from(phones, Number), { keyType: 'phone', bits: 8 }));
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** The deltas to a version: that of each step, one after another. */
const makeDeltas = onceEach((to) =>
  Promise.all(
    Array.from({ length: to - 1 }, async (_, at) => {
      const from = to - 1 - at;
      const steps = Array.from(
        { length: to - from },
        (_each, step) => differenceOfRows(rowsOf(from + step), rowsOf(from + step + 1), true).text,
      );
      const parts: Uint8Array[] = [];
      await writeGzip(once(Buffer.concat(steps)), async (bytes) => void parts.push(bytes));
      return { from, bytes: Buffer.concat(parts) };
    }),
  ),
);

/** What is different from an ordinary set. */
export interface Deviations {
  /** Instead of the manifest's entry for the filter. */
  readonly filter?: Readonly<Record<string, unknown>> | null;
  /** Of the manifest's entries for the file and the index. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly index?: Readonly<Record<string, unknown>>;
  /** Changes bytes of files after they were signed. */
  readonly damage?: (kind: 'rows' | 'index' | 'filter' | 'delta' | 'manifest', bytes: Buffer) => Buffer;
  readonly by?: Signers;
  /** The root that the set begins with; default 1, by {@link signers}. */
  readonly roots?: readonly Buffer[];
  /** End of the timestamp, or of the targets. */
  readonly timestampExpires?: string;
  readonly targetsExpires?: string;
  /** Version of the metadata; default: 1000 and the version of the rows. */
  readonly metadataVersion?: number;
}

const later = '2099-01-01T00:00:00Z';

/** The root of a version: whose keys sign, and who signs it. */
export function makeRoot(version: number, of: Signers, by: readonly KeyObject[]): Buffer {
  const described = [...of.root, of.online].map(describeKey);
  const online = { keyids: [described.at(-1)!.keyId], threshold: 1 };
  const signed: Signed<'root'> = {
    _type: 'root',
    spec_version: specVersion,
    version,
    expires: later,
    consistent_snapshot: true,
    keys: Object.fromEntries(described.map(({ keyId, key }) => [keyId, key])),
    roles: {
      root: { keyids: described.slice(0, -1).map(({ keyId }) => keyId), threshold: 2 },
      targets: online,
      snapshot: online,
      timestamp: online,
    },
  };
  return signMetadata(signed, by);
}

/** The root that clients of the suite trust. */
export const anchor = makeRoot(1, signers, signers.root.slice(0, 2));

/** The set of a version of the spammer cache, with the deltas from the versions before. */
export async function makeSet(version: number, deviations: Deviations = {}): Promise<PublicationSet> {
  const { damage = (_kind, bytes) => bytes, by = signers, roots = [anchor] } = deviations;
  const { bytes, index, facts, indexFacts } = await makeFile(version);
  const filter = makeFilter(version);
  const deltas = await makeDeltas(version);
  const manifest = Buffer.from(
    JSON.stringify({
      schema: 'caller-trust/manifest/1',
      cache: 'spammer_phones',
      country: null,
      version,
      rows: rowCountOf(version),
      columns,
      file: { href: '/v1/caches/spammer_phones', mediaType: 'application/gzip', ...facts, ...deviations.file },
      deltas: deltas.map((delta) => ({
        from: delta.from,
        href: `/v1/caches/spammer_phones/delta?from=${delta.from}`,
        bytes: delta.bytes.length,
        sha256: sha256Of(delta.bytes),
        added: 7,
        changed: 0,
        removed: 0,
      })),
      index: { href: '/v1/caches/spammer_phones/index', ...indexFacts, ...deviations.index },
      filter:
        deviations.filter === undefined
          ? { href: '/v1/caches/spammer_phones/filter', sha256: sha256Of(filter), bytes: filter.length }
          : deviations.filter,
    }),
  );
  const files = [
    { path: 'spammer_phones/rows.tsv.gz', kind: 'rows', bytes },
    { path: 'spammer_phones/index.tsv', kind: 'index', bytes: index },
    { path: 'spammer_phones/filter.bin', kind: 'filter', bytes: filter },
    { path: 'spammer_phones/manifest.json', kind: 'manifest', bytes: manifest },
    ...deltas.map((delta) => ({
      path: `spammer_phones/delta-from-${delta.from}.tsv.gz`,
      kind: 'delta' as const,
      bytes: delta.bytes,
    })),
  ] as const;
  const targets = Object.fromEntries(
    files.map(({ path, bytes: content }) => [path, { length: content.length, hashes: { sha256: sha256Of(content) } }]),
  );
  return new Map([
    ...signSet(targets, { version: deviations.metadataVersion ?? 1000 + version, by, deviations }),
    ...roots.map((root, at): [string, Buffer] => [`${trustPath}/${at + 1}.root.json`, root]),
    ...files.map(({ path, kind, bytes: content }): [string, Buffer] => [
      targetHref(path, sha256Of(content)),
      damage(kind, content),
    ]),
  ]);
}

function signSet(
  targets: Signed<'targets'>['targets'],
  { version, by, deviations }: { version: number; by: Signers; deviations: Deviations },
): [string, Buffer][] {
  const common = { spec_version: specVersion, version, expires: later };
  const list = signMetadata({ _type: 'targets', ...common, expires: deviations.targetsExpires ?? later, targets }, [
    by.online,
  ]);
  const snapshot = signMetadata(
    { _type: 'snapshot', ...common, meta: { 'targets.json': describeMetadata(version, list) } },
    [by.online],
  );
  const timestamp = signMetadata(
    {
      _type: 'timestamp',
      ...common,
      expires: deviations.timestampExpires ?? later,
      meta: { 'snapshot.json': describeMetadata(version, snapshot) },
    },
    [by.online],
  );
  return [
    [`${trustPath}/${version}.targets.json`, list],
    [`${trustPath}/${version}.snapshot.json`, snapshot],
    [`${trustPath}/timestamp.json`, timestamp],
  ];
}
