// Installs the packages and compiles the sources where that is needed. Built-ins only: it runs before `npm ci`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lockSecondsMax = 600;

/** Makes node_modules and dist fit the checkout. Two commands at the same time in one clone take turns. */
export async function setUp() {
  await withLock(async () => {
    await installIfNeeded();
    await compileIfNeeded();
  });
}

/** Makes dist fit the sources; with `tolerant` also when they have type errors, which are printed. */
export async function build({ tolerant = false } = {}) {
  await withLock(() => compileIfNeeded({ tolerant }));
}

/** Runs a program in the clone with its output on ours (both on standard error with `quiet`), and resolves to its exit code. */
export function run(command, args, { quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['inherit', quiet ? 2 : 'inherit', 'inherit'] });
    const forward = (signal) => child.kill(signal);
    process.on('SIGTERM', forward);
    process.on('SIGINT', () => {}); // the terminal sends it to the child too
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGTERM', forward);
      resolve(code ?? 128 + (signal === 'SIGINT' ? 2 : 15));
    });
  });
}

/** Sets up, then becomes `node dist/cli.js` with the given words. */
export async function runCli(args) {
  await setUp();
  process.exitCode = await run(process.execPath, [join(root, 'dist', 'cli.js'), ...args]);
}

async function installIfNeeded() {
  const reason = whyInstall();
  if (reason === undefined) return;
  say(`installing packages (${reason})`);
  const code = await run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { quiet: true });
  if (code !== 0) throw new Error(`npm ci ended with ${code}`);
}

/** What keeps node_modules from being what package-lock.json says, by npm's own record of what it installed. */
function whyInstall() {
  const record = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return 'there are none';
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(record);
  for (const [path, { version, optional }] of wanted) {
    const found = installed.get(path);
    if (found === undefined && optional) continue; // for another platform
    if (found?.version !== version) return `${path.replace('node_modules/', '')} is not ${version}`;
  }
  const surplus = [...installed.keys()].find((path) => !wanted.has(path));
  return surplus === undefined ? undefined : `${surplus.replace('node_modules/', '')} is not in package-lock.json`;
}

function readPackages(file) {
  const { packages } = JSON.parse(readFileSync(file, 'utf8'));
  return new Map(Object.entries(packages).filter(([path]) => path !== ''));
}

/** What is compiled: the programs, and the pages of the console for browsers. */
const projects = ['tsconfig.build.json', 'console/pages/tsconfig.build.json'];

async function compileIfNeeded({ tolerant = false } = {}) {
  const sources = listSources();
  const digest = digestOf(sources);
  const stamp = join(root, 'dist', '.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  say('compiling');
  const codes = [];
  for (const project of projects)
    codes.push(
      await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project], {
        quiet: true,
      }),
    );
  const code = Math.max(...codes);
  if (code !== 0 && !tolerant) throw new Error('the sources have type errors');
  removeOrphans(new Set(listSources())); // another one may have come meanwhile
  if (code === 0) writeFileSync(stamp, digest);
}

/** The files that decide what dist holds, relative to the clone. */
function listSources() {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8'));
  const files = include.flatMap((name) =>
    name.endsWith('.ts') ? [name] : listFiles(name).filter((file) => file.endsWith('.ts')),
  );
  return files.filter((file) => existsSync(join(root, file))).sort();
}

function listFiles(directory) {
  const full = join(root, directory);
  if (!existsSync(full)) return [];
  const entries = readdirSync(full, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)));
}

function digestOf(sources) {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'tsconfig.json', 'console/pages/tsconfig.json', ...projects, ...sources]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** Removes compiled files whose source is gone. */
function removeOrphans(sources) {
  for (const file of listFiles('dist')) {
    const source = relative('dist', file).replace(/\.js(\.map)?$/, '.ts');
    if (source.endsWith('.ts') && !sources.has(source)) rmSync(join(root, file));
  }
}

/**
 * Runs `work` while this process alone holds a directory that names its process id. The directory comes into being with
 * the name in it, by a rename; the lock of a dead holder is removed.
 */
async function withLock(work) {
  const home = join(root, 'var', 'set-up');
  const lock = join(home, 'lock');
  mkdirSync(home, { recursive: true });
  const mine = mkdtempSync(join(home, 'lock-'));
  writeFileSync(join(mine, 'pid'), String(process.pid));
  try {
    await takeLock(mine, lock);
  } catch (error) {
    rmSync(mine, { recursive: true, force: true });
    throw error;
  }
  try {
    return await work();
  } finally {
    renameSync(lock, mine); // first out of the way: a lock that is half removed is an empty directory, which another one's replaces
    rmSync(mine, { recursive: true, force: true });
  }
}

async function takeLock(mine, lock) {
  const until = Date.now() + lockSecondsMax * 1000;
  let isAnnounced = false;
  for (;;) {
    try {
      renameSync(mine, lock);
      return;
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    }
    const holder = readHolder(lock);
    if (holder !== undefined && !lives(holder)) {
      breakLock(lock, holder);
      continue;
    }
    if (Date.now() > until)
      throw new Error(`${lock} is held by process ${holder}; remove it if that process is not a set-up`);
    if (!isAnnounced) say(`waiting for process ${holder}, which sets up this clone`);
    isAnnounced = true;
    await sleep(100);
  }
}

/** Removes the lock of a dead holder, unless another command has taken it over meanwhile. */
function breakLock(lock, holder) {
  const aside = `${lock}-of-${holder}-${process.pid}`;
  try {
    renameSync(lock, aside);
    if (readHolder(aside) !== holder) renameSync(aside, lock);
  } catch {
    // another command was faster
  }
  rmSync(aside, { recursive: true, force: true });
}

function readHolder(lock) {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8'));
  } catch {
    return undefined;
  }
}

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}

/** Runs the body of a script; a failure is one line and exit code 1. */
export async function runScript(body) {
  try {
    await body();
  } catch (error) {
    process.stderr.write(`set-up: ${error.message}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runScript(setUp);
