import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { EvaluationReport } from '../../../evaluation/audio/evaluation-report.ts';
import { runCli } from '../../support/cli.ts';
import { speechLikeWav } from '../../support/speech-like-wav.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-evaluate-cli-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const env = { STATE_DIR: join(directory, 'state'), AUDIO_SCORERS: '1' };
const index = join(directory, 'a test set', 'index.csv');
await mkdir(join(directory, 'a test set'));
const lines = ['path,label,channel,speaker,synthesizer,codec'];
for (let at = 0; at < 6; at++) {
  await writeFile(join(directory, 'a test set', `${at}.wav`), speechLikeWav(5, { pitchHz: 100 + 15 * at }));
  lines.push(
    `${at}.wav,${at % 2 === 0 ? 'bonafide' : 'synthetic'},phone,speaker ${at},${at % 2 === 0 ? '' : 'tts'},none`,
  );
}
await writeFile(index, `${[...lines, 'gone.wav,replay,phone,speaker 9,,none'].join('\n')}\n`);

it('measures models on an index: table, JSON, picture and scores', async () => {
  const [report, det, scores] = ['report.json', 'det.svg', 'scores.csv'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const { code, stdout, stderr } = await runCli(
    env,
    'evaluate',
    '--index',
    index,
    '--model',
    'phone/v1.1',
    '--resamples',
    '20',
    '--report',
    report,
    '--det',
    det,
    '--scores',
    scores,
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('a test set: 7 recordings');
  expect(stdout).toMatch(/phone\/v1\.1 +phone +synthesis +3 +3 /);
  expect(stdout).toContain('min t-DCF is not defined here');
  expect(stdout).toContain('file_missing 1');
  const parsed = JSON.parse(await readFile(report, 'utf8')) as EvaluationReport;
  expect(parsed).toMatchObject({
    schema: 'evaluation/1',
    index: { name: 'a test set', recordings: 7 },
    bootstrap: { resamples: 20, seed: 1 },
    sections: [{ model: 'phone/v1.1', channel: 'phone' }],
  });
  expect(await readFile(det, 'utf8')).toContain('phone/v1.1 synthesis');
  expect((await readFile(scores, 'utf8')).trimEnd().split('\n')).toHaveLength(8);
});

it('prints the same report for the same scores with --json', async () => {
  const run = async () =>
    JSON.parse(
      (await runCli(env, 'evaluate', '--index', index, '--model', 'phone/v1.1', '--resamples', '20', '--json')).stdout,
    ) as EvaluationReport;
  const [first, second] = [await run(), await run()];
  expect({ ...second, evaluatedAt: '' }).toEqual({ ...first, evaluatedAt: '' });
});

it('refuses an index that is none, an unknown model and wrong options by name', async () => {
  const broken = join(directory, 'broken.csv');
  await writeFile(broken, 'path,label,channel,speaker,synthesizer,codec\n1.wav,fake,phone,a,,\n');
  for (const [words, code, text] of [
    [['--index', broken], 1, 'index_invalid'],
    [['--index', index, '--model', 'phone/v2'], 2, 'model_unknown'],
    [['--index', index, '--model', 'phone/v5'], 1, 'model_removed'],
    [['--index', index, '--model', 'phone/v1.1', '--model', 'Phone/V1.1'], 2, 'usage_invalid'],
    [['--index', index, '--channels', 'both'], 2, 'usage_invalid'],
    [[], 2, 'usage_invalid'],
  ] as const) {
    const result = await runCli(env, 'evaluate', ...words);
    expect([result.code, result.stderr], words.join(' ')).toEqual([code, expect.stringContaining(text)]);
  }
  expect((await runCli(env, 'evaluate', '--index', broken)).stderr).toContain('line 2');
});
