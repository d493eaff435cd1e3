import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkEnrolment,
  consentReferenceCharactersMax,
  deleteVoiceprint,
  listVoiceprintEvents,
  listVoiceprints,
  openVoiceprint,
  readVoiceprint,
  recordVoiceVerification,
  requireNoVoiceprint,
  storeVoiceprint,
  voiceprintNameCharactersMax,
  type NewVoiceprint,
} from '../../../../pipelines/audio/voices/voiceprint-store.ts';
import { Vault } from '../../../../runtime/secrets/vault.ts';
import { connect } from '../../../../runtime/postgres.ts';
import { useTestDatabase } from '../../../support/database.ts';

const { db, apiUrl } = await useTestDatabase();
const store = { db, vault: new Vault(Buffer.alloc(32, 3)) };

const now = new Date('2026-06-01T12:00:00Z');
const consent = { reference: 'consent form 4711', at: new Date('2026-05-01T00:00:00Z'), recordedBy: 'cli test' };
const embedding = Float32Array.from({ length: 192 }, (_, at) => Math.sin(at + 1) / 10);

let people = 0;

/** A voiceprint of a person whom no other test has. */
function someone(changes: Partial<NewVoiceprint> = {}): NewVoiceprint {
  people += 1;
  return {
    owner: 'Acme Bank',
    subject: `customer ${people}`,
    consent,
    model: 'voiceprint/1',
    modelSha256: 'a'.repeat(64),
    recordings: 3,
    voiceSeconds: 21.5,
    embedding,
    ...changes,
  };
}

describe('what an enrolment needs', () => {
  const person = { owner: 'Acme Bank', subject: 'customer 7' };

  it('is taken as it was given, cleaned', () => {
    expect(checkEnrolment({ owner: ' Acme  Bank ', subject: 'customer 7', consent }, now)).toEqual({
      owner: 'Acme Bank',
      subject: 'customer 7',
      consent,
    });
  });

  it.each([
    { without: 'a reference', given: { ...consent, reference: ' ' } },
    { without: 'a reference', given: { at: consent.at, recordedBy: 'x' } },
    { without: 'a date', given: { reference: 'form', recordedBy: 'x' } },
    { without: 'somebody who enters it', given: { ...consent, recordedBy: '' } },
    { without: 'a date in the past', given: { ...consent, at: new Date('2026-06-02T12:00:01Z') } },
    {
      without: 'a reference of the allowed length',
      given: { ...consent, reference: 'x'.repeat(consentReferenceCharactersMax + 1) },
    },
  ])('is refused without $without', ({ given }) => {
    expect(() => checkEnrolment({ ...person, consent: given }, now)).toThrow(
      expect.objectContaining({ code: 'consent_required' }),
    );
  });

  it.each([
    { given: { ...consent, at: new Date('2026-06-02T12:00:00Z') } },
    { given: { ...consent, reference: 'x'.repeat(consentReferenceCharactersMax) } },
  ])('is taken at the limit: $given', ({ given }) => {
    expect(checkEnrolment({ ...person, consent: given }, now).consent).toEqual(given);
  });

  it.each(['owner', 'subject'] as const)('has an %s of a limited length', (field) => {
    expect(
      checkEnrolment({ ...person, consent, [field]: 'x'.repeat(voiceprintNameCharactersMax) }, now)[field],
    ).toHaveLength(voiceprintNameCharactersMax);
    for (const wrong of ['', ' ', 'x'.repeat(voiceprintNameCharactersMax + 1)]) {
      expect(() => checkEnrolment({ ...person, consent, [field]: wrong }, now)).toThrow(
        expect.objectContaining({ code: 'usage_invalid' }),
      );
    }
  });
});

describe('a voiceprint', () => {
  it('is given back as it was, to the bit', async () => {
    const { id } = await storeVoiceprint(store, someone());
    expect(await openVoiceprint(store, id)).toEqual({ model: 'voiceprint/1', modelSha256: 'a'.repeat(64), embedding });
    expect((await openVoiceprint(store, id.toUpperCase())).embedding).toEqual(embedding);
  });

  it('lies in the database sealed: no run of its bytes is there, and twice the same voice is sealed differently', async () => {
    const ids = [await storeVoiceprint(store, someone()), await storeVoiceprint(store, someone())].map(({ id }) => id);
    const { rows } = await db.query(
      'SELECT sealed_embedding, wrapped_key, voiceprint::text AS whole FROM voiceprint WHERE public_id = ANY ($1)',
      [ids],
    );
    const plain = Buffer.from(embedding.buffer);
    for (const { sealed_embedding, whole } of rows) {
      for (let at = 0; at + 8 <= plain.length; at += 4) {
        expect(sealed_embedding.includes(plain.subarray(at, at + 8))).toBe(false);
        expect(whole.includes(plain.subarray(at, at + 8).toString('hex'))).toBe(false);
      }
    }
    expect(rows[0].sealed_embedding.equals(rows[1].sealed_embedding)).toBe(false);
    expect(rows[0].wrapped_key.equals(rows[1].wrapped_key)).toBe(false);
  });

  it('is shown with its consent and without the voice', async () => {
    const person = someone();
    const { id, enrolledAt } = await storeVoiceprint(store, person);
    const { embedding: _voice, ...shown } = person;
    expect(await readVoiceprint(db, id)).toEqual({
      ...shown,
      id,
      enrolledAt,
      deletedAt: null,
      deletedWhy: null,
      verifications: 0,
    });
    expect(
      Object.keys((await listVoiceprints(db, { withDeleted: false, limit: 1 }))[0]!).filter((key) =>
        /embedding|key|sealed/.test(key),
      ),
    ).toEqual([]);
  });

  it('is one a person, until it is deleted', async () => {
    const person = someone();
    const first = await storeVoiceprint(store, person);
    await expect(storeVoiceprint(store, person)).rejects.toMatchObject({ code: 'voiceprint_exists', object: first.id });
    await expect(requireNoVoiceprint(db, person)).rejects.toMatchObject({ code: 'voiceprint_exists' });
    await storeVoiceprint(store, { ...person, owner: 'Another Bank' });
    await deleteVoiceprint(db, first.id, { actor: 'cli test', reason: 'asked for' });
    await expect(requireNoVoiceprint(db, person)).resolves.toBe(undefined);
    expect((await storeVoiceprint(store, person)).id).not.toBe(first.id);
  });

  it('is stored once when two processes enrol the person at the same time', async () => {
    const person = someone();
    const ends = await Promise.allSettled(Array.from({ length: 6 }, () => storeVoiceprint(store, person)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'voiceprint_exists' });
  });

  it('cannot be opened under another master key, and the error has nothing of the voice', async () => {
    const { id } = await storeVoiceprint(store, someone());
    const error = await openVoiceprint({ db, vault: new Vault(Buffer.alloc(32, 4)) }, id).catch(
      (each: unknown) => each,
    );
    expect(error).toMatchObject({
      code: 'document_sealed',
      operation: 'open voiceprint',
      object: id,
      problem: 'It was sealed under another master key.',
    });
  });

  it.each(['sealed_embedding', 'wrapped_key'])(
    'is not opened if a single bit of its %s was flipped',
    async (column) => {
      const { id } = await storeVoiceprint(store, someone());
      await db.query(
        `UPDATE voiceprint SET ${column} = set_byte(${column}, 20, get_byte(${column}, 20) # 1) WHERE public_id = $1`,
        [id],
      );
      await expect(openVoiceprint(store, id)).rejects.toMatchObject({ code: 'document_sealed' });
    },
  );

  it('is not opened with the bytes of another person, nor as one of another model', async () => {
    const [a, b, c] = [
      await storeVoiceprint(store, someone()),
      await storeVoiceprint(store, someone()),
      await storeVoiceprint(store, someone()),
    ];
    await db.query(
      'UPDATE voiceprint AS v SET sealed_embedding = o.sealed_embedding, wrapped_key = o.wrapped_key FROM voiceprint AS o WHERE v.public_id = $1 AND o.public_id = $2',
      [a.id, b.id],
    );
    await expect(openVoiceprint(store, a.id)).rejects.toMatchObject({ code: 'document_sealed' });
    await db.query('UPDATE voiceprint SET model_sha256 = $2 WHERE public_id = $1', [c.id, 'b'.repeat(64)]);
    await expect(openVoiceprint(store, c.id)).rejects.toMatchObject({ code: 'document_sealed' });
  });

  it.each(['7', 'x', randomUUID()])('of the id %s is unknown', async (id) => {
    await expect(openVoiceprint(store, id)).rejects.toMatchObject({ code: 'voiceprint_unknown' });
    await expect(readVoiceprint(db, id)).rejects.toMatchObject({ code: 'voiceprint_unknown' });
    await expect(deleteVoiceprint(db, id, { actor: 'x', reason: 'y' })).rejects.toMatchObject({
      code: 'voiceprint_unknown',
    });
  });

  it('needs three recordings in the database too', async () => {
    await expect(storeVoiceprint(store, someone({ recordings: 2 }))).rejects.toThrow(/voiceprint_recordings_check/);
  });

  it('is out of reach of the API', async () => {
    const client = await connect({ url: apiUrl, applicationName: 'test' });
    try {
      for (const table of ['voiceprint', 'voice_verification', 'voiceprint_event'])
        await expect(client.query(`SELECT 1 FROM ${table}`)).rejects.toThrow(/permission denied/);
    } finally {
      await client.end();
    }
  });
});

describe('the deletion of a voiceprint', () => {
  it('destroys its key and its bytes, and keeps consent and reason', async () => {
    const { id } = await storeVoiceprint(store, someone());
    const { deletedAt } = await deleteVoiceprint(db, id, {
      actor: 'cli test',
      reason: 'Erasure asked for, ticket 4711',
    });
    const { rows } = await db.query('SELECT sealed_embedding, wrapped_key FROM voiceprint WHERE public_id = $1', [id]);
    expect(rows).toEqual([{ sealed_embedding: null, wrapped_key: null }]);
    await expect(openVoiceprint(store, id)).rejects.toMatchObject({
      code: 'voiceprint_unknown',
      problem: 'The voiceprint was deleted.',
    });
    expect(await readVoiceprint(db, id)).toMatchObject({
      deletedAt,
      deletedWhy: 'Erasure asked for, ticket 4711',
      consent,
    });
  });

  it('takes it off the list, unless deleted ones are asked for', async () => {
    const { id } = await storeVoiceprint(store, someone({ owner: 'Leaving Bank' }));
    await deleteVoiceprint(db, id, { actor: 'cli test', reason: 'asked for' });
    expect(await listVoiceprints(db, { owner: 'Leaving Bank', withDeleted: false, limit: 10 })).toEqual([]);
    expect(
      (await listVoiceprints(db, { owner: 'Leaving Bank', withDeleted: true, limit: 10 })).map((each) => each.id),
    ).toEqual([id]);
  });

  it('happens once, and needs a reason', async () => {
    const { id } = await storeVoiceprint(store, someone());
    await expect(deleteVoiceprint(db, id, { actor: 'cli test', reason: ' ' })).rejects.toMatchObject({
      code: 'reason_required',
    });
    await deleteVoiceprint(db, id, { actor: 'cli test', reason: 'asked for' });
    await expect(deleteVoiceprint(db, id, { actor: 'cli test', reason: 'again' })).rejects.toMatchObject({
      code: 'voiceprint_unknown',
      problem: expect.stringMatching(/^The voiceprint was deleted on \d{4}-\d{2}-\d{2}: /) as string,
    });
  });

  it('leaves nothing to compare with', async () => {
    const { id } = await storeVoiceprint(store, someone());
    await deleteVoiceprint(db, id, { actor: 'cli test', reason: 'asked for' });
    const verification = { audioSha256: 'c'.repeat(64), identity: 0.9, decision: null, reason: null };
    await expect(recordVoiceVerification({ db }, id, { verification, actor: 'cli test' })).rejects.toMatchObject({
      code: 'voiceprint_unknown',
    });
  });

  it('leaves its trail: who enrolled, compared and deleted it, and when', async () => {
    const { id } = await storeVoiceprint(store, someone());
    const verification = { audioSha256: 'c'.repeat(64), identity: 0.9, decision: { label: 'accepted' }, reason: null };
    const { verificationId } = await recordVoiceVerification({ db }, id, { verification, actor: 'cli agent' });
    expect((await readVoiceprint(db, id)).verifications).toBe(1);
    await deleteVoiceprint(db, id, { actor: 'cli officer', reason: 'asked for' });
    expect((await listVoiceprintEvents(db, id)).map(({ action, actor, reason }) => [action, actor, reason])).toEqual([
      ['enrolled', 'cli test', 'Consent consent form 4711'],
      ['verified', 'cli agent', `Verification ${verificationId}`],
      ['deleted', 'cli officer', 'asked for'],
    ]);
  });
});

describe('the trail of voiceprints', () => {
  it.each(['UPDATE voiceprint_event SET actor = $$x$$', 'DELETE FROM voiceprint_event', 'TRUNCATE voiceprint_event'])(
    'refuses %s',
    async (statement) => {
      await storeVoiceprint(store, someone());
      await expect(db.query(statement)).rejects.toThrow(/only ever added|refuse|append/i);
    },
  );
});
