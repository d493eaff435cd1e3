import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll } from 'vitest';
import {
  failFeedLoad,
  listFeedRejects,
  runFeedLoad,
  submitFeed,
  type EndedFeedLoad,
  type FeedLimits,
  type FeedReject,
} from '../../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../../runtime/config.ts';
import { failureOf, isFinalFailure } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';

/** Limits small enough to be met in a test, and no share of refused rows that fails a load. */
export const smallLimits: FeedLimits = {
  ...loadConfig({}),
  feedPlainBytesMax: 64 * 1024 * 1024,
  rejectPercentMax: 100,
};

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
  async function submit(feed: string, content: string | Uint8Array, options: object = {}): Promise<number> {
    const path = join(directory, `feed-${++files}`);
    await writeFile(path, content);
    const { loadId } = await submitFeed({ db, feedDir, feed, path, submittedBy: 'test', options });
    return loadId;
  }
  async function load(
    feed: string,
    content: string | Uint8Array,
    limits = smallLimits,
    options: object = {},
  ): Promise<EndedFeedLoad & { rejects: FeedReject[] }> {
    const report = await runLoad({ db, feedDir, loadId: await submit(feed, content, options), limits });
    return { ...report, rejects: await listFeedRejects(db, report.loadId, { limit: 10_000 }) };
  }
  return { directory, feedDir, submit, load };
}

/** Runs a load as a worker does, which records an error that ends it. */
export async function runLoad(options: Parameters<typeof runFeedLoad>[0]): Promise<EndedFeedLoad> {
  try {
    return await runFeedLoad(options);
  } catch (error) {
    if (isFinalFailure(error, false)) await failFeedLoad(options.db, options.loadId, failureOf(error));
    throw error;
  }
}

/** Gzip with several members, as `cat a.gz b.gz` makes them. */
export function gzipMembers(...texts: string[]): Buffer {
  return Buffer.concat(texts.map((text) => gzipSync(text)));
}
