import { describe, expect, it } from 'vitest';
import { RECORDING_NOTES } from '../../../../pipelines/audio/decode/recording.ts';
import { AUDIO_REASONS } from '../../../../pipelines/audio/reasons.ts';
import { readProjectFile, tableRows } from '../../../conventions/source-tree.ts';

const document = readProjectFile('docs/audio-formats.md');
const codeIn = (cell: string | undefined) => /^`([^`]+)`$/.exec(cell ?? '')?.[1];

describe('docs/audio-formats.md', () => {
  it('has the notes of a recording, in the words of the code', () => {
    const rows = tableRows(document).filter(([note]) => (codeIn(note) ?? '') in RECORDING_NOTES);
    expect(Object.fromEntries(rows.map(([note, meaning]) => [codeIn(note), meaning]))).toEqual(RECORDING_NOTES);
  });

  it('names refusals that exist', () => {
    const named = [
      ...document.matchAll(/`((?:file|audio|format|codec|decoder|channels|sample_rate|recording|decoding)_[a-z_]+)`/g),
    ].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !(name in AUDIO_REASONS))).toEqual([]);
  });
});
