import type { FastifyInstance } from 'fastify';
import { isPhoneRefusal, judgePhone } from '../../pipelines/phone/phone-number.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { prepared } from '../../sql/sql.ts';
import { clientReads, type ClientReadOptions } from '../documents/client-reads.ts';
import { timeOrNull } from '../http/json-document.ts';
import { numberParameters, numberSchema, type NumberAnswer } from './number-schemas.ts';

/**
 * The label of a number with its reason, for keys with the scope `numbers:read`; a key that is bound to a brand sees the numbers of
 * that brand.
 */
export function registerNumberRoutes(app: FastifyInstance, { reads, metrics }: ClientReadOptions): void {
  const route = clientReads(app, { scope: 'numbers:read', tag: 'Numbers', metrics });
  route(
    '/v1/numbers/:phone',
    {
      operationId: 'getNumber',
      summary: 'The label of a number, since when, and why',
      params: numberParameters,
      schema: numberSchema,
      codes: ['phone_invalid', 'phone_unknown'],
    },
    async (request, { brand }) => {
      const phone = requireCanonicalPhone((request.params as { phone: string }).phone);
      return reads.read((db) => readNumber(db, phone, { brand }));
    },
  );
}

type WithTimes<Part, Time extends string> = (Omit<NonNullable<Part>, Time> & Record<Time, Date | null>) | null;

/** The columns of sql/api/read_number.sql, with times as dates. */
interface StoredNumber extends Omit<NumberAnswer, 'since' | 'feed' | 'complaints' | 'cleared' | 'links'> {
  readonly since: Date | null;
  readonly feed: WithTimes<NumberAnswer['feed'], 'submittedAt'>;
  readonly complaints: WithTimes<NumberAnswer['complaints'], 'firstReportedAt' | 'lastReportedAt' | 'evaluatedAt'>;
  readonly cleared: { readonly at: Date; readonly inEffect: boolean } | null;
}

/**
 * The number in a path. Only the canonical form is accepted, so that each number has one address.
 * @throws ServiceError `phone_invalid`, without the text
 */
function requireCanonicalPhone(text: string): string {
  const judged = judgePhone(text);
  if (!isPhoneRefusal(judged) && judged.phone === text) return text;
  const problem = isPhoneRefusal(judged) ? judged.reason : 'The number is not in its canonical form.';
  throw new ServiceError('phone_invalid', {
    operation: 'read number',
    problem,
    hint: 'Write it in E.164: a plus sign (as it stands, or %2B), country code and number, digits only.',
  });
}

/**
 * The label of a number with its reason; `brand` restricts access to the numbers of that brand. An unknown number is
 * answered without a label.
 * @throws ServiceError `phone_unknown` if it is not a verified number of that brand
 */
async function readNumber(db: Queryable, phone: string, { brand }: { brand: string | null }): Promise<NumberAnswer> {
  const stored = await queryRow<StoredNumber>(db, prepared('api/read_number'), [phone, brand]);
  if (stored === undefined)
    throw new ServiceError('phone_unknown', {
      operation: 'read number',
      problem: 'The brand of this key has no such number that is verified.',
    });
  const { since, feed, complaints, cleared } = stored;
  return {
    ...stored,
    since: timeOrNull(since),
    feed: feed && { ...feed, submittedAt: timeOrNull(feed.submittedAt) },
    complaints: complaints && {
      ...complaints,
      firstReportedAt: timeOrNull(complaints.firstReportedAt),
      lastReportedAt: timeOrNull(complaints.lastReportedAt),
      evaluatedAt: timeOrNull(complaints.evaluatedAt),
    },
    cleared: cleared && { ...cleared, at: cleared.at.toISOString() },
    links: { self: `/v1/numbers/${encodeURIComponent(phone)}`, categories: '/v1/reputation/categories' },
  };
}
