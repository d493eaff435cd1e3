import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { parseServedTarget, parseTarget, targetsPath, trustPath } from '../../format/trust/targets.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { describeDocument, describeSignedFile } from '../documents/descriptions.ts';
import { noQuery, signedMetadataSchema } from '../documents/schemas.ts';
import { privateHeaders, sendAnswer, sendDocument } from '../http/answer.ts';
import { planAnswer, sendVersionFile, type CacheRoutesOptions } from './cache-routes.ts';
import type { SignedDocuments } from './signed-documents.ts';

/** Dependencies of the routes of signed documents. */
interface TrustRoutesOptions extends CacheRoutesOptions {
  readonly signed: SignedDocuments;
}

const year = 31_536_000;
/** What is below a digest or a version never changes; only files need a key, so only they are private. */
const lasting = { 'Cache-Control': `public, max-age=${year}, immutable` };
const changing = { 'Cache-Control': 'public, no-cache' };
const lastingFile = { 'Cache-Control': `private, max-age=${year}, immutable` };

/** Signed metadata, which needs no key, and the files that it names, which need the scope `caches:read`. */
export function registerTrustRoutes(app: FastifyInstance, options: TrustRoutesOptions): void {
  const { signed, metrics } = options;
  const metadata = describeDocument({
    operationId: 'getSignedMetadata',
    summary: 'Signed metadata of what is published, in the roles of TUF',
    tag: 'Trust',
    schema: signedMetadataSchema,
    codes: ['trust_document_unknown', 'not_ready'],
    access: 'open',
  });
  const params = z.object({
    name: z
      .string()
      .describe(
        '`timestamp.json`, `root.json` (the newest), or with its version `1.root.json`, `1.snapshot.json`, `1.targets.json`.',
      ),
  });
  app.get(`${trustPath}/:name`, { schema: { params, querystring: noQuery, ...metadata } }, async (request, reply) => {
    const { name } = request.params as z.output<typeof params>;
    const headers = /^\d/.test(name) ? lasting : changing;
    sendDocument(request, reply, signed.findMetadata(name), { headers, metrics });
  });
  void app.register(async (scope) => registerSignedFiles(scope, options));
}

const file = z.string().describe('Digest and name, as the targets metadata has them: `<sha256>.rows.tsv.gz`.');
const cache = z.string().describe('Path of the cache.');
const country = z.string().describe('Country of a cache that is split by country.');

function registerSignedFiles(app: FastifyInstance, options: TrustRoutesOptions): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, 'caches:read'));
  const routes = [
    { path: ':cache/:file', params: z.object({ cache, file }), id: 'downloadSignedFile' },
    { path: ':cache/:country/:file', params: z.object({ cache, country, file }), id: 'downloadSignedFileOfCountry' },
  ];
  for (const { path, params, id } of routes)
    app.get(
      `${targetsPath}/${path}`,
      { schema: { params, querystring: noQuery, ...describeSignedFile(id) } },
      (request, reply) => sendSignedFile(request, reply, options),
    );
}

async function sendSignedFile(
  request: FastifyRequest,
  reply: FastifyReply,
  options: TrustRoutesOptions,
): Promise<void> {
  const { signed, publications, downloads, metrics, now } = options;
  const given = request.params as { cache: string; country?: string; file: string };
  const served = parseServedTarget(
    [given.cache, given.country, given.file].filter((part) => part !== undefined).join('/'),
  );
  const target = served === undefined ? undefined : parseTarget(served.path);
  if (served === undefined || target === undefined)
    throw new ServiceError('trust_document_unknown', { operation: 'read signed file' });
  const { path, sha256 } = served;
  if (target.kind === 'manifest')
    return sendDocument(request, reply, signed.findManifest(path, sha256), {
      headers: { ...privateHeaders, ...lastingFile },
      metrics,
    });
  const artefact = publications.artefact(target);
  if (artefact === undefined) throw signed.unavailableFile(path, sha256);
  if (target.kind === 'rows') {
    if (artefact.publication.published.file.sha256 !== sha256) throw signed.unavailableFile(path, sha256);
    const { status, headers, send } = planAnswer(request, artefact.representation, now());
    const answer = { status, headers: { ...headers, ...lastingFile } };
    if (send === undefined) return sendAnswer(request, reply, answer, metrics);
    return downloads.send(request, reply, { artefact, ...answer, span: send });
  }
  const stored = target.kind === 'delta' ? artefact.deltas.get(target.from) : artefact[target.kind];
  if (stored === undefined || stored.stored.sha256 !== sha256) throw signed.unavailableFile(path, sha256);
  const unavailable = new ServiceError('not_ready', {
    operation: 'read signed file',
    problem: 'The file cannot be read at the moment.',
  });
  await sendVersionFile(request, reply, { ...options, artefact, file: stored, unavailable, extraHeaders: lastingFile });
}
