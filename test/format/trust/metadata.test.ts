import { generateKeyPairSync } from 'node:crypto';
import { Metadata as StrangersMetadata, MetadataKind } from '@tufjs/models';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CACHES } from '../../../pipelines/caches/definition.ts';
import { canonicalJson } from '../../../format/trust/canonical-json.ts';
import { describeKey, signMetadata, specVersion } from '../../../pipelines/caches/signing/signed-metadata.ts';
import { parseMetadata, requireSigned, type Signed } from '../../../format/trust/metadata.ts';
import {
  formatTarget,
  parseServedTarget,
  parseTarget,
  targetHref,
  targetsPath,
  type TargetName,
} from '../../../format/trust/targets.ts';

const keys = Array.from({ length: 3 }, () => generateKeyPairSync('ed25519').privateKey);
const described = keys.map(describeKey);
const keyids = described.map(({ keyId }) => keyId);
const role = { keyids, threshold: 2 };
const root: Signed<'root'> = {
  _type: 'root',
  spec_version: specVersion,
  version: 1,
  expires: '2099-01-01T00:00:00Z',
  consistent_snapshot: true,
  keys: Object.fromEntries(described.map(({ keyId, key }) => [keyId, key])),
  roles: { root: role, targets: role, snapshot: role, timestamp: role },
};
const targets = (custom: object): Signed<'targets'> => ({
  _type: 'targets',
  spec_version: specVersion,
  version: 1_795_521_600,
  expires: '2099-01-01T00:00:00Z',
  targets: { 'phones/US/rows.tsv.gz': { length: 7, hashes: { sha256: 'ab'.repeat(32) }, custom: { ...custom } } },
});

describe('canonical JSON', () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    ['a"b\\c\nd\u00e9', '"a\\"b\\\\c\nd\u00e9"'],
    [{ a: undefined }, '{}'],
    [-0, '0'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([1.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN])('has no form for %s', (value) => {
    expect(() => canonicalJson({ value })).toThrow(/canonical form/);
  });

  it('of the largest integer is itself', () => {
    expect(canonicalJson(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
  });
});

describe('signed metadata', () => {
  it('is verified by another implementation of TUF, whatever it holds', async () => {
    const strangersRoot = StrangersMetadata.fromJSON(
      MetadataKind.Root,
      JSON.parse(signMetadata(root, keys).toString()),
    );
    strangersRoot.verifyDelegate('root', strangersRoot);
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer())),
        async (custom) => {
          const bytes = signMetadata(targets(custom), keys.slice(0, 2));
          const read = StrangersMetadata.fromJSON(MetadataKind.Targets, JSON.parse(bytes.toString()));
          expect(() => strangersRoot.verifyDelegate('targets', read)).not.toThrow();
          await requireSigned(parseMetadata('targets', bytes), root);
        },
      ),
      { numRuns: 100 },
    );
    const unsigned = StrangersMetadata.fromJSON(
      MetadataKind.Targets,
      JSON.parse(signMetadata(targets({}), keys.slice(0, 1)).toString()),
    );
    expect(() => strangersRoot.verifyDelegate('targets', unsigned)).toThrow();
  });

  it('needs as many different keys as the threshold, not as many signatures', async () => {
    const verify = (signers: typeof keys) =>
      requireSigned(parseMetadata('targets', signMetadata(targets({}), signers)), root);
    await verify(keys.slice(1));
    await expect(verify([keys[0]!, keys[0]!])).rejects.toThrow(/1 valid signatures of the 2/);
    await expect(verify([keys[0]!, generateKeyPairSync('ed25519').privateKey])).rejects.toThrow(
      /1 valid signatures of the 2/,
    );
  });

  it('counts a key once under two ids', async () => {
    const second = 'f'.repeat(64);
    const doubled = { ...root, keys: { ...root.keys, [second]: described[0]!.key } };
    doubled.roles = { ...root.roles, targets: { keyids: [...keyids, second], threshold: 2 } };
    const { signatures, signed } = JSON.parse(signMetadata(targets({}), keys.slice(0, 1)).toString()) as {
      signatures: { keyid: string; sig: string }[];
      signed: object;
    };
    const bytes = Buffer.from(
      JSON.stringify({ signed, signatures: [...signatures, { ...signatures[0], keyid: second }] }),
    );
    await expect(requireSigned(parseMetadata('targets', bytes), doubled)).rejects.toThrow(
      /1 valid signatures of the 2/,
    );
  });

  it('keeps fields that this version does not know under the signature', async () => {
    const bytes = signMetadata({ ...targets({}), later: 'field' } as Signed<'targets'>, keys);
    await requireSigned(parseMetadata('targets', bytes), root);
    const removed = Buffer.from(bytes.toString().replace('"later":"field",', ''));
    await expect(requireSigned(parseMetadata('targets', removed), root)).rejects.toThrow(/0 valid signatures/);
  });

  it.each([
    ['another role', { ...targets({}), _type: 'snapshot' }],
    ['another major version', { ...targets({}), spec_version: '2.0.0' }],
    ['version 0', { ...targets({}), version: 0 }],
    ['no expiry', { ...targets({}), expires: 'never' }],
  ])('of %s is refused', (_what, signed) => {
    expect(() => parseMetadata('targets', signMetadata(signed as Signed<'targets'>, keys))).toThrow(/does not know/);
  });
});

describe('a target', () => {
  const target = fc
    .record({
      cache: fc.constantFrom(...CACHES),
      kind: fc.constantFrom('manifest', 'rows', 'index', 'filter', 'delta'),
      from: fc.integer({ min: 1, max: 999_999_999 }),
    })
    .map(({ cache, kind, from }) => ({
      cache: cache.name,
      country: cache.perCountry ? 'US' : '',
      kind,
      ...(kind === 'delta' ? { from } : {}),
    }));

  it('has one path, from which it is found again, also below a digest', () => {
    fc.assert(
      fc.property(target, (name) => {
        const path = formatTarget(name as TargetName);
        expect(parseTarget(path)).toEqual(name);
        const sha256 = 'c'.repeat(64);
        expect(parseServedTarget(targetHref(path, sha256).slice(targetsPath.length + 1))).toEqual({ path, sha256 });
      }),
    );
  });

  it.each([
    'phones/rows.tsv.gz',
    'spammer_phones/US/rows.tsv.gz',
    'phones/us/rows.tsv.gz',
    'phones/US/delta-from-0.tsv.gz',
    'x/rows.tsv.gz',
    '../rows.tsv.gz',
    'phones/US/rows.tsv.gz/',
  ])('is not named by %s', (path) => {
    expect(parseTarget(path)).toBeUndefined();
  });
});
