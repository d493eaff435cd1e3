import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';
import type { BrandState, NumberState } from '../../pipelines/branding/states.ts';
import { sendClientDocument } from '../http/answer.ts';
import {
  findBrand,
  listBrands,
  listLetters,
  listNumbers,
  readBrand,
  readLetter,
  unknownBrand,
  unknownLetter,
  type BrandName,
} from './brand-records.ts';
import {
  brandDetailSchema,
  brandListQuery,
  brandListSchema,
  brandNumberListSchema,
  brandParameters,
  letterListQuery,
  letterListSchema,
  letterParameters,
  letterSchema,
  numberListQuery,
} from './branding-schemas.ts';
import type { PagedList } from '../http/cursor.ts';
import { databaseCodes, describeDocument } from '../http/descriptions.ts';
import type { Metrics } from '../http/metrics.ts';
import { makePage, startOfPage, type Page } from '../http/paging.ts';
import type { RequestReads } from '../http/request-reads.ts';
import { noQuery } from '../http/schemas.ts';

/** Dependencies of the branding routes. */
export interface BrandingRoutesOptions {
  readonly reads: RequestReads;
  readonly metrics: Metrics;
}

const scope = 'branding:read';
const phoneForm = /^\+[1-9][0-9]{7,14}$/;
const handleForm = /^[a-z0-9-]{2,63}$/;
/** 15 digits are below 2^53. */
const letterIdForm = /^[1-9][0-9]{0,14}$/;

const describe = (description: Omit<Parameters<typeof describeDocument>[0], 'tag'>) =>
  describeDocument({ ...description, tag: 'Branding', codes: [...(description.codes ?? []), ...databaseCodes] });

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** The brands of the key's client, with their numbers and letters. A brand of another client is unknown, and so is any other brand for a key that is bound to one. Every route needs the scope `branding:read`. */
export function registerBrandingRoutes(app: FastifyInstance, options: BrandingRoutesOptions): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, scope));
  registerBrands(app, options);
  registerBrand(app, options);
  registerNumbers(app, options);
  registerLetters(app, options);
  registerLetter(app, options);
}

function registerBrands(app: FastifyInstance, { reads, metrics }: BrandingRoutesOptions): void {
  const description = describe({
    operationId: 'listBrands',
    summary: 'Brands of the client',
    schema: brandListSchema,
    codes: ['parameter_invalid'],
  });
  app.get('/v1/brands', { schema: { querystring: brandListQuery, ...description } }, async (request, reply) => {
    const { client, brand } = requireScope(request.caller, scope);
    const { state, limit, cursor } = request.query as PageQuery & { state?: BrandState };
    const list: PagedList = { list: 'brands', of: [client, state ?? null, ...(brand === null ? [] : [brand])] };
    const after = startOfPage(list, { cursor, keyForm: handleForm }) ?? '';
    const rows = await reads.read((db) => listBrands(db, { client, brand, state, after, rows: limit + 1 }));
    const page = makePage(rows, { list, limit, path: '/v1/brands', filters: { state } }, ({ handle }) => handle);
    sendPage(request, reply, { name: 'brands', page, metrics });
  });
}

function registerBrand(app: FastifyInstance, { reads, metrics }: BrandingRoutesOptions): void {
  const description = describe({
    operationId: 'getBrand',
    summary: 'A brand with the counts of its numbers and letters',
    schema: brandDetailSchema,
    codes: ['brand_unknown'],
  });
  app.get(
    '/v1/brands/:handle',
    { schema: { params: brandParameters, querystring: noQuery, ...description } },
    async (request, reply) => {
      const name = brandNameOf(request);
      sendClientDocument(request, reply, { body: await reads.read((db) => readBrand(db, name)), metrics });
    },
  );
}

function registerNumbers(app: FastifyInstance, { reads, metrics }: BrandingRoutesOptions): void {
  const description = describe({
    operationId: 'listBrandNumbers',
    summary: 'Phone numbers of a brand',
    schema: brandNumberListSchema,
    codes: ['parameter_invalid', 'brand_unknown'],
  });
  app.get(
    '/v1/brands/:handle/numbers',
    { schema: { params: brandParameters, querystring: numberListQuery, ...description } },
    async (request, reply) => {
      const name = brandNameOf(request);
      const { state, limit, cursor } = request.query as PageQuery & { state?: NumberState };
      const list: PagedList = { list: 'numbers', of: [name.client, name.handle, state ?? null] };
      const after = startOfPage(list, { cursor, keyForm: phoneForm }) ?? '';
      const rows = await reads.read(async (db) =>
        listNumbers(db, await findBrand(db, name), { state, after, rows: limit + 1 }),
      );
      const page = makePage(
        rows,
        { list, limit, path: `/v1/brands/${name.handle}/numbers`, filters: { state } },
        ({ phone }) => phone,
      );
      sendPage(request, reply, { name: 'numbers', page, metrics });
    },
  );
}

function registerLetters(app: FastifyInstance, { reads, metrics }: BrandingRoutesOptions): void {
  const description = describe({
    operationId: 'listBrandLetters',
    summary: 'Letters of authorization of a brand, newest first',
    schema: letterListSchema,
    codes: ['parameter_invalid', 'brand_unknown'],
  });
  app.get(
    '/v1/brands/:handle/letters',
    { schema: { params: brandParameters, querystring: letterListQuery, ...description } },
    async (request, reply) => {
      const name = brandNameOf(request);
      const { limit, cursor } = request.query as PageQuery;
      const list: PagedList = { list: 'letters', of: [name.client, name.handle] };
      const last = startOfPage(list, { cursor, keyForm: letterIdForm });
      const newest = last === undefined ? Number.MAX_SAFE_INTEGER : Number(last) - 1;
      const rows = await reads.read(async (db) =>
        listLetters(db, await findBrand(db, name), { newest, rows: limit + 1 }),
      );
      const page = makePage(
        rows,
        { list, limit, path: `/v1/brands/${name.handle}/letters`, filters: {} },
        ({ letterId }) => String(letterId),
      );
      sendPage(request, reply, { name: 'letters', page, metrics });
    },
  );
}

function registerLetter(app: FastifyInstance, { reads, metrics }: BrandingRoutesOptions): void {
  const description = describe({
    operationId: 'getBrandLetter',
    summary: 'A letter of authorization with its findings',
    schema: letterSchema,
    codes: ['brand_unknown', 'letter_unknown'],
  });
  app.get(
    '/v1/brands/:handle/letters/:letterId',
    { schema: { params: letterParameters, querystring: noQuery, ...description } },
    async (request, reply) => {
      const name = brandNameOf(request);
      const { letterId } = request.params as { letterId: string };
      const body = await reads.read(async (db) => {
        const brand = await findBrand(db, name);
        if (!letterIdForm.test(letterId)) throw unknownLetter();
        return readLetter(db, brand, Number(letterId));
      });
      sendClientDocument(request, reply, { body, metrics });
    },
  );
}

/** The brand in the path; a key that is bound to a brand reaches only that one. @throws ServiceError `brand_unknown`, also if the text cannot be a handle. */
function brandNameOf(request: FastifyRequest): BrandName {
  const handle = handleSchema.safeParse((request.params as { handle: string }).handle);
  const { client, brand } = requireScope(request.caller, scope);
  if (!handle.success || (brand !== null && brand !== handle.data)) throw unknownBrand();
  return { client, handle: handle.data };
}

/** Sends a page under the name of its rows, with the next one in the body and as a link (RFC 8288). */
function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, page: { rows, next }, metrics }: { name: string; page: Page<unknown>; metrics: Metrics },
): void {
  sendClientDocument(request, reply, { body: { [name]: rows, next }, metrics });
}
