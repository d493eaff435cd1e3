/** True in the long run, `npm run test:long`. */
export const isLongRun = process.env['TEST_SET'] === 'long';

/** Where the generators of cases made at random begin; TEST_SEED gives other cases. */
export const seed = Number(process.env['TEST_SEED'] ?? 20260101);

/** How much the tests do whose size is a choice: in the usual run, in the long one, or as TEST_SIZE_FACTOR times the long one. */
export const sizes = isLongRun
  ? grow({
      letterMutants: 100_000,
      audioMutants: 200_000,
      batchItems: 100_000,
      nights: 400,
      kills: 300,
      redisKills: 100,
      flips: 500,
      flowChildren: 2_000,
      requests: 1_000_000,
      publications: 1000,
    })
  : {
      letterMutants: 40,
      audioMutants: 300,
      batchItems: 2_000,
      nights: 40,
      kills: 5,
      redisKills: 5,
      flips: 12,
      flowChildren: 200,
      requests: 4_000,
      publications: 3,
    };

function grow<Sizes extends Record<string, number>>(long: Sizes): Sizes {
  const factor = Number(process.env['TEST_SIZE_FACTOR'] ?? 1);
  return Object.fromEntries(Object.entries(long).map(([name, size]) => [name, Math.round(size * factor)])) as Sizes;
}
