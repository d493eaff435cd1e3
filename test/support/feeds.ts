import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { listFeedRejects, runFeedLoad, submitFeed, type FeedLoadReport, type FeedReject } from '../../pipelines/intake/feed-load.ts';
import type { Pool } from '../../runtime/postgres.ts';

/** Limits small enough to be met in a test. */
export const smallLimits = { feedLineBytesMax: 1024, feedPlainBytesMax: 64 * 1024 * 1024 };

/** A temporary directory, removed after the last test of the file. */
export async function useTemporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-feeds-'));
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Submits and loads feeds given as text, from a directory of the test file's own. */
export async function useFeedLoader(db: Pool) {
  const directory = await useTemporaryDirectory();
  const feedDir = join(directory, 'spool');
  let files = 0;
  async function submit(feed: string, content: string | Uint8Array): Promise<number> {
    const path = join(directory, `feed-${++files}`);
    await writeFile(path, content);
    const { loadId } = await submitFeed({ db, feedDir, feed, path, submittedBy: 'test' });
    return loadId;
  }
  async function load(feed: string, content: string | Uint8Array, limits = smallLimits): Promise<FeedLoadReport & { rejects: FeedReject[] }> {
    const report = await runFeedLoad({ db, feedDir, loadId: await submit(feed, content), limits });
    return { ...report, rejects: await listFeedRejects(db, report.loadId, { limit: 10_000 }) };
  }
  return { directory, feedDir, submit, load };
}

/** Gzip with several members, as `cat a.gz b.gz` makes them. */
export function gzipMembers(...texts: string[]): Buffer {
  return Buffer.concat(texts.map((text) => gzipSync(text)));
}
