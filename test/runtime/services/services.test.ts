import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../../runtime/config.ts';
import { openServices } from '../../../runtime/services/services.ts';

describe('services', () => {
  it('a state directory that cannot be made is a wrong setting', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'caller-trust-services-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    await writeFile(join(directory, 'file'), '');
    const config = loadConfig({ STATE_DIR: join(directory, 'file', 'state'), LOG_LEVEL: 'silent' });
    await expect(openServices(config, 'test')).rejects.toMatchObject({
      code: 'setting_invalid',
      problem: 'STATE_DIR cannot be created or written (ENOTDIR).',
    });
  });
});
