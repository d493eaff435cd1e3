import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, crc32, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { lookUpKept } from '../../../../clients/typescript/files/look-up-kept.ts';
import type { TrustReport } from '../../../../clients/typescript/service/publication-trust.ts';
import { pull, type PulledArtefact, type Wanted } from '../../../../clients/typescript/files/pull.ts';
import { parseManifest } from '../../../../clients/typescript/service/manifest.ts';
import { ServiceClient, type RetryPolicy } from '../../../../clients/typescript/service/service-client.ts';
import { parseSegmentIndex, type Segment } from '../../../../format/artefact/segment-index.ts';
import { initTrust, makeRootKeys, rotateTrust } from '../../../../pipelines/caches/signing/ceremony.ts';
import { refreshSignatures, readPresentSet } from '../../../../pipelines/caches/signing/sign-publications.ts';
import { makeOnlineKeys, openOnlineKeys, type OnlineKeys } from '../../../../pipelines/caches/signing/signing-keys.ts';
import { describeKey, describeMetadata, signMetadata } from '../../../../pipelines/caches/signing/signed-metadata.ts';
import { parseMetadata, type Signed } from '../../../../format/trust/metadata.ts';
import { trustPath } from '../../../../format/trust/targets.ts';
import { sha256Of } from '../../../../runtime/digest.ts';
import { inTransaction } from '../../../../runtime/postgres.ts';
import { Vault } from '../../../../runtime/secrets/vault.ts';
import { until, useTestApi } from '../../../api/support/running-api.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { copySigned, useMirror, type Attack, type MirrorState } from '../../../support/mirror.ts';
import { inventedRows, PublishedHistory } from '../../../support/segmented-artefacts.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, get, store, key } = await useTestApi(database);
const mirror = await useMirror();
const root = await mkdtemp(join(tmpdir(), 'caller-trust-attacks-'));
afterAll(() => rm(root, { recursive: true }));

const vault = new Vault(Buffer.alloc(32, 9));
const rootKeys = makeRootKeys(3);
const spammers = new PublishedHistory({ db, store, artefact: { cache: 'spammer_phones', country: '' } });
const american = new PublishedHistory({ db, store, artefact: { cache: 'phones', country: 'US' } });
const profile = () => 'SPAM\t1\t\t\t\t';
const wanted: Wanted = { caches: ['spammer_phones', 'phones'], countries: 'all' };
const hurried: RetryPolicy = {
  triesMax: 3,
  firstWaitMs: 5,
  waitMsMax: 500,
  silenceMsMax: 300,
  bytesPerSecondMin: 1024,
};

const sign = (now = new Date()) => inTransaction(db, (client) => refreshSignatures(client, { vault, now }));

/** What the API serves after what was signed last. */
async function captureState(): Promise<Map<string, Buffer>> {
  const newest = sha256Of((await readPresentSet(db)).timestamp!);
  await until(async () => (await get(`${trustPath}/timestamp.json`)).headers.get('etag') === `"${newest}"`);
  return copySigned((path) => get(path));
}

async function publish(rows: number): Promise<Map<string, Buffer>> {
  const { version } = await spammers.publish(inventedRows(rows));
  await american.publish(inventedRows(rows, profile));
  await until(
    async () => (await get('/v1/caches/spammer_phones', {}, 'HEAD')).headers.get('x-cache-version') === String(version),
  );
  await sign();
  return captureState();
}

await spammers.publish(inventedRows(4000));
await american.publish(inventedRows(4000, profile));
await initTrust({ db, vault, now: new Date() }, { rootKeys, threshold: 2 });
await until(async () => (await get(`${trustPath}/timestamp.json`)).status === 200);
const first = await captureState();
const second = await publish(4100);
const third = await publish(4200);
const anchor = first.get(`${trustPath}/1.root.json`)!;

let directories = 0;
const newDirectory = () => join(root, `copies-${++directories}`);

interface RunOptions {
  readonly directory: string;
  readonly wants?: Wanted;
  readonly at?: string;
  readonly trustAnchor?: Buffer;
}

async function run({
  directory,
  wants = wanted,
  at = mirror.url,
  trustAnchor,
}: RunOptions): Promise<{ pulled: PulledArtefact[]; trust: TrustReport | undefined; bytesReceived: number }> {
  const client = new ServiceClient({ url: at, key, retryPolicy: hurried });
  let trust: TrustReport | undefined;
  const pulled = await pull({
    client,
    directory,
    wanted: wants,
    parallel: 2,
    trustAnchor,
    onTrust: (report) => (trust = report),
  });
  return { pulled, trust, bytesReceived: client.bytesReceived };
}

/** A directory that is up to date with a state. */
async function directoryOf(state: MirrorState): Promise<string> {
  const directory = newDirectory();
  mirror.serve(state);
  const { pulled } = await run({ directory, trustAnchor: anchor });
  expect(pulled.map(({ how }) => how)).toEqual(['full', 'full']);
  return directory;
}

const rowsIn = async (directory: string, name = 'spammer_phones') =>
  gunzipSync(await readFile(join(directory, name, 'rows.tsv.gz')));
const linesIn = async (directory: string, name?: string) =>
  (await rowsIn(directory, name)).toString().split('\n').length - 1;

/** The client refuses what the mirror serves, and its copies and its trust are as they were. */
async function expectRefused(directory: string, code: string): Promise<void> {
  const before = [await rowsIn(directory), await readFile(join(directory, '.trust', 'timestamp.json'))] as const;
  await expect(run({ directory })).rejects.toMatchObject({ code });
  expect((await rowsIn(directory)).equals(before[0])).toBe(true);
  expect((await readFile(join(directory, '.trust', 'timestamp.json'))).equals(before[1])).toBe(true);
}

const pathEnding = (state: MirrorState, ending: string) => [...state.keys()].find((path) => path.endsWith(ending))!;
const rowsPath = (state: MirrorState, cache = 'spammer_phones') =>
  [...state.keys()].find((path) => path.includes(`/${cache}/`) && path.endsWith('.rows.tsv.gz'))!;
const indexPath = (state: MirrorState) =>
  [...state.keys()].find((path) => path.includes('/spammer_phones/') && path.endsWith('.index.tsv'))!;
const manifestPath = (state: MirrorState, cache = 'spammer_phones') =>
  [...state.keys()].find((path) => path.includes(`/${cache}/`) && path.endsWith('.manifest.json'))!;
const signedOf = <R extends 'targets' | 'snapshot' | 'timestamp' | 'root'>(state: MirrorState, role: R): Signed<R> =>
  parseMetadata(role, state.get(role === 'root' ? `${trustPath}/1.root.json` : pathEnding(state, `${role}.json`))!)
    .signed;

/** A set with other content, signed with these keys. */
function forge(
  state: MirrorState,
  keys: OnlineKeys,
  change: { version?: number; targets?: Signed<'targets'>['targets'] },
): Map<string, Buffer> {
  const version = change.version ?? signedOf(state, 'timestamp').version + 1000;
  const targets = signMetadata(
    { ...signedOf(state, 'targets'), version, targets: change.targets ?? signedOf(state, 'targets').targets },
    [keys.targets],
  );
  const snapshot = signMetadata(
    { ...signedOf(state, 'snapshot'), version, meta: { 'targets.json': describeMetadata(version, targets) } },
    [keys.snapshot],
  );
  const timestamp = signMetadata(
    { ...signedOf(state, 'timestamp'), version, meta: { 'snapshot.json': describeMetadata(version, snapshot) } },
    [keys.timestamp],
  );
  return new Map([
    ...state,
    [`${trustPath}/${version}.targets.json`, targets],
    [`${trustPath}/${version}.snapshot.json`, snapshot],
    [`${trustPath}/timestamp.json`, timestamp],
  ]);
}

/** Sends a beginning, and then bytes without end. */
const endless =
  (ending: string): Attack =>
  (request, response) => {
    if (!request.url!.endsWith(ending)) return false;
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (range === null) response.writeHead(200);
    else
      response.writeHead(206, { 'Content-Range': `bytes ${range[1]}-${range[2]}/${third.get(request.url!)!.length}` });
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 0x20)));
    };
    response.on('drain', more);
    more();
    return true;
  };

/** Sends a byte now and then. */
const trickling =
  (ending: string): Attack =>
  (request, response) => {
    if (!request.url!.endsWith(ending)) return false;
    const file = third.get(request.url!)!;
    const [, start = '0', end = String(file.length - 1)] =
      /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const isRange = request.headers.range !== undefined;
    response.writeHead(
      isRange ? 206 : 200,
      isRange ? { 'Content-Range': `bytes ${start}-${end}/${file.length}` } : { 'Content-Length': file.length },
    );
    let at = Number(start);
    const timer = setInterval(() => response.write(file.subarray(at, ++at)), 20);
    response.on('close', () => clearInterval(timer));
    return true;
  };

describe('a mirror of static files', () => {
  it('serves everything: whole files, deltas, look-ups, and nothing where nothing changed', async () => {
    const directory = await directoryOf(first);
    expect(await linesIn(directory)).toBe(4000);
    mirror.serve(third);
    const { pulled, trust } = await run({ directory });
    expect(pulled.map(({ how, from, version }) => [how, from, version])).toEqual([
      ['delta', 1, 3],
      ['delta', 1, 3],
    ]);
    expect(trust).toMatchObject({ rootVersion: 1, firstUse: false, anchorSha256: sha256Of(anchor) });
    expect(await linesIn(directory, 'phones-US')).toBe(4200);
    mirror.serve(third);
    expect((await run({ directory })).pulled.map(({ how }) => how)).toEqual(['unchanged', 'unchanged']);
    expect(mirror.requests).toEqual([`${trustPath}/2.root.json`, `${trustPath}/timestamp.json`]);
    const client = new ServiceClient({ url: mirror.url, key, retryPolicy: hurried });
    const artefact = { cache: 'spammer_phones', country: '' } as const;
    const phone = (await rowsIn(directory)).toString().split('\t')[0]!;
    expect((await lookUpKept({ client, artefact, phone, trustAnchor: anchor })).row).toMatchObject({ phone });
    expect((await lookUpKept({ client, artefact, phone: '+12', directory: newDirectory() })).row).toBeNull();
  });

  it('gives the same as the service itself', async () => {
    const directory = newDirectory();
    const { pulled, trust } = await run({ directory, at: url });
    expect(pulled.map(({ how, version }) => [how, version])).toEqual([
      ['full', 3],
      ['full', 3],
    ]);
    expect(trust).toMatchObject({ firstUse: true, anchorSha256: sha256Of(anchor) });
    expect((await run({ directory, at: url })).trust?.firstUse).toBe(false);
  });
});

describe('arbitrary installation', () => {
  it('of other rows fails, and the copy stays', async () => {
    const directory = await directoryOf(second);
    const evil = Buffer.from(gzipSync(inventedRows(10, () => 'NEUTRAL\t')));
    mirror.serve(new Map([...third, [rowsPath(third), evil], ...deltasOf(third).map((path) => [path, evil] as const)]));
    const { pulled } = await run({ directory });
    expect(pulled.map(({ failure }) => failure?.code).sort()).toEqual(['download_damaged', undefined]);
    expect(await linesIn(directory)).toBe(4100);
  });

  it('of other rows with the right length fails for a new client too, which is left with nothing', async () => {
    const directory = newDirectory();
    const evil = Buffer.from(third.get(rowsPath(third))!);
    evil[evil.length >> 1]! ^= 1;
    mirror.serve(new Map([...third, [rowsPath(third), evil]]));
    const { pulled } = await run({ directory, wants: { caches: ['spammer_phones'], countries: 'all' } });
    expect(pulled).toMatchObject([{ how: 'failed', failure: { code: 'download_damaged' } }]);
    expect((await readdir(directory)).includes('spammer_phones')).toBe(false);
  });

  it('by a list that is signed with other keys is refused', async () => {
    const directory = await directoryOf(second);
    mirror.serve(forge(third, makeOnlineKeys(), {}));
    await expectRefused(directory, 'trust_invalid');
  });

  it('by a changed list or a changed signature is refused', async () => {
    const directory = await directoryOf(second);
    const timestamp = third.get(`${trustPath}/timestamp.json`)!.toString();
    for (const changed of [
      timestamp.replace(/"version":(\d+)}}/, '"version":9999999999}}'),
      timestamp.replace(/"sig":"[0-9a-f]{2}/, '"sig":"00'),
      timestamp.replace(/"signatures":\[[^\]]*\]/, '"signatures":[]'),
      '{}',
      'not JSON',
      '',
    ]) {
      expect(changed).not.toBe(timestamp);
      mirror.serve(new Map([...third, [`${trustPath}/timestamp.json`, Buffer.from(changed)]]));
      await expectRefused(directory, 'trust_invalid');
    }
  });

  it.each(['other bytes', 'rows with the CRC of the true ones'])(
    'by %s in the answer to a look-up is refused',
    async (kind) => {
      const client = new ServiceClient({ url: mirror.url, key, retryPolicy: hurried });
      const artefact = { cache: 'spammer_phones', country: '' } as const;
      const path = rowsPath(third);
      const file = third.get(path)!;
      const phone = gunzipSync(file).toString().split('\t')[0]!;
      mirror.serve(third);
      expect((await lookUpKept({ client, artefact, phone, trustAnchor: anchor })).row).not.toBeNull();
      const { index } = parseManifest(JSON.parse(third.get(manifestPath(third))!.toString()));
      const [segment] = parseSegmentIndex(third.get(indexPath(third))!, index);
      const block = kind === 'other bytes' ? Buffer.alloc(segment!.bytes, 0x55) : withSameCrc(segment!);
      const forged = Buffer.from(file);
      block.copy(forged, segment!.offset);
      mirror.serve(new Map([...third, [path, forged]]));
      await expect(lookUpKept({ client, artefact, phone, trustAnchor: anchor })).rejects.toMatchObject({
        code: 'segment_index_invalid',
      });
    },
  );
});

/** The CRC-32 of each byte alone, as the register of its computation has it. */
const byteCrcs = Array.from({ length: 256 }, (_, byte) => (~crc32(Buffer.of(byte ^ 0xff)) ^ 0xffffff) >>> 0);

/** Another text with the length and the CRC-32 of a segment, as a block of its length. */
function withSameCrc({ plainBytes, bytes, crc }: Segment): Buffer {
  for (let varied = 0; ; varied++) {
    const text = Buffer.from(Array.from({ length: plainBytes }, (_, at) => (at < varied ? (at * 167) % 256 : 0x78)));
    let register = ~crc >>> 0;
    for (let back = 0; back < 4; back++) {
      const byte = byteCrcs.findIndex((each) => each >>> 24 === register >>> 24);
      register = (((register ^ byteCrcs[byte]!) << 8) | byte) >>> 0;
    }
    text.writeUInt32LE((register ^ ~crc32(text.subarray(0, -4))) >>> 0, plainBytes - 4);
    expect(crc32(text)).toBe(crc);
    const block = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
    const missing = bytes - block.length;
    if (missing % 5 === 0) return Buffer.concat([block, Buffer.from('000000ffff'.repeat(missing / 5), 'hex')]); // empty blocks
  }
}

function deltasOf(state: MirrorState): string[] {
  return [...state.keys()].filter((path) => path.includes('.delta-from-'));
}

describe('endless data', () => {
  it.each([
    ['timestamp.json', 16 * 1024],
    ['2.root.json', 512 * 1024],
    ['.snapshot.json', 8 * 1024],
    ['.targets.json', 64 * 1024],
  ])('instead of %s is cut at its limit', async (ending, bytesMax) => {
    const directory = await directoryOf(second);
    mirror.serve(third, endless(ending));
    const client = new ServiceClient({ url: mirror.url, key, retryPolicy: hurried });
    await expect(pull({ client, directory, wanted, parallel: 2 })).rejects.toMatchObject({ code: 'download_damaged' });
    expect(client.bytesReceived).toBeLessThan(bytesMax + 256 * 1024);
    expect(await linesIn(directory)).toBe(4100);
  });

  it.each(['.manifest.json', '.rows.tsv.gz'])('instead of %s is cut, and the artefact fails', async (ending) => {
    const directory = newDirectory();
    mirror.serve(third, endless(ending));
    const { pulled, bytesReceived } = await run({ directory, trustAnchor: anchor });
    expect(pulled.map(({ how }) => how)).toEqual(['failed', 'failed']);
    expect(bytesReceived).toBeLessThan(2 * 1024 * 1024);
  });
});

describe('extraneous dependencies', () => {
  it('are not taken: of an artefact that the list does not name nothing is asked for', async () => {
    const directory = await directoryOf(second);
    const manifests = Buffer.from(JSON.stringify({ schema: 'caller-trust/manifests/1', manifests: [] }));
    mirror.serve(new Map([...third, ['/v1/caches', manifests]]));
    const { pulled } = await run({ directory, wants: { caches: ['phones', 'spam_ranges'], countries: ['US', 'CA'] } });
    expect(pulled.map(({ how, failure }) => [how, failure?.code])).toEqual([
      ['delta', undefined],
      ['failed', 'artefact_not_found'],
      ['failed', 'artefact_not_found'],
    ]);
    expect(mirror.requests.filter((path) => /^\/v1\/caches|\/CA\/|spam_ranges/.test(path))).toEqual([]);
  });
});

describe('rollback', () => {
  it('to an earlier set is refused', async () => {
    const directory = await directoryOf(third);
    mirror.serve(second);
    await expectRefused(directory, 'trust_older');
  });

  it('to an earlier snapshot under a newer timestamp is refused, also with its key', async () => {
    const directory = await directoryOf(third);
    const keys = await onlineKeys();
    const timestamp = signMetadata(
      { ...signedOf(second, 'timestamp'), version: signedOf(third, 'timestamp').version + 1 },
      [keys.timestamp],
    );
    mirror.serve(new Map([...second, [`${trustPath}/timestamp.json`, timestamp]]));
    await expectRefused(directory, 'trust_older');
  });

  it('to earlier targets under a newer snapshot is refused, also with the keys of timestamp and snapshot', async () => {
    const directory = await directoryOf(third);
    const keys = await onlineKeys();
    const version = signedOf(third, 'snapshot').version + 5;
    const snapshot = signMetadata({ ...signedOf(second, 'snapshot'), version }, [keys.snapshot]);
    const timestamp = signMetadata(
      {
        ...signedOf(second, 'timestamp'),
        version: signedOf(third, 'timestamp').version + 5,
        meta: { 'snapshot.json': describeMetadata(version, snapshot) },
      },
      [keys.timestamp],
    );
    mirror.serve(
      new Map([
        ...second,
        [`${trustPath}/${version}.snapshot.json`, snapshot],
        [`${trustPath}/timestamp.json`, timestamp],
      ]),
    );
    await expectRefused(directory, 'trust_older');
  });

  it('of the root is refused', async () => {
    const directory = await directoryOf(third);
    mirror.serve(new Map([...third, [`${trustPath}/2.root.json`, anchor]]));
    await expectRefused(directory, 'trust_older');
  });
});

async function onlineKeys(): Promise<OnlineKeys> {
  return openOnlineKeys(db, vault, parseMetadata('root', (await readPresentSet(db)).root!).signed);
}

describe('indefinite freeze', () => {
  it('at a set that is not renewed ends when the timestamp expires', async () => {
    const directory = await directoryOf(third);
    const keys = await onlineKeys();
    const version = signedOf(third, 'timestamp').version + 1;
    const expiring = (expires: Date) =>
      signMetadata({ ...signedOf(third, 'timestamp'), version, expires: `${expires.toISOString().slice(0, 19)}Z` }, [
        keys.timestamp,
      ]);
    mirror.serve(new Map([...third, [`${trustPath}/timestamp.json`, expiring(new Date(Date.now() - 1000))]]));
    await expectRefused(directory, 'trust_expired');
    mirror.serve(new Map([...third, [`${trustPath}/timestamp.json`, expiring(new Date(Date.now() + 60_000))]]));
    expect((await run({ directory })).pulled.map(({ how }) => how)).toEqual(['unchanged', 'unchanged']);
  });

  it('is refused where the timestamp is the one that the client has', async () => {
    const directory = await directoryOf(third);
    const keys = await onlineKeys();
    const late = signMetadata({ ...signedOf(third, 'timestamp'), expires: '2026-01-01T00:00:00Z' }, [keys.timestamp]);
    await writeFile(join(directory, '.trust', 'timestamp.json'), late);
    mirror.serve(new Map([...third, [`${trustPath}/timestamp.json`, late]]));
    await expectRefused(directory, 'trust_expired');
  });
});

describe('mix-and-match', () => {
  it('of metadata from two sets is refused', async () => {
    const directory = await directoryOf(first);
    const [snapshot, targets] = [pathEnding(third, '.snapshot.json'), pathEnding(third, '.targets.json')];
    for (const mixed of [
      new Map([...third, [snapshot, second.get(pathEnding(second, '.snapshot.json'))!]]),
      new Map([...third, [targets, second.get(pathEnding(second, '.targets.json'))!]]),
      new Map([...third].filter(([path]) => path !== snapshot)),
      new Map([...third].filter(([path]) => path !== targets)),
    ]) {
      mirror.serve(mixed);
      await expectRefused(directory, 'trust_mixed');
    }
  });

  it('of a manifest or a file from an earlier set fails that artefact alone', async () => {
    const directory = newDirectory();
    mirror.serve(new Map([...third, [manifestPath(third), second.get(manifestPath(second))!]]));
    expect(
      (await run({ directory, trustAnchor: anchor })).pulled.map(({ cache, failure }) => [cache, failure?.code]),
    ).toEqual([
      ['phones', undefined],
      ['spammer_phones', 'trust_mixed'],
    ]);
    mirror.serve(new Map([...third, [rowsPath(third), second.get(rowsPath(second))!]]));
    const { pulled } = await run({ directory });
    expect(pulled.map(({ how }) => how)).toEqual(['unchanged', 'failed']);
  });
});

describe('wrong software', () => {
  it('a manifest or a file of another artefact fails', async () => {
    const directory = newDirectory();
    mirror.serve(new Map([...third, [manifestPath(third, 'phones'), third.get(manifestPath(third))!]]));
    const { pulled } = await run({ directory, trustAnchor: anchor });
    expect(pulled.map(({ failure }) => failure?.code)).toEqual(['trust_mixed', undefined]);
    mirror.serve(new Map([...third, [rowsPath(third, 'phones'), third.get(rowsPath(third))!]]));
    expect((await run({ directory })).pulled.map(({ how }) => how)).toEqual(['failed', 'unchanged']);
    expect((await readdir(directory)).includes('phones-US')).toBe(false);
  });
});

describe('malicious mirrors', () => {
  it.each<[string, Attack]>([
    ['refuses everything', (_request, response) => response.writeHead(403).end() === response],
    ['is not there', (request) => request.socket.destroy() === request.socket],
    [
      'has lost the files',
      (request, response) => request.url!.includes('/targets/') && response.writeHead(404).end() === response,
    ],
  ])('one that %s keeps no client from another', async (_what, attack) => {
    const directory = await directoryOf(second);
    mirror.serve(third, attack);
    const outcome = await run({ directory }).then(
      ({ pulled }) => pulled.every(({ how }) => how === 'failed'),
      () => true,
    );
    expect([outcome, await linesIn(directory)]).toEqual([true, 4100]);
    mirror.serve(third);
    expect((await run({ directory })).pulled.map(({ how }) => how)).toEqual(['delta', 'delta']);
  });

  it('one that serves nothing signed is refused by who has seen signatures, or was given a root', async () => {
    const directory = await directoryOf(second);
    const unsigned = new Map([...third].filter(([path]) => path.includes('/targets/')));
    mirror.serve(unsigned);
    await expectRefused(directory, 'trust_unsigned');
    await expect(run({ directory: newDirectory(), trustAnchor: anchor })).rejects.toMatchObject({
      code: 'trust_unsigned',
    });
    const stranger = newDirectory();
    expect(
      (await run({ directory: stranger, wants: { caches: ['spammer_phones'], countries: 'all' } })).trust,
    ).toBeUndefined();
  });

  it('one with a root of its own is refused by who was given another one', async () => {
    const keys = makeRootKeys(1);
    const online = makeOnlineKeys();
    const ownRoot: Signed<'root'> = {
      ...signedOf(third, 'root'),
      keys: Object.fromEntries(
        [...keys, ...Object.values(online)].map((each) => [describeKey(each).keyId, describeKey(each).key]),
      ),
      roles: {
        root: { keyids: [describeKey(keys[0]!).keyId], threshold: 1 },
        targets: { keyids: [describeKey(online.targets).keyId], threshold: 1 },
        snapshot: { keyids: [describeKey(online.snapshot).keyId], threshold: 1 },
        timestamp: { keyids: [describeKey(online.timestamp).keyId], threshold: 1 },
      },
    };
    const own = signMetadata(ownRoot, keys);
    const state = new Map([...forge(third, online, {}), [`${trustPath}/1.root.json`, own]]);
    mirror.serve(state);
    await expect(run({ directory: newDirectory(), trustAnchor: anchor })).rejects.toMatchObject({
      code: 'trust_invalid',
    });
    const second = signMetadata({ ...ownRoot, version: 2 }, keys);
    mirror.serve(new Map([...state, [`${trustPath}/2.root.json`, second]]));
    await expect(run({ directory: newDirectory(), trustAnchor: anchor })).rejects.toMatchObject({
      code: 'trust_invalid',
    });
    // At a first use without a root only the digest that is shown distinguishes the two.
    const { trust } = await run({ directory: newDirectory() });
    expect(trust).toMatchObject({ firstUse: true, anchorSha256: sha256Of(own) });
    const pinned = await directoryOf(third);
    await expect(run({ directory: pinned, trustAnchor: own })).rejects.toMatchObject({ code: 'usage_invalid' });
  });
});

describe('slow retrieval', () => {
  it.each(['timestamp.json', '.targets.json'])('of %s is given up', async (ending) => {
    const directory = await directoryOf(second);
    mirror.serve(third, trickling(ending));
    const started = performance.now();
    await expectRefused(directory, 'download_failed');
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it('of a file is given up, although every connection brings some bytes', async () => {
    const directory = newDirectory();
    mirror.serve(third, trickling('.rows.tsv.gz'));
    const started = performance.now();
    const { pulled } = await run({ directory, trustAnchor: anchor });
    expect(pulled.map(({ failure }) => failure?.code)).toEqual(['download_failed', 'download_failed']);
    expect(performance.now() - started).toBeLessThan(8000);
    mirror.serve(third);
    expect((await run({ directory })).pulled.map(({ how }) => how)).toEqual(['full', 'full']);
  });
});

// These change the keys of the service, so they come last.
describe('a key that others have', () => {
  it('of the timestamp alone changes no file, and of the root alone makes no root', async () => {
    const directory = await directoryOf(second);
    const keys = await onlineKeys();
    const evil = Buffer.from(gzipSync('+12025550100\tFRAUD\t7\n'));
    const targets = {
      ...signedOf(third, 'targets').targets,
      'spammer_phones/rows.tsv.gz': { length: evil.length, hashes: { sha256: sha256Of(evil) } },
    };
    mirror.serve(forge(third, { ...makeOnlineKeys(), timestamp: keys.timestamp }, { targets }));
    await expectRefused(directory, 'trust_invalid');
    mirror.serve(
      forge(third, { ...makeOnlineKeys(), timestamp: keys.timestamp, snapshot: keys.snapshot }, { targets }),
    );
    await expectRefused(directory, 'trust_invalid');
    const one = signMetadata({ ...signedOf(third, 'root'), version: 2 }, [rootKeys[0]!, rootKeys[0]!]);
    mirror.serve(new Map([...third, [`${trustPath}/2.root.json`, one]]));
    await expectRefused(directory, 'trust_invalid');
  });

  it('fast-forward: the highest version possible, signed with stolen online keys, stops no client after their rotation', async () => {
    const directory = await directoryOf(second);
    const stolen = await onlineKeys();
    const forged = forge(third, stolen, { version: Number.MAX_SAFE_INTEGER });
    mirror.serve(forged);
    expect((await run({ directory })).trust?.targetsVersion).toBe(Number.MAX_SAFE_INTEGER);
    mirror.serve(third);
    await expectRefused(directory, 'trust_older');

    await rotateTrust({ db, vault, now: new Date() }, { presentKeys: rootKeys.slice(0, 2), online: true });
    const rotated = await captureState();
    mirror.serve(rotated);
    expect((await run({ directory })).trust).toMatchObject({ rootVersion: 2 });
    mirror.serve(forge(rotated, stolen, {}));
    await expectRefused(directory, 'trust_invalid');
  });

  it('a lost master key: after the rotation of the online keys clients continue, and so does one that was away for two rotations', async () => {
    const away = await directoryOf(first);
    const lostVault = new Vault(Buffer.alloc(32, 10));
    await expect(
      inTransaction(db, (client) =>
        refreshSignatures(client, { vault: lostVault, now: new Date(Date.now() + 13 * 3_600_000) }),
      ),
    ).rejects.toMatchObject({ code: 'trust_key_missing' });
    const newRoot = { keys: makeRootKeys(2), threshold: 2 };
    await rotateTrust({ db, vault: lostVault, now: new Date() }, { presentKeys: rootKeys, online: true, newRoot });
    const state = await captureState();
    mirror.serve(state);
    const { pulled, trust } = await run({ directory: away });
    expect(trust).toMatchObject({ rootVersion: 3, anchorSha256: sha256Of(anchor) });
    expect(pulled.map(({ how, version }) => [how, version])).toEqual([
      ['delta', 3],
      ['delta', 3],
    ]);
    // The old root's keys make no further root.
    const usurped = signMetadata(
      { ...parseMetadata('root', state.get(`${trustPath}/3.root.json`)!).signed, version: 4 },
      rootKeys,
    );
    mirror.serve(new Map([...state, [`${trustPath}/4.root.json`, usurped]]));
    await expectRefused(away, 'trust_invalid');
  });
});
