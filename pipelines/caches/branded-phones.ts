import { displayName, phone } from './columns.ts';

/** Branded phones: every live branded number of every country with its display name. */
export const brandedPhones = {
  name: 'branded_phones',
  path: 'branded_phones',
  title: 'Branded phones',
  perCountry: false,
  columns: [phone, displayName],
  notice: null,
  copyStatement: 'caches/copy_branded_phones',
  keyOf: (phone: string) => phone,
} as const;
