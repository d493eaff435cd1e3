import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useTestDatabase } from '../../support/database.ts';
import { digestField, useTestIntake } from '../support/running-intake.ts';

const intake = await useTestIntake(await useTestDatabase());

it('an upload that several requests write at once has one writer, and completes with the bytes of its digest only', async () => {
  const client = await intake.client(['batches:write']);
  const bytes = 64 * 1024;
  for (let upload = 0; upload < 15; upload++) {
    const path = await client.open('recording', bytes);
    const contents = Array.from({ length: 8 }, () => new Uint8Array(randomBytes(bytes)));
    const send = async (content: Uint8Array<ArrayBuffer>, offset: number) => {
      const headers = { 'repr-digest': digestField(content) };
      const given = { offset, complete: true, headers };
      const answer = await client.patch(path, content.slice(offset), given).catch(() => undefined); // another one ended it
      return answer?.status === 200 ? answer.headers.get('repr-digest') : null;
    };
    const answers: (string | null)[] = await Promise.all(contents.map((content) => send(content, 0)));
    // Where none arrived whole, the bytes may be those of several. One digest was announced: who has it empties the upload, and
    // completes it.
    if (!answers.some((digest) => digest !== null))
      for (const content of contents)
        answers.push(await send(content, await client.offset(path)), await send(content, await client.offset(path)));
    const digests = answers.filter((digest) => digest !== null);
    expect(digests).toHaveLength(1);
    const stored = await readFile(join(intake.config.intakeDir, path.split('/').at(-1)!));
    expect(digestField(stored)).toBe(digests[0]);
    await client.fetch(path, { method: 'DELETE' });
  }
});

it('a complete upload is emptied by no request that was sent beside the one that completed it', async () => {
  const client = await intake.client(['batches:write']);
  const content = new Uint8Array(randomBytes(1000));
  for (let upload = 0; upload < 10; upload++) {
    const path = await client.open('recording', content.length);
    const right = client.patch(path, content, {
      offset: 0,
      complete: true,
      headers: { 'repr-digest': digestField(content) },
    });
    const wrong = client.patch(path, new Uint8Array(0), {
      offset: content.length,
      complete: true,
      headers: { 'repr-digest': digestField(new Uint8Array(1)) },
    });
    const [first, second] = await Promise.all([right, wrong].map((sent) => sent.then(({ status }) => status, () => null))); // prettier-ignore
    expect(second).not.toBe(200);
    if (first === 200) expect(await client.offset(path)).toBe(content.length);
    await client.fetch(path, { method: 'DELETE' });
  }
});

it('requests for the offset that are sent at once all get it, and those sent after the bytes find them', async () => {
  const client = await intake.client(['batches:write']);
  const path = await client.open('recording', 1000);
  const sent = client.patch(path, new Uint8Array(400), { offset: 0, complete: false });
  expect((await sent).status).toBe(204);
  expect(await Promise.all(Array.from({ length: 8 }, () => client.offset(path)))).toEqual(Array(8).fill(400));
  await client.fetch(path, { method: 'DELETE' });
});
