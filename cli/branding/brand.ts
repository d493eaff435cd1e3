import { createReadStream } from 'node:fs';
import { Option, type Command } from 'commander';
import type { BrandProfile } from '../../pipelines/branding/brand-profile.ts';
import {
  listBrandNumbers,
  listBrands,
  listEvents,
  readBrand,
  type BrandingEvent,
  type BrandNumber,
  type BrandRecord,
} from '../../pipelines/branding/brand/brand-record.ts';
import { listRivalClaims } from '../../pipelines/branding/brand/number-claims.ts';
import {
  decideBrand,
  resumeBrand,
  suspendBrand,
  withdrawBrand,
  type BrandActionOptions,
  type SecondPerson,
} from '../../pipelines/branding/brand/person-actions.ts';
import {
  parseRequestFile,
  readRequestFile,
  requestFileBytesMax,
  type RequestFields,
} from '../../pipelines/branding/requests/request-file.ts';
import { BRAND_TRANSITIONS, NUMBER_TRANSITIONS, type BrandState } from '../../pipelines/branding/states.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { formatRivals } from './letter-facts.ts';
import {
  formatBrand,
  formatBrands,
  formatEvents,
  formatNumbers,
  type ShownBrand,
  type ShownProfile,
} from './brand-tables.ts';
import { addRequestOptions, runRequest, type RequestOptions } from './branding-request.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { addNameProtectionCommands } from './name-protection.ts';
import { parseCount, parseId, parseVerdict, type VerdictOptions } from '../options.ts';
import { readPages } from '../paging.ts';
import { formatParagraphs } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** Flags for single fields of a profile. */
interface ProfileFlags {
  readonly legalName?: string;
  readonly displayName?: string;
  readonly dba?: string;
  readonly country?: string;
  readonly website?: string;
  readonly address?: string;
}

const addExamples = `
Examples:
  caller-trust brand add acme.json --owner acme-agency --letter loa.pdf --numbers numbers.csv
  caller-trust brand add --owner acme-agency --legal-name 'Acme Example Inc.' --display-name Acme --country US`;

/** `brand add|update|show|list|decide|suspend|resume|withdraw|history|numbers|protect`. */
export function addBrandCommands(brand: Command): void {
  addChangingCommands(brand);
  addReadingCommands(brand);
  addDecidingCommands(brand);
  addNameProtectionCommands(brand);
}

function addChangingCommands(brand: Command): void {
  const add = brand
    .command('add')
    .description('Add Managed Brand: register a brand, with its letter and numbers if there are any')
    .argument('[file]', 'request as JSON, - for standard input: {"handle", "brand": {...}, "numbers", "callReason"}')
    .requiredOption('--owner <client>', 'whose brand it is, as API keys name the client')
    .option('--handle <handle>', 'name of the brand in commands and paths; by default made of the display name')
    .option('--numbers <csv>', 'CSV of its numbers');
  addProfileFlags(addRequestOptions(add)).addHelpText('after', addExamples).action(run(addBrand));
  const update = brand
    .command('update')
    .description('Update Managed Brand: change fields, or give a new letter')
    .argument('<handle>', 'the brand')
    .argument('[file]', 'request as JSON, - for standard input: {"changes": {...}, "numbers", "callReason"}')
    .option('--owner <client>', 'who makes the request; by default the owner of the brand')
    .option('--numbers <csv>', 'CSV of numbers to add');
  addProfileFlags(addRequestOptions(update))
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust brand update acme --website https://acme.example/\n  caller-trust brand update acme --letter renewed.pdf --numbers numbers.csv',
    )
    .action(run(updateBrand));
}

function addProfileFlags(command: Command): Command {
  return command
    .option('--legal-name <text>', 'name as it is registered')
    .option('--display-name <text>', 'name that is shown, 1 to 32 characters')
    .option('--dba <text>', 'name under which it does business; empty for none')
    .option('--country <code>', 'country of ISO 3166-1, two letters')
    .option('--website <url>', 'website; empty for none')
    .option('--address <text>', 'postal address; empty for none');
}

function addReadingCommands(brand: Command): void {
  brand
    .command('show')
    .description('show a brand with its letters and the counts of its numbers')
    .argument('<handle>', 'the brand')
    .option('--private', 'also contact and tax id')
    .addHelpText('after', '\nExample:\n  caller-trust brand show acme')
    .action(runWith(showBrand));
  brand
    .command('list')
    .description('list brands by handle')
    .option('--owner <client>', 'only brands of this client')
    .addOption(new Option('--state <state>', 'only brands in this state').choices(BRAND_TRANSITIONS.states))
    .option('--after <handle>', 'only brands after this one', '')
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .addHelpText('after', '\nExample:\n  caller-trust brand list --state in_review')
    .action(runWith(listCommand));
  brand
    .command('history')
    .description('print the audit trail of a brand, its letters and its numbers, oldest first')
    .argument('<handle>', 'the brand')
    .option('--after <event>', 'only events after this one', parseCount, 0)
    .option('--limit <n>', 'at most this many; all by default', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust brand history acme --limit 50')
    .action(runWith(showHistory));
  brand
    .command('numbers')
    .description('print the numbers of a brand with their states')
    .argument('<handle>', 'the brand')
    .addOption(new Option('--state <state>', 'only numbers in this state').choices(NUMBER_TRANSITIONS.states))
    .option('--after <phone>', 'only numbers after this one', '')
    .option('--limit <n>', 'at most this many; all by default', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust brand numbers acme --state in_review')
    .action(runWith(showNumbers));
}

function addDecidingCommands(brand: Command): void {
  brand
    .command('decide')
    .description('decide a brand in review, or its pending revision')
    .argument('<handle>', 'the brand')
    .option('--approve', 'it may be shown')
    .option('--reject', 'it may not')
    .requiredOption('--reason <text>', 'why, kept in the audit trail')
    .option('--revision <n>', 'only if this revision is the one that waits, as `brand show` names it', parseId)
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust brand decide acme --approve --revision 2 --reason 'Name checked in the register'",
    )
    .action(
      run((handle: string, options: VerdictOptions & { reason: string; revision?: number }) =>
        act(handle, options.reason, (action) =>
          decideBrand({ ...action, approve: parseVerdict(options), revision: options.revision }),
        ),
      ),
    );
  for (const [name, description, action] of [
    ['suspend', "take an approved brand's numbers out of the next night", suspendBrand],
    ['resume', 'undo a suspension', resumeBrand],
    ['withdraw', 'end a brand permanently and free its numbers', withdrawBrand],
  ] as const) {
    brand
      .command(name)
      .description(description)
      .argument('<handle>', 'the brand')
      .requiredOption('--reason <text>', 'why, kept in the audit trail')
      .addHelpText('after', `\nExample:\n  caller-trust brand ${name} acme --reason 'See ticket 4711'`)
      .action(run((handle: string, options: { reason: string }) => act(handle, options.reason, action)));
  }
}

async function addBrand(
  file: string | undefined,
  options: RequestOptions & ProfileFlags & { handle?: string },
): Promise<Outcome> {
  const fields = await readFields(file);
  const handle = options.handle === undefined ? {} : { handle: options.handle };
  return runRequest(
    {
      kind: 'add_managed_brand',
      fields: { ...fields, ...handle, brand: withFlags(fields['brand'], options) },
      of: null,
    },
    options,
  );
}

async function updateBrand(
  handle: string,
  file: string | undefined,
  options: RequestOptions & ProfileFlags,
): Promise<Outcome> {
  const fields = await readFields(file);
  if (fields['handle'] !== undefined && fields['handle'] !== handle) {
    throw new ServiceError('brand_request_invalid', {
      operation: 'read request',
      object: handle,
      problem: 'The file names another handle than the command.',
      hint: 'Name one brand.',
    });
  }
  return runRequest(
    {
      kind: 'update_managed_brand',
      fields: { ...fields, handle, changes: withFlags(fields['changes'], options) },
      of: handle,
    },
    options,
  );
}

async function readFields(file: string | undefined): Promise<RequestFields> {
  if (file === undefined) return {};
  return file === '-' ? parseRequestFile(await readStandardInput()) : readRequestFile(file);
}

/** Reads standard input up to one byte past the limit of a request. */
async function readStandardInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream('', {
    fd: 0,
    autoClose: false,
    end: requestFileBytesMax,
  }) as AsyncIterable<Buffer>)
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Applies the flags to the fields of a profile. A value that is not an object is left to the validation of the request. */
function withFlags(fields: unknown, flags: ProfileFlags): unknown {
  const { legalName, displayName, dba, country, website, address } = flags;
  const given = Object.entries({
    legalName,
    displayName,
    country,
    dba: emptyAsNull(dba),
    website: emptyAsNull(website),
    address: emptyAsNull(address),
  }).filter(([, value]) => value !== undefined);
  if (fields !== undefined && (typeof fields !== 'object' || fields === null || Array.isArray(fields))) return fields;
  return { ...fields, ...Object.fromEntries(given) };
}

function emptyAsNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

async function showBrand(
  { db }: Services,
  handle: string,
  { private: withPrivate = false }: { private?: boolean },
): Promise<Outcome> {
  const brand = shownBrand(await readBrand(db, handle), withPrivate);
  const rivals = await listRivalClaims(db, handle);
  return { json: { ...brand, rivals }, text: formatParagraphs(formatBrand(brand), formatRivals(rivals)) };
}

function shownBrand(brand: BrandRecord, withPrivate: boolean): ShownBrand {
  if (withPrivate) return brand;
  return {
    ...brand,
    profile: withoutPrivate(brand.profile),
    pendingProfile: brand.pendingProfile && withoutPrivate(brand.pendingProfile),
  };
}

function withoutPrivate({ contact: _contact, taxId: _taxId, ...profile }: BrandProfile): ShownProfile {
  return profile;
}

async function listCommand(
  { db }: Services,
  options: { owner?: string; state?: string; after: string; limit: number },
): Promise<Outcome> {
  const brands = await listBrands(db, options);
  return { json: brands, text: brands.length === 0 ? 'There is no such brand.' : formatBrands(brands) };
}

async function showHistory(
  { db }: Services,
  handle: string,
  { after, limit }: { after: number; limit?: number },
): Promise<Outcome> {
  const { brandId } = await readBrand(db, handle);
  const events = await readPages<BrandingEvent>(
    (last, size) => listEvents(db, brandId, { after: last?.eventId ?? after, limit: size }),
    limit,
  );
  return { json: events, text: events.length === 0 ? 'There is no such event.' : formatEvents(events) };
}

async function showNumbers(
  { db }: Services,
  handle: string,
  { state, after, limit }: { state?: string; after: string; limit?: number },
): Promise<Outcome> {
  const brand = await readBrand(db, handle);
  const numbers = await readPages<BrandNumber>(
    (last, size) => listBrandNumbers(db, brand, { state, after: last?.phone ?? after, limit: size }),
    limit,
  );
  return { json: numbers, text: numbers.length === 0 ? 'The brand has no such number.' : formatNumbers(numbers) };
}

async function act(
  handle: string,
  reason: string,
  action: (options: BrandActionOptions & SecondPerson) => Promise<BrandState>,
): Promise<Outcome> {
  return withServices(async ({ db, config }) => {
    const state = await action({ db, handle, reason, actor: currentActor(), eyes: config });
    return { json: { handle, state }, text: `Brand ${handle} is ${state}.` };
  });
}
