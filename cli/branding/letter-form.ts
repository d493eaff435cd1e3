import { Option, type Command } from 'commander';
import { issueLetterForm, type LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import { FORM_LANGUAGES, type FormLanguage } from '../../pipelines/branding/form/letter-form-texts.ts';
import { writeCode } from '../../pipelines/branding/form/letter-form-pdf.ts';
import { listIssuedForms, revokeIssuedForm, type FormSummary } from '../../pipelines/branding/requests/issued-forms.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { readSubmittedFile } from '../../pipelines/branding/submitted-file.ts';
import { currentActor, runWith, type Outcome } from '../command.ts';
import { writeNewFile } from '../new-file.ts';
import { parseCount, parseId } from '../options.ts';
import { formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

interface FormOptions {
  readonly owner?: string;
  readonly numbers?: string;
  readonly language: FormLanguage;
  readonly output: string;
}

const examples = `
The request is that of the operation which the letter will come with, and who signs; numbers may have the national form of its country:
  {"brand": {...}, "numbers": [...], "signer": {"name": "Jane Sample", "title": "Director"}}

Examples:
  caller-trust letter form acme.json --owner acme-agency -o acme-letter.pdf
  caller-trust letter form more-numbers.json --numbers numbers.csv --language de -o brief.pdf`;

/** `letter form|forms|revoke-form`. */
export function addLetterFormCommands(letter: Command): void {
  addFormsCommands(letter);
  letter
    .command('form')
    .description('issue the form of a letter as a PDF to be signed: the only letter that rules alone approve')
    .argument(
      '<file>',
      'request as JSON: {"brand": {...}} or {"handle"}, {"changes"}, "numbers", "signer": {"name", "title"}',
    )
    .option(
      '--owner <client>',
      'whose brand it is, as API keys name the client; by default the owner of the brand that the request names',
    )
    .option('--numbers <csv>', 'CSV of the numbers')
    .addOption(new Option('--language <code>', 'language of the form').choices(FORM_LANGUAGES).default('en'))
    .requiredOption('-o, --output <file>', 'new file that the form is written to')
    .addHelpText('after', examples)
    .action(runWith(issueForm));
}

interface FormsOptions {
  readonly owner?: string;
  readonly brand?: string;
  readonly before?: number;
  readonly limit: number;
}

function addFormsCommands(letter: Command): void {
  letter
    .command('forms')
    .description('list issued forms of letters, newest first')
    .option('--owner <client>', 'only those that were issued to this client')
    .option('--brand <handle>', 'only those of this brand')
    .option('--before <form>', 'only forms before this one', parseId)
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .addHelpText('after', '\nExample:\n  caller-trust letter forms --brand acme')
    .action(runWith(listForms));
  letter
    .command('revoke-form')
    .description('revoke an issued form: rules approve no letter any more that it comes back as')
    .argument('<form>', 'id of the form', parseId)
    .requiredOption('--reason <text>', 'why; kept with the form')
    .addHelpText('after', "\nExample:\n  caller-trust letter revoke-form 12 --reason 'Issued for the wrong signer'")
    .action(runWith(revokeForm));
}

async function listForms({ db }: Services, { owner, brand, before, limit }: FormsOptions): Promise<Outcome> {
  const owners = owner === undefined ? null : [owner];
  const forms = await listIssuedForms(db, { owners, handle: brand, before, limit });
  return { json: forms, text: forms.length === 0 ? 'There is no such form.' : formatForms(forms) };
}

async function revokeForm({ db }: Services, formId: number, { reason }: { reason: string }): Promise<Outcome> {
  const form = await revokeIssuedForm(db, { formId, actor: currentActor(), reason });
  const came =
    form.letterId === null
      ? ''
      : ` Letter ${form.letterId} that it came back as stays as it is: \`letter withdraw\` ends it.`;
  return { json: form, text: `Form ${formId} is revoked.${came}` };
}

function formatForms(forms: readonly FormSummary[]): string {
  return formatTable(forms, [
    { title: 'form', value: ({ formId }) => String(formId) },
    { title: 'code', value: ({ code }) => writeCode(code) },
    { title: 'owner', value: ({ owner }) => owner },
    { title: 'brand', value: ({ handle, displayName }) => handle ?? displayName },
    { title: 'numbers', value: ({ numbers }) => numbers },
    { title: 'issued', value: ({ issuedAt }) => formatTime(issuedAt) },
    { title: 'return by', value: ({ validUntil }) => formatTime(validUntil) },
    { title: 'letter', value: ({ letterId }) => letterId && String(letterId) },
    { title: 'revoked', value: ({ revokedAt }) => formatTime(revokedAt) },
  ]);
}

async function issueForm(
  { db }: Services,
  file: string,
  { owner, numbers, language, output }: FormOptions,
): Promise<Outcome> {
  const request = (await readRequestFile(file)) as unknown as LetterFormRequest; // validated when the form is issued
  const numbersFile = numbers === undefined ? undefined : await readSubmittedFile(numbers, 'numbers');
  const {
    file: bytes,
    content,
    ...form
  } = await issueLetterForm(
    { db, now: new Date() },
    { request, owner: owner ?? null, numbersFile, language, issuedBy: currentActor() },
  );
  const written = await writeNewFile(output, bytes);
  const json = {
    formId: form.formId,
    code: form.code,
    formVersion: form.formVersion,
    language,
    owner: form.owner,
    sha256: form.sha256,
    bytes: form.bytes,
    numbers: content.phones.length,
    issuedAt: form.issuedAt,
    validUntil: form.validUntil,
    file: written,
  };
  const text = `Written: ${written}\nCode ${writeCode(form.code)}, for ${content.legalName} with ${content.phones.length} numbers; to be returned signed by ${form.validUntil.toISOString().slice(0, 10)}.`;
  return { json, text };
}
