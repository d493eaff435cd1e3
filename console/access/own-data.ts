import type { FastifyRequest } from 'fastify';
import {
  letterUnknown,
  readBrand,
  readLetterRecord,
  type BrandRecord,
  type LetterRecord,
} from '../../pipelines/branding/brand/brand-record.ts';
import { brandUnknown } from '../../pipelines/branding/brand/locked-brand.ts';
import { operationUnknown, readOperation, type Operation } from '../../pipelines/branding/operation.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { userOf } from './guard.ts';

/** The owners whose data a request may see; null for all. An agency always sees only its own owners. */
export function ownersSeen(request: FastifyRequest, asked?: string): readonly string[] | null {
  const { role, owners } = userOf(request);
  if (role !== 'agency') return asked === undefined ? null : [asked];
  return asked === undefined ? owners : owners.filter((owner) => owner === asked);
}

/** True if a request may see what belongs to an owner. */
export function maySee(request: FastifyRequest, owner: string): boolean {
  return ownersSeen(request)?.includes(owner) ?? true;
}

/** Reads a brand that the request may see. For an agency, another owner's brand is unknown. @throws ServiceError `brand_unknown` */
export async function readSeenBrand(db: Queryable, request: FastifyRequest, handle: string): Promise<BrandRecord> {
  const brand = await readBrand(db, handle);
  if (!maySee(request, brand.owner)) throw brandUnknown(handle);
  return { ...brand, letters: brand.letters.map((letter) => withoutDecider(request, letter)) };
}

/** Requires that the request may see a letter. @throws ServiceError `letter_unknown` */
export async function requireSeenLetter(db: Queryable, request: FastifyRequest, letterId: number): Promise<void> {
  const { owner } = await readLetterRecord(db, letterId);
  if (!maySee(request, owner)) throw letterUnknown(letterId);
}

/** Reads an operation that the request may see. @throws ServiceError `operation_unknown` */
export async function readSeenOperation(
  db: Queryable,
  request: FastifyRequest,
  operationId: number,
): Promise<Operation> {
  const operation = await readOperation(db, operationId);
  if (!maySee(request, operation.owner)) throw operationUnknown(operationId);
  return operation;
}

/** Hides from agencies who decided a letter. */
export function withoutDecider<Letter extends LetterRecord>(request: FastifyRequest, letter: Letter): Letter {
  return userOf(request).role === 'agency' ? { ...letter, decidedBy: null } : letter;
}
