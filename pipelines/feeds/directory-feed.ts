import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { copyText } from './copy-in.ts';
import type { JudgeOptions, MeasuredFeed, RowJudge, StagedLoad } from './feed-definition.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { removeSuperseded } from './superseded-rows.ts';
import { refuse, type Refusal } from '../rows/reject.ts';

/** Directory feed: display info of numbers. A new number becomes NEUTRAL. */
export const directoryFeed = {
  name: 'directory',
  format: {
    columns: [
      { names: ['phone'], required: true },
      { names: ['display_name', 'name'], required: true },
      { names: ['display_description', 'description'], required: false },
      { names: ['display_detail', 'detail'], required: false },
      { names: ['display_image', 'image'], required: false },
    ],
    headerOptional: true,
    personal: false,
  },
  createStaging: 'feeds/create_directory_staging',
  stagingColumns: ['phone', 'country', 'display_name', 'display_description', 'display_detail', 'display_image'],
  makeJudge: makeDirectoryJudge,
  dateColumns: [],
  measure: measureDirectory,
} as const;

async function measureDirectory(client: Queryable, { mayRepeat }: StagedLoad): Promise<MeasuredFeed> {
  const repeats = await removeSuperseded(client, mayRepeat);
  await client.query(sql('labels/lock_labels'));
  await client.query(sql('feeds/compare_directory'));
  const { rowsChanged, ...compared } = (await queryRow<{ numbers: number; newNumbers: number; rowsChanged: number }>(
    client,
    sql('feeds/measure_directory'),
  ))!; // the statement returns one row
  const merge = async () => {
    if (rowsChanged > 0) await client.query(sql('feeds/merge_directory'));
    return { rowsChanged, rowsSuperseded: repeats.duplicates };
  };
  return { measures: { ...repeats, ...compared }, merge };
}

function makeDirectoryJudge({ options: { country }, numbers }: JudgeOptions): RowJudge {
  return ([phoneText = '', ...texts]) => {
    const phone = judgePhone(phoneText, country);
    if (isPhoneRefusal(phone)) return phone;
    const display = judgeDisplay(texts);
    if (!Array.isArray(display)) return display;
    numbers.add(phone.phone);
    return `${phone.phone}\t${copyText(phone.country)}\t${display.map(copyText).join('\t')}`;
  };
}

/** Cleaned display name, description, detail and image URL. */
type DisplayInfo = [name: string, description: string | null, detail: string | null, image: string | null];

/** Longest texts in bytes of UTF-8, the same as in the table's CHECK. */
const displayBytesMax = { name: 128, description: 512, detail: 1024, image: 512 } as const;

const limits = Object.values(displayBytesMax);

/** Cleans display name, description, detail and image URL, in this order, or says what is wrong with them. */
function judgeDisplay(texts: readonly string[]): DisplayInfo | Refusal {
  const [name = null, description = null, detail = null, image = null] = texts.map(cleanText);
  if (name === null) return refuse('name_missing');
  const tooLong = [name, description, detail, image].findIndex(
    (text, place) => text !== null && Buffer.byteLength(text) > limits[place]!,
  );
  if (tooLong !== -1)
    return refuse(
      'text_too_long',
      `The ${Object.keys(displayBytesMax)[tooLong]} is longer than ${limits[tooLong]} bytes.`,
    );
  if (image !== null && !isSecureUrl(image)) return refuse('image_invalid');
  return [name, description, detail, image];
}

function isSecureUrl(text: string): boolean {
  if (!/^https:\/\/[^\s/]/i.test(text) || /\s/.test(text)) return false;
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === '';
}
