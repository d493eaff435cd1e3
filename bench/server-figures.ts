import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { tickMs, usedCpuMs, type ChildFigures } from './side-by-side.ts';

/** What has been used up to an instant. */
interface Used {
  readonly atMs: number;
  /** Processor time of this process and the programs that it ran. */
  readonly cpuMs: number;
  readonly serverCpuMs: number;
  readonly walBytes: number;
}

/** What this process and an embedded server have used until now. `home` is the directory of the server. Needs Linux. */
export async function usedSoFar(client: Client, home: string): Promise<Used> {
  const log = await client.query<{ bytes: string }>("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes");
  const { cpuMs } = await serverProcesses(home);
  return { atMs: performance.now(), cpuMs: usedCpuMs(), serverCpuMs: cpuMs, walBytes: Number(log.rows[0]!.bytes) };
}

/** CPU and peak memory of a process of Linux by its id. */
export async function usedByProcess(pid: number): Promise<Required<ChildFigures>> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs, peakRssBytes: Number(peak![1]) * 1024 };
}

/** Processor time of a server with all its processes, those that have ended too, and the memory that its processes do not share. */
export async function serverProcesses(home: string): Promise<{ readonly cpuMs: number; readonly memoryBytes: number }> {
  const postmaster = Number((await readFile(join(home, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
  let [ticks, memoryBytes] = [0, 0];
  for (const pid of [postmaster, ...children]) {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).split(') ')[1]?.split(' ') ?? [];
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const counted = pid === postmaster ? [11, 12, 13, 14] : [11, 12];
    ticks += counted.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0);
    memoryBytes += Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  }
  return { cpuMs: ticks * tickMs, memoryBytes };
}
