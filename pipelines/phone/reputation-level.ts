/** Reputation levels, from the least to the worst. */
export const reputationLevels = ['NEUTRAL', 'SPAM', 'FRAUD'] as const;

export type ReputationLevel = (typeof reputationLevels)[number];

/** Rows by reputation level. A cache without reputation has none. */
export type LevelCounts = Partial<Record<ReputationLevel, number>>;
