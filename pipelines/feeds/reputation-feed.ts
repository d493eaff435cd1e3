import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { copyText } from './copy-in.ts';
import type { Category, JudgeOptions, RowJudge } from './feed-definition.ts';
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
  stagingTable: 'reputation_staging',
  createStaging: 'feeds/create_reputation_staging',
  stagingColumns: ['phone', 'country', 'level', 'category'],
  makeJudge: makeReputationJudge,
  dateColumns: [],
  measure: 'feeds/measure_reputation',
  merge: 'feeds/merge_reputation',
} as const;

const labelsCachedMax = 1000; // pairs of level and category; a feed has about 40, a hostile one any number

function makeReputationJudge({ categories, options }: JudgeOptions): RowJudge {
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
    return typeof label === 'string' ? `${phone.phone}\t${copyText(phone.country)}\t${label}` : label;
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
