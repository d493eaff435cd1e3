import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PulledArtefact } from '../../clients/typescript/files/pull.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { DemoCommands } from './demo-branding.ts';

/** Traffic of a client's second `pull` after one number has changed. */
export interface FollowedChange {
  readonly phone: string;
  /** Artefacts updated by a delta. */
  readonly deltas: number;
  readonly bytesFirst: number;
  readonly bytesSecond: number;
  /** Traffic of a lookup of the number without a local copy. */
  readonly bytesLookedUp: number;
}

interface Pulled {
  readonly bytesReceived: number;
  readonly artefacts: readonly PulledArtefact[];
}

interface FollowOptions {
  readonly url: string;
  readonly key: string;
  /** A number that a feed reports as SPAM or FRAUD. */
  readonly phone: string;
  readonly directory: string;
}

/**
 * Follows one change from redress to a client's copies: pulls everything, clears a number, runs a night, pulls the changes,
 * and looks the number up in the remote file.
 * @throws ServiceError `night_failed` if a step does not do what it should
 */
export async function followChange(
  { cli }: Pick<DemoCommands, 'cli'>,
  { url, key, phone, directory }: FollowOptions,
): Promise<FollowedChange> {
  const copies = join(directory, 'copies');
  const keyFile = join(directory, 'state', 'client-key');
  await rm(copies, { recursive: true, force: true });
  await writeFile(keyFile, key, { mode: 0o600 });
  const pull = () => cli<Pulled>('pull', url, '--dir', copies, '--key-file', keyFile);
  const first = await pull();
  await cli('number', 'clear', phone, '--reason', 'the number has a new owner');
  await cli('night', 'run');
  const second = await untilMoved(pull);
  const changed = second.artefacts.filter(({ how }) => how !== 'unchanged');
  const looked = await cli<{ listed: boolean; row: Record<string, string> | null; bytesReceived: number }>(
    'lookup',
    url,
    phone,
    '--key-file',
    keyFile,
  );
  if (changed.length !== 2 || changed.some(({ how }) => how !== 'delta'))
    throw failure(
      `After one number was cleared, ${changed.length} artefacts were updated, and not two of them by deltas.`,
    );
  if (looked.row?.['reputation_level'] !== 'NEUTRAL')
    throw failure('The number that was cleared is not NEUTRAL in the published file.');
  return {
    phone,
    deltas: changed.length,
    bytesFirst: first.bytesReceived,
    bytesSecond: second.bytesReceived,
    bytesLookedUp: looked.bytesReceived,
  };
}

/** The API serves a new publication within its polling interval. */
async function untilMoved(pull: () => Promise<Pulled>): Promise<Pulled> {
  const triesMax = 20;
  for (let tries = 1; ; tries++) {
    const pulled = await pull();
    if (pulled.artefacts.some(({ how }) => how !== 'unchanged') || tries === triesMax) return pulled;
  }
}

function failure(problem: string): ServiceError {
  return new ServiceError('night_failed', { operation: 'run demo', problem });
}
