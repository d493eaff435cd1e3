import { randomUUID } from 'node:crypto';
import { until } from '../../support/service-process.ts';
import type { ConsoleClient } from './console-process.ts';

/** Hands a recording in as the page of detection does, and resolves with the id of its verification when a worker has ended it. */
export async function handIn(client: ConsoleClient, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
  const form = new FormData();
  form.set('key', randomUUID());
  form.set('file', new Blob([bytes]), name);
  const { verification } = await client.json<{ verification: string }>('/api/detection', {
    method: 'POST',
    body: form,
  });
  await until(
    async () =>
      (await client.json<{ times: { ended: string | null } }>(`/api/verifications/${verification}`)).times.ended !==
      null,
    `${name} is verified`,
  );
  return verification;
}
