import { join } from 'node:path';
import { ArtefactDirectory } from '../../../pipelines/caches/store/artefact-directory.ts';
import type { NightReport } from '../../../pipelines/caches/night/night-report.ts';
import { runWholeNight } from '../../support/night.ts';
import { putBranded, putNumbers, type TestNumber } from '../../support/numbers.ts';
import type { TestConsole } from './console-process.ts';

/** `YYYY-MM-DD` of a number of days ago. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

function numbers(prefix: string, country: string, count: number): TestNumber[] {
  return Array.from({ length: count }, (_, at) => ({
    phone: `${prefix}${1_000 + at}`,
    country,
    ...(at % 10 === 0 ? { level: 'SPAM' as const, category: 6 } : { name: `Shop ${at}` }),
  }));
}

/**
 * Four nights on four days, in the store of a console: the first publishes, the second changes a few rows, in the third phones/CA loses
 * most of its rows, none with a label, and stays as it was, the last one, of today, finds nothing new for phones/US alone. Returns
 * their run ids.
 */
export async function seedNights({
  database: { db, url },
  stateDir,
}: Pick<TestConsole, 'database' | 'stateDir'>): Promise<number[]> {
  const store = new ArtefactDirectory(join(stateDir, 'artefacts'));
  const night = async (daysBefore: number, only?: string): Promise<NightReport> => {
    const report = await runWholeNight({ db, url, store, ...(only === undefined ? {} : { only }) });
    await db.query(`UPDATE night_run SET night_date = $2, requested_by = 'scheduler' WHERE run_id = $1`, [
      report.night.runId,
      daysAgo(daysBefore),
    ]);
    await db.query(
      `UPDATE artefact_version SET published_at = published_at - make_interval(days => $2) FROM build WHERE build.build_id = artefact_version.build_id AND run_id = $1`,
      [report.night.runId, daysBefore],
    );
    return report;
  };
  await putNumbers(db, [...numbers('+1202555', 'US', 900), ...numbers('+1416555', 'CA', 400)]);
  await putBranded(db, '+12025551001', 'Example Bank');
  const reports = [await night(3)];
  await putNumbers(db, numbers('+1203555', 'US', 60));
  reports.push(await night(2));
  await db.query(
    `DELETE FROM phone_number WHERE country = 'CA' AND phone > '+14165551100' AND reputation_level = 'NEUTRAL'`,
  );
  reports.push(await night(1));
  reports.push(await night(0, 'phones/US'));
  return reports.map((report) => report.night.runId);
}
