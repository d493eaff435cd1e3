import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { rotateMasterKey } from '../../pipelines/sealing/master-key-rotation.ts';
import { listLetters, readLetterRecord, type LetterRecord } from '../../pipelines/branding/brand/brand-record.ts';
import { listRivalClaims } from '../../pipelines/branding/brand/number-claims.ts';
import { openDocument } from '../../pipelines/branding/document-store.ts';
import {
  decideLetterByPerson,
  deleteLetterDocument,
  withdrawLetter,
  type LetterActionOptions,
  type PersonDecision,
} from '../../pipelines/branding/brand/person-actions.ts';
import { renderLetterPages } from '../../pipelines/branding/reading/letter-reader.ts';
import { LETTER_TRANSITIONS, type LetterState } from '../../pipelines/branding/states.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import type { Services } from '../../runtime/services/services.ts';
import { formatLetter, formatLetters, formatReading } from './brand-tables.ts';
import { formatRivals, formatSignatures } from './letter-facts.ts';
import { startProgress } from '../progress.ts';
import { formatCount, formatParagraphs } from '../table.ts';
import { currentActor, interruption, run, runWith, withServices, type Outcome } from '../command.ts';
import { addLetterFormCommands } from './letter-form.ts';
import { writeNewFile } from '../new-file.ts';
import { parseCount, parseDay, parseId, parseVerdict, type VerdictOptions } from '../options.ts';

interface ListOptions {
  readonly brand?: string;
  readonly state?: string;
  readonly expiring?: boolean;
  readonly days?: number;
  readonly before?: number;
  readonly limit: number;
}

interface ShowOptions {
  readonly text?: boolean;
  readonly save?: string;
  readonly pages?: string;
}

/** `letter form|forms|revoke-form|list|show|decide|withdraw|delete`. */
export function addLetterCommands(letter: Command): void {
  addLetterFormCommands(letter);
  addReadingCommands(letter);
  addDecidingCommands(letter);
}

function addReadingCommands(letter: Command): void {
  letter
    .command('list')
    .description('list letters, newest first')
    .option('--brand <handle>', 'only letters of this brand')
    .addOption(new Option('--state <state>', 'only letters in this state').choices(LETTER_TRANSITIONS.states))
    .option('--expiring', 'only letters in force that end soon')
    .option('--days <n>', `with --expiring: how soon, in days; by default ${expiringDays}`, parseCount)
    .option('--before <letter>', 'only letters before this one', parseId)
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust letter list --state in_review\n  caller-trust letter list --expiring --days 60',
    )
    .action(run(listCommand));
  letter
    .command('show')
    .description('show a letter with its findings')
    .argument('<letter>', 'id of the letter', parseId)
    .option('--text', 'also what was found on its pages and what was not')
    .option('--save <file>', 'write the document to a new file')
    .option('--pages <dir>', 'write each page as a PNG into a folder')
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust letter show 7\n  caller-trust letter show 7 --text --pages /tmp/letter-7',
    )
    .action(runWith(showLetter));
}

function addDecidingCommands(letter: Command): void {
  letter
    .command('decide')
    .description('decide a letter in review')
    .argument('<letter>', 'id of the letter', parseId)
    .option('--approve', 'it authorizes the numbers that were requested with it')
    .option('--reject', 'it does not')
    .option('--until <day>', 'with --approve: the day on which it ends by its own words, YYYY-MM-DD', parseDay)
    .requiredOption('--reason <text>', 'why; kept in the audit trail, and shown to the owner of the brand')
    .addHelpText('after', "\nExample:\n  caller-trust letter decide 7 --approve --reason 'Called the signer back'")
    .action(
      run((letterId: number, options: VerdictOptions & { reason: string; until?: string }) =>
        act(letterId, options.reason, (action) =>
          decideLetterByPerson({ ...action, approve: parseVerdict(options), endsOn: options.until }),
        ),
      ),
    );
  letter
    .command('withdraw')
    .description('revoke a letter; its numbers leave the next night unless another letter names them')
    .argument('<letter>', 'id of the letter', parseId)
    .requiredOption('--reason <text>', 'why; kept in the audit trail, and shown to the owner of the brand')
    .addHelpText('after', "\nExample:\n  caller-trust letter withdraw 7 --reason 'Revoked by the customer'")
    .action(run((letterId: number, options: { reason: string }) => act(letterId, options.reason, withdrawLetter)));
  letter
    .command('delete')
    .description('destroy the key of a letter: its file and its text are lost permanently')
    .argument('<letter>', 'id of the letter', parseId)
    .requiredOption('--reason <text>', 'why, kept in the audit trail')
    .addHelpText('after', "\nExample:\n  caller-trust letter delete 7 --reason 'Erasure asked for, ticket 4711'")
    .action(runWith(deleteLetter));
  letter
    .command('rotate-key')
    .description(
      'wrap the keys of all letters, voiceprints and contacts by a new master key; an interrupted run is continued',
    )
    .action(runWith(rotateKey));
}

const dayMs = 24 * 3_600_000;
/** The default warning time. */
const expiringDays = 30;

async function listCommand({ brand, state, expiring = false, days, before, limit }: ListOptions): Promise<Outcome> {
  if (days !== undefined && !expiring)
    throw new ServiceError('usage_invalid', {
      operation: 'list letters',
      problem: '--days needs --expiring.',
      hint: 'Add --expiring, or leave it out.',
    });
  const endingBy = expiring ? new Date(Date.now() + (days ?? expiringDays) * dayMs) : undefined;
  return withServices(async ({ db }) => {
    const letters = await listLetters(db, { handle: brand, state, endingBy, before, limit });
    return { json: letters, text: letters.length === 0 ? 'There is no such letter.' : formatLetters(letters) };
  });
}

async function rotateKey({ db, config }: Services): Promise<Outcome> {
  const progress = startProgress();
  const onProgress = (keys: number) => progress.show(`${formatCount(keys)} keys`);
  const keys = await rotateMasterKey({ db, settings: config, signal: interruption.signal, onProgress });
  progress.end();
  return {
    json: { keys },
    text: `${formatCount(keys)} keys are wrapped by the present master key, and none by another.`,
  };
}

async function showLetter(services: Services, letterId: number, options: ShowOptions): Promise<Outcome> {
  const { db } = services;
  const { opened, ...letter } = await readOpened(services, letterId, options);
  const rivals = await listRivalClaims(db, letter.handle);
  const signatures = opened?.reading?.signatures ?? [];
  const files =
    options.save === undefined && options.pages === undefined ? [] : await writeDocument(services, letter, options);
  const reading = options.text === true ? { reading: opened } : {};
  const text = opened === null ? (options.text === true ? 'Nothing is kept of its pages.' : '') : formatReading(opened);
  return {
    json: { ...letter, signatures, rivals, ...reading, files },
    text: formatParagraphs(
      formatLetter(letter),
      formatSignatures(signatures),
      formatRivals(rivals),
      text,
      files.map((file) => `Written: ${file}`).join('\n'),
    ),
  };
}

/** The letter with what was read from it; without --text also where the key of that is not here. */
async function readOpened(
  { db, config }: Services,
  letterId: number,
  { text }: ShowOptions,
): Promise<Awaited<ReturnType<typeof readLetterRecord>>> {
  try {
    return await readLetterRecord(db, letterId, await openVault(config));
  } catch (error) {
    if (text === true || !isServiceError(error, 'document_sealed')) throw error;
    return readLetterRecord(db, letterId);
  }
}

/** Screen resolution: a page of A4 is 909 pixels wide. */
const pageDotsPerInch = 110;

/** Writes the document and its pages to new files that only the owner can read; returns their paths. */
async function writeDocument(
  { db, config }: Services,
  { letterId, document }: LetterRecord,
  { save, pages }: ShowOptions,
): Promise<string[]> {
  const bytes = await openDocument({ db, vault: await openVault(config) }, document.documentId);
  const written: string[] = [];
  if (save !== undefined) written.push(await writeNewFile(save, bytes));
  if (pages === undefined) return written;
  const rendered = await renderLetterPages({ bytes, dotsPerInch: pageDotsPerInch, signal: interruption.signal });
  if (rendered.length === 0) throw notDrawn(letterId);
  await makeFolder(pages);
  for (const { page, png } of rendered)
    written.push(await writeNewFile(join(pages, `letter-${letterId}-page-${page}.png`), png));
  return written;
}

/** Creates one folder, not its parents: recursive creation never ends on some file systems, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return;
    throw new ServiceError('usage_invalid', {
      operation: 'write pages',
      object: path,
      problem: 'The folder cannot be created.',
      hint: 'Name one in a folder that exists and that you may write to.',
      cause: error,
    });
  });
}

function notDrawn(letterId: number): ServiceError {
  return new ServiceError('letter_file_invalid', {
    operation: 'draw letter',
    object: String(letterId),
    problem: 'The letter cannot be drawn.',
    hint: 'Its findings say why; --save gives the file as it came.',
  });
}

async function act(
  letterId: number,
  reason: string,
  action: (options: LetterActionOptions & Pick<PersonDecision, 'eyes'>) => Promise<LetterState>,
): Promise<Outcome> {
  return withServices(async ({ db, config }) => {
    const state = await action({ db, letterId, reason, actor: currentActor(), eyes: config });
    return { json: { letterId, state }, text: `Letter ${letterId} is ${state}.` };
  });
}

async function deleteLetter({ db }: Services, letterId: number, { reason }: { reason: string }): Promise<Outcome> {
  const state = await deleteLetterDocument({ db, letterId, reason, actor: currentActor() });
  return {
    json: { letterId, state, deleted: true },
    text: `The document of letter ${letterId} is deleted; the letter is ${state}.`,
  };
}
