import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** True in the long run, `npm run test:long`. */
export const isLongRun = process.env['TEST_SET'] === 'long';

/** Where the generators of cases made at random begin; TEST_SEED gives other cases. */
export const seed = Number(process.env['TEST_SEED'] ?? 20260101);

/** How much the tests do whose size is a choice: in the usual run, in the long one, or as TEST_SIZE_FACTOR times the long one. */
export const sizes = isLongRun
  ? grow({
      letterMutants: 100_000,
      audioMutants: 500_000,
      batchItems: 100_000,
      nights: 400,
      serviceNights: 200,
      kills: 4_000,
      redisKills: 300,
      flips: 500,
      fullDisks: 50,
      clockSteps: 50,
      flowChildren: 2_000,
      requests: 1_000_000,
      doorRequests: 100_000,
      publications: 1_000,
      lookUpRows: 5_000_000,
      requestNumbers: 100_000,
      scoredComplaints: 600_000,
    })
  : {
      letterMutants: 40,
      audioMutants: 300,
      batchItems: 2_000,
      nights: 40,
      serviceNights: 12,
      kills: 6,
      redisKills: 5,
      flips: 12,
      fullDisks: 3,
      clockSteps: 2,
      flowChildren: 200,
      requests: 4_000,
      doorRequests: 800,
      publications: 3,
      lookUpRows: 200_000,
      requestNumbers: 4_000,
      scoredComplaints: 60_000,
    };

function grow<Sizes extends Record<string, number>>(long: Sizes): Sizes {
  const factor = Number(process.env['TEST_SIZE_FACTOR'] ?? 1);
  return Object.fromEntries(Object.entries(long).map(([name, size]) => [name, Math.round(size * factor)])) as Sizes;
}

/** What a portion counted: counts are added up; of lists, which have one entry for each case, median and largest are reported. */
export type Figures = Readonly<Record<string, number | readonly number[]>>;

/** A line of the record of long runs. */
interface PortionRecord {
  readonly name: string;
  readonly seed: number;
  readonly size: number;
  readonly outcome: 'passed' | 'failed';
  readonly figures?: Figures;
}

const recordPath = join(import.meta.dirname, '../../var/long-run.jsonl');

/**
 * Runs a test of a size in portions, each with a seed of its own: from {@link seed} on, one more each. Only the long run has
 * more than one; it records each in `var/long-run.jsonl`, and does not run again what has passed: a run that was interrupted
 * continues where it was (`npm run test:long -- --report` says how far). To start again, remove the file.
 * @throws Error that names the seed, when a portion fails
 */
export async function inPortions(
  name: string,
  { size, portion }: { size: number; portion: number },
  run: (part: { size: number; seed: number }) => Promise<Figures>,
): Promise<void> {
  if (!isLongRun) return void (await run({ size, seed }));
  const passed = readRecords().filter((record) => record.name === name && record.outcome === 'passed');
  for (let at = 0; at * portion < size; at++) {
    const part = { size: Math.min(portion, size - at * portion), seed: seed + at };
    if (passed.some((record) => record.seed === part.seed && record.size >= part.size)) continue;
    try {
      record({ name, ...part, outcome: 'passed', figures: await run(part) });
    } catch (error) {
      record({ name, ...part, outcome: 'failed' });
      throw new Error(`${name} failed with TEST_SEED=${part.seed}`, { cause: error });
    }
  }
}

function record(line: PortionRecord): void {
  mkdirSync(dirname(recordPath), { recursive: true });
  appendFileSync(recordPath, `${JSON.stringify(line)}\n`);
}

function readRecords(): PortionRecord[] {
  if (!existsSync(recordPath)) return [];
  return readFileSync(recordPath, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PortionRecord);
}
