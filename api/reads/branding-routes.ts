import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { requireScope } from '../../pipelines/access/authentication.ts';
import { handleSchema } from '../../pipelines/branding/brand-profile.ts';
import { clientReads, type ClientReadOptions } from '../documents/client-reads.ts';
import { readPage } from '../documents/paging.ts';
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

const scope = 'branding:read';
const phoneForm = /^\+[1-9][0-9]{7,14}$/;
const handleForm = /^[a-z0-9-]{2,63}$/;
/** 15 digits are below 2^53. */
const letterIdForm = /^[1-9][0-9]{0,14}$/;

type ReadRoute = ReturnType<typeof clientReads>;

/**
 * The brands of the key's client, with their numbers and letters. A brand of another client is unknown, and so is any other brand
 * for a key that is bound to one. Every route needs the scope `branding:read`.
 */
export function registerBrandingRoutes(app: FastifyInstance, { reads, metrics }: ClientReadOptions): void {
  const route = clientReads(app, { scope, tag: 'Branding', metrics });
  registerBrands(route, reads);
  registerNumbers(route, reads);
  registerLetters(route, reads);
}

function registerBrands(route: ReadRoute, reads: ClientReadOptions['reads']): void {
  route(
    '/v1/brands',
    {
      operationId: 'listBrands',
      summary: 'Brands of the client',
      query: brandListQuery,
      schema: brandListSchema,
      codes: ['parameter_invalid'],
    },
    async (request, { client, brand }) => {
      const { state, limit, cursor } = request.query as z.output<typeof brandListQuery>;
      const list = { list: 'brands', of: [client, state ?? null, ...(brand === null ? [] : [brand])] };
      const page = { list, limit, cursor, path: '/v1/brands', filters: { state }, keyForm: handleForm };
      const { rows, next } = await readPage(
        page,
        (after = '', count) => reads.read((db) => listBrands(db, { client, brand, state, after, rows: count })),
        ({ handle }) => handle,
      );
      return { brands: rows, next };
    },
  );
  route(
    '/v1/brands/:handle',
    {
      operationId: 'getBrand',
      summary: 'A brand with the counts of its numbers and letters',
      params: brandParameters,
      schema: brandDetailSchema,
      codes: ['brand_unknown'],
    },
    async (request) => {
      const name = brandNameOf(request);
      return reads.read((db) => readBrand(db, name));
    },
  );
}

function registerNumbers(route: ReadRoute, reads: ClientReadOptions['reads']): void {
  route(
    '/v1/brands/:handle/numbers',
    {
      operationId: 'listBrandNumbers',
      summary: 'Phone numbers of a brand',
      params: brandParameters,
      query: numberListQuery,
      schema: brandNumberListSchema,
      codes: ['parameter_invalid', 'brand_unknown'],
    },
    async (request) => {
      const name = brandNameOf(request);
      const { state, limit, cursor } = request.query as z.output<typeof numberListQuery>;
      const list = { list: 'numbers', of: [name.client, name.handle, state ?? null] };
      const path = `/v1/brands/${name.handle}/numbers`;
      const page = { list, limit, cursor, path, filters: { state }, keyForm: phoneForm };
      const { rows, next } = await readPage(
        page,
        (after = '', count) =>
          reads.read(async (db) => listNumbers(db, await findBrand(db, name), { state, after, rows: count })),
        ({ phone }) => phone,
      );
      return { numbers: rows, next };
    },
  );
}

function registerLetters(route: ReadRoute, reads: ClientReadOptions['reads']): void {
  route(
    '/v1/brands/:handle/letters',
    {
      operationId: 'listBrandLetters',
      summary: 'Letters of authorization of a brand, newest first',
      params: brandParameters,
      query: letterListQuery,
      schema: letterListSchema,
      codes: ['parameter_invalid', 'brand_unknown'],
    },
    async (request) => {
      const name = brandNameOf(request);
      const { limit, cursor } = request.query as z.output<typeof letterListQuery>;
      const list = { list: 'letters', of: [name.client, name.handle] };
      const page = {
        list,
        limit,
        cursor,
        path: `/v1/brands/${name.handle}/letters`,
        filters: {},
        keyForm: letterIdForm,
      };
      const { rows, next } = await readPage(
        page,
        (last, count) => {
          const newest = last === undefined ? Number.MAX_SAFE_INTEGER : Number(last) - 1;
          return reads.read(async (db) => listLetters(db, await findBrand(db, name), { newest, rows: count }));
        },
        ({ letterId }) => String(letterId),
      );
      return { letters: rows, next };
    },
  );
  route(
    '/v1/brands/:handle/letters/:letterId',
    {
      operationId: 'getBrandLetter',
      summary: 'A letter of authorization with its findings',
      params: letterParameters,
      schema: letterSchema,
      codes: ['brand_unknown', 'letter_unknown'],
    },
    async (request) => {
      const name = brandNameOf(request);
      const { letterId } = request.params as { letterId: string };
      return reads.read(async (db) => {
        const brand = await findBrand(db, name);
        if (!letterIdForm.test(letterId)) throw unknownLetter();
        return readLetter(db, brand, Number(letterId));
      });
    },
  );
}

/**
 * The brand in the path; a key that is bound to a brand reaches only that one. @throws ServiceError `brand_unknown`, also if the
 * text cannot be a handle.
 */
function brandNameOf(request: FastifyRequest): BrandName {
  const handle = handleSchema.safeParse((request.params as { handle: string }).handle);
  const { client, brand } = requireScope(request.caller, scope);
  if (!handle.success || (brand !== null && brand !== handle.data)) throw unknownBrand();
  return { client, handle: handle.data };
}
