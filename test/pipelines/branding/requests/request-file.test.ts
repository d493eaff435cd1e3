import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  parseRequestFile,
  readRequestFile,
  requestFileBytesMax,
} from '../../../../pipelines/branding/requests/request-file.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-request-'));
afterAll(() => rm(directory, { recursive: true }));

/** A request of an exact size. */
const ofSize = (bytes: number) => Buffer.from(`{"filling":"${'x'.repeat(bytes - '{"filling":""}'.length)}"}`);

describe('a request file', () => {
  it('is a JSON object in UTF-8, with or without a byte order mark', () => {
    expect(parseRequestFile(Buffer.from('{"handle": "zürich"}'))).toEqual({ handle: 'zürich' });
    expect(parseRequestFile(Buffer.from('\uFEFF{}'))).toEqual({});
  });

  it.each([
    ['nothing', ''],
    ['an array', '["secret person"]'],
    ['a text', '"secret person"'],
    ['null', 'null'],
    ['JSON that is cut off', '{"contact": "secret person'],
    ['two objects', '{"contact": "secret person"}{}'],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x7d])],
  ])('is refused if it is %s, without its text in the message', (_what, content) => {
    expect(() => parseRequestFile(Buffer.from(content as string))).toThrow(
      expect.objectContaining({
        code: 'brand_request_invalid',
        message: expect.not.stringContaining('secret') as string,
      }),
    );
  });

  it('has at most the bytes of the limit', async () => {
    expect(Object.keys(parseRequestFile(ofSize(requestFileBytesMax)))).toEqual(['filling']);
    expect(() => parseRequestFile(ofSize(requestFileBytesMax + 1))).toThrow(/larger than/);
    const path = join(directory, 'large.json');
    await writeFile(path, ofSize(requestFileBytesMax));
    expect(Object.keys(await readRequestFile(path))).toEqual(['filling']);
    await writeFile(path, ofSize(requestFileBytesMax + 1));
    await expect(readRequestFile(path)).rejects.toMatchObject({ code: 'brand_request_invalid' });
  });

  it('is a regular file and no link', async () => {
    const path = join(directory, 'request.json');
    await writeFile(path, '{}');
    await symlink(path, join(directory, 'link.json'));
    await expect(readRequestFile(join(directory, 'link.json'))).rejects.toMatchObject({
      code: 'brand_request_invalid',
      problem: 'It is a symbolic link.',
    });
    await expect(readRequestFile(directory)).rejects.toMatchObject({ code: 'brand_request_invalid' });
    await expect(readRequestFile(join(directory, 'none.json'))).rejects.toMatchObject({
      code: 'brand_request_invalid',
      problem: 'There is no such file.',
    });
  });
});
