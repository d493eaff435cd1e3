import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { createHandlers } from '../../jobs/handlers.ts';
import { openLazyScoring } from '../../jobs/lazy-scoring.ts';
import { verificationJobsAtOnce } from '../../jobs/queues/queues.ts';
import { requestVerification } from '../../jobs/queues/verification-producer.ts';
import { startWorker } from '../../jobs/worker.ts';
import { countStates, hasEnded, readBatch } from '../../pipelines/audio/batches/batch.ts';
import { openItemSource } from '../../pipelines/audio/batches/batch-list.ts';
import { readVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { configIn, submissionOf, tinyRecording, useFolder } from '../support/recording-batch.ts';
import { sizes } from '../support/run-size.ts';
import { until } from '../support/service-process.ts';

const items = sizes.batchItems;
const contents = 50;

const { db, url } = await useTestDatabase();
const folder = await useFolder('large-batch');
const config = configIn(folder);

it(
  'a long list is performed item by item, what is the same computed once, and each has its own outcome',
  async () => {
    for (let at = 0; at < contents; at++) await writeFile(join(folder, `${at}.wav`), tinyRecording(at));
    const list = join(folder, 'list.csv');
    await writeFile(
      list,
      `path,name\n${Array.from({ length: items }, (_none, at) => `${at % contents}.wav,item ${at + 1}\n`).join('')}`,
    );
    const queues = await openQueues(config, url, silentLog);
    const scoring = openLazyScoring({ config, log: silentLog });
    let computed = 0;
    const counted = {
      score: (...request: Parameters<typeof scoring.score>) => (computed++, scoring.score(...request)),
      close: () => scoring.close(),
    };
    const worker = await startWorker({
      config,
      databaseUrl: url,
      log: silentLog,
      handlers: createHandlers({
        config,
        db,
        database: { url, apiUrl: undefined, kind: 'given', home: undefined, release: async () => {} },
        log: silentLog,
        queues,
        scoring: counted,
      }),
    });
    try {
      const { batch } = await requestVerification(
        { db, config, queues, log: silentLog },
        submissionOf([], { items: (await openItemSource(list, config)).items() }),
      );
      expect(batch.items).toBe(items);
      await until(async () => hasEnded(await readBatch(db, batch.id)), 'the batch has ended', items / 10);
      expect(await countStates(db, batch.batchId)).toMatchObject({ performedWithoutScore: items, error: 0 });
      expect(computed).toBeLessThanOrEqual(contents * verificationJobsAtOnce(config)); // two jobs may meet the same audio at the same time
      let line = 0;
      for await (const page of readVerifications(db, batch.batchId, { windows: false })) {
        expect(page.length).toBeLessThanOrEqual(1000);
        for (const record of page) expect([record.line, record.source]).toEqual([++line, `item ${line}`]);
      }
      expect(line).toBe(items);
    } finally {
      await worker.stop(0);
      await scoring.close();
      await queues.close();
    }
  },
  40_000 + items * 100,
);
