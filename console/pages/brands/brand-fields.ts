import type { PrivateFields, ShownProfile } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { textIn, listIn } from './branding-submission.ts';
import { Field } from '../shell/components.ts';
import { html, type VNode } from '../shell/view.ts';

/** A text field of a profile, with its rule. */
interface LineRule {
  readonly name: 'displayName' | 'legalName' | 'dba' | 'country' | 'website' | 'address' | 'logo' | 'logoSha256';
  readonly label: string;
  readonly rule: string;
  readonly maxlength: number;
  readonly required?: boolean;
  readonly type?: 'url';
  readonly pattern?: string;
}

const lines: readonly LineRule[] = [
  {
    name: 'displayName',
    label: 'Display name',
    rule: 'What called people see. 1 to 32 characters, at least one letter; no address of the web, no emoji.',
    maxlength: 32,
    required: true,
  },
  {
    name: 'legalName',
    label: 'Legal name',
    rule: 'As it is registered, and as the letter has it. 1 to 128 characters.',
    maxlength: 128,
    required: true,
  },
  {
    name: 'dba',
    label: 'Doing business as',
    rule: 'The name under which the company does business, if it has one. At most 128 characters.',
    maxlength: 128,
  },
  {
    name: 'country',
    label: 'Country',
    rule: 'Two upper-case letters of ISO 3166-1: US, DE, BR.',
    maxlength: 2,
    required: true,
    pattern: '[A-Z]{2}',
  },
  {
    name: 'website',
    label: 'Website',
    rule: 'Begins with https:// or http://. At most 512 bytes.',
    maxlength: 512,
    type: 'url',
  },
  { name: 'address', label: 'Postal address', rule: 'At most 300 characters.', maxlength: 300 },
  {
    name: 'logo',
    label: 'Logo',
    rule: 'Address of a picture, begins with https://. At most 512 bytes.',
    maxlength: 512,
    type: 'url',
  },
  {
    name: 'logoSha256',
    label: 'SHA-256 of the logo',
    rule: 'Of the picture at that address, 64 lower-case hex digits. Without it a person looks at the logo.',
    maxlength: 64,
    pattern: '[0-9a-f]{64}',
  },
];

const relationships: Readonly<Record<string, string>> = {
  owner: 'owner of the brand',
  agency: 'agency',
  reseller: 'reseller',
};

/** The public fields of a profile, with their rules. */
export function BrandFields({
  profile,
  wrong,
}: {
  profile?: Json<ShownProfile>;
  wrong: ReadonlyMap<string, string>;
}): VNode {
  return html`<div class="field-pairs">
    ${lines.map(({ name, label, rule, type = 'text', ...limits }) => html`<${Field} key=${name} label=${limits.required ? label : `${label} (optional)`} hint=${rule} problem=${wrong.get(name)}>${(ids: object) => html`<input name=${name} type=${type} autocomplete="off" defaultValue=${profile?.[name] ?? ''} ...${limits} ...${ids} />`}</${Field}>`)}
    <${Field} label="Relationship" hint="The capacity in which the requester acts." problem=${wrong.get('relationship')}>${(
      ids: object,
    ) => html`<select name="relationship" ...${ids}>
      ${Object.entries(relationships).map(([value, text]) => html`<option value=${value} selected=${(profile?.relationship ?? 'owner') === value}>${text}</option>`)}
    </select>`}</${Field}>
    <${Field} label="Call reasons (optional)" hint="One per line, at most 10, each of at most 50 characters. Numbers without a reason of their own get the first. A person decides reasons in your own words; those of the list (docs/branding.md) need none." problem=${wrong.get('callReasons')}>${(ids: object) => html`<textarea name="callReasons" rows="3" defaultValue=${profile?.callReasons.join('\n') ?? ''} ...${ids}></textarea>`}</${Field}>
  </div>`;
}

/** Contact and tax id. */
export function PrivateBrandFields({
  fields,
  wrong,
}: {
  fields?: Json<PrivateFields>;
  wrong: ReadonlyMap<string, string>;
}): VNode {
  const { contact, taxId } = fields ?? { contact: null, taxId: null };
  const line = (
    name: string,
    label: string,
    {
      hint,
      value,
      problem,
      ...limits
    }: { hint: string; value: string; problem: string | undefined; maxlength: number; type?: string },
  ) =>
    html`<${Field} label=${label} hint=${hint} problem=${problem}>${(ids: object) => html`<input name=${name} autocomplete="off" defaultValue=${value} ...${limits} ...${ids} />`}</${Field}>`;
  return html`<fieldset class="private-fields"><legend>Private: shown on demand only, and in no cache; the tax id is printed on the form of the letter (optional)</legend><div class="field-pairs">
    ${line('contactName', 'Contact name', { hint: '1 to 128 characters. A contact has a name and an e-mail address.', value: contact?.name ?? '', maxlength: 128, problem: wrong.get('contact.name') })}
    ${line('contactEmail', 'Contact e-mail', { hint: 'At most 254 characters.', value: contact?.email ?? '', maxlength: 254, type: 'email', problem: wrong.get('contact.email') })}
    ${line('contactPhone', 'Contact phone', { hint: 'In international form; optional.', value: contact?.phone ?? '', maxlength: 40, type: 'tel', problem: wrong.get('contact.phone') })}
    ${line('taxId', 'Tax id', { hint: '1 to 40 characters.', value: taxId ?? '', maxlength: 40, problem: wrong.get('taxId') })}
  </div></fieldset>`;
}

/** The values of the public fields. */
export function profileIn(form: FormData): Record<string, unknown> {
  return {
    ...Object.fromEntries(lines.map(({ name, required }) => [name, textIn(form, name) ?? (required ? '' : null)])),
    relationship: textIn(form, 'relationship'),
    callReasons: listIn(form, 'callReasons', /\n+/),
  };
}

/** The values of the private fields. */
export function privateIn(form: FormData): Record<string, unknown> {
  const [name, email, phone] = ['contactName', 'contactEmail', 'contactPhone'].map((field) => textIn(form, field));
  const hasContact = [name, email, phone].some((value) => value !== null);
  return {
    contact: hasContact ? { name: name ?? '', email: email ?? '', phone: phone ?? null } : null,
    taxId: textIn(form, 'taxId'),
  };
}
