import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { copyText } from './copy-in.ts';
import type { Category, JudgeOptions, MeasuredFeed, RowJudge, StagedLoad } from './feed-definition.ts';
import { removeSuperseded } from './superseded-rows.ts';
import { refuse, type Refusal } from '../rows/reject.ts';

/** Reputation feed: levels and categories of numbers, as a provider states them. */
export const reputationFeed = {
  name: 'reputation',
  format: {
    columns: [
      { names: ['phone'], required: true },
      { names: ['level', 'reputation_level'], required: true },
      { names: ['category', 'reputation_category'], required: false },
    ],
    headerOptional: true,
    personal: false,
  },
  createStaging: 'feeds/create_reputation_staging',
  stagingColumns: ['phone', 'country', 'level', 'category'],
  makeJudge: makeReputationJudge,
  dateColumns: [],
  measure: measureReputation,
} as const;

async function measureReputation(client: Queryable, { loadId, mayRepeat }: StagedLoad): Promise<MeasuredFeed> {
  const repeats = await removeSuperseded(client, mayRepeat);
  await client.query(sql('labels/lock_labels'));
  await client.query(sql('feeds/compare_reputation'));
  const { rowsChanged, labelsWithheld, ...compared } = (await queryRow<ComparedLabels>(
    client,
    sql('feeds/measure_reputation'),
    [loadId],
  ))!; // the statement returns one row
  const merge = async () => {
    const changed = rowsChanged > 0 ? await mergeReputation(client, loadId) : { labelsWithheld: 0 };
    return { rowsChanged, rowsSuperseded: repeats.duplicates, labelsWithheld: labelsWithheld + changed.labelsWithheld };
  };
  return { measures: { ...repeats, ...compared }, merge };
}

interface ComparedLabels {
  readonly numbers: number;
  readonly newNumbers: number;
  readonly levels: Readonly<Record<string, number>>;
  readonly rowsChanged: number;
  /** Of rows that do not change. */
  readonly labelsWithheld: number;
}

async function mergeReputation(client: Queryable, loadId: number): Promise<{ labelsWithheld: number }> {
  return (await queryRow<{ labelsWithheld: number }>(client, sql('feeds/merge_reputation'), [loadId]))!; // the statement returns one row
}

const labelsCachedMax = 1000; // pairs of level and category; a feed has about 40, a hostile one any number

function makeReputationJudge({ categories, options, numbers }: JudgeOptions): RowJudge {
  const labels = new Map<string, Map<string, string | Refusal>>();
  let cached = 0;
  const labelOf = (levelText: string, categoryText: string) => {
    const known = labels.get(levelText)?.get(categoryText);
    if (known !== undefined) return known;
    const level = levelText.trim() === '' ? (options.level ?? '') : levelText;
    const category =
      categoryText.trim() === '' && level.trim().toUpperCase() !== 'NEUTRAL' ? (options.category ?? '') : categoryText;
    const label = judgeLabel(level, category, categories);
    if (cached++ < labelsCachedMax)
      labels.set(levelText, (labels.get(levelText) ?? new Map<string, string | Refusal>()).set(categoryText, label));
    return label;
  };
  return ([phoneText = '', levelText = '', categoryText = '']) => {
    const phone = judgePhone(phoneText, options.country);
    if (isPhoneRefusal(phone)) return phone;
    const label = labelOf(levelText, categoryText);
    if (typeof label !== 'string') return label;
    numbers.add(phone.phone);
    return `${phone.phone}\t${copyText(phone.country)}\t${label}`;
  };
}

/** Level and category as COPY text, or why they are refused. */
function judgeLabel(levelText: string, categoryText: string, categories: readonly Category[]): string | Refusal {
  const level = levelText.trim().toUpperCase();
  const name = categoryText.trim().toLowerCase();
  if (level === '') return refuse('level_missing');
  if (level !== 'NEUTRAL' && level !== 'SPAM' && level !== 'FRAUD') return refuse('level_invalid');
  if (name === '') return `${level}\t${copyText(null)}`;
  const category = categories.find((known) => String(known.id) === name || known.name === name);
  if (category === undefined) return refuse('category_unknown');
  return category.level === level
    ? `${level}\t${category.id}`
    : refuse('category_unfit', `The category belongs to ${category.level}.`);
}
