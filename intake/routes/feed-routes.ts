import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestFeedLoad } from '../../jobs/queues/feed-producer.ts';
import { readFeedLoad, type FeedLoad } from '../../pipelines/feeds/feed-load.ts';
import { findFeed } from '../../pipelines/feeds/feed.ts';
import type { Requester } from '../../pipelines/submissions/request-ledger.ts';
import { removeUploadFiles, uploadPath } from '../../pipelines/submissions/upload-file.ts';
import { forgetUploads, useCompleteUploads } from '../../pipelines/submissions/upload.ts';
import { exampleId, exampleSha256, exampleTime, pathParameter, useCodes } from '../http/operations.ts';
import { acceptRequest, actorOf, parseJsonBody } from '../http/request-reading.ts';
import { registerSubmission } from '../http/submission-routes.ts';
import type { IntakeWork } from '../work/intake-work.ts';

/** A feed to load; the options are those of `feed load`. */
const loadSchema = z.strictObject({
  upload: z.string().max(64).describe('Id of a complete upload for a feed: CSV or TSV, plain or gzipped.'),
  fileName: z.string().min(1).max(200).optional().describe('Shown with the load; default: the upload.'),
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('`source`, `level`, `category`, `country`, `columns`, `comment`, `delimiter`, `encoding`, `dates`.'),
});

const answer = {
  load: 7,
  feed: 'reputation',
  fileName: 'levels.csv',
  source: 'example',
  sha256: exampleSha256,
  state: 'queued',
  requestedAt: exampleTime,
  finishedAt: null,
  rowsGiven: null,
  rowsAccepted: null,
  rowsRejected: null,
  rejectsByCode: {},
  rowsChanged: null,
  gates: [],
  failure: null,
};

/** `/v1/feeds/{feed}/loads`: an uploaded feed becomes a load. `/v1/loads/{id}`: its outcome. */
export function registerFeedRoutes(app: FastifyInstance, work: IntakeWork): void {
  registerSubmission(app, work, {
    kind: 'load',
    scope: 'feeds:write',
    tag: 'Feeds',
    answer,
    submission: {
      path: '/v1/feeds/:feed/loads',
      parameters: [pathParameter('feed', 'Which feed it is: reputation, directory, complaints.')],
      operationId: 'submitLoad',
      summary: 'Load an uploaded feed',
      location: 'The load: `/v1/loads/{id}`.',
      schema: loadSchema,
      example: { upload: exampleId, fileName: 'levels.csv', options: { source: 'example' } },
      codes: [...useCodes, 'feed_unknown', 'feed_option_invalid'],
      submit: (request, requester) => submitLoad(work, request, requester),
    },
    outcome: {
      path: '/v1/loads',
      noun: 'load',
      operationId: 'getLoad',
      summary: 'Outcome of a load',
      unknown: 'feed_not_found',
      read: async (id) => shownLoad(await readFeedLoad(work.db, id)),
    },
  });
}

async function submitLoad(work: IntakeWork, request: FastifyRequest, requester: Requester) {
  const { config, db, room } = work;
  const { name: feed } = findFeed((request.params as { feed: string }).feed);
  const body = parseJsonBody(loadSchema, request.body, 'feed_option_invalid');
  const { upload, fileName = upload, options } = body;
  const accepted = await acceptRequest(
    work,
    request,
    { requester, kind: 'load', content: { feed, ...body } },
    (_key, record) =>
      room.run('feeds', async () => {
        await useCompleteUploads(db, { client: requester.client, kind: 'feed' }, [upload]);
        const { loadId } = await requestFeedLoad(work, {
          feed,
          path: uploadPath(config.intakeDir, upload),
          fileName,
          submittedBy: actorOf(requester),
          options,
          record: async (client, id) => {
            await record(client, String(id));
            await forgetUploads(client, [upload]);
          },
        });
        return String(loadId);
      }),
  );
  await removeUploadFiles(config.intakeDir, [upload]);
  return accepted;
}

function shownLoad(load: FeedLoad) {
  const { loadId, feed, fileName, source, sha256, state, requestedAt, finishedAt, failure } = load;
  const { rowsGiven, rowsAccepted, rowsRejected, rejectsByCode, rowsChanged, gates } = load;
  const rows = { rowsGiven, rowsAccepted, rowsRejected, rejectsByCode, rowsChanged };
  return { load: loadId, feed, fileName, source, sha256, state, requestedAt, finishedAt, ...rows, gates, failure };
}
