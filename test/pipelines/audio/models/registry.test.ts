import { describe, expect, it } from 'vitest';
import {
  resolveName,
  rowsAsOf,
  type RegistryRow,
  type RegistryRows,
} from '../../../../pipelines/audio/models/registry-rows.ts';
import { readShippedRows } from '../../../../pipelines/audio/models/shipped-models.ts';
import { RELEASES } from '../../../../pipelines/audio/models/releases.ts';
import { releaseDefaults } from '../../../support/release-defaults.ts';

const shipped = await readShippedRows();

const added = (model: string): RegistryRow => ({
  model,
  family: model.startsWith('phone') ? 'phone' : 'digital',
  release: null,
  removedIn: null,
  replacedBy: null,
  note: null,
});

describe('the rows of the registry', () => {
  it('are those of the specification, in the order of their releases', () => {
    expect(
      shipped.models.map(({ model, release, removedIn, replacedBy }) => [model, release, removedIn, replacedBy]),
    ).toEqual([
      ['phone/v1.1', '2025.03.r1p0', null, null],
      ['digital/v1.1', '2025.03.r1p0', null, null],
      ['phone/v3', '2025.04.r1p0', null, null],
      ['digital/v3', '2025.08.r1', null, null],
      ['phone/v5', '2025.11.r1p0', '2026.02.r1p0', 'phone/v6'],
      ['phone/v6', '2026.02.r1p0', null, null],
      ['phone/v7', '2026.03.r1p0', null, null],
      ['phone/v8', '2026.04.r1p0', null, null],
      ['phone/v8.1', '2026.11.r1p0', null, null],
      ['digital/v3.1', '2026.11.r1p0', null, null],
      ['digital/v3.2', '2026.11.r2p0', null, null],
      ['phone/v8.2', '2026.11.r3p0', null, null],
      ['digital/v3.3', '2026.11.r3p0', null, null],
    ]);
  });

  it('say the same as the table of releases', () => {
    const changes = RELEASES.filter(({ service }) => service === 'audio').flatMap(({ name, changes }) =>
      changes.map((change) => ({ name, ...change })),
    );
    const introduced = changes
      .filter(({ kind }) => kind !== 'removed')
      .map(({ name, subject }) => `${subject} in ${name}`);
    const removed = changes
      .filter(({ kind }) => kind === 'removed')
      .map(({ name, subject, replacedBy }) => `${subject} in ${name}, ${replacedBy}`);
    expect(shipped.models.map(({ model, release }) => `${model} in ${release}`).sort()).toEqual(introduced.sort());
    expect(
      shipped.models
        .filter(({ removedIn }) => removedIn !== null)
        .map(({ model, removedIn, replacedBy }) => `${model} in ${removedIn}, ${replacedBy}`),
    ).toEqual(removed);
  });

  it.each(releaseDefaults)('have at %s the defaults %s and %s', (release, phone, digital, models) => {
    const rows = rowsAsOf(shipped, release);
    expect(
      rows
        .filter(({ isDefault }) => isDefault)
        .map(({ model }) => model)
        .sort(),
    ).toEqual([digital, phone].sort());
    expect(rows).toHaveLength(models);
  });

  it('keep a removed model as available at the releases before', () => {
    const stateAt = (release: string) => rowsAsOf(shipped, release).find(({ model }) => model === 'phone/v5')?.state;
    expect(['2025.08.r1', '2025.11.r1p0', '2026.02.r1p0', '2026.04.r1p0'].map(stateAt)).toEqual([
      undefined,
      'available',
      'removed',
      'removed',
    ]);
  });

  it.each(['2025.03.r1', '2026.05.r1p0', '2026.11-p0', 'newest', ''])('have no release %j', (release) => {
    expect(() => rowsAsOf(shipped, release)).toThrowError(
      expect.objectContaining({ code: 'release_unknown' }) as Error,
    );
  });

  it('have an added model at the newest release only, and never as the default by itself', () => {
    const rows: RegistryRows = { models: [...shipped.models, added('phone/v9-acme')], defaults: [] };
    expect(rowsAsOf(rows).find(({ model }) => model === 'phone/v9-acme')).toMatchObject({
      state: 'available',
      isDefault: false,
    });
    expect(rowsAsOf(rows, '2026.03.r1p0').some(({ model }) => model === 'phone/v9-acme')).toBe(false);
  });

  it('take the default that an operator set, at the newest release', () => {
    const rows: RegistryRows = {
      models: [...shipped.models, added('phone/v9-acme')],
      defaults: [{ family: 'phone', model: 'phone/v9-acme', release: null }],
    };
    expect(resolveName(rows, 'phone')).toEqual({ kind: 'model', model: 'phone/v9-acme' });
    expect(rowsAsOf(rows, '2026.03.r1p0').find(({ isDefault, family }) => isDefault && family === 'phone')?.model).toBe(
      'phone/v7',
    );
  });

  it('take the default of a release, until a later row', () => {
    const rows: RegistryRows = {
      ...shipped,
      defaults: [
        { family: 'phone', model: 'phone/v6', release: '2026.03.r1p0' },
        { family: 'phone', model: 'phone/v7', release: '2026.04.r1p0' },
      ],
    };
    const phoneAt = (release: string) =>
      rowsAsOf(rows, release).find(({ isDefault, family }) => isDefault && family === 'phone')?.model;
    expect(['2026.02.r1p0', '2026.03.r1p0', '2026.04.r1p0'].map(phoneAt)).toEqual(['phone/v6', 'phone/v6', 'phone/v7']);
  });

  it('pass over a default that an operator set and is removed', () => {
    const rows: RegistryRows = { ...shipped, defaults: [{ family: 'phone', model: 'phone/v5', release: null }] };
    expect(resolveName(rows, 'phone')).toEqual({ kind: 'model', model: 'phone/v8.2' });
  });
});

describe('a requested model', () => {
  it.each([
    ['phone/v7', { kind: 'model', model: 'phone/v7' }],
    ['Phone/V3', { kind: 'model', model: 'phone/v3' }],
    [' digital/v1.1 ', { kind: 'model', model: 'digital/v1.1' }],
    ['phone', { kind: 'model', model: 'phone/v8.2' }],
    ['DIGITAL', { kind: 'model', model: 'digital/v3.3' }],
    ['', { kind: 'auto', phone: 'phone/v8.2', digital: 'digital/v3.3' }],
    ['Auto', { kind: 'auto', phone: 'phone/v8.2', digital: 'digital/v3.3' }],
    ['phone/v5', { kind: 'removed', model: 'phone/v5', replacedBy: 'phone/v6' }],
    ['PHONE/v5', { kind: 'removed', model: 'phone/v5', replacedBy: 'phone/v6' }],
    ['phone/v2', { kind: 'unknown', model: 'phone/v2' }],
    ['phone/', { kind: 'unknown', model: 'phone/' }],
    ['v8', { kind: 'unknown', model: 'v8' }],
    ['fax', { kind: 'unknown', model: 'fax' }],
    ['constructor', { kind: 'unknown', model: 'constructor' }],
  ])('%j means %j', (requested, resolution) => {
    expect(resolveName(shipped, requested)).toEqual(resolution);
  });

  it('is unknown where its family has no model', () => {
    const rows: RegistryRows = { models: [], defaults: [] };
    expect([resolveName(rows, 'phone'), resolveName(rows, 'auto')]).toEqual([
      { kind: 'unknown', model: 'phone' },
      { kind: 'unknown', model: 'auto' },
    ]);
  });
});
