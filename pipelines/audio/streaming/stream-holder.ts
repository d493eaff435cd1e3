import { randomBytes } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { z } from 'zod';
import { processLives } from '../../../runtime/file-lock.ts';

/** Who receives a stream: a process, for as long as it takes streams. */
export const holderForm = z.strictObject({
  /** New each time that a process begins to take streams. */
  token: z.string(),
  pid: z.int(),
  /** When the process was started, by the clock of its kernel: ids are given again. Null where the system does not tell. */
  started: z.string().nullable(),
  /** The boot and the process namespace in which its id means something; null where the system does not tell. */
  place: z.string().nullable(),
});

export type Holder = Readonly<z.output<typeof holderForm>>;

/** A holder that is elsewhere, in another container say, is dead when its streams were not touched for so many milliseconds. */
export const silentMs = 60_000;

/** Tokens of the holders of this process. One with its id and another token is of a dead process that had the id before. */
const ours = new Set<string>();

/** Makes a holder of this process. */
export async function becomeHolder(): Promise<Holder> {
  const token = randomBytes(8).toString('hex');
  ours.add(token);
  return { token, pid: process.pid, started: await startOf(process.pid), place: await readPlace() };
}

/** The holder takes no streams any more; what it has left is for others. */
export function endHolder({ token }: Holder): void {
  ours.delete(token);
}

/** True while a holder lives; `touchedMs` is when it last touched its stream. */
export async function holderLives({ token, pid, started, place }: Holder, touchedMs: number): Promise<boolean> {
  if (place !== (await readPlace())) return Date.now() - touchedMs < silentMs;
  if (pid === process.pid) return ours.has(token);
  return started === null ? processLives(pid) : (await startOf(pid)) === started;
}

/** When a process was started, in ticks since the boot (proc_pid_stat(5)); null of one that has ended, also if nobody has been told of it. */
async function startOf(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // the name before may have blanks
  return fields[0] === 'Z' ? null : (fields[19] ?? null);
}

async function readPlace(): Promise<string | null> {
  const [boot, namespace] = await Promise.all(
    [readFile('/proc/sys/kernel/random/boot_id', 'latin1'), readlink('/proc/self/ns/pid')].map((read) =>
      read.catch(() => undefined),
    ),
  );
  return boot === undefined || namespace === undefined ? null : `${boot.trim()} ${namespace}`;
}
