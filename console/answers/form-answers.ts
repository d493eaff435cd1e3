import type { FormSummary } from '../../pipelines/branding/requests/issued-forms.ts';

/** An issued form without the names of those who issued and revoked it, which agencies do not see. */
export type ShownForm = Omit<FormSummary, 'issuedBy' | 'revokedBy'>;

export function shownForm({ issuedBy: _issuedBy, revokedBy: _revokedBy, ...form }: FormSummary): ShownForm {
  return form;
}
