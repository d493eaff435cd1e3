import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDockerfile, rehearse } from '../../deploy/docker/rehearse.mjs';
import { listLicences } from '../../scripts/licences.mjs';
import { sampleRecordings } from '../../cli/demo/demo-audio.ts';
import { readProjectFile, root } from '../conventions/source-tree.ts';
import { useTestDatabase } from '../support/database.ts';
import { until } from '../support/service-process.ts';

interface Image {
  readonly root: string;
  readonly workdir: string;
  readonly env: Record<string, string>;
  readonly user: readonly [number, number];
  readonly command: readonly string[];
}

const lock = JSON.parse(readProjectFile('package-lock.json')) as {
  packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
};
const alwaysInstalled = (listLicences(lock) as { name: string; optional: boolean }[]).filter(
  ({ optional }) => !optional,
);

const database = await useTestDatabase();

describe('the Dockerfile', () => {
  const instructions = readDockerfile(readProjectFile('deploy/docker/Dockerfile')) as { name: string; rest: string }[];
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const named = (name: string) => last.filter((each) => each.name === name).map(({ rest }) => rest);

  it('names a version of each base image', () => {
    const bases = instructions
      .filter(({ name, rest }) => name === 'FROM' && !rest.includes('${'))
      .map(({ rest }) => rest);
    const ofNode = /^NODE_IMAGE=(\S+)$/.exec(instructions[0]!.rest)![1]!;
    for (const base of [ofNode, ...bases]) expect(base).toMatch(/^[a-z]+:(?!latest)[\w.-]+$/);
  });

  it('runs nothing in its last stage, so that it holds no layer with tools', () => {
    expect(named('RUN')).toEqual([]);
    expect(named('ADD')).toEqual([]);
    expect(named('COPY').filter((rest) => /npm|\/usr\/local\/lib|\s\.\s/.test(rest))).toEqual([]);
  });

  it('ends as an ordinary user with a number, a health check, and commands without a shell', () => {
    expect(named('USER')).toEqual(['10001:10001']);
    expect(named('HEALTHCHECK')).toHaveLength(1);
    for (const command of [...named('CMD'), ...named('ENTRYPOINT')]) expect(JSON.parse(command)).toBeInstanceOf(Array);
    expect(last.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      last.findLastIndex(({ name }) => name === 'COPY'),
    );
  });

  it('uses absolute work folders, and installs what package-lock.json says', () => {
    for (const { rest } of instructions.filter(({ name }) => name === 'WORKDIR')) expect(rest).toMatch(/^\//);
    const runs = instructions.filter(({ name }) => name === 'RUN').map(({ rest }) => rest);
    expect(runs.filter((rest) => /npm (install|i)\b|sudo|curl|wget|apt-get/.test(rest))).toEqual([]);
    expect(runs.filter((rest) => rest.startsWith('npm ci'))).toHaveLength(2);
  });
});

describe('the image, made in a plain folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'caller-trust-image-'));
  let image: Image;
  let state: string;
  let app: string;
  const running: ChildProcess[] = [];
  const healthCheck = JSON.parse(
    /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(readProjectFile('deploy/docker/Dockerfile'))![1]!,
  ) as string[];

  beforeAll(() => {
    chmodSync(folder, 0o755); // mkdtemp makes it for its owner alone
    image = rehearse(folder, { install: takeInstalled }) as unknown as Image;
    state = join(image.root, image.env['STATE_DIR']!);
    app = join(image.root, image.workdir);
    for (const path of ['usr/local/bin/node', 'app/dist/cli.js']) expect(existsSync(join(image.root, path))).toBe(true);
    makeReadOnly();
  });

  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    execFileSync('find', [folder, '-type', 'd', '-exec', 'chmod', 'u+w', '{}', '+']);
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds the packages that are always installed, no other, and their licence texts stay with them', () => {
    const installed = listPackages(join(app, 'node_modules'));
    expect(installed).toEqual(alwaysInstalled.map(({ name }) => name));
    expect(existsSync(join(app, 'docs/licences.md'))).toBe(true);
    expect(existsSync(join(app, 'NOTICE'))).toBe(true);
  });

  it('holds neither npm nor a compiler nor tests', () => {
    expect(readdirSync(join(image.root, 'usr/local/bin'))).toEqual(['node']);
    expect(['rolldown', 'typescript', 'vitest'].filter((name) => existsSync(join(app, 'node_modules', name)))).toEqual(
      [],
    );
    expect(['test', 'bench'].filter((name) => existsSync(join(app, 'dist', name)))).toEqual([]);
  });

  it('serves and scores as an ordinary user with the folder read-only, and refuses by name what needs FFmpeg', async () => {
    const before = listFiles(image.root, state);
    const api = start(image.command.slice(1), { API_DATABASE_URL: database.apiUrl, API_PORT: '0', METRICS_PORT: '0' });
    const worker = start(['dist/jobs/worker-main.js'], { DATABASE_URL: database.url });
    const url = await until(() => readApiUrl(state), `the API answers: ${api.log()}`);
    await until(async () => (await fetch(`${url}/readyz`)).ok, `the API is ready: ${api.log()}`);
    const [, ...check] = healthCheck.map((word) => word.replace('8080', new URL(url).port));
    await runInImage(check, {});
    await expect(
      runInImage(
        healthCheck.slice(1).map((word) => word.replace('8080', '1')),
        {},
      ),
    ).rejects.toMatchObject({ code: 1 });

    const doctor = await runInImage(['dist/cli.js', 'doctor'], { DATABASE_URL: database.url });
    expect(doctor).toMatch(/database +ok/);
    const recordings = join(state, 'recordings');
    for (const name of ['reader-a-1.wav', 'reader-a-3.flac'])
      cpSync(join(sampleRecordings, name), join(recordings, name));
    const results = await runInImage(
      ['dist/cli.js', 'verify', recordings, '--wait', '--csv'],
      { DATABASE_URL: database.url },
      [0, 3],
    );
    expect(results, worker.log()).toMatch(/reader-a-1\.wav.*performed/);
    expect(results).toMatch(/reader-a-3\.flac.*decoder_missing/);
    expect(listFiles(image.root, state)).toEqual(before);
  });

  /** Instead of `npm ci`: the packages of this checkout; all of them, or those that are always installed. */
  function takeInstalled(cwd: string, command: string): void {
    if (!command.includes('--omit')) return symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
    const paths = Object.entries(lock.packages)
      .filter(([path, { dev, optional, devOptional }]) => isOutermost(path) && !dev && !optional && !devOptional)
      .map(([path]) => path);
    const copy = (flags: string) => spawnSync('cp', [flags, '--parents', ...paths, cwd], { cwd: root }).status;
    if (copy('-al') !== 0 && copy('-a') !== 0) throw new Error('The packages could not be copied.'); // links end at a file system
  }

  /** Folders refuse new files, also to the user whom they belong to. Files may be links to those of the checkout, and keep their modes. */
  function makeReadOnly(): void {
    execFileSync('find', [app, '-type', 'd', '-exec', 'chmod', 'a-w', '{}', '+']);
  }

  function asUser(env: Record<string, string>) {
    const [uid, gid] = process.getuid!() === 0 ? image.user : [undefined, undefined];
    return { cwd: app, env: { ...image.env, STATE_DIR: state, ...env }, uid, gid };
  }

  function start(args: readonly string[], env: Record<string, string>): { log(): string } {
    const child = spawn(join(image.root, 'usr/local/bin/node'), args, {
      ...asUser(env),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.push(child);
    let log = '';
    child.stderr!.on('data', (chunk: Buffer) => (log += chunk.toString()));
    return { log: () => log };
  }

  /** Its standard output; rejects with `code` if it ends with another one than those accepted. */
  function runInImage(
    args: readonly string[],
    env: Record<string, string>,
    codes: readonly number[] = [0],
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(join(image.root, 'usr/local/bin/node'), args, asUser(env), (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        if (codes.includes(code)) resolve(stdout);
        else reject(Object.assign(new Error(stderr), { code }));
      });
    });
  }
});

function isOutermost(path: string): boolean {
  return /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path);
}

async function readApiUrl(state: string): Promise<string | undefined> {
  const path = join(state, 'api.json');
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as { url: string }).url.replace('0.0.0.0', '127.0.0.1')
    : undefined;
}

/** Every file with its size and time, but those below `except`. */
function listFiles(directory: string, except: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (path === except) return [];
    if (entry.isDirectory()) return listFiles(path, except);
    const { size, mtimeMs } = lstatSync(path);
    return [`${path} ${size} ${mtimeMs}`];
  });
}

/** The names of all packages below a folder of packages, also of those that lie in others, sorted. */
function listPackages(directory: string): string[] {
  const names = new Set<string>();
  const visit = (place: string) => {
    for (const name of readdirSync(place).filter((each) => !each.startsWith('.'))) {
      const found = name.startsWith('@') ? readdirSync(join(place, name)).map((each) => `${name}/${each}`) : [name];
      for (const each of found) {
        names.add(each);
        const nested = join(place, each, 'node_modules');
        if (existsSync(nested)) visit(nested);
      }
    }
  };
  visit(directory);
  return [...names].sort();
}
