import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openVoiceModel, type VoiceModel } from '../../../../pipelines/audio/voices/voice-model.ts';
import { enrolVoiceprint, type Enrolled } from '../../../../pipelines/audio/voices/voice-enrolment.ts';
import { verifyVoice } from '../../../../pipelines/audio/voices/voice-verification.ts';
import { deleteVoiceprint, listVoiceprintEvents } from '../../../../pipelines/audio/voices/voiceprint-store.ts';
import { enrolmentLimits } from '../../../../pipelines/audio/voiceprint/enrolment.ts';
import { Vault } from '../../../../runtime/secrets/vault.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { waveformGraph, waveformPart } from '../../../support/onnx-file.ts';
import { configIn, useFolder } from '../../../support/recording-batch.ts';
import { makeTestModel, useScoringPool } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';
import { writeVoiceModel } from '../../../support/voice-model.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('voices');
const config = configIn(folder);
const { pool, logged } = useScoringPool();
const vault = new Vault(Buffer.alloc(32, 5));
const consent = { reference: 'form 118', at: new Date('2026-05-01T00:00:00Z'), recordedBy: 'cli test' };

let model: VoiceModel;
const ann: string[] = [];
let bob: string;
let people = 0;

beforeAll(async () => {
  model = await openVoiceModel(await writeVoiceModel(join(folder, 'model')));
  for (const [at, pitch] of [139, 140, 141, 142].entries()) ann.push(await voice(`ann-${at}.wav`, { pitch }));
  bob = await voice('bob.wav', { pitch: 230 });
});

const voice = (name: string, { pitch, seconds = 5 }: { pitch: number; seconds?: number }) =>
  writeWav(join(folder, name), [speechLike({ sampleRate: 8000, seconds, pitch })], 8000);
const work = () => ({
  db,
  vault,
  model,
  pool,
  limits: config,
  signal: new AbortController().signal,
  now: () => new Date('2026-06-01T00:00:00Z'),
});
const enrol = (
  files: readonly string[],
  changes: Partial<Parameters<typeof enrolVoiceprint>[1]> = {},
): Promise<Enrolled> =>
  enrolVoiceprint(work(), { owner: 'Acme Bank', subject: `customer ${(people += 1)}`, consent, files, ...changes });

describe('an enrolment', () => {
  it('of three recordings of one voice makes a voiceprint', async () => {
    const enrolled = await enrol(ann.slice(0, 3));
    expect(enrolled).toMatchObject({ owner: 'Acme Bank', model: 'voiceprint/0-test', recordings: 3, consent });
    expect(enrolled.voiceSeconds).toBeGreaterThan(enrolmentLimits.voicedSecondsMin);
    expect(enrolled.agreement.least).toBeGreaterThan(model.agreementMin);
    expect((await listVoiceprintEvents(db, enrolled.id)).map(({ action }) => action)).toEqual(['enrolled']);
  });

  it('without consent opens no file and makes nothing', async () => {
    const missing = [join(folder, 'a'), join(folder, 'b'), join(folder, 'c')];
    await expect(enrol(missing, { consent: { recordedBy: 'cli test' } })).rejects.toMatchObject({
      code: 'consent_required',
    });
  });

  it('with the voice of somebody else among the recordings is refused, and the error names which', async () => {
    await expect(enrol([ann[0]!, ann[1]!, bob, ann[2]!])).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: expect.stringMatching(/^bob\.wav: .*too unlike/) as string,
    });
  });

  it.each([0, 2])('of %i recordings is refused', async (count) => {
    await expect(enrol(ann.slice(0, count))).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: `${count} of at least 3 recordings were given.`,
    });
  });

  it('of the most recordings but one is taken to the voice, of one more refused before any is opened', async () => {
    const many = Array.from({ length: enrolmentLimits.recordingsMax + 1 }, (_none, at) =>
      join(folder, `missing-${at}.wav`),
    );
    await expect(enrol(many)).rejects.toMatchObject({
      problem: `${enrolmentLimits.recordingsMax + 1} recordings were given; ${enrolmentLimits.recordingsMax} are the most.`,
    });
    await expect(enrol(many.slice(1))).rejects.toMatchObject({
      problem: expect.stringContaining('missing-1.wav') as string,
    });
  });

  it('with too short a recording is refused, and the error names which', async () => {
    const short = await voice('short.wav', { pitch: 140, seconds: 1 });
    await expect(enrol([...ann.slice(0, 3), short])).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: expect.stringMatching(/^short\.wav: Each recording needs 1\.5 s of voice\./) as string,
    });
  });

  it('with a silent recording or one that is no audio is refused, and the error names which', async () => {
    const silent = await writeWav(join(folder, 'silent.wav'), [new Float32Array(40_000)], 8000);
    await expect(enrol([...ann.slice(0, 3), silent])).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: expect.stringMatching(/^silent\.wav/) as string,
    });
    const text = join(folder, 'text.wav');
    await writeFile(text, 'no audio');
    await expect(enrol([...ann.slice(0, 3), text])).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: expect.stringMatching(/^text\.wav: .*\[format_unknown\]/) as string,
    });
  });

  it('with the same recording twice is refused, whatever the copy is called', async () => {
    const copy = join(folder, 'copy.wav');
    await copyFile(ann[0]!, copy);
    await expect(enrol([ann[0]!, ann[1]!, copy])).rejects.toMatchObject({
      code: 'voiceprint_refused',
      problem: 'copy.wav is the same recording as ann-0.wav.',
    });
  });

  it('of a person who has a voiceprint is refused', async () => {
    const { subject, id } = await enrol(ann.slice(0, 3));
    await expect(enrol(ann.slice(0, 3), { subject })).rejects.toMatchObject({ code: 'voiceprint_exists', object: id });
  });
});

/** A condition under which every score that reaches the threshold is authentic. */
const accepting = (score: 'synthesis' | 'replay', thresholds: { synthesis: number; replay: number }) => ({
  voiceSecondsFrom: 0,
  calibration: waveformPart.calibration[score],
  attackBelow: thresholds[score],
  authenticFrom: thresholds[score],
  falseAlarm: 0.05,
  falseAcceptance: 0.1,
});

describe('a verification', () => {
  const authenticityOf = async (thresholds: { synthesis: number; replay: number }) => ({
    phone: await makeTestModel(folder, {
      graph: waveformGraph(),
      manifest: {
        ...waveformPart,
        model: 'phone/v90-test',
        thresholds,
        conditions: { synthesis: [accepting('synthesis', thresholds)], replay: [accepting('replay', thresholds)] },
      },
    }),
    digital: null,
  });
  const verify = async (id: string, file: string, thresholds = { synthesis: 0.001, replay: 0.001 }) =>
    verifyVoice({ ...work(), authenticity: await authenticityOf(thresholds) }, { id, file, actor: 'cli agent' });
  let enrolled: Enrolled;
  beforeAll(async () => {
    enrolled = await enrol(ann.slice(0, 3));
  });

  it('of another recording of the person is a match, with synthesis and replay', async () => {
    const result = await verify(enrolled.id, ann[3]!);
    expect(result).toMatchObject({
      label: 'match',
      voiceprint: enrolled.id,
      subject: enrolled.subject,
      voiceModel: 'voiceprint/0-test',
      identityThreshold: 0.5,
      mismatchThreshold: 0.5,
      enrolledSeconds: enrolled.voiceSeconds,
      identityReason: null,
      model: 'phone/v90-test',
      authenticityReason: null,
    });
    expect(result.identity).toBeGreaterThan(0.5);
    expect(Object.values(result.scores!).every((score) => score !== null && score > 0 && score < 1)).toBe(true);
  });

  it('of another voice is none', async () => {
    const result = await verify(enrolled.id, bob);
    expect(result.identity).toBeLessThan(0.5);
    expect(result).toMatchObject({ label: 'mismatch' });
  });

  it('of a recording that looks synthesized is suspected to be a copy, however like the voice is', async () => {
    expect(await verify(enrolled.id, ann[3]!, { synthesis: 0.9999, replay: 0.001 })).toMatchObject({
      label: 'copySuspected',
      advice: expect.stringContaining('looks synthesized') as string,
    });
  });

  it('of silence is undecided, and stored with its reason', async () => {
    const result = await verify(enrolled.id, join(folder, 'silent.wav'));
    expect(result).toMatchObject({
      label: 'undecided',
      identity: null,
      identityReason: 'no_voice',
      scores: null,
      authenticityReason: 'no_voice',
    });
    const { rows } = await db.query('SELECT identity, reason, decision FROM voice_verification WHERE public_id = $1', [
      result.verificationId,
    ]);
    expect(rows).toEqual([
      {
        identity: null,
        reason: 'no_voice',
        decision: expect.objectContaining({
          label: 'undecided',
          policy: 'voice/2',
          undecidedReason: 'identity_unknown',
        }) as object,
      },
    ]);
  });

  it('of a missing file is refused, and leaves no trace', async () => {
    const before = await listVoiceprintEvents(db, enrolled.id);
    await expect(verify(enrolled.id, join(folder, 'nothing.wav'))).rejects.toMatchObject({
      code: 'recording_refused',
      problem: expect.stringContaining('[file_missing]') as string,
    });
    expect(await listVoiceprintEvents(db, enrolled.id)).toEqual(before);
  });

  it('keeps no recording, and stores nothing of the voice but the seal', async () => {
    await verify(enrolled.id, ann[3]!);
    const { rows } = await db.query(
      'SELECT (SELECT count(*) FROM recording) AS recordings, (SELECT string_agg(decision::text, $1) FROM voice_verification) AS decisions',
      [' '],
    );
    expect(rows[0].recordings).toBe(0);
    expect(rows[0].decisions).not.toMatch(/embedding|centroid/);
    expect(JSON.stringify(logged)).not.toMatch(/embedding/);
  });

  it('against a voiceprint of another model is refused: their numbers cannot be compared', async () => {
    const other = await openVoiceModel(
      await writeVoiceModel(join(folder, 'other-model'), { model: 'voiceprint/0-other' }),
    );
    const comparison = { ...work(), model: other, authenticity: await authenticityOf({ synthesis: 0.5, replay: 0.5 }) };
    await expect(verifyVoice(comparison, { id: enrolled.id, file: bob, actor: 'x' })).rejects.toMatchObject({
      code: 'model_invalid',
      problem: expect.stringContaining('voiceprint/0-test') as string,
    });
  });

  it('by a model that succeeds that of the voiceprint is calibrated by its seconds', async () => {
    const successor = await openVoiceModel(
      await writeVoiceModel(join(folder, 'successor'), {
        model: 'voiceprint/0-next',
        succeeds: [model.manifestSha256],
        calibration: {
          identity: { slope: 40, intercept: -36, bySeconds: { slope: 0, intercept: 1, from: 1.5, to: 60 } },
        },
        thresholds: { identity: 0.999, mismatch: 0.001, agreement: 0.8 },
      }),
    );
    const authenticity = await authenticityOf({ synthesis: 0.001, replay: 0.001 });
    const compared = await verifyVoice(
      { ...work(), model: successor, authenticity },
      { id: enrolled.id, file: ann[3]!, actor: 'cli agent' },
    );
    const before = await verify(enrolled.id, ann[3]!);
    const logit = (score: number) => Math.log(score / (1 - score));
    const [a, b] = [compared.enrolledSeconds, compared.voiceSeconds!];
    expect(logit(compared.identity!) - logit(before.identity!)).toBeCloseTo(Math.log((2 * a * b) / (a + b)), 5);
    expect(compared).toMatchObject({ voiceModel: 'voiceprint/0-next', mismatchThreshold: 0.001 });
  });

  it('against a deleted voiceprint is refused', async () => {
    const gone = await enrol(ann.slice(0, 3));
    await deleteVoiceprint(db, gone.id, { actor: 'cli test', reason: 'asked for' });
    await expect(verify(gone.id, ann[3]!)).rejects.toMatchObject({ code: 'voiceprint_unknown' });
  });
});
