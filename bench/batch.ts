/**
 * Claim: PostgreSQL records a batch of short recordings, with its queue, for less processor time than the plain statements take that
 * write the same rows one by one.
 *
 *   npm run build && node dist/bench/batch.js [--items 2000] [--rounds 3] [--most RATIO]
 *
 * Each round submits a batch of recordings of 1 s that were never seen and waits for its end; scoring answers at once, so that the
 * server's work is what is measured: all its processes, intake, queue and outcomes. The peer is one connection that writes for each
 * item what a service must at least write: the recording, the item, its result, and the outcome of the item, each with a statement of
 * its own, into tables of the same columns with their primary keys only. With `--most` the exit code is 1 if the ratio is higher. Linux.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import type { ScoredRecording } from '../pipelines/audio/verification.ts';
import { makeCopies, makeRecording } from './audio-files.ts';
import { openQueueBench } from './audio-queue.ts';
import { serverProcesses } from './server-figures.ts';
import { median } from './side-by-side.ts';

const { values: options } = parseArgs({
  options: {
    items: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    most: { type: 'string' },
  },
});

const model = 'phone/v1.1';
const scores = { synthesis: 0.912345, replay: 0.887766 };
const scored: ScoredRecording = {
  state: 'performed',
  model,
  audio: { format: 'wav', codec: 'mu-law', sampleRate: 8000, channels: 1, durationSeconds: 1 },
  voiceSeconds: 0.9,
  scores,
  decision: {
    label: 'undecided',
    thresholds: { synthesis: 0.3, replay: 0.4 },
    policy: 'thresholds/2',
    reason: 'acceptance_unknown',
    authenticFrom: { synthesis: null, replay: null },
    falseAcceptance: { synthesis: null, replay: null },
  },
  reason: null,
  channelScores: [{ channel: 0, voiceSeconds: 0.9, scores, reason: null }],
  windows: [{ channel: 0, start: 0, end: 1, label: 'validVoice', scores }],
  notes: [],
  computedMs: 3,
};

const items = Number(options.items);
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-bench-'));
const queue = await openQueueBench(directory, { score: async () => scored });
try {
  const recording = await makeRecording(directory, 'wav mu-law', 1);
  await makePeer(queue.client);
  const perform = async (): Promise<number> => {
    const files = await makeCopies(recording, items);
    return serverMs(() => queue.perform(files, model));
  };
  const rounds: { service: number; peer: number }[] = [];
  for (let round = 0; round < Number(options.rounds); round++)
    rounds.push({ service: await perform(), peer: await serverMs(() => writePlainly(queue.client, round)) });
  const [service, peer] = (['service', 'peer'] as const).map(
    (name) => median(rounds.map((round) => round[name])) / items,
  ) as [number, number];
  const ratio = service / peer;
  console.log(
    `PostgreSQL an item of ${items}: batch ${service.toFixed(2)} ms, plain statements ${peer.toFixed(2)} ms, x${ratio.toFixed(2)}`,
  );
  if (ratio > Number(options.most ?? Infinity)) process.exitCode = 1;
} finally {
  await queue.close();
  await rm(directory, { recursive: true, force: true });
}

/** Processor time of the server's processes during some work. */
async function serverMs(work: () => Promise<void>): Promise<number> {
  const before = await serverProcesses(queue.home);
  await work();
  return (await serverProcesses(queue.home)).cpuMs - before.cpuMs;
}

async function makePeer(client: Client): Promise<void> {
  for (const table of ['recording', 'verification', 'verification_result'])
    await client.query(`CREATE TABLE peer_${table} (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`);
  await client.query(`
    ALTER TABLE peer_recording ADD PRIMARY KEY (sha256);
    ALTER TABLE peer_verification ADD PRIMARY KEY (batch_id, line);
    ALTER TABLE peer_verification_result ADD PRIMARY KEY (result_id)`);
}

async function writePlainly(client: Client, batch: number): Promise<void> {
  const json = [scored.decision, scored.channelScores, scored.windows, scored.notes].map((value) =>
    JSON.stringify(value),
  );
  for (let line = 1; line <= items; line++) {
    const resultId = batch * items + line;
    const sha256 = resultId.toString(16).padStart(64, '0');
    await client.query('INSERT INTO peer_recording (sha256, bytes) VALUES ($1, $2)', [sha256, 8044]);
    await client.query(
      'INSERT INTO peer_verification (batch_id, line, source, audio_sha256, requested_model, model) VALUES ($1, $2, $3, $4, $5, $6)',
      [batch, line, `recording-${line}.wav`, sha256, model, model],
    );
    await client.query(
      `INSERT INTO peer_verification_result (result_id, audio_sha256, model, model_sha256, settings_sha256, state, format, codec, sample_rate, channels,
         duration_seconds, voice_seconds, synthesis, replay, decision, channel_scores, windows, notes, computed_ms)
       VALUES ($1, $2, $3, $2, $2, 'performed', 'wav', 'mu-law', 8000, 1, 1, 0.9, $4, $5, $6, $7, $8, $9, 3)`,
      [resultId, sha256, model, scores.synthesis, scores.replay, ...json],
    );
    await client.query(
      `UPDATE peer_verification SET state = 'performed', result_id = $3, label = 'undecided', attempts = 1, started_at = now(), ended_at = now()
       WHERE batch_id = $1 AND line = $2`,
      [batch, line, resultId],
    );
  }
}
