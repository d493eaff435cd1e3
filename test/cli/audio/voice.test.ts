import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Enrolled } from '../../../pipelines/audio/voices/voice-enrolment.ts';
import type { VoiceVerificationResult } from '../../../pipelines/audio/voices/voice-verification.ts';
import type { VoiceprintEvent, VoiceprintRecord } from '../../../pipelines/audio/voices/voiceprint-store.ts';
import { refusedWith, runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFolder, writeVoice } from '../../support/recording-batch.ts';
import { writeVoiceModel } from '../../support/voice-model.ts';

const { url } = await useTestDatabase();
const folder = await useFolder('voice-cli');
const env = { DATABASE_URL: url, STATE_DIR: join(folder, 'state') };
const cli = (...args: string[]) => runCli(env, ...args);
const json = <Result>(...args: string[]) => runCliJson<Result>(env, ...args);

const ann: string[] = [];
let bob: string;
let model: readonly string[];
let enrolled: Enrolled;

const consent = ['--consent', 'form 2026-118', '--consent-at', '2026-05-02'] as const;
const enrol = (files: readonly string[], ...options: string[]) => [
  'voice',
  'enrol',
  ...files,
  '--owner',
  'acme-bank',
  ...model,
  ...options,
];

beforeAll(async () => {
  model = ['--voiceprint-model', await writeVoiceModel(join(folder, 'model'))];
  for (const [at, pitch] of [139, 140, 141, 142].entries())
    ann.push(await writeVoice(join(folder, `ann-${at}.wav`), { pitch, seconds: 5 }));
  bob = await writeVoice(join(folder, 'bob.wav'), { pitch: 230, seconds: 5 });
  enrolled = await json<Enrolled>(...enrol(ann.slice(0, 3), '--subject', 'customer-1', ...consent, '--by', 'Kim'));
});

describe('voice enrol', () => {
  it('makes a voiceprint and never prints the voice', async () => {
    expect(enrolled).toMatchObject({
      subject: 'customer-1',
      owner: 'acme-bank',
      recordings: 3,
      consent: { reference: 'form 2026-118', at: '2026-05-02T00:00:00.000Z', recordedBy: 'Kim' },
    });
    expect(JSON.stringify(enrolled)).not.toMatch(/embedding|centroid/);
  });

  it('refuses without the whole consent', async () => {
    expect(await cli(...enrol(ann.slice(0, 3), '--subject', 'customer-2', '--consent', 'form 1'))).toMatchObject(
      refusedWith('consent_required', 2),
    );
  });

  it('refuses recordings of two voices, and names the one', async () => {
    expect(await cli(...enrol([ann[0]!, ann[1]!, bob, ann[2]!], '--subject', 'customer-3', ...consent))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/bob\.wav: .*\[voiceprint_refused\]/) as string,
    });
  });
});

describe('voice verify', () => {
  it('prints identity, synthesis and replay together, and says what to do', async () => {
    const { code, stdout } = await cli('voice', 'verify', enrolled.id, ann[3]!, '--model', 'phone/v1.1', ...model);
    expect(stdout).toMatch(/^identity +0\.\d{3} \(match from 0\.5, mismatch below 0\.5\)$/m);
    expect(stdout).toMatch(/^voice +\d+\.\d s, enrolled \d+\.\d s$/m);
    expect(stdout).toMatch(/^synthesis +[01]\.\d{3} \(threshold 0\.\d+, higher is authentic\)$/m);
    expect(stdout).toMatch(/^replay +[01]\.\d{3} \(threshold /m);
    const [, label] = /^result +(\w+)$/m.exec(stdout)!;
    expect(['match', 'copySuspected', 'undecided']).toContain(label); // what the model thinks of a signal made for a test
    expect(code).toBe(label === 'match' ? 0 : 1);
    expect(stdout).toMatch(/\n\nThe voice is like the enrolled person’s, /);
  });

  it('fails for another voice', async () => {
    const { code, stdout } = await cli(
      'voice',
      'verify',
      enrolled.id,
      bob,
      '--model',
      'phone/v1.1',
      ...model,
      '--json',
    );
    const result = JSON.parse(stdout) as VoiceVerificationResult;
    expect(code).toBe(1);
    expect(result).toMatchObject({
      label: 'mismatch',
      voiceprint: enrolled.id,
      model: 'phone/v1.1',
      scoreDirection: 'higher-is-authentic',
    });
    expect(result.identity).toBeLessThan(0.5);
  });

  it('refuses a model of authenticity that was removed', async () => {
    expect(await cli('voice', 'verify', enrolled.id, bob, '--model', 'phone/v5', ...model)).toMatchObject(
      refusedWith('model_removed'),
    );
  });
});

describe('voice list, show and delete', () => {
  it('list and show everything but the voice', async () => {
    const [listed] = await json<VoiceprintRecord[]>('voice', 'list', '--owner', 'acme-bank');
    expect(listed).toMatchObject({ id: enrolled.id, subject: 'customer-1', deletedAt: null });
    const shown = await json<VoiceprintRecord & { events: VoiceprintEvent[] }>('voice', 'show', enrolled.id);
    expect(shown.events.map(({ action }) => action)).toEqual(['enrolled', 'verified', 'verified']);
    expect(JSON.stringify([listed, shown])).not.toMatch(/embedding|wrapped|sealed/);
  });

  it('delete it permanently, which takes a reason and no master key', async () => {
    expect(await cli('voice', 'delete', enrolled.id)).toMatchObject({ code: 2 });
    const withoutKey = { ...env, STATE_DIR: join(folder, 'elsewhere') };
    expect(await runCli(withoutKey, 'voice', 'delete', enrolled.id, '--reason', 'Consent withdrawn')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('its key and its bytes are destroyed') as string,
    });
    expect(await cli('voice', 'verify', enrolled.id, ann[3]!, '--model', 'phone/v1.1', ...model)).toMatchObject(
      refusedWith('voiceprint_unknown'),
    );
    expect(await json('voice', 'show', enrolled.id)).toMatchObject({
      deletedWhy: 'Consent withdrawn',
      events: [{ action: 'enrolled' }, { action: 'verified' }, { action: 'verified' }, { action: 'deleted' }],
    });
  });
});
