import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli, runCliJson, type CliResult } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { encodeSamples } from '../../pipelines/audio/streaming/encoded-samples.ts';
import { speechLike } from '../../support/speech-like.ts';
import { testModel, tinyRecording, useFolder, writeVoice } from '../../support/recording-batch.ts';

const { url, db } = await useTestDatabase();
const folder = await useFolder('cli-verify');
const env = { DATABASE_URL: url, STATE_DIR: join(folder, 'state') };
const cli = (...args: string[]): Promise<CliResult> => runCli(env, ...args);
const json = <Result>(...args: string[]) => runCliJson<Result>(env, ...args);
const at = (...path: string[]) => join(folder, ...path);

interface Results {
  readonly batch: { readonly id: string; readonly state: string; readonly counts: Record<string, number> };
  readonly items: readonly {
    readonly source: string;
    readonly state: string;
    readonly reason: string | null;
    readonly scores: { synthesis: number } | null;
    readonly windows: unknown[] | null;
    readonly audio: { sha256: string } | null;
  }[];
}

beforeAll(async () => {
  await mkdir(at('calls', 'sub'), { recursive: true });
  await writeVoice(at('calls', 'voice.wav'));
  await writeFile(at('calls', 'sub', 'silence.wav'), tinyRecording(1));
  await writeFile(at('calls', '.hidden'), 'x');
  await writeFile(at('text.wav'), 'This is no audio.');
  await writeFile(
    at('list.csv'),
    `path,model,name\ncalls/voice.wav,,Voice\ntext.wav,,\nnone.wav,,\ncalls/voice.wav,phone/v5,\n`,
  );
});

describe('verify --wait', () => {
  it('prints a table of a folder, and brings a worker where there is none', async () => {
    const { code, stdout, stderr } = await cli('verify', at('calls'), '--model', testModel, '--wait');
    expect([code, stderr]).toEqual([0, '']);
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head!.split(/ {2,}/)).toEqual([
      'source',
      'model',
      'state',
      'synthesis',
      'replay',
      'decision',
      'next step',
      'reason',
    ]);
    expect(rows[0]).toMatch(
      /^sub\/silence\.wav +phone\/v1\.1 +performedWithoutScore +- +- +- +record_again +\w+_?voice$/,
    );
    expect(rows[1]).toMatch(
      /^voice\.wav +phone\/v1\.1 +performed +\d\.\d{3} +\d\.\d{3} +\w+ +(verify_otherwise|refuse) +-$/,
    );
    expect(rows.at(-1)).toBe('2 recordings, batch done: performed 1, performedWithoutScore 1.');
  });

  it('ends with 3 if an item could not be scored, after the results, and says what to do', async () => {
    const { code, stdout, stderr } = await cli('verify', at('list.csv'), '--model', testModel, '--wait', '--csv');
    expect(code).toBe(3);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(',').slice(0, 3).join()),
    ).toEqual([
      'line,source,state',
      '1,Voice,performed',
      '2,text.wav,error',
      '3,none.wav,error',
      '4,calls/voice.wav,error',
    ]);
    expect(stderr).toMatch(/3 of 4 recordings could not be scored: .*file_missing 1.*\[items_failed\]/);
    expect(stderr).toMatch(/batch results [0-9a-f-]{36} --failed/);
  });

  it('scores raw audio of the named form, and shows why other files are refused', async () => {
    const leg = encodeSamples('pcm_mulaw', [speechLike({ sampleRate: 8000, seconds: 4, pitch: 140 })]);
    await mkdir(at('legs'));
    await writeFile(at('legs', 'a.ul'), leg);
    await writeFile(at('legs', 'b.wav'), tinyRecording(2));
    const scored = await json<Results>(
      'verify',
      at('legs', 'a.ul'),
      '--raw',
      'mulaw@8000',
      '--model',
      testModel,
      '--wait',
    );
    expect(scored.items[0]).toMatchObject({ state: 'performed', audio: { sampleRate: 8000, duration: 4 } });
    const { code, stdout } = await cli('verify', at('legs'), '--raw', 'mulaw@8000', '--model', testModel, '--wait');
    expect(code).toBe(3);
    expect(stdout.split('\n')[2]).toMatch(/^b\.wav .* format_unknown: It is submitted as raw audio, but has a header/);
    const guessed = await cli('verify', at('legs', 'a.ul'), '--model', testModel, '--wait');
    expect(guessed.stdout).toMatch(/format_unknown: Its first bytes are of no format .* \(raw, such as mulaw@8000\)/);
    const wrong = await cli('verify', at('legs'), '--raw', 'mulaw', '--wait');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"mulaw" is no form of raw audio.')]);
  });

  it('prints JSON with windows, whole, also to a new file', async () => {
    const direct = await json<Results>('verify', at('calls', 'voice.wav'), '--model', testModel, '--wait');
    expect(direct).toMatchObject({
      batch: { state: 'done', counts: { performed: 1 } },
      items: [
        { source: at('calls', 'voice.wav'), state: 'performed', reused: true, scoreDirection: 'higher-is-authentic' },
      ],
    });
    expect(direct.items[0]!.windows!.length).toBeGreaterThan(0);
    const { code, stdout } = await cli(
      'verify',
      at('calls', 'voice.wav'),
      '--model',
      testModel,
      '--wait',
      '--json',
      '--output',
      at('out.json'),
    );
    expect([code, (JSON.parse(stdout) as { output: string }).output]).toEqual([0, at('out.json')]);
    const written = JSON.parse(await readFile(at('out.json'), 'utf8')) as Results;
    expect(written.items[0]!.scores).toEqual(direct.items[0]!.scores);
    const again = await cli('verify', at('calls', 'voice.wav'), '--wait', '--output', at('out.json'));
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining('Something of this name is there already.'),
    ]);
  });

  it('leaves no file where nothing came out', async () => {
    const { code } = await cli(
      'verify',
      at('calls'),
      '--model',
      'phone/v99',
      '--wait',
      '--csv',
      '--output',
      at('nothing.csv'),
    );
    expect(code).toBe(2);
    await expect(readFile(at('nothing.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('verify', () => {
  it('says the id of the batch and how to ask, that no worker runs, and the same key is the same batch', async () => {
    const first = await cli('verify', at('calls'), '--model', testModel, '--key', 'monday', '--owner', 'Northwind');
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Batch ([0-9a-f-]{36}) with 2 recordings is queued, under the key monday\.\n.*batch status \1.*\n.*batch results \1.*\nNo worker runs: nothing is performed until one is started/s,
      ),
    ]);
    const [id] = /[0-9a-f-]{36}/.exec(first.stdout)!;
    expect((await cli('batch', 'status', id)).stdout).toMatch(/state +queued[^]*\n\nNo worker runs/);
    const again = await json<{ batch: { id: string; repeated: boolean } }>(
      'verify',
      at('calls'),
      '--model',
      testModel,
      '--key',
      'monday',
      '--owner',
      'Northwind',
    );
    expect([first.stdout.includes(again.batch.id), again.batch.repeated]).toEqual([true, true]);
    const other = await cli('verify', at('text.wav'), '--model', testModel, '--key', 'monday', '--owner', 'Northwind');
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('[idempotency_conflict]')]);
    expect((await cli('batch', 'results', again.batch.id, '--wait')).code).toBe(0);
  });

  it.each([
    [['none.wav'], 1, 'recording_refused'],
    [['calls', '--model', 'phone/v99'], 2, 'model_unknown'],
    [['calls', '--model', 'phone/v5'], 1, 'model_removed'],
    [['calls', '--key', 'a b', '--model', testModel], 2, 'audio_request_invalid'],
    [['calls', '--output', 'x.csv'], 2, 'usage_invalid'],
    [['calls', '--csv'], 2, '--csv needs --wait.'],
    [['calls', '--channels', 'left'], 2, "argument 'left' is invalid"],
    [['calls', '--wait', '--csv', '--json'], 2, 'Give one of --csv and --json.'],
    [[], 2, 'missing required argument'],
  ])('of %j ends with %i', async ([path, ...rest], code, said) => {
    const end = await cli('verify', ...(path === undefined ? [] : [at(path)]), ...rest);
    expect([end.code, end.stderr]).toEqual([code, expect.stringContaining(said)]);
  });

  it('refuses an empty folder, and a list with a bad row', async () => {
    await mkdir(at('empty'), { recursive: true });
    await writeFile(at('bad.jsonl'), '{"path":"a.wav"}\n{"nothing":1}\n');
    expect(await cli('verify', at('empty'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('names no recording') as string,
    });
    expect(await cli('verify', at('bad.jsonl'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Line 2') as string,
    });
  });
});

describe('batch', () => {
  it('lists, shows, cancels and tries again', async () => {
    await writeFile(at('new.wav'), tinyRecording(77));
    const { batch } = await json<{ batch: { id: string } }>(
      'verify',
      at('new.wav'),
      '--model',
      testModel,
      '--name',
      'One',
    );
    expect(await json<{ id: string }[]>('batch', 'list', '--state', 'queued')).toMatchObject([
      { id: batch.id, name: 'One', items: 1 },
    ]);
    expect((await cli('batch', 'status', batch.id)).stdout).toMatch(/state +queued/);
    expect((await cli('batch', 'retry', batch.id)).stderr).toContain('[batch_ended]');
    expect((await cli('batch', 'cancel', batch.id)).stdout).toContain('1 item had no outcome yet');
    expect(await json('batch', 'status', batch.id)).toMatchObject({
      state: 'cancelled',
      counts: { error: 1 },
      reasons: { batch_cancelled: 1 },
    });
    expect((await cli('batch', 'results', batch.id, '--failed', '--csv')).stdout).toContain(',batch_cancelled,');
    const end = await cli('batch', 'retry', batch.id, '--wait', '--csv');
    expect([end.code, end.stdout]).toEqual([0, expect.stringContaining(',performedWithoutScore,')]);
    expect((await cli('batch', 'retry', batch.id)).stdout).toContain('ended in error: there is nothing to try again.');
    expect((await cli('batch', 'status', batch.id)).stdout).not.toContain('No worker runs');
    const bad = await cli('verify', at('text.wav'), '--model', testModel, '--wait', '--json');
    const failed = (JSON.parse(bad.stdout) as Results).batch.id;
    expect((await cli('batch', 'retry', failed)).stdout).toContain(
      '1 item of batch ' + failed + ' ended in error, for causes in the recordings; --all tries it again all the same.',
    );
    expect((await cli('batch', 'retry', failed, '--all')).stdout).toMatch(
      /^1 item of batch .* is queued again\. No worker runs/,
    );
    expect((await cli('batch', 'list', '--limit', '0')).stderr).toContain('Give an integer of 1 or more.');
    expect((await cli('batch', 'status', 'no-such')).stderr).toContain('[batch_unknown]');
  });
});

describe('recording delete', () => {
  it('removes the audio; results stay', async () => {
    const results = await json<Results>('verify', at('calls'), '--model', testModel, '--wait');
    const { sha256 } = results.items[1]!.audio!;
    const file = at('state', 'audio', sha256.slice(0, 2), sha256);
    expect((await readFile(file)).length).toBeGreaterThan(0);
    expect((await cli('recording', 'delete', sha256)).code).toBe(2);
    expect(await json('recording', 'delete', sha256.toUpperCase(), '--reason', 'Asked for')).toMatchObject({
      sha256,
      deleted: true,
      reason: 'Asked for',
    });
    await expect(readFile(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await json<Results>('batch', 'results', results.batch.id)).items[1]!.scores).toEqual(
      results.items[1]!.scores,
    );
    expect((await cli('recording', 'delete', 'f'.repeat(64), '--reason', 'x')).stderr).toContain('[recording_unknown]');
  });
});

it('a pipe that is closed early ends the command well', async () => {
  const { code, stderr } = await new Promise<CliResult>((resolve, reject) => {
    void import('node:child_process').then(({ execFile }) =>
      execFile(
        'sh',
        ['-c', `node dist/cli.js verify '${at('calls')}' --model ${testModel} --wait --csv | head -1`],
        { env: { ...process.env, ...env } },
        (error, stdout, stderr) => (error === null ? resolve({ code: 0, stdout, stderr }) : reject(error)),
      ),
    );
  });
  expect([code, stderr]).toEqual([0, '']);
  await rm(at('out.json'), { force: true });
  expect((await db.query(`SELECT count(*) AS open FROM verification_batch WHERE state = 'open'`)).rows).toEqual([
    { open: 0 },
  ]);
});
