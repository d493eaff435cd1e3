import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { scoreComplaints, scoringDefaults } from '../../../pipelines/labels/scoring.ts';
import { complaintFile } from '../../support/complaints.ts';
import { useTestDatabase } from '../../support/database.ts';
import { smallLimits, useFeedLoader } from '../../support/feeds.ts';
import { sizes } from '../../support/run-size.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);
const at = new Date('2026-07-20T00:00:00Z');

const states = ['Texas', 'Ohio', 'Utah', 'Maine', 'Iowa', 'Oregon', 'Nevada', 'Idaho'];
const complaints = (count: number, { first, perNumber }: { first: number; perNumber: number }) =>
  complaintFile(
    Array.from({ length: count }, (_, each) => ({
      phone: String(2_122_000_000 + first + Math.floor(each / perNumber)),
      created: `2026-07-${String(1 + (each % 18)).padStart(2, '0')} 0${each % 8}:00:00`,
      state: states[each % states.length]!,
    })),
  );

/** The new numbers alone are scored by the same statement as all of them; a loop over them took 12 times as long, and more with more. */
const timesMax = 5;

it('a scoring of new complaints takes about as long as one of all, also before the server has analysed them', async () => {
  await load('complaints', complaints(60, { first: 0, perNumber: 20 }));
  await scoreComplaints(db, at);
  await db.query('ANALYZE');
  await load('complaints', complaints(sizes.scoredComplaints, { first: 100, perNumber: 6 }), {
    ...smallLimits,
    feedPlainBytesMax: 1024 ** 3,
  });
  const seconds = async (all: boolean) => {
    const startedAt = performance.now();
    await scoreComplaints(db, at, { ...scoringDefaults, all });
    return (performance.now() - startedAt) / 1000;
  };
  const ofNew = await seconds(false);
  expect(ofNew).toBeLessThan(timesMax * (await seconds(true)));
});
