// Installs the packages and compiles the sources where that is needed. Built-ins only: it runs before `npm ci`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from '../runtime/files/file-lock.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lockSecondsMax = 600;

/** Makes node_modules and dist fit the checkout, in a process that ends: Rolldown takes some 800 MiB and keeps them. */
export async function setUp() {
  const code = await run(process.execPath, [join(root, 'scripts', 'build.mjs')], { quiet: true });
  if (code !== 0) throw new Error(`scripts/build.mjs ended with ${code}`);
}

/** Does so in this process, without `install` for dist alone. Two commands at the same time in one clone take turns. */
export async function build({ install }) {
  await withLock(async () => {
    if (install) await installIfNeeded();
    await compileIfNeeded();
  });
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

/** The sources of dist. */
const sourceFolders = [
  'clients',
  'format',
  'runtime',
  'sql',
  'pipelines',
  'jobs',
  'api',
  'intake',
  'console',
  'evaluation',
  'samples',
  'cli',
];

/** What runs as a process or a thread, and what a test loads into a process of its own. */
const isProgram =
  /^cli\.ts$|^(api|intake|console)\/main\.ts$|-(main|child|thread)\.ts$|^runtime\/processes\/sandbox-guard\.ts$|^(bench\/[\w-]+|test\/.*-program)\.ts$/;

/**
 * Packages that stay where they are installed: native ones, and those that read files of their own. All others become part of
 * dist, because a process would load their files one by one.
 */
const installedPackages =
  /^(onnxruntime-node|node-av|msgpackr-extract|@hyzyla\/pdfium|tesseract\.js|pdfkit|@fastify\/swagger-ui|playwright-core)(\/|$)/;

/** pg looks for its socket by this, and loads Node's HTTP client where it is absent, as in Node 20. */
const navigator = '{"userAgent":"Node.js"}';

const pagesFolder = 'console/pages';

const isPage = (file) => file.startsWith(`${pagesFolder}/`);

async function compileIfNeeded() {
  const sources = listSources();
  const digest = digestOf(sources);
  const stamp = join(root, 'dist', '.sources');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  say('compiling');
  rmSync(stamp, { force: true }); // a killed build leaves none, so that the next command builds again
  const made = new Set(['dist/.sources']);
  const programs = sources.filter((file) => isProgram.test(file) && !isPage(file));
  const isProduct = (file) => !/^(bench|test)\//.test(file);
  // Programs of bench and test would cut the product into many small chunks: they have copies of their own.
  for (const [names, chunks] of [
    [programs.filter(isProduct), 'chunks'],
    [programs.filter((file) => !isProduct(file)), 'bench/chunks'],
  ])
    if (names.length > 0) for (const file of await bundle(names, chunks)) made.add(file); // an image has no bench and test
  for (const file of await bundlePages()) made.add(file);
  for (const file of listFiles('dist')) if (!made.has(file)) rmSync(join(root, file));
  writeFileSync(stamp, digest);
}

/** Compiles programs and what they share to dist; gives the files. */
async function bundle(programs, chunks) {
  const { rolldown } = await import('rolldown');
  const bundled = await rolldown({
    cwd: root,
    input: Object.fromEntries(programs.map((file) => [file.slice(0, -'.ts'.length), file])),
    platform: 'node',
    transform: { define: { navigator } },
    external: (id) => installedPackages.test(id),
  });
  const { output } = await bundled.write({
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: `${chunks}/[name]-[hash].js`,
  });
  await bundled.close();
  return output.map(({ fileName }) => `dist/${fileName}`);
}

/** Styles of the pages in the order in which they hold. */
const styles = ['console', 'overview', 'verifications', 'branding', 'nights', 'voices'];

/**
 * Makes what browsers load of the console: the document, one program with its packages, the program of its audio worklet, and one
 * style sheet; gives the files. All pages are one program, so that a page that is open during an upgrade never asks for a part
 * of the version before.
 */
async function bundlePages() {
  const { rolldown } = await import('rolldown');
  const made = [];
  for (const [name, file] of [
    ['main', 'main.ts'],
    ['capture-worklet', 'recordings/capture/capture-worklet.ts'],
  ]) {
    const bundled = await rolldown({ cwd: root, input: { [name]: `${pagesFolder}/${file}` }, platform: 'browser' });
    const { output } = await bundled.write({
      dir: `dist/${pagesFolder}`,
      format: 'esm',
      minify: true,
      entryFileNames: '[name].js',
    });
    await bundled.close();
    made.push(...output.map(({ fileName }) => fileName));
  }
  const readPage = (name) => readFileSync(join(root, pagesFolder, name), 'utf8');
  const uplot = readFileSync(join(root, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8');
  for (const [name, content] of [
    ['console.css', [...styles.map((each) => readPage(`${each}.css`)), uplot].join('\n')],
    ['index.html', readPage('index.html')],
    ['icon.svg', readPage('icon.svg')],
  ]) {
    writeFileSync(join(root, 'dist', pagesFolder, name), content);
    made.push(name);
  }
  return made.map((name) => `dist/${pagesFolder}/${name}`);
}

/** The files that decide what dist holds, relative to the clone. */
function listSources() {
  const files = [...sourceFolders, 'bench', 'test']
    .flatMap(listFiles)
    .filter((file) => !file.startsWith(join('clients', 'typescript', 'dist')))
    .filter(
      (file) =>
        (/\.(ts|mjs)$/.test(file) && (!file.startsWith('test/') || isProgram.test(file))) ||
        (isPage(file) && /\.(css|html|svg)$/.test(file)),
    );
  return ['cli.ts', ...files].sort();
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
  for (const file of ['package-lock.json', 'scripts/set-up.mjs', ...sources])
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Runs `work` while no other command sets up this clone. */
async function withLock(work) {
  const home = join(root, 'var', 'set-up');
  mkdirSync(home, { recursive: true });
  const onWait = (pid) => say(`waiting for process ${pid}, which sets up this clone`);
  return withFileLock(join(home, 'clone.lock'), work, { waitSecondsMax: lockSecondsMax, onWait });
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
