import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { sha256Of, sha256OfFile } from '../../runtime/digest.ts';

const directory = await mkdtemp(join(tmpdir(), 'digest-'));
afterAll(() => rm(directory, { recursive: true }));

const buffer = 1024 * 1024;

it.each([0, 1, buffer - 1, buffer, buffer + 1, 3 * buffer + 7])(
  'a file of %i bytes has the digest of its bytes, also one that is open for writing',
  async (size) => {
    const bytes = randomBytes(size);
    const handle = await open(join(directory, String(size)), 'w+');
    await handle.writeFile(bytes);
    expect(await sha256OfFile(handle)).toBe(sha256Of(bytes));
    expect(await sha256OfFile(handle)).toBe(sha256Of(bytes)); // it does not depend on where the last read ended
    await handle.close();
  },
);
