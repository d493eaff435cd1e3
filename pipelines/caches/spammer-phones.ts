import { phone, reputationCategory, reputationLevel } from './columns.ts';

/** Spammers: the SPAM and FRAUD numbers of every country. */
export const spammerPhones = {
  name: 'spammer_phones',
  path: 'spammer_phones',
  title: 'Spammers',
  perCountry: false,
  columns: [phone, reputationLevel, reputationCategory],
  notice: null,
  copyStatement: 'caches/copy_spammer_phones',
  keyOf: (phone: string) => phone,
} as const;
