import { readNight } from '../../pipelines/caches/night/night-report.ts';
import {
  readNightBasis,
  recomputeComplaintLabels,
  replayLabels,
  type NightBasis,
} from '../../pipelines/labels/night-labels.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { type Outcome } from '../command.ts';
import { writeNewFile } from '../new-file.ts';
import { formatCount, formatFacts } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** Options of `night labels`. */
interface NightLabelsOptions {
  readonly run?: number;
  readonly save?: string;
  readonly recompute?: boolean;
}

type ReplayedLabels = Awaited<ReturnType<typeof replayLabels>>;

/**
 * The labels that a night saw, replayed from the history of labels; with `recompute` those from complaints are computed again and
 * compared.
 * @throws ServiceError `night_unknown`, `snapshot_gone`, `scoring_rule_differs`, `usage_invalid`
 */
export async function showNightLabels(
  { db }: Services,
  { run, save, recompute }: NightLabelsOptions,
): Promise<Outcome> {
  const { runId } = await readNight(db, { runId: run });
  const { snapshot, scoring } = await readNightBasis(db, runId);
  const labels = await replayLabels(db, snapshot);
  const counts = countBy(labels, ({ level, source }) => `${level} from ${source}`);
  const again = recompute === true && scoring !== null ? await compareAgain(db, labels, scoring) : null;
  const file = save === undefined ? null : await writeNewFile(save, Buffer.from(labels.map(formatLine).join('')));
  const text = formatFacts([
    ['night', runId],
    ['labels', formatCount(labels.length)],
    ...counts.map(({ key, count }): [string, string] => [key, formatCount(count)]),
    [
      'computed again',
      again && `${formatCount(again.same)} the same, ${formatCount(again.different.length)} different`,
    ],
    ['different', again?.different.slice(0, 10).join(', ')],
    ['saved', file],
  ]);
  return {
    json: { runId, labels: labels.length, counts, again, file },
    text,
    failed: (again?.different.length ?? 0) > 0,
  };
}

/** Compares labels that came from complaints with what the rule gives for what it saw then. Feeds win over the rule. */
async function compareAgain(
  db: Pool,
  labels: ReplayedLabels,
  scoring: NonNullable<NightBasis['scoring']>,
): Promise<{ same: number; different: string[] }> {
  const computed = new Map(
    (await recomputeComplaintLabels(db, scoring)).map(({ phone, level, category }) => [phone, `${level} ${category}`]),
  );
  const ofComplaints = labels.filter(({ source }) => source === 'complaints');
  const different = ofComplaints
    .filter(({ phone, level, category }) => computed.get(phone) !== `${level} ${category}`)
    .map(({ phone }) => phone);
  return { same: ofComplaints.length - different.length, different };
}

const formatLine = ({ phone, level, category, source }: ReplayedLabels[number]): string =>
  `${[phone, level, category ?? '', source ?? ''].join('\t')}\n`;

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): { key: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return [...counts].map(([key, count]) => ({ key, count })).sort((a, b) => a.key.localeCompare(b.key));
}
