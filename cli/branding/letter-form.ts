import { Option, type Command } from 'commander';
import { issueLetterForm, type LetterFormRequest } from '../../pipelines/branding/requests/letter-form.ts';
import { FORM_LANGUAGES, type FormLanguage } from '../../pipelines/branding/form/letter-form-texts.ts';
import { writeCode } from '../../pipelines/branding/form/letter-form-pdf.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { readSubmittedFile } from '../../pipelines/branding/submitted-file.ts';
import { currentActor, runWith, type Outcome } from '../command.ts';
import { writeNewFile } from '../new-file.ts';
import type { Services } from '../../runtime/services/services.ts';

interface FormOptions {
  readonly owner?: string;
  readonly numbers?: string;
  readonly language: FormLanguage;
  readonly output: string;
}

const examples = `
The request is that of the operation which the letter will come with, and who signs:
  {"brand": {...}, "numbers": [...], "signer": {"name": "Jane Sample", "title": "Director"}}

Examples:
  caller-trust letter form acme.json --owner acme-agency -o acme-letter.pdf
  caller-trust letter form more-numbers.json --numbers numbers.csv --language de -o brief.pdf`;

/** `letter form`. */
export function addLetterFormCommand(letter: Command): void {
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
