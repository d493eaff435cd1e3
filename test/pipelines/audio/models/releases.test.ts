import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareReleaseNames,
  newestRelease,
  parseReleaseName,
  RELEASES,
  type ReleaseName,
} from '../../../../pipelines/audio/models/releases.ts';

const number = fc.integer({ min: 0, max: 9999 });
const audio = fc.record({
  year: fc.integer({ min: 1000, max: 9999 }),
  month: fc.integer({ min: 1, max: 12 }),
  revision: number,
  patch: fc.option(number),
});
const branding = audio.map(({ year, month, revision }) => ({ year, month, revision: null, patch: revision }));
const monthOf = (month: number) => String(month).padStart(2, '0');
const audioName = ({
  year,
  month,
  revision,
  patch,
}: {
  year: number;
  month: number;
  revision: number;
  patch: number | null;
}) => `${year}.${monthOf(month)}.r${revision}${patch === null ? '' : `p${patch}`}`;
const brandingName = ({ year, month, patch }: { year: number; month: number; patch: number }) =>
  `${year}.${monthOf(month)}-p${patch}`;
const names = fc.oneof(audio.map(audioName), branding.map(brandingName));
const parsed = (name: string): ReleaseName => {
  const release = parseReleaseName(name);
  if (release === undefined) throw new Error(`${name} was not parsed`);
  return release;
};

describe('a release name', () => {
  it.each([
    ['2025.08.r1', { service: 'audio', year: 2025, month: 8, revision: 1, patch: null }],
    ['2025.11.r1p0', { service: 'audio', year: 2025, month: 11, revision: 1, patch: 0 }],
    ['2026.02.r0p9999', { service: 'audio', year: 2026, month: 2, revision: 0, patch: 9999 }],
    ['2025.06-p0', { service: 'branding', year: 2025, month: 6, revision: null, patch: 0 }],
    ['9999.12-p12', { service: 'branding', year: 9999, month: 12, revision: null, patch: 12 }],
  ])('%s is read', (name, parts) => {
    expect(parseReleaseName(name)).toEqual({ ...parts, name });
  });

  it.each([
    '',
    '2025',
    '2025.06',
    '2025.06-',
    '2025.06-p',
    '2025.06p0',
    '2025.06-r1',
    '2025.06.p0',
    '2025.06-P0',
    '2025.6-p0',
    '2025.00-p0',
    '2025.13-p0',
    '25.06-p0',
    '02025.06-p0',
    '0025.06-p0',
    '2025.06-p00',
    '2025.06-p01',
    '2025.06-p10000',
    '2025.06-p-1',
    '2025.06-p0 ',
    ' 2025.06-p0',
    '2025.06-p0\n',
    '2025.06.r',
    '2025.06.r1p',
    '2025.06.r01',
    '2025.06.r1p00',
    '2025.06.r10000',
    '2025.06.r1-p0',
    '2025.06.r1.p0',
    '2025.06.R1',
    '2025-06.r1',
    '2025.06.r1p0p1',
    '2025.06.r٣',
  ])('%j is none', (text) => {
    expect(parseReleaseName(text)).toBeUndefined();
  });

  it('has every part that it is written with', () => {
    fc.assert(
      fc.property(
        audio,
        (parts) =>
          void expect(parseReleaseName(audioName(parts))).toEqual({
            service: 'audio',
            name: audioName(parts),
            ...parts,
          }),
      ),
    );
    fc.assert(
      fc.property(
        branding,
        (parts) =>
          void expect(parseReleaseName(brandingName(parts))).toEqual({
            service: 'branding',
            name: brandingName(parts),
            ...parts,
          }),
      ),
    );
  });

  it('is read from a text only if its parts, written again, are that text', () => {
    const near = fc
      .tuple(names, fc.nat(20), fc.constantFrom('', '0', 'p', '.', '-', 'r', ' ', 'x'))
      .map(([name, at, put]) => name.slice(0, at) + put + name.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        const release = parseReleaseName(text);
        if (release === undefined) return;
        const { year, month, revision, patch } = release;
        expect(
          revision === null
            ? brandingName({ year, month, patch: patch ?? -1 })
            : audioName({ year, month, revision, patch }),
        ).toBe(text);
      }),
    );
  });
});

describe('the order of releases', () => {
  it.each([
    ['2025.08.r1', '2025.08.r1p0'], // absent before 0
    ['2025.08.r1p0', '2025.08.r1p1'],
    ['2025.08.r1p9', '2025.08.r1p10'],
    ['2025.08.r1p9', '2025.08.r2'],
    ['2025.08.r9', '2025.08.r10'],
    ['2025.08.r2p5', '2025.09.r1'],
    ['2025.12.r9p9', '2026.01.r0'],
    ['2025.06-p0', '2025.06-p1'],
    ['2025.06-p9', '2025.06-p10'],
    ['2025.06-p9', '2025.07-p0'],
    ['2025.12-p9', '2026.01-p0'],
    ['2026.12.r1', '2025.06-p0'], // audio before branding
  ])('puts %s before %s', (older, newer) => {
    expect(compareReleaseNames(parsed(older), parsed(newer))).toBeLessThan(0);
    expect(compareReleaseNames(parsed(newer), parsed(older))).toBeGreaterThan(0);
  });

  it('is total: antisymmetric, transitive, and equal for the same name alone', () => {
    fc.assert(
      fc.property(names, names, names, (one, two, three) => {
        const [a, b, c] = [parsed(one), parsed(two), parsed(three)];
        expect(Math.sign(compareReleaseNames(a, b))).toBe(-Math.sign(compareReleaseNames(b, a)) + 0);
        expect(compareReleaseNames(a, b) === 0).toBe(one === two);
        if (compareReleaseNames(a, b) <= 0 && compareReleaseNames(b, c) <= 0)
          expect(compareReleaseNames(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('agrees with the order of their parts', () => {
    fc.assert(
      fc.property(audio, audio, (a, b) => {
        const difference =
          a.year - b.year || a.month - b.month || a.revision - b.revision || (a.patch ?? -1) - (b.patch ?? -1);
        expect(Math.sign(compareReleaseNames(parsed(audioName(a)), parsed(audioName(b))))).toBe(Math.sign(difference));
      }),
    );
  });
});

describe('the known releases', () => {
  it('are those of the audio service from the specification, and the first of branding', () => {
    expect(
      RELEASES.map(({ name, changes }) => [
        name,
        changes.map(
          ({ kind, subject, replacedBy }) => `${kind} ${subject}${replacedBy === null ? '' : ` for ${replacedBy}`}`,
        ),
      ]),
    ).toEqual([
      ['2025.03.r1p0', ['refined phone/v1.1', 'refined digital/v1.1']],
      ['2025.04.r1p0', ['introduced phone/v3']],
      ['2025.08.r1', ['introduced digital/v3']],
      ['2025.11.r1p0', ['introduced phone/v5']],
      ['2026.02.r1p0', ['introduced phone/v6', 'removed phone/v5 for phone/v6']],
      ['2026.03.r1p0', ['introduced phone/v7']],
      ['2026.04.r1p0', ['introduced phone/v8']],
      ['2026.11.r1p0', ['introduced phone/v8.1', 'introduced digital/v3.1']],
      ['2026.11.r2p0', ['introduced digital/v3.2']],
      ['2026.11.r3p0', ['introduced phone/v8.2', 'introduced digital/v3.3']],
      [
        '2026.11-p0',
        ['introduced Add Managed Brand', 'introduced Update Managed Brand', 'introduced Add Phone number for Branding'],
      ],
    ]);
  });

  it('are in order, each once, and the newest of a service is its last', () => {
    for (const [at, release] of RELEASES.entries())
      if (at > 0) expect(compareReleaseNames(RELEASES[at - 1]!, release)).toBeLessThan(0);
    expect(newestRelease('audio')?.name).toBe('2026.11.r3p0');
    expect(newestRelease('branding')?.name).toBe('2026.11-p0');
  });
});
