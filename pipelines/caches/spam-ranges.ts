import { rangeOf } from '../phone/phone-number.ts';

/** Ranges at risk: blocks of 1,000 numbers from which several were reported lately. */
export const spamRanges = {
  name: 'spam_ranges',
  path: 'spam_ranges',
  title: 'Ranges at risk',
  perCountry: false,
  columns: [
    {
      name: 'prefix',
      type: 'prefix',
      meaning:
        'The beginning that the 1,000 numbers of the range share: a number without its last three digits. Unique, ascending in byte order.',
    },
    { name: 'risk', type: 'risk', meaning: 'ELEVATED, HIGH or SEVERE.' },
    {
      name: 'lift',
      type: 'count',
      meaning:
        'How many times as often as a number anywhere, at least, numbers of ranges with this risk were reported in the next 7 days, in the history that the rule was measured on.',
    },
    {
      name: 'numbers_reported',
      type: 'count',
      meaning: 'Different numbers of the range that were reported within 42 days.',
    },
    {
      name: 'since',
      type: 'date',
      meaning: 'Day (UTC) of the night from which on the range has been listed without a break.',
    },
    {
      name: 'until',
      type: 'date',
      meaning: 'Day (UTC) on which the range leaves the list at the latest if nothing more is reported.',
    },
  ],
  notice:
    'Evidence about blocks of numbers, not a label of any number: most numbers of a range are innocent. Do not apply it to numbers of the cache branded_phones or to cleared numbers.',
  copyStatement: 'caches/copy_spam_ranges',
  keyOf: rangeOf,
} as const;
