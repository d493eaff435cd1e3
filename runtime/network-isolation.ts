import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

let probe: Promise<readonly string[]> | undefined;

/** The words before a command that take its network away: none where the system has no such namespaces. Asked once. */
export function isolation(): Promise<readonly string[]> {
  probe ??= probeIsolation();
  return probe;
}

async function probeIsolation(): Promise<readonly string[]> {
  const unshare = ['/usr/bin/unshare', '/bin/unshare'].find((path) => existsSync(path));
  if (process.platform !== 'linux' || unshare === undefined) return [];
  for (const flags of [['-n'], ['-r', '-n']]) {
    const works = await promisify(execFile)(unshare, [...flags, '/bin/sh', '-c', ':'], {
      env: {},
      timeout: 20_000,
    }).then(
      () => true,
      () => false,
    );
    if (works) return [unshare, ...flags];
  }
  return [];
}
