import type {
  BrandingEvent,
  BrandRecord,
  IdentifiedNumber,
  BrandSummary,
} from '../../pipelines/branding/brand/brand-record.ts';
import type { RivalClaim } from '../../pipelines/branding/brand/number-claims.ts';
import { NUMBER_PERSON_ACTIONS, type NumberPersonAction } from '../../pipelines/branding/brand/person-actions.ts';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import { listNumberProofs, type NumberProofStatus } from '../../pipelines/branding/proof/number-proof.ts';
import { allows, BRAND_TRANSITIONS, NUMBER_TRANSITIONS } from '../../pipelines/branding/states.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { requestProofs } from '../../jobs/queues/proof-producer.ts';
import type { PROTECTED_CATEGORIES } from '../../pipelines/branding/names/protected-names.ts';
import type { OwnProtectedName } from '../../pipelines/branding/names/protected-name-record.ts';
import type { Listed } from './json.ts';

export type { BrandingEvent, BrandSummary, OwnProtectedName, RivalClaim };
export type { BrandState, NumberState } from '../../pipelines/branding/states.ts';

/** A number with its proofs, and what a person can do with it now. */
export type ProvenNumber = IdentifiedNumber & {
  readonly proof: Pick<NumberProofStatus, 'provenUntil' | 'pending'>;
  readonly can: readonly NumberPersonAction[];
};

/** Adds the proofs and the possible actions to numbers of a brand. */
export async function withProofs(
  db: Queryable,
  brandId: number,
  numbers: readonly IdentifiedNumber[],
): Promise<ProvenNumber[]> {
  const proofs = new Map(
    (await listNumberProofs(db, brandId, { phones: numbers.map(({ phone }) => phone) })).map((proof) => [
      proof.phone,
      proof,
    ]),
  );
  return numbers.map((number) => ({
    ...number,
    proof: {
      provenUntil: proofs.get(number.phone)?.provenUntil ?? null,
      pending: proofs.get(number.phone)?.pending ?? null,
    },
    can: NUMBER_PERSON_ACTIONS.filter((action) => allows(NUMBER_TRANSITIONS, number.state, action)),
  }));
}

/** The audit trail of a brand, newest first, before an event. */
export async function listBrandHistory(
  db: Queryable,
  brandId: number,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<BrandingEvent[]> {
  return queryRows<BrandingEvent>(db, sql('console/list_brand_events'), [brandId, before ?? null, limit]);
}

/** The public fields of a profile, and whether it has private ones. */
export type ShownProfile = Omit<BrandProfile, 'contact' | 'taxId'> & { readonly hasPrivate: boolean };

/** The private fields of a profile. */
export type PrivateFields = Pick<BrandProfile, 'contact' | 'taxId'>;

/** Private fields of a brand, of both revisions. */
export interface RevealedFields {
  readonly profile: PrivateFields;
  readonly pendingProfile: PrivateFields | null;
}

/** Reads the private fields of both revisions. */
export function revealedFields({
  profile,
  pendingProfile,
}: Pick<BrandRecord, 'profile' | 'pendingProfile'>): RevealedFields {
  const pick = ({ contact, taxId }: BrandProfile): PrivateFields => ({ contact, taxId });
  return { profile: pick(profile), pendingProfile: pendingProfile && pick(pendingProfile) };
}

/** A brand without private fields, with the actions that are possible now. */
export type ShownBrand = Omit<BrandRecord, 'profile' | 'pendingProfile'> & {
  readonly profile: ShownProfile;
  readonly pendingProfile: ShownProfile | null;
  readonly can: {
    readonly decide: boolean;
    readonly suspend: boolean;
    readonly resume: boolean;
    readonly withdraw: boolean;
  };
  /** Other brands that claim numbers of it, for those who decide. */
  readonly rivals: readonly RivalClaim[];
  /** Why the viewing user may not decide it; null if the user may. */
  readonly whyNotDecide: string | null;
};

/** A profile without the fields that are shown only on demand. */
export function shownProfile({ contact, taxId, ...profile }: BrandProfile): ShownProfile {
  return { ...profile, hasPrivate: contact !== null || taxId !== null };
}

/** A brand without private fields; for users of agencies without possible actions. */
export function shownBrand(
  brand: BrandRecord,
  { isOutside, rivals, whyNot }: { isOutside: boolean; rivals: readonly RivalClaim[]; whyNot: string | null },
): ShownBrand {
  const { profile, pendingProfile, state } = brand;
  const mayTake = (action: 'suspend' | 'resume' | 'withdraw') => !isOutside && allows(BRAND_TRANSITIONS, state, action);
  const can = {
    decide: !isOutside && isInReview(brand),
    suspend: mayTake('suspend'),
    resume: mayTake('resume'),
    withdraw: mayTake('withdraw'),
  };
  return {
    ...brand,
    profile: shownProfile(profile),
    pendingProfile: pendingProfile && shownProfile(pendingProfile),
    can,
    rivals,
    whyNotDecide: whyNot,
  };
}

/** True if a person can decide the brand, or its pending revision, now: its letters must be decided first. */
function isInReview({ state, approvedRevision, pendingRevision, letters }: BrandRecord): boolean {
  if (pendingRevision === null || state === 'withdrawn') return false;
  if (approvedRevision === null && !allows(BRAND_TRANSITIONS, state, 'approve')) return false;
  return !letters.some(
    (letter) => letter.revision === pendingRevision && (letter.state === 'submitted' || letter.state === 'in_review'),
  );
}

/** The proofs that a request started. */
export type StartedProofs = Awaited<ReturnType<typeof requestProofs>>;

/** The names that operators have protected, and all categories. */
export interface ProtectedNames {
  readonly names: readonly OwnProtectedName[];
  readonly categories: typeof PROTECTED_CATEGORIES;
}

/** The protected name that a name is similar to, and how; null if there is none. */
export interface NearName {
  readonly near: { readonly name: string; readonly category: string; readonly how: string } | null;
}

/** The audit trail of a brand, newest first. */
export type BrandingEventPage = Listed & { readonly events: readonly BrandingEvent[] };

/** Numbers of a brand with their proofs. */
export type ProvenNumberPage = Listed & { readonly numbers: readonly ProvenNumber[] };

/** Brands by handle. */
export type BrandSummaryPage = Listed & { readonly brands: readonly BrandSummary[] };
