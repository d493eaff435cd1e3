import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../../pipelines/access/key-secret.ts';
import { useConsole } from '../../console/support/console-process.ts';
import { openStreamingConsole } from '../../console/support/streaming-console.ts';
import { pcm16, wavFile } from '../../support/audio-file.ts';
import { runCli, type CliResult } from '../../support/cli.ts';
import { useFolder } from '../../support/recording-batch.ts';
import { until } from '../../support/service-process.ts';
import { speechLike } from '../../support/speech-like.ts';

const running = await useConsole({ AUDIO_SCORERS: '1', POLL_MS: '50' });
const folder = await useFolder('verify-stream');
const root = join(import.meta.dirname, '../../..');
const samples = pcm16(speechLike({ sampleRate: 8000, seconds: 6 }));
const wav = wavFile({ data: samples });
let key = '';
let env: Record<string, string> = {};

beforeAll(async () => {
  ({ key } = await createKey(running.database.db, {
    client: 'Acme',
    scopes: ['verifications:stream'],
    secret: await loadKeySecret({ stateDir: running.stateDir }),
  }));
  await sleep(60);
  env = { STATE_DIR: running.stateDir, CALLER_TRUST_KEY: key };
  await writeFile(join(folder, 'call.wav'), wav);
  await writeFile(join(folder, 'key'), `${key}\n`);
});

const call = () => join(folder, 'call.wav');
const cli = (...args: string[]) => runCli(env, 'verify', ...args);

/** A run of the command line on its standard input, which stays open. */
function startCli(args: readonly string[], further: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['dist/cli.js', 'verify', '-', '--stream', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env, ...further } as NodeJS.ProcessEnv,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
  child.stdin.on('error', () => {}); // it closes it, or has had enough
  const ended = new Promise<CliResult>((resolve) =>
    child.on('close', (status) => resolve({ code: status ?? -1, ...output })),
  );
  return { child, output, ended };
}

/** One whose input is quiet after the bytes that it is given. */
function cliWithQuietInput(input: Buffer, args: readonly string[] = [], further: Record<string, string> = {}) {
  const run = startCli(args, further);
  run.child.stdin.write(input);
  return run;
}

/** One that is given bytes piece by piece. */
async function cliWithInput(input: Buffer, ...args: string[]): Promise<CliResult> {
  const { child, ended } = startCli(args);
  for (let at = 0; at < input.length; at += 9999) child.stdin.write(input.subarray(at, at + 9999));
  child.stdin.end();
  return ended;
}

const windowLine = /^ +0 +\d+\.00 +\d+\.00 +validVoice +\d\.\d{3} +\d\.\d{3}$/gm;

describe('verify --stream', () => {
  it('prints windows as they come, then the verification', async () => {
    const { code, stdout, stderr } = await cli(call(), '--stream', '--model', 'phone');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(windowLine)).toHaveLength(2);
    expect(stdout).toMatch(
      /^channel +start +end +label +synthesis +replay\n[^]*\nsource +model +state .*\n.*call\.wav +phone\/v8\.2 +performed +\d\.\d{3} +\d\.\d{3} +\w+ +(verify_otherwise|refuse) +-\n\nVerification [0-9a-f-]{36}\.\n$/,
    );
  });

  it('prints one JSON document, from a key file and another address', async () => {
    const { code, stdout } = await runCli(
      { STATE_DIR: folder },
      'verify',
      call(),
      '--stream',
      '--url',
      running.url,
      '--key-file',
      join(folder, 'key'),
      '--json',
      '--name',
      'call 7',
    );
    const { verification } = JSON.parse(stdout) as {
      verification: { state: string; requestedModel: string; model: string; windows: unknown[] };
    };
    expect([
      code,
      verification.state,
      verification.requestedModel,
      verification.model,
      verification.windows.length,
    ]).toEqual([0, 'performed', 'auto', 'phone/v8.2', 2]);
  });

  it('sends a file in real time with the option', async () => {
    const since = performance.now();
    expect((await cli(call(), '--stream', '--real-time')).code).toBe(0);
    expect(performance.now() - since).toBeGreaterThan(5900);
  });

  it.each([
    ['a WAV file', wav, []],
    [
      'a WAV file whose length is not known',
      Buffer.concat([wavFile({ data: Buffer.alloc(0), dataBytes: 0xffff_ffff, riffBytes: 0xffff_ffff }), samples]),
      [],
    ],
    ['raw samples', samples, ['--encoding', 'pcm_s16le', '--rate', '8000']],
  ])('takes %s from standard input', async (_what, input, args) => {
    const { code, stdout, stderr } = await cliWithInput(input, ...args, '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ verification: { state: 'performed', audio: { duration: 6 } } });
  });

  it.each([
    ['what is no WAV file', ['-', '--stream'], 2, 'usage_invalid'],
    ['raw samples without a rate', ['-', '--stream', '--encoding', 'pcm_s16le'], 2, 'usage_invalid'],
    ['a format for a file', ['call.wav', '--stream', '--rate', '8000'], 2, 'usage_invalid'],
    ['--wait with --stream', ['call.wav', '--stream', '--wait'], 2, 'usage_invalid'],
    ['--real-time without --stream', ['call.wav', '--real-time'], 2, 'usage_invalid'],
    ['a model that was removed', ['call.wav', '--stream', '--model', 'phone/v5'], 1, 'model_removed'],
    ['a file that is none', ['none.wav', '--stream'], 1, 'recording_refused'],
  ])('refuses %s', async (_what, [path, ...args], code, error) => {
    const result =
      path === '-'
        ? await cliWithInput(Buffer.from('This is no audio. '.repeat(10)), ...args.slice(1))
        : await cli(join(folder, path!), ...args);
    expect([result.code, result.stderr]).toEqual([code, expect.stringContaining(`[${error}]`)]);
  });

  it('says that no console runs, and which key it needs', async () => {
    const none = await runCli({ STATE_DIR: folder }, 'verify', call(), '--stream');
    expect([none.code, none.stderr]).toEqual([69, expect.stringMatching(/No console runs .*\[stream_lost\]/)]);
    const keyless = await runCli({ STATE_DIR: running.stateDir }, 'verify', call(), '--stream');
    expect([keyless.code, keyless.stderr]).toEqual([1, expect.stringContaining('[unauthenticated]')]);
  });
});

describe('verify --stream of standard input that is quiet', () => {
  it.each([
    ['a WAV file', wav.subarray(0, 30_044), []],
    ['raw samples', samples.subarray(0, 30_000), ['--encoding', 'pcm_s16le', '--rate', '8000']],
  ])('ends at once at Ctrl-C: %s', async (_what, input, args) => {
    const { child, output, ended } = cliWithQuietInput(input, args);
    await until(async () => output.stdout.includes('channel'), 'it has begun');
    const since = performance.now();
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('[interrupted]') as string });
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it('ends with the error of the console', async () => {
    const impatient = await openStreamingConsole({}, { streamIdleSecondsMax: 2 });
    try {
      const { key: ownKey } = await impatient.makeKey();
      const { ended } = cliWithQuietInput(wav.subarray(0, 30_044), ['--url', impatient.url], {
        CALLER_TRUST_KEY: ownKey,
      });
      expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('[stream_idle]') as string });
    } finally {
      await impatient.close();
    }
  });

  it('ends where what it was given cannot be streamed', async () => {
    const { ended } = cliWithQuietInput(Buffer.from('This is no audio. '.repeat(10)));
    expect(await ended).toMatchObject({ code: 2, stderr: expect.stringContaining('[usage_invalid]') as string });
  });
});

describe('docs/streaming.md', () => {
  it('has a client that runs', async () => {
    const text = await readFile(join(root, 'docs/streaming.md'), 'utf8');
    const [, program] = /^```js\n([^]*?)^```$/m.exec(text) ?? [];
    await mkdir(join(folder, 'client'));
    await symlink(join(root, 'node_modules'), join(folder, 'client', 'node_modules'));
    await writeFile(join(folder, 'client', 'client.mjs'), program!);
    await writeFile(join(folder, 'client', 'call.wav'), wav);
    const child = spawn(process.execPath, ['client.mjs'], {
      cwd: join(folder, 'client'),
      env: { PATH: process.env['PATH'], URL: running.url, KEY: key } as NodeJS.ProcessEnv,
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
    await new Promise((resolve) => child.on('close', resolve));
    expect(printed).toMatch(/^0 4 validVoice 0\.\d+\n2 6 validVoice 0\.\d+\nperformed \w+\n$/);
  });
});
