import { describe, expect, it } from 'vitest';
import { licencesDocument, listLicences } from '../../scripts/licences.mjs';
import { readProjectFile } from './source-tree.ts';

const lock = JSON.parse(readProjectFile('package-lock.json')) as { packages: Record<string, unknown> };

/** Licences that ask for no more than that their text and notices come along. MPL-2.0 is about changed files only. */
const accepted =
  /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|MPL-2\.0|\(MIT OR CC0-1\.0\)|Bitstream-Vera)$/;

describe('docs/licences.md', () => {
  it('is what scripts/licences.mjs makes of package-lock.json', () => {
    expect(readProjectFile('docs/licences.md')).toBe(licencesDocument(lock));
  });

  it('has a known licence for every package', () => {
    const all = listLicences(lock);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ licence }) => !accepted.test(licence))).toEqual([]);
  });

  it('has what brings FFmpeg among the optional packages alone', () => {
    const bringers = listLicences(lock).filter(({ name }) => /node-av/.test(name));
    expect(bringers.map(({ name }) => name)).toContain('node-av');
    expect(bringers.filter(({ optional }) => !optional)).toEqual([]);
  });
});

describe('the GPL of FFmpeg', () => {
  it.each(['NOTICE', 'README.md', 'docs/licences.md', 'docs/audio-formats.md'])('is said in %s', (path) => {
    const text = readProjectFile(path);
    expect(text).toContain('FFmpeg');
    expect(text).toMatch(/GPL|GNU General Public License/);
    expect(text).toContain('--omit=optional');
  });
});
