import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWholeFile } from '../files/whole-file.ts';

/**
 * Writes the addresses of a local service into the state directory, for other processes. `remove` deletes the file, unless
 * another process has replaced it.
 */
export async function writeDiscovery(
  stateDir: string,
  name: 'api.json' | 'console.json' | 'intake.json',
  facts: { readonly url: string; readonly metricsUrl?: string; readonly pid: number },
): Promise<{ remove(): Promise<void> }> {
  const path = join(stateDir, name);
  const text = `${JSON.stringify(facts)}\n`;
  await writeWholeFile(path, text, { durable: false });
  return {
    async remove() {
      if ((await readFile(path, 'utf8').catch(() => '')) === text) await unlink(path).catch(() => {});
    },
  };
}
