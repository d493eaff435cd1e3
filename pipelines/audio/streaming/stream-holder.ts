import { randomBytes } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { z } from 'zod';
import { isSameProcess, startOfProcess } from '../../../runtime/files/file-lock.mjs';

/** The process that receives a stream. */
export const holderForm = z.strictObject({
  /** New each time that a process begins to accept streams. */
  token: z.string(),
  pid: z.int(),
  /** Start time of the process, by the clock of its kernel, since process ids are reused. Null where the system does not provide it. */
  started: z.string().nullable(),
  /** The boot and the process namespace to which its id belongs; null where the system does not provide them. */
  place: z.string().nullable(),
});

export type Holder = Readonly<z.output<typeof holderForm>>;

/** A holder in another container or on another host counts as dead if its streams were not touched for this long. */
export const silentMs = 60_000;

/** Tokens of this process's holders. Another token with this process id belongs to a dead process that had the id before. */
const ours = new Set<string>();

/** Makes a holder of this process. */
export async function becomeHolder(): Promise<Holder> {
  const token = randomBytes(8).toString('hex');
  ours.add(token);
  return { token, pid: process.pid, started: await startOfProcess(process.pid), place: await readPlace() };
}

/** Ends a holder; other processes may take over its streams. */
export function endHolder({ token }: Holder): void {
  ours.delete(token);
}

/** True while a holder lives; `touchedMs` is when it last touched its stream. */
export async function holderLives({ token, pid, started, place }: Holder, touchedMs: number): Promise<boolean> {
  if (place !== (await readPlace())) return Date.now() - touchedMs < silentMs;
  if (pid === process.pid) return ours.has(token);
  return isSameProcess(pid, started);
}

async function readPlace(): Promise<string | null> {
  const [boot, namespace] = await Promise.all(
    [readFile('/proc/sys/kernel/random/boot_id', 'latin1'), readlink('/proc/self/ns/pid')].map((read) =>
      read.catch(() => undefined),
    ),
  );
  return boot === undefined || namespace === undefined ? null : `${boot.trim()} ${namespace}`;
}
