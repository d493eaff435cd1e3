/** Reputation levels, from the least to the worst. */
export const LEVELS = ['NEUTRAL', 'SPAM', 'FRAUD'] as const;

/** Rows by reputation level. A cache without reputation has none. */
export type LevelCounts = Partial<Record<(typeof LEVELS)[number], number>>;
