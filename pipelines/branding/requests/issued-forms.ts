import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import type { IssuedForm } from '../form/issued-form.ts';

/** An issued form in a list. */
export interface FormSummary extends Pick<
  IssuedForm,
  'formId' | 'code' | 'owner' | 'language' | 'issuedAt' | 'validUntil'
> {
  /** Of the brand that it was issued for, where the request named one, or whose letter it became. */
  readonly handle: string | null;
  readonly legalName: string;
  readonly displayName: string;
  readonly numbers: number;
  readonly issuedBy: string;
  /** The newest letter that it came back as. */
  readonly letterId: number | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly revokedReason: string | null;
}

/** Which forms are listed; null or absent for all. */
interface FormFilter {
  readonly formId?: number | undefined;
  readonly owners?: readonly string[] | null;
  readonly handle?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Issued forms, newest first. */
export function listIssuedForms(
  db: Queryable,
  { formId, owners, handle, before, limit }: FormFilter,
): Promise<FormSummary[]> {
  const values = [formId ?? null, owners ?? null, handle ?? null, before ?? null, limit];
  return queryRows<FormSummary>(db, sql('branding/list_issued_forms'), values);
}

interface FormRevocation extends Pick<FormFilter, 'owners' | 'handle'> {
  readonly formId: number;
  readonly actor: string;
  readonly reason: string;
}

/**
 * Revokes a form: from then on rules approve no letter that it comes back as. A letter that was approved stays; it is withdrawn itself.
 * @throws ServiceError `form_unknown`, also for one of another owner or brand, `form_revoked`, `reason_required`
 */
export async function revokeIssuedForm(
  db: Queryable,
  { formId, owners = null, handle, actor, reason }: FormRevocation,
): Promise<FormSummary> {
  const [operation, object] = ['revoke letter form', String(formId)];
  const why = cleanText(reason);
  if (why === null) throw new ServiceError('reason_required', { operation });
  const [seen] = await listIssuedForms(db, { formId, owners, handle, limit: 1 });
  if (seen === undefined) throw new ServiceError('form_unknown', { operation, object });
  const revoked = await queryRow(db, sql('branding/revoke_issued_form'), [formId, cleanText(actor) ?? 'unknown', why]);
  if (revoked === undefined) throw new ServiceError('form_revoked', { operation, object });
  return (await listIssuedForms(db, { formId, limit: 1 }))[0]!;
}
