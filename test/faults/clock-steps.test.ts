import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { queryRows } from '../../runtime/postgres.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { useTestDatabase } from '../support/database.ts';
import { type Figures, inPortions, sizes } from '../support/run-size.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 300_000 + sizes.clockSteps * 20_000 });

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-clock-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
killProcessesAfterEach();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const preload = fileURLToPath(new URL('../support/shifted-clock.mjs', import.meta.url));

/** A scheduler with a clock of its own that can be set. The tick is soon after midnight: an hour back is another date. */
class ClockedScheduler {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  static async start(name: string, instant: number): Promise<ClockedScheduler> {
    const scheduler = new ClockedScheduler(join(stateDir, name));
    await scheduler.set(instant);
    startProcess('jobs/scheduler-main.js', {
      NODE_OPTIONS: `--import ${preload}`,
      CLOCK_OFFSET_FILE: scheduler.#file,
      DATABASE_URL: url,
      STATE_DIR: join(stateDir, `state-${name}`),
      NIGHT_SCHEDULE: '10 0 * * *',
      RECONCILE_SECONDS: '1',
    });
    return scheduler;
  }

  async set(instant: number): Promise<void> {
    await writeFile(`${this.#file}.new`, String(instant - Date.now()));
    await rename(`${this.#file}.new`, this.#file);
  }
}

const nightsOf = (date: string) =>
  queryRows(db, 'SELECT night_date, trigger FROM night_run WHERE night_date = $1', [date]);
const dateOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);

let day = Math.ceil(Date.now() / dayMs) * dayMs;

async function stepClocks({ size, seed }: { size: number; seed: number }): Promise<Figures> {
  const choose = new Seeded(seed);
  const schedulers = await Promise.all(['one', 'two'].map((name) => ClockedScheduler.start(`${seed}-${name}`, day)));
  const tickOf = (midnight: number) => midnight + 10 * minuteMs;
  await until(async () => (await nightsOf(dateOf(day - dayMs))).length > 0, 'the schedulers run and catch up');
  let missed = 0;
  for (let step = 0; step < size; step++, day += dayMs) {
    const missesTick = choose.chance(0.25);
    missed += Number(missesTick);
    for (const scheduler of schedulers) await scheduler.set(tickOf(day) - choose.between(500, 2500));
    await sleep(choose.between(0, missesTick ? 400 : 3000));
    for (const scheduler of choose.chance(0.5) ? schedulers : [choose.pick(schedulers)])
      await scheduler.set(tickOf(day) + (missesTick || choose.chance(0.5) ? hourMs : -hourMs));
    await sleep(1500); // a look of the reconciler at the stepped clock
    for (const scheduler of schedulers) await scheduler.set(tickOf(day) + choose.between(0, 3 * hourMs));
    await until(async () => (await nightsOf(dateOf(day))).length > 0, `the night of ${dateOf(day)} is requested`);
  }
  await sleep(1500);
  const nights = await queryRows<{ date: string }>(db, 'SELECT night_date AS date FROM night_run ORDER BY night_date');
  const expected = Array.from({ length: size + 1 }, (_none, at) => dateOf(day + (at - size - 1) * dayMs));
  expect(nights.map(({ date }) => date).slice(-size - 1)).toEqual(expected);
  return { steps: size, 'ticks missed': missed, nights: size };
}

it(`${sizes.clockSteps} steps of the clocks of two schedulers by an hour, back and forward, give one night a date`, () =>
  inPortions('clock steps', { size: sizes.clockSteps, portion: sizes.clockSteps }, stepClocks));
