import { expect, it } from 'vitest';
import { destroyOldDocuments, expireLetters } from '../../pipelines/branding/expiry.ts';
import { readBrand } from '../../pipelines/branding/brand-record.ts';
import { suspendBrand, resumeBrand, decideLetter, withdrawLetter } from '../../pipelines/branding/person-actions.ts';
import { sql } from '../../sql/sql.ts';
import { ask, fresh, goodLetter, letterForReview, profile } from '../support/branding.ts';
import { useTestDatabase } from '../support/database.ts';
const { db } = await useTestDatabase();
const by = { actor: 'test person', reason: 'because' };
const say = (what: string, value: unknown) => process.stderr.write(`\n## ${what}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`);

it('R: a rename by a letter of another company that names none of the old numbers', async () => {
  const { handle, phones } = fresh(3);
  await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: goodLetter(phones) });
  const r = await ask(db, 'update_managed_brand', { handle, changes: { legalName: 'Meridian Bank Inc', displayName: 'Meridian Bank' } }, { letter: goodLetter(['+12125559901'], { brand: 'Meridian Bank Inc' }) });
  say('R', [r.outcome, r.letter?.state, r.brand.state, (await db.query('SELECT phone, display_name FROM branded_number WHERE brand_handle=$1', [handle])).rows]);
});
it('Q: 300,000 numbers in one brand', async () => {
  const { handle, phones } = fresh(1);
  const r = await ask(db, 'add_managed_brand', { handle, brand: profile, numbers: phones }, { letter: goodLetter(phones) });
  const { brandId } = await readBrand(db, handle);
  for (const n of [100_000, 300_000]) {
    await db.query(`INSERT INTO brand_number (brand_id, phone, country, state, verified_at) SELECT $1, '+1303' || (2000000 + g), 'US', 'verified', now() FROM generate_series(1, ${n}) g ON CONFLICT DO NOTHING`, [brandId]);
    await db.query(`INSERT INTO letter_number SELECT $1, '+1303' || (2000000 + g) FROM generate_series(1, ${n}) g ON CONFLICT DO NOTHING`, [r.letter!.letterId]);
    await db.query('ANALYZE brand_number; ANALYZE letter_number; ANALYZE letter; ANALYZE brand; ANALYZE branded_number');
    const plan = await db.query('EXPLAIN ' + sql('branding/publish_numbers').replaceAll('$1', String(brandId)));
    say(`plan ${n}`, plan.rows.map((x) => x['QUERY PLAN']).filter((l: string) => /SubPlan|hashed|Delete|CTE live|Filter/.test(l)).join('\n'));
    const t = Date.now();
    await db.query("SET statement_timeout='40s'");
    const c = await db.connect();
    await c.query("SET statement_timeout='30s'");
    await c.query(sql('branding/publish_numbers'), [brandId]).then((x) => say(`publish ${n}`, [Date.now() - t, x.rows]), (e) => say(`publish ${n}`, [Date.now() - t, e.message]));
    const t2 = Date.now();
    await c.query(sql('branding/publish_numbers'), [brandId]).then((x) => say(`publish again ${n}`, [Date.now() - t2, x.rows]), (e) => say(`publish ${n}`, [Date.now() - t2, e.message]));
    await c.query('ANALYZE branded_number; ANALYZE phone_number');
    const t3 = Date.now();
    await c.query(sql('branding/publish_numbers'), [brandId]).then((x) => say(`publish analyzed ${n}`, [Date.now() - t3, x.rows]), (e) => say(`publish ${n}`, [Date.now() - t3, e.message]));
    await c.query('RESET statement_timeout'); c.release();
  }
}, 140_000);
it('D: retention over many documents', async () => {
  await db.query('BEGIN; COMMIT');
  const N = 10_000;
  await db.query(`INSERT INTO document (kind, sha256, bytes, sealed_content, wrapped_key, master_key_id) SELECT 'letter', repeat('0', 64), 1, '\\x00', '\\x00', 'x' FROM generate_series(1, ${N})`);
  await db.query(`INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, letter_document_id, requested_by, state, finished_at, failure_code)
    SELECT 'o', 'k' || document_id, 'add_managed_brand', '{}', repeat('0', 64), document_id, 'x', 'failed', now(), 'brand_unknown' FROM document WHERE master_key_id = 'x'`);
  await db.query('ANALYZE document; ANALYZE branding_operation');
  const t = Date.now();
  say('destroyOldDocuments nothing due', [await destroyOldDocuments(db, { retentionDays: 365, at: new Date() }), Date.now() - t]);
}, 140_000);
