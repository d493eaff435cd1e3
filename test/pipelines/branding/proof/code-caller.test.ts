import { appendFile, chmod, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CallFile, openCodeCaller } from '../../../../pipelines/branding/proof/code-caller.ts';

const folder = await mkdtemp(join(tmpdir(), 'caller-trust-calls-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
let made = 0;
const fresh = () => join(folder, `calls-${++made}.jsonl`);
const call = (callId: number) => ({
  callId,
  phone: '+12125550100',
  code: '01234567',
  language: 'en',
  expiresAt: new Date('2026-03-10T12:00:00Z'),
});
const line = (callId: number) =>
  `{"call":${callId},"phone":"+12125550100","code":"01234567","language":"en","expires":"2026-03-10T12:00:00.000Z"}`;

describe('the file of verification calls', () => {
  it('gets one line of JSON a call, and only its owner may read it', async () => {
    const path = fresh();
    const caller = new CallFile(path);
    await caller.place(call(1));
    await caller.place(call(2));
    expect(await readFile(path, 'utf8')).toBe(`${line(1)}\n${line(2)}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('says which calls it has, also after the dialler took it away', async () => {
    const path = fresh();
    const caller = new CallFile(path);
    expect(await caller.hasTaken(1)).toBe(false);
    await caller.place(call(12));
    expect([await caller.hasTaken(12), await caller.hasTaken(1)]).toEqual([true, false]);
    await rename(path, `${path}.taken`);
    expect(await caller.hasTaken(12)).toBe(false);
    await caller.place(call(13));
    expect(await readFile(path, 'utf8')).toBe(`${line(13)}\n`);
  });

  it('stays whole when many append at a time', async () => {
    const path = fresh();
    await Promise.all(Array.from({ length: 50 }, (_, at) => new CallFile(path).place(call(at))));
    const lines = (await readFile(path, 'utf8')).split('\n').filter((text) => text !== '');
    expect(lines.sort()).toEqual(Array.from({ length: 50 }, (_, at) => line(at)).sort());
  });

  it('begins a line of its own after one that a kill has cut off, which counts as not taken', async () => {
    const path = fresh();
    await writeFile(path, line(1).slice(0, 30), { mode: 0o600 });
    const caller = new CallFile(path);
    expect(await caller.hasTaken(1)).toBe(false);
    await caller.place(call(1));
    expect((await readFile(path, 'utf8')).split('\n').at(-2)).toBe(line(1));
    expect(await caller.hasTaken(1)).toBe(true);
  });

  it('is not written where others could read it, through a link, or into what is no file', async () => {
    const open = fresh();
    await appendFile(open, '');
    await chmod(open, 0o640);
    const link = fresh();
    await symlink(fresh(), link);
    for (const path of [open, link, folder, join(folder, 'no', 'such')])
      await expect(new CallFile(path).place(call(1)), path).rejects.toMatchObject({ code: 'caller_failed' });
    expect(await readFile(open, 'utf8')).toBe('');
  });

  it('is there only if the settings name it', () => {
    expect(openCodeCaller({ numberCallsFile: undefined })).toBeNull();
    expect(openCodeCaller({ numberCallsFile: fresh() })).toBeInstanceOf(CallFile);
  });
});
