import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestFeedLoad } from '../../jobs/queues/feed-producer.ts';
import { readFeedLoad, type FeedLoad } from '../../pipelines/feeds/feed-load.ts';
import { findFeed } from '../../pipelines/feeds/feed.ts';
import { removeUploadFiles, uploadPath } from '../../pipelines/submissions/upload-file.ts';
import { forgetUploads, useCompleteUploads } from '../../pipelines/submissions/upload.ts';
import { sendJson } from '../http/answers.ts';
import { acceptRequest, actorOf, idOf, parseJsonBody, requireOwn, requireRequester } from '../http/request-reading.ts';
import type { IntakeWork } from '../work/intake-work.ts';

/** A feed to load; the options are those of `feed load`. */
export const loadSchema = z.strictObject({
  upload: z.string().max(64).describe('Id of a complete upload for a feed: CSV or TSV, plain or gzipped.'),
  fileName: z.string().min(1).max(200).optional().describe('Shown with the load; default: the upload.'),
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('`source`, `level`, `category`, `country`, `columns`, `comment`, `delimiter`, `encoding`, `dates`.'),
});

/** `/v1/feeds/{feed}/loads`: an uploaded feed becomes a load. `/v1/loads/{id}`: its outcome. */
export function registerFeedRoutes(app: FastifyInstance, work: IntakeWork): void {
  const { db } = work;
  app.post('/v1/feeds/:feed/loads', (request, reply) => submitLoad(work, request, reply));
  app.get('/v1/loads/:id', async (request, reply) => {
    const requester = requireRequester(request, 'feeds:write');
    const { id } = request.params as { id: string };
    await requireOwn(work, requester, { kind: 'load', object: id, code: 'feed_not_found' });
    return sendJson(reply, { status: 200, body: shownLoad(await readFeedLoad(db, idOf(id))) });
  });
}

async function submitLoad(work: IntakeWork, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { config, db, room } = work;
  const requester = requireRequester(request, 'feeds:write');
  const { name: feed } = findFeed((request.params as { feed: string }).feed);
  const body = parseJsonBody(loadSchema, request.body, 'feed_option_invalid');
  const { upload, fileName = upload, options } = body;
  const { object, repeated } = await acceptRequest(
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
  return sendJson(reply, {
    status: 202,
    headers: { Location: `/v1/loads/${object}` },
    body: { ...shownLoad(await readFeedLoad(db, idOf(object))), repeated },
  });
}

function shownLoad(load: FeedLoad) {
  const { loadId, feed, fileName, source, sha256, state, requestedAt, finishedAt, failure } = load;
  const { rowsGiven, rowsAccepted, rowsRejected, rejectsByCode, rowsChanged, gates } = load;
  const rows = { rowsGiven, rowsAccepted, rowsRejected, rejectsByCode, rowsChanged };
  return { load: loadId, feed, fileName, source, sha256, state, requestedAt, finishedAt, ...rows, gates, failure };
}
