import { join } from 'node:path';
import type { VerificationState } from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { demoOwner, type DemoCommands } from './demo-branding.ts';
import { packageRoot } from '../../runtime/package-root.ts';
import { formatTable } from '../table.ts';

/** One item as `verify --json` prints it. */
interface ShownVerification {
  readonly id: string;
  readonly source: string;
  readonly model: string | null;
  readonly state: VerificationState;
  readonly reused: boolean;
  readonly reason: string | null;
  readonly scores: { readonly synthesis: number | null; readonly replay: number | null } | null;
  readonly decision: { readonly label: string } | null;
}

/** The sample batch as it was verified. */
export interface VerifiedSamples {
  readonly batch: { readonly id: string; readonly items: number };
  readonly items: readonly ShownVerification[];
}

/** The sample recordings in the package. */
export const sampleRecordings = join(packageRoot, 'samples', 'recordings');

/** The state that each sample must reach; scores depend on the models. */
const withoutScore: Readonly<Record<string, string>> = {
  'dial-tone.wav': 'no_voice',
  'not-a-recording.wav': 'format_unknown',
};

/**
 * Verifies the sample recordings twice: the second batch must reuse every result of the first.
 * @throws ServiceError `items_failed` if an item does not end as it must
 */
export async function verifySamples({ outcome }: DemoCommands): Promise<VerifiedSamples> {
  const verify = () => outcome<VerifiedSamples>('verify', sampleRecordings, '--owner', demoOwner, '--wait');
  const first = await verify();
  const wrong = first.items.filter(
    ({ source, state, reason }) =>
      (withoutScore[source] ?? null) !== reason || (reason === null && state !== 'performed'),
  );
  if (first.items.length === 0 || wrong.length > 0)
    throw failure(
      `${wrong.map(({ source, state, reason }) => `${source} ended as ${state} (${reason ?? 'with a score'})`).join(', ') || 'There are no samples'}.`,
    );
  const again = await verify();
  if (again.items.some(({ state, reused }) => state !== 'error' && !reused))
    throw failure('The second batch of the same recordings computed something.');
  return first;
}

/** Checks that the API shows the owner the batch with the scores that the command printed. */
export async function checkVerifications(url: string, key: string, { batch, items }: VerifiedSamples): Promise<void> {
  const read = async (path: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${key}` } });
    if (!answer.ok) throw failure(`The API answers ${answer.status} to ${path}.`);
    return (await answer.json()) as Record<string, unknown>;
  };
  await read(`/v1/batches/${batch.id}`);
  for (const { id, source, scores } of items) {
    const shown = (await read(`/v1/verifications/${id}`)).scores;
    if (JSON.stringify(shown) !== JSON.stringify(scores))
      throw failure(`The API shows other scores of ${source} than the command.`);
  }
}

/** Results of comparing recordings with a voiceprint. */
export interface ComparedVoices {
  readonly same: number | null;
  readonly other: number | null;
}

interface Comparison {
  readonly identity: number | null;
}

/** Enrols the speaker of three samples, compares a fourth sample of the same speaker and one of another, and deletes the voiceprint. */
export async function compareVoices({ cli, outcome }: DemoCommands): Promise<ComparedVoices> {
  const file = (name: string) => join(sampleRecordings, name);
  const enrolled = await cli<{ id: string }>(
    'voice',
    'enrol',
    file('reader-a-1.wav'),
    file('reader-a-2.wav'),
    file('reader-a-3.flac'),
    '--subject',
    'reader-a',
    '--owner',
    demoOwner,
    '--consent',
    'CC BY 4.0 recording, samples/README.md',
    '--consent-at',
    '2026-01-01',
  );
  const same = await outcome<Comparison>('voice', 'verify', enrolled.id, file('reader-a-4.opus'));
  const other = await outcome<Comparison>('voice', 'verify', enrolled.id, file('reader-b-1.mp3'));
  await cli('voice', 'delete', enrolled.id, '--reason', 'The demo is over.');
  if (same.identity === null || other.identity === null || same.identity <= other.identity)
    throw failure('The speaker is not distinguished from another one.');
  return { same: same.identity, other: other.identity };
}

/** The verified samples as a table. */
export function formatVerifications({ items }: VerifiedSamples): string {
  const score = (value: number | null | undefined) => value?.toFixed(3) ?? '-';
  return formatTable(items, [
    { title: 'recording', value: ({ source }) => source },
    { title: 'model', value: ({ model }) => model ?? '-' },
    { title: 'state', value: ({ state }) => state },
    { title: 'synthesis', value: ({ scores }) => score(scores?.synthesis) },
    { title: 'replay', value: ({ scores }) => score(scores?.replay) },
    { title: 'decision', value: ({ decision, reason }) => decision?.label ?? reason ?? '-' },
  ]);
}

function failure(problem: string): ServiceError {
  return new ServiceError('items_failed', { operation: 'run demo', problem });
}
