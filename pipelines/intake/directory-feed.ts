import { isPhoneRefusal, judgePhone } from '../phone/phone-number.ts';
import { judgeDisplay } from './display-info.ts';
import { copyText } from './copy-in.ts';
import type { JudgeOptions, RowJudge } from './feed-definition.ts';

/** Directory feed: what to show for numbers. A number that the database does not know becomes NEUTRAL. */
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
  stagingTable: 'directory_staging',
  createStaging: 'intake/create_directory_staging',
  stagingColumns: ['phone', 'country', 'display_name', 'display_description', 'display_detail', 'display_image'],
  makeJudge: makeDirectoryJudge,
  dateColumns: [],
  measure: 'intake/measure_directory',
  merge: 'intake/merge_directory',
} as const;

function makeDirectoryJudge({ options: { country } }: JudgeOptions): RowJudge {
  return ([phoneText = '', ...texts]) => {
    const phone = judgePhone(phoneText, country);
    if (isPhoneRefusal(phone)) return phone;
    const display = judgeDisplay(texts);
    if (!Array.isArray(display)) return display;
    return `${phone.phone}\t${copyText(phone.country)}\t${display.map(copyText).join('\t')}`;
  };
}
