import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VerificationDetailAnswer } from '../../pipelines/audio/batches/client-verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sampleRecordings, type VerifiedSamples } from './demo-audio.ts';
import { demoOwner, type DemoCommands } from './demo-branding.ts';

/** The result of a streamed sample. */
interface StreamedSample {
  readonly source: string;
  readonly windows: number;
}

const source = 'call-two-sides.wav';

/**
 * Streams a sample to the console in real time, as a client would: the scores must equal those of the batch.
 * @throws ServiceError `items_failed` if they do not
 */
export async function streamSample(
  { cli }: Pick<DemoCommands, 'cli'>,
  { directory, verified }: { readonly directory: string; readonly verified: VerifiedSamples },
): Promise<StreamedSample> {
  const { key, keyId } = await cli<{ key: string; keyId: string }>(
    'keys',
    'create',
    demoOwner,
    '--scope',
    'verifications:stream',
  );
  const keyFile = join(directory, 'state', 'stream-key');
  await writeFile(keyFile, key, { mode: 0o600 });
  const { verification } = await cli<{ verification: VerificationDetailAnswer }>(
    'verify',
    join(sampleRecordings, source),
    '--stream',
    '--key-file',
    keyFile,
  );
  await cli('keys', 'revoke', keyId);
  await rm(keyFile);
  const known = verified.items.find((item) => item.source === source)!;
  if (JSON.stringify(verification.scores) !== JSON.stringify(known.scores)) {
    throw new ServiceError('items_failed', {
      operation: 'run the demo',
      object: source,
      problem: 'Streamed, the sample has other scores than in the batch.',
    });
  }
  return { source, windows: verification.windows.length };
}
