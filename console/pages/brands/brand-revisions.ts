import type { PrivateFields, RevealedFields, ShownBrand, ShownProfile } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ActionButton, Section } from '../shell/components.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { visible } from '../shell/text.ts';
import { html, useState, type Shown, type VNode } from '../shell/view.ts';

/** The fields of a profile in display order. */
const fields: readonly (readonly [string, (profile: Json<ShownProfile>) => string])[] = [
  ['Display name', ({ displayName }) => displayName],
  ['Legal name', ({ legalName }) => legalName],
  ['Doing business as', ({ dba }) => dba ?? ''],
  ['Country', ({ country }) => country],
  ['Website', ({ website }) => website ?? ''],
  ['Address', ({ address }) => address ?? ''],
  ['Call reasons', ({ callReasons }) => callReasons.join('; ')],
  ['Logo', ({ logo }) => logo ?? ''],
  ['SHA-256 of the logo', ({ logoSha256 }) => logoSha256 ?? ''],
  ['Relationship', ({ relationship }) => relationship],
];

interface Row {
  readonly name: string;
  readonly approved: string | null;
  readonly pending: string | null;
}

/** The approved and the pending revision side by side, or the only one. */
export function BrandRevisions({ brand }: { brand: Json<ShownBrand> }): VNode {
  const [revealed, setRevealed] = useState<Json<RevealedFields> | null>(null);
  const { profile, pendingProfile, approvedRevision, pendingRevision } = brand;
  const isPair = approvedRevision !== null && pendingProfile !== null;
  const shown = pendingProfile ?? profile;
  const rows = fields.map(([name, of]): Row => ({ name, approved: isPair ? of(profile) : null, pending: of(shown) }));
  const hasPrivate = profile.hasPrivate || pendingProfile?.hasPrivate === true;
  const reveal = async () => setRevealed(await sendJson<RevealedFields>('POST', `/api/brands/${brand.handle}/private`));
  const title = isPair
    ? 'Revisions side by side'
    : approvedRevision === null
      ? 'Requested revision'
      : `Approved revision ${approvedRevision}`;
  return html`<${Section} title=${title} actions=${hasPrivate && revealed === null && mayDo('reviewer') ? html`<${ActionButton} act=${reveal}>Show contact and tax id</${ActionButton}>` : null}>
    <div class="wide-list"><div class="table-box" role="region" aria-label="Fields of the brand" tabindex="0"><table>
      <caption class="unseen">${title}</caption>
      <thead><tr><th scope="col">Field</th>${isPair ? html`<th scope="col">Approved, revision ${approvedRevision}</th><th scope="col">Waiting, revision ${pendingRevision}</th>` : html`<th scope="col">${approvedRevision === null ? `Revision ${pendingRevision ?? ''} (not approved)` : 'Value'}</th>`}</tr></thead>
      <tbody>${[...rows, ...privateRows(brand, revealed)].map((row) => html`<${RevisionRow} key=${row.name} row=${row} isPair=${isPair} />`)}</tbody>
    </table></div></div>
    ${hasPrivate ? html`<p class="hint">${revealed === null ? (mayDo('reviewer') ? 'Contact and tax id are private: showing them is recorded in the audit trail.' : 'Contact and tax id are shown to reviewers.') : 'That contact and tax id were shown is in the audit trail.'}</p>` : null}
  </${Section}>`;
}

function RevisionRow({ row: { name, approved, pending }, isPair }: { row: Row; isPair: boolean }): VNode {
  const hasChanged = isPair && approved !== pending;
  return html`<tr><th scope="row">${name}</th>${isPair ? html`<td>${shownValue(approved)}</td>` : null}<td>${shownValue(pending)}${hasChanged ? html` <span class="state warn">changed</span>` : null}</td></tr>`;
}

function shownValue(text: string | null): Shown {
  return text === null || text === ''
    ? html`<span class="soft">none</span>`
    : html`<span class="name">${visible(text)}</span>`;
}

function privateRows(
  { approvedRevision, pendingProfile }: Json<ShownBrand>,
  revealed: Json<RevealedFields> | null,
): Row[] {
  if (revealed === null) return [];
  const isPair = approvedRevision !== null && pendingProfile !== null;
  const shown = revealed.pendingProfile ?? revealed.profile;
  const contact = ({ contact: given }: Json<PrivateFields>) =>
    given === null ? '' : [given.name, given.email, given.phone].filter((part) => part !== null).join(', ');
  return [
    { name: 'Contact', approved: isPair ? contact(revealed.profile) : null, pending: contact(shown) },
    { name: 'Tax id', approved: isPair ? (revealed.profile.taxId ?? '') : null, pending: shown.taxId ?? '' },
  ];
}
