import { parseArgs } from 'node:util';
import { sampleLetters, type SampleLetter } from '../samples/letters/sample-letters.ts';
import { findOnLetter } from '../pipelines/branding/letter/letter-finds.ts';
import { readLetterFile } from '../pipelines/branding/reading/letter-reader.ts';
import { isMain } from './program.ts';

/**
 * Claims: of honest letters, as PDFs and as scans of 200 dots an inch, in nine layouts, at least 99 of 100 requested numbers are
 * found, none is found that is not there, and a page takes at most 3 seconds and 400 MiB.
 *
 *   npm run build && node dist/bench/letters.js [--count 60] [--seed 1] [--show]
 */
const asOf = new Date('2026-05-20T12:00:00Z');

/** What was found on letters whose content is known. */
export interface LettersMeasured {
  readonly letters: number;
  readonly refused: readonly string[];
  /** Requested numbers that are printed on the pages or lie in their ranges, and those of them that were found. */
  readonly printed: number;
  readonly found: number;
  /** Numbers that were looked for and are not on the letter, and those of them that were found. */
  readonly strange: number;
  readonly falselyFound: number;
  /** Shares of letters whose names, signing date and signer were found. */
  readonly names: number;
  readonly dates: number;
  readonly signers: number;
  readonly secondsPerPage: number;
  readonly peakMiB: number;
}

/** Reads honest letters, half of them scans, and compares what was found with what they say. */
export async function measureLetters(
  { count, seed = 1 }: { readonly count: number; readonly seed?: number },
  onLetter: (name: string, missed: readonly string[]) => void = () => {},
): Promise<LettersMeasured> {
  const sums = {
    letters: 0,
    pages: 0,
    printed: 0,
    found: 0,
    strange: 0,
    falselyFound: 0,
    names: 0,
    dates: 0,
    signers: 0,
  };
  const refused: string[] = [];
  let [seconds, peakBytes] = [0, 0];
  for await (const letter of honestLetters(seed)) {
    if (sums.letters === count) break;
    sums.letters++;
    const outcome = await readLetterFile({
      bytes: letter.bytes,
      onChild: (report) => {
        seconds += report.seconds;
        peakBytes = Math.max(peakBytes, report.peakBytes);
      },
    });
    if (outcome.kind === 'refused') {
      refused.push(`${letter.name}: ${outcome.code}`);
      continue;
    }
    const printed = printedPhones(letter);
    const strange = strangePhones(letter);
    const { legalName, dba, displayName, country } = letter.request;
    const finds = findOnLetter(outcome.reading, {
      legalName,
      dba,
      displayName,
      country,
      phones: [...printed, ...strange],
    });
    const found = new Set(finds.requested.map(({ phone }) => phone));
    const certain = finds.requested.filter(({ where }) => where !== 'range').map(({ phone }) => phone);
    sums.pages += outcome.reading.pages.length;
    sums.printed += printed.length;
    sums.found += printed.filter((phone) => found.has(phone)).length;
    sums.strange += strange.length;
    sums.falselyFound += strange.filter((phone) => certain.includes(phone)).length;
    if (finds.names.every(({ how }) => how !== null)) sums.names++;
    if (finds.dates.some(({ date }) => date === letter.truth.signedOn)) sums.dates++;
    if (fold(finds.signing.signer?.value ?? '') === fold(letter.truth.signerName)) sums.signers++;
    onLetter(letter.name, [
      ...printed.filter((phone) => !found.has(phone)),
      ...strange.filter((phone) => certain.includes(phone)).map((phone) => `not there: ${phone}`),
      ...finds.names.flatMap(({ how, name }) => (how === null ? [name] : [])),
      ...(finds.dates.some(({ date }) => date === letter.truth.signedOn) ? [] : [letter.truth.signedOn]),
      ...(fold(finds.signing.signer?.value ?? '') === fold(letter.truth.signerName)
        ? []
        : [`${letter.truth.signerName}: ${finds.signing.signer?.value}`]),
    ]);
  }
  const share = (part: number) => part / Math.max(1, sums.letters);
  return {
    ...sums,
    names: share(sums.names),
    dates: share(sums.dates),
    signers: share(sums.signers),
    refused,
    secondsPerPage: seconds / Math.max(1, sums.pages),
    peakMiB: peakBytes / 2 ** 20,
  };
}

async function* honestLetters(seed: number): AsyncGenerator<SampleLetter> {
  for await (const letter of sampleLetters({ seed, count: 1_000, asOf, cleanScans: true }))
    if (letter.forgery === null) yield letter;
}

/** Those of a list that comes with the letter are not on its pages. */
function printedPhones({ layout, truth }: SampleLetter): readonly string[] {
  return layout === 'csv_beside' ? [] : truth.phones;
}

/** For each number of a letter one that differs in its last digit, and is not on it. */
function strangePhones({ truth }: SampleLetter): readonly string[] {
  const there = new Set([...truth.phones, ...truth.otherPhones]);
  return truth.phones
    .map((phone) => phone.slice(0, -1) + ((Number(phone.at(-1)) + 5) % 10))
    .filter((phone) => !there.has(phone));
}

/** Without accents, which recognition with an English model does not read. */
function fold(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[^\p{L}]/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase();
}

if (isMain(import.meta.url)) {
  const { values: options } = parseArgs({
    options: {
      count: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      show: { type: 'boolean', default: false },
    },
  });
  const show = (name: string, missed: readonly string[]) => {
    if (options.show && missed.length > 0) console.log(`${name}: ${missed.join('; ')}`);
  };
  console.log(await measureLetters({ count: Number(options.count), seed: Number(options.seed) }, show));
}
