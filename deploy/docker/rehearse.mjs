// Runs the steps of the Dockerfile in plain folders, without a container: node deploy/docker/rehearse.mjs FOLDER
// Of a base image only Node is there, the one that runs this. Each stage is a folder below FOLDER; the last one is the image.
import { spawnSync } from 'node:child_process';
import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const checkout = resolve(here, '..', '..');

/** The instructions of a Dockerfile, as words; continued lines are joined, comments left out. */
export function readDockerfile(text) {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`The Dockerfile has a line without an instruction: ${line}`);
      return { name, rest };
    });
}

/** Runs the Dockerfile below `folder`. `install`, if given, does what `npm ci` would, by the folder and the command. */
export function rehearse(folder, { install } = {}) {
  const text = readFileSync(join(here, 'Dockerfile'), 'utf8');
  const stages = new Map();
  let stage;
  for (const { name, rest } of readDockerfile(text)) {
    if (name === 'FROM') {
      const alias = / AS (\S+)$/.exec(rest)?.[1] ?? 'image';
      stage = { root: join(folder, alias), workdir: '/', env: {}, args: {}, command: [] };
      stages.set(alias, stage);
      if (rest.includes('NODE_IMAGE')) placeNode(stage.root);
      else mkdirSync(stage.root, { recursive: true });
    } else if (stage !== undefined) runInstruction({ name, rest, stage, stages, install });
  }
  return stages.get('image');
}

function runInstruction({ name, rest, stage, stages, install }) {
  if (name === 'WORKDIR') {
    stage.workdir = rest;
    mkdirSync(join(stage.root, rest), { recursive: true });
  } else if (name === 'COPY') copy(rest, stage, stages);
  else if (name === 'RUN') execute(rest, stage, install);
  else if (name === 'ENV') Object.assign(stage.env, assignments(rest));
  else if (name === 'ARG') Object.assign(stage.args, assignments(rest));
  else if (name === 'USER') stage.user = rest.split(':').map(Number);
  else if (name === 'CMD' || name === 'ENTRYPOINT')
    stage.command = name === 'CMD' ? [...stage.command, ...JSON.parse(rest)] : [...JSON.parse(rest), ...stage.command];
}

/** NAME=value NAME="a value" */
function assignments(text) {
  return Object.fromEntries(
    [...text.matchAll(/([A-Z_]+)=(?:"([^"]*)"|(\S*))/g)].map(([, name, quoted, plain]) => [name, quoted ?? plain]),
  );
}

function execute(command, { root, workdir, args }, install) {
  const cwd = join(root, workdir);
  if (install !== undefined && command.startsWith('npm ci')) return install(cwd, command);
  const { status } = spawnSync('/bin/sh', ['-ec', command], {
    cwd,
    env: { ...process.env, ...args },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}`);
}

function copy(rest, stage, stages) {
  const words = rest.split(/\s+/);
  const flags = Object.fromEntries(
    words.filter((word) => word.startsWith('--')).map((word) => word.slice(2).split('=')),
  );
  const paths = words.filter((word) => !word.startsWith('--'));
  const to = paths.pop();
  const target = join(stage.root, to.startsWith('/') ? to : join(stage.workdir, to));
  const base = flags.from === undefined ? checkout : stages.get(flags.from).root;
  for (const source of flags.from === undefined ? paths.flatMap(ofContext) : paths) {
    const path = join(base, source);
    const name = paths[0] === '.' ? source : basename(source);
    if (statSync(path).isDirectory())
      copyFolder(path, paths[0] === '.' ? join(target, name) : target, flags.from !== undefined);
    else copyFile(path, to.endsWith('/') ? join(target, name) : target);
  }
  if (flags.chown !== undefined && process.getuid() === 0) chownSync(target, ...flags.chown.split(':').map(Number));
}

function copyFolder(from, to, asLinks) {
  mkdirSync(to, { recursive: true });
  const { status } = spawnSync('cp', [asLinks ? '-al' : '-a', `${from}/.`, to]);
  if (status !== 0) throw new Error(`${from} could not be copied`);
}

function copyFile(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** What a source of the context means: `.` is everything that the ignore file lets through. */
function ofContext(source) {
  const allowed = readFileSync(join(here, 'Dockerfile.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  if (source === '.') return allowed;
  if (!allowed.some((path) => source === path || source.startsWith(`${path}/`)))
    throw new Error(`COPY ${source}: Dockerfile.dockerignore leaves it out`);
  return [source];
}

/** What of the base image the later steps use. */
function placeNode(root) {
  mkdirSync(join(root, 'usr', 'local', 'bin'), { recursive: true });
  copyFileSync(process.execPath, join(root, 'usr', 'local', 'bin', 'node'));
  writeFileSync(join(root, 'usr', 'local', 'LICENSE'), `Node.js ${process.version}: its licence is in the image.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined || existsSync(folder)) {
    process.stderr.write('usage: node deploy/docker/rehearse.mjs FOLDER (one that does not exist yet)\n');
    process.exit(2);
  }
  process.stdout.write(`${JSON.stringify(rehearse(resolve(folder)), null, 2)}\n`);
}
