import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadBrandedFile } from '../../../pipelines/intake/branded-loader.ts';
import { useTestDatabase } from '../../support/database.ts';
import { smallLimits, useTemporaryDirectory } from '../../support/feeds.ts';

const { db } = await useTestDatabase();
const directory = await useTemporaryDirectory();

async function load(content: string) {
  const path = join(directory, 'branded.csv');
  await writeFile(path, content);
  return loadBrandedFile({ db, path, limits: smallLimits });
}

it('a branded number is stored with its live time, and known as a NEUTRAL number', async () => {
  const feed = 'phone,brand_handle,display_name,live_from,live_until\n+12025550143,acme,Acme,2026-01-01T00:00:00Z,\n+447400123456,acme,Acme UK,2026-01-01T00:00:00+01:00,2027-01-01T00:00:00Z\n+12025550143,acme,Acme 2,2026-01-01T00:00:00Z,\n';
  expect(await load(feed)).toEqual({ given: 3, accepted: 3, changed: 2, rejects: [] });
  expect(await load(feed)).toMatchObject({ changed: 0 });
  const { rows } = await db.query('SELECT phone, country, reputation_level, b.display_name, b.live_from FROM phone_number JOIN branded_number AS b USING (phone) ORDER BY phone');
  expect(rows).toEqual([
    { phone: '+12025550143', country: 'US', reputation_level: 'NEUTRAL', display_name: 'Acme 2', live_from: new Date('2026-01-01T00:00:00Z') },
    { phone: '+447400123456', country: 'GB', reputation_level: 'NEUTRAL', display_name: 'Acme UK', live_from: new Date('2025-12-31T23:00:00Z') },
  ]);
});

it('rows that make no sense are refused with line and code', async () => {
  const { rejects } = await load([
    'phone,brand_handle,display_name,live_from,live_until', 'x,a,A,2026-01-01T00:00:00Z,', '+12025550143,,A,2026-01-01T00:00:00Z,', '+12025550143,a,,2026-01-01T00:00:00Z,', '+12025550143,a,A,,',
    '+12025550143,a,A,2026-02-30T00:00:00Z,', '+12025550143,a,A,2026-01-01,', '+12025550143,a,A,2026-01-02T00:00:00Z,2026-01-02T00:00:00Z', '+12025550143,a',
  ].join('\n'));
  expect(rejects.map(({ line, code }) => [line, code])).toEqual([
    [2, 'phone_invalid'], [3, 'name_missing'], [4, 'name_missing'], [5, 'date_missing'], [6, 'date_invalid'], [7, 'date_invalid'], [8, 'date_invalid'], [9, 'field_count'],
  ]);
});
