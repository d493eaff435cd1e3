import { displayName, phone, reputationCategory, reputationLevel } from './columns.ts';

/** Profile phones: reputation and display info of every known number of one country. */
export const profilePhones = {
  name: 'phones',
  path: 'phones',
  title: 'Profile phones',
  perCountry: true,
  columns: [
    phone,
    reputationLevel,
    reputationCategory,
    displayName,
    { name: 'display_description', type: 'text', meaning: 'What the number is, in one line.' },
    { name: 'display_detail', type: 'text', meaning: 'More about it.' },
    { name: 'display_image', type: 'text', meaning: 'URL of an image.' },
  ],
  notice: null,
  copyStatement: 'caches/copy_profile_phones',
  keyOf: (phone: string) => phone,
} as const;
