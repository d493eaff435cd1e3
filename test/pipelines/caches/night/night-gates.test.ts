import { beforeEach, describe, expect, it } from 'vitest';
import { readNight } from '../../../../pipelines/caches/night/night-report.ts';
import { releaseHeldFiles } from '../../../../pipelines/caches/night/night-release.ts';
import { everything, parseScope } from '../../../../pipelines/caches/night/night-request.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { outcomes, runWholeNight, useStore } from '../../../support/night.ts';
import { eyes } from '../../../support/branding.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const night = (options: { only?: string } = {}) =>
  runWholeNight({ db, url, store, limits: { gateRowsMin: 10 }, ...options });

/** Numbers of the United States, Canada and Germany: every tenth is labelled. */
beforeEach(async () => {
  await db.query(
    'TRUNCATE phone_number, branded_number, build, artefact_version, publication, night_run, night_release RESTART IDENTITY CASCADE',
  );
  await db.query(`INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source)
    SELECT start || lpad(n::text, 4, '0'), country, CASE WHEN n % 10 = 0 THEN 'SPAM' ELSE 'NEUTRAL' END, CASE WHEN n % 10 = 0 THEN 1 END, 'feed'
    FROM (VALUES ('+1202555', 'US'), ('+1416555', 'CA'), ('+4930901', 'DE')) AS c (start, country), generate_series(0, 299) AS n`);
  expect(Object.values(outcomes(await night()))).not.toContain('failed');
});

const label = (start: string, rows: number, to = 'SPAM', from = 'NEUTRAL') =>
  db.query(
    `UPDATE phone_number SET reputation_level = $4::text, reputation_category = CASE $4::text WHEN 'SPAM' THEN 1 WHEN 'FRAUD' THEN 7 END
    WHERE phone IN (SELECT phone FROM phone_number WHERE phone LIKE $1 || '%' AND reputation_level = $3 ORDER BY phone LIMIT $2)`,
    [start, rows, from, to],
  );
const kept = { 'phones/US': 'failed', spammer_phones: 'failed' };

describe('a night', () => {
  it('with usual changes is published', async () => {
    await label('+1202', 7); // of 30 labels
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
  });

  it('in which too many numbers of a country get a label keeps its file and those whose labels would differ, and says why', async () => {
    await label('+1202', 16);
    await db.query("UPDATE phone_number SET display_name = 'Bakery' WHERE phone LIKE '+4930%'");
    const report = await night();
    expect(outcomes(report)).toMatchObject({ ...kept, 'phones/DE': 'published' });
    const held = report.artefacts.find(({ country }) => country === 'US')!;
    expect(held).toMatchObject({
      failure: { code: 'artefact_held' },
      gates: [{ gate: 'label_rise', figure: 53.33, limit: 25 }],
    });
    expect(report.artefacts.find(({ cache }) => cache === 'spammer_phones')!.failure!.reason).toBe(
      'Held with phones/US, so that a number has the same level in every file.',
    );
    const { rows } = await db.query(
      'SELECT cache, country, stale_code FROM publication WHERE status = $1 ORDER BY 1, 2',
      ['stale'],
    );
    expect(rows).toEqual([
      { cache: 'phones', country: 'US', stale_code: 'artefact_held' },
      { cache: 'spammer_phones', country: '', stale_code: 'artefact_held' },
    ]);
    expect((await readNight(db, {})).outcome).toBe('partial');
  });

  it('in which rows hold one file keeps the files whose labels would differ too', async () => {
    await db.query(
      "DELETE FROM phone_number WHERE phone LIKE '+1202%' AND reputation_level = 'NEUTRAL' AND phone > '+12025550150'",
    );
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'failed', spammer_phones: 'unchanged' });
    await label('+1202', 2);
    await label('+4930', 2, 'NEUTRAL', 'SPAM');
    await label('+1416', 2, 'SPAM', 'SPAM'); // the same label again
    const report = await night();
    expect(outcomes(report)).toMatchObject({ ...kept, 'phones/DE': 'failed', 'phones/CA': 'unchanged' });
    expect(report.artefacts.find(({ country }) => country === 'DE')!.failure!.reason).toContain('with spammer_phones,');
  });

  it('of one file publishes no labels of which readers have others', async () => {
    await label('+1202', 2);
    const report = await night({ only: 'phones/US' });
    expect(report.artefacts).toMatchObject([
      {
        outcome: 'failed',
        failure: {
          code: 'artefact_held',
          reason: expect.stringContaining('spammer_phones, which this night does') as string,
        },
      },
    ]);
    expect(outcomes(await night({ only: 'branded_phones' }))).toEqual({ branded_phones: 'unchanged' });
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
    await db.query("UPDATE phone_number SET display_name = 'Bakery' WHERE phone LIKE '+1202%'");
    expect(outcomes(await night({ only: 'phones/US' }))).toEqual({ 'phones/US': 'published' });
  });

  it('of one file publishes none of a held set, also once it is released', async () => {
    await label('+1202', 16);
    await night();
    await releaseHeldFiles(db, { eyes, scope: everything, reason: 'New provider', actor: 'ann' });
    expect(outcomes(await night({ only: 'phones/US' }))).toEqual({ 'phones/US': 'failed' });
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
  });

  it('with the first rows, or the first labels of rows that were there, is not held', async () => {
    await db.query('TRUNCATE phone_number, build, artefact_version, publication, night_run CASCADE');
    const add = (start: string, level: string) =>
      db.query(
        `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source)
         SELECT $1 || lpad(n::text, 4, '0'), 'US', $2::text::reputation_level, CASE $2::text WHEN 'SPAM' THEN 1 END, 'feed' FROM generate_series(0, 299) AS n`,
        [start, level],
      );
    expect(outcomes(await night())).toMatchObject({ spammer_phones: 'published' });
    await add('+1202555', 'NEUTRAL');
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'unchanged' });
    await label('+1202', 150);
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
    await add('+1203555', 'SPAM');
    expect(outcomes(await night())).toMatchObject(kept);
  });

  it('counts labels whose change began before the published snapshot and ended after it, and others once', async () => {
    const writer = await db.connect();
    try {
      await writer.query('BEGIN');
      await writer.query(
        "UPDATE phone_number SET reputation_level = 'SPAM', reputation_category = 1 WHERE phone ~ '^.120255500[01]'",
      );
      await label('+1416', 7);
      expect(outcomes(await night())).toMatchObject({ 'phones/CA': 'published' });
      await writer.query('COMMIT');
    } finally {
      writer.release();
    }
    expect(await night()).toMatchObject({
      artefacts: expect.arrayContaining([
        expect.objectContaining({
          cache: 'phones',
          country: 'US',
          gates: [expect.objectContaining({ gate: 'label_rise', figure: 60 })],
        }),
        expect.objectContaining({ cache: 'phones', country: 'CA', outcome: 'unchanged' }),
      ]),
    });
  });

  it('in which labels fall or change between levels is held too, also where as many rise as fall', async () => {
    await label('+1202', 10, 'NEUTRAL', 'SPAM');
    expect((await night()).artefacts.find(({ country }) => country === 'US')!.gates).toMatchObject([
      { gate: 'label_fall', figure: 33.33 },
    ]);
    await label('+1202', 10);
    await label('+1416', 10, 'FRAUD', 'SPAM');
    const report = await night();
    expect(report.artefacts.find(({ country }) => country === 'CA')!.gates!.map(({ gate }) => gate)).toEqual([
      'label_flip',
      'level_share',
    ]);
  });

  it('spread thinly over countries is held for the sum, with every file that has labels', async () => {
    for (const start of ['+1202', '+1416', '+4930']) await label(start, 9, 'FRAUD', 'SPAM');
    const report = await night();
    expect(outcomes(report)).toMatchObject({ ...kept, 'phones/CA': 'failed', 'phones/DE': 'failed' });
    expect(report.artefacts.find(({ cache }) => cache === 'spammer_phones')!.gates!.map(({ gate }) => gate)).toEqual([
      'label_flip',
      'level_share',
    ]);
    expect(report.artefacts.find(({ country }) => country === 'US')).toMatchObject({
      gates: [],
      failure: { reason: expect.stringContaining('Held with spammer_phones') as string },
    });
  });

  it('that is held stays held night after night, and its changes add up, until it is released', async () => {
    await label('+1202', 16);
    await night();
    await label('+1202', 1);
    const report = await night();
    expect(report.artefacts.find(({ country }) => country === 'US')!.gates).toMatchObject([
      { gate: 'label_rise', figure: 56.67 },
    ]);
    const released = await releaseHeldFiles(db, { eyes, scope: everything, reason: 'New provider', actor: 'ann' });
    expect(released.map(({ cache, country }) => [cache, country])).toEqual([
      ['phones', 'US'],
      ['spammer_phones', ''],
    ]);
    await label('+1202', 1);
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
    const { rows } = await db.query(
      'SELECT count(*)::int AS used FROM night_release WHERE used_by_build_id IS NOT NULL',
    );
    expect(rows).toEqual([{ used: 2 }]);
  });

  it('that got worse since it was released is held again, and one release is for one publication', async () => {
    await label('+1202', 16);
    await night();
    await releaseHeldFiles(db, { eyes, scope: parseScope('phones/US'), reason: 'New provider', actor: 'ann' });
    await label('+1202', 60);
    expect(outcomes(await night())).toMatchObject(kept);
    await releaseHeldFiles(db, { eyes, scope: everything, reason: 'Still right', actor: 'ann' });
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published', spammer_phones: 'published' });
    await label('+1202', 90);
    expect(outcomes(await night())).toMatchObject(kept);
  });

  it('without anything held has nothing to release, and a release needs a reason', async () => {
    await expect(releaseHeldFiles(db, { eyes, scope: everything, reason: 'why', actor: 'ann' })).rejects.toMatchObject({
      code: 'night_not_held',
    });
    await expect(releaseHeldFiles(db, { eyes, scope: everything, reason: ' ', actor: 'ann' })).rejects.toMatchObject({
      code: 'reason_required',
    });
  });
});
