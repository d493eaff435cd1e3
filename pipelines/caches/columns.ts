/** Columns that more than one cache has. */
export const phone = {
  name: 'phone',
  type: 'e164',
  meaning: 'Number in E.164 with its plus sign. Unique, ascending in byte order.',
} as const;
export const reputationLevel = {
  name: 'reputation_level',
  type: 'level',
  meaning: 'NEUTRAL, SPAM (nuisance) or FRAUD.',
} as const;
export const reputationCategory = {
  name: 'reputation_category',
  type: 'category',
  meaning: 'Id of /v1/reputation/categories; empty if none.',
} as const;
export const displayName = { name: 'display_name', type: 'text', meaning: 'Name to show on a call.' } as const;
