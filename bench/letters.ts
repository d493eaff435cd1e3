/**
 * Claims: all numbers of a letter with text are read, and at least 98 of 100 of a clean scan at 200 dots an inch; no
 * forged letter is approved; and how time and text compare with pdftotext (poppler) and tesseract.
 *
 *   npm run build && node dist/bench/letters.js [--count 200] [--seed 1] [--only text|scans] [--clean] [--show] [--alone]
 *
 * The letters are generated, so what they say is known. Each is read by the service and by the peer before the next
 * one. `--show` prints
 * what was read wrongly, letter by letter; `--only` leaves out the letters of the other kind, `--clean` scans them
 * with a clean scanner instead of a worn one, `--alone` the peers.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { sampleLetters, sampleTrustRootPem, type SampleLetter } from '../samples/letters/sample-letters.ts';
import type { Finding, LetterOutcome } from '../pipelines/branding/finding.ts';
import { decideLetterByRules } from '../pipelines/branding/letter/rules/letter-decision.ts';
import { extractFields, type LetterFields } from '../pipelines/branding/letter/letter-fields.ts';
import type { LetterReading } from '../pipelines/branding/letter-reading.ts';
import { readNumberList } from '../pipelines/branding/number-list.ts';
import { readLetterFile } from '../pipelines/branding/reading/letter-reader.ts';
import { decideFreeLetter } from './free-letter.ts';
import { requirePrograms, usedCpuMs } from './side-by-side.ts';
import { countFacts, countWords, isSameText, type Share } from './letter-text-score.ts';

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    show: { type: 'boolean', default: false },
    clean: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
});
const asOf = new Date('2026-05-20T12:00:00Z');
const trustRootsPem = sampleTrustRootPem();
if (!options.alone) requirePrograms('pdftotext', 'pdftoppm', 'tesseract');

/** One letter as the service read it; without a reading it was refused. */
interface Judged {
  readonly letter: SampleLetter;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly text: string;
  readonly reading: LetterReading | null;
  readonly fields: LetterFields | null;
  readonly findings: readonly Finding[];
  /** What the service decides; a letter that it refuses to read is rejected. */
  readonly outcome: LetterOutcome;
  readonly refusal: string | null;
}

/** The result of the peer. */
interface PeerText {
  readonly letter: SampleLetter;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly text: string;
}

const fieldChecks: Readonly<Record<string, (judged: Judged) => boolean>> = {
  signer: ({ letter, fields }) => isSameText(fields?.signerName?.value, letter.truth.signerName),
  title: ({ letter, fields }) => isSameText(fields?.signerTitle?.value, letter.truth.signerTitle),
  'signed on': ({ letter, fields }) => fields?.signingDate?.date === letter.truth.signedOn,
  signature: ({ letter, fields }) => fields?.signature.kind === letter.truth.signature,
};

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-bench-'));
try {
  const judged: Judged[] = [];
  const peers: PeerText[] = [];
  for await (const letter of sampleLetters({
    seed: Number(options.seed),
    count: Number(options.count),
    asOf,
    cleanScans: options.clean,
  })) {
    if (options.only === (letter.scanned ? 'text' : 'scans')) continue;
    judged.push(withoutBytes(await judge(letter)));
    if (!options.alone) peers.push(withoutBytes(await readAsPeer(letter)));
    if (judged.length % 10 === 0) console.error(`${judged.length} of ${options.count} letters`);
  }
  report(judged, peers);
} finally {
  await rm(directory, { recursive: true, force: true });
}

/** Two hundred scans would take more memory than the reading of one. */
function withoutBytes<T extends { readonly letter: SampleLetter }>(result: T): T {
  return { ...result, letter: { ...result.letter, bytes: new Uint8Array() } };
}

async function judge(letter: SampleLetter): Promise<Judged> {
  let peakBytes = 0;
  const [start, cpuBefore] = [performance.now(), usedCpuMs()];
  const outcome = await readLetterFile({
    bytes: letter.bytes,
    trustRootsPem,
    onChild: (child) => (peakBytes = Math.max(peakBytes, child.peakBytes)),
  });
  const read = {
    letter,
    peakBytes,
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: (usedCpuMs() - cpuBefore) / 1000,
  };
  if (outcome.kind === 'refused')
    return {
      ...read,
      text: '',
      reading: null,
      fields: null,
      findings: [],
      outcome: 'rejected',
      refusal: `${outcome.code}: ${outcome.problem}`,
    };
  const { reading } = outcome;
  const { csv, phones, ...brand } = letter.request;
  const fields = extractFields(reading, {
    country: brand.country,
    names: [brand.legalName, brand.dba, brand.displayName].filter((name) => name !== null),
  });
  const csvPhones = csv === null ? null : (await readNumberList(Buffer.from(csv))).flatMap(({ phone }) => phone ?? []);
  const { findings } = decideLetterByRules({
    submittedOn: asOf.toISOString().slice(0, 10),
    brand,
    requestedPhones: phones,
    csvPhones,
    phonesOfOtherBrands: [],
    reading,
    fields,
  });
  return {
    ...read,
    text: reading.pages.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n'),
    reading,
    fields,
    findings,
    outcome: decideFreeLetter({ reading, findings, brand, phones, submittedAt: asOf }),
    refusal: null,
  };
}

/** pdftotext for a letter with text; pdftoppm at 200 dots an inch and tesseract for a scan. */
async function readAsPeer(letter: SampleLetter): Promise<PeerText> {
  const path = join(directory, letter.fileName);
  await writeFile(path, letter.bytes);
  const [start, cpuBefore] = [performance.now(), usedCpuMs()];
  const text = letter.scanned ? await recognise(letter, path) : (await run('pdftotext', [path, '-'])).stdout;
  const seconds = (performance.now() - start) / 1000;
  const cpuSeconds = (usedCpuMs() - cpuBefore) / 1000;
  await Promise.all((await readdir(directory)).map((file) => rm(join(directory, file))));
  return { letter, seconds, cpuSeconds, text };
}

async function recognise({ format }: SampleLetter, path: string): Promise<string> {
  if (format === 'pdf') await run('pdftoppm', ['-r', '200', '-gray', '-png', path, join(directory, 'page')]);
  const pictures =
    format === 'png'
      ? [path]
      : (await readdir(directory))
          .filter((file) => file.endsWith('.png'))
          .sort()
          .map((file) => join(directory, file));
  let text = '';
  // One thread each: with more it waits longer for them than they help, above all during other work.
  for (const picture of pictures) text += (await run('env', ['OMP_THREAD_LIMIT=1', 'tesseract', picture, '-'])).stdout;
  return text;
}

function report(judged: readonly Judged[], peers: readonly PeerText[]): void {
  const groups = [
    ['text', (letter: SampleLetter) => !letter.scanned],
    ['scans', (letter: SampleLetter) => letter.scanned],
  ] as const;
  for (const [name, belongs] of groups) {
    const group = judged.filter(({ letter }) => belongs(letter));
    if (group.length > 0)
      reportGroup(
        name,
        group,
        peers.filter(({ letter }) => belongs(letter)),
      );
  }
  reportOutcomes(judged);
  const approvedForgeries = judged.filter(({ letter, outcome }) => letter.forgery !== null && outcome === 'approved');
  console.log(
    `\nforged letters approved: ${approvedForgeries.length}${approvedForgeries.map(({ letter }) => `\n  ${letter.name}`).join('')}`,
  );
  if (options.show) for (const each of judged) show(each);
}

function reportGroup(name: string, group: readonly Judged[], peers: readonly PeerText[]): void {
  const seconds = sum(group.map((each) => each.seconds));
  const memory = Math.round(Math.max(...group.map(({ peakBytes }) => peakBytes)) / 2 ** 20);
  const refused = group.filter(({ refusal }) => refusal !== null).length;
  console.log(
    `\n${name}: ${group.length} letters, ${((group.length * 60) / seconds).toFixed(0)} a minute, highest memory of a child ${memory} MiB, refused ${refused}`,
  );
  const numbers = group.map(scoreNumbers);
  console.log(
    `  numbers listed: recall ${percent(sumShares(numbers.map(({ recall }) => recall)))}, precision ${percent(sumShares(numbers.map(({ precision }) => precision)))}`,
  );
  for (const [field, isRight] of Object.entries(fieldChecks))
    console.log(`  ${field.padEnd(12)} right ${percent({ right: group.filter(isRight).length, all: group.length })}`);
  reportText('    service', group, null);
  if (peers.length > 0) reportText(name === 'text' ? '    pdftotext' : '    pdftoppm + tesseract', peers, seconds);
}

function reportText(name: string, texts: readonly PeerText[], reference: number | null): void {
  const seconds = sum(texts.map((each) => each.seconds));
  const cpu = sum(texts.map((each) => each.cpuSeconds));
  const facts = sumShares(texts.map(({ letter, text }) => countFacts(letter, text)));
  const words = sumShares(texts.map(({ letter, text }) => countWords(letter, text)));
  const ratio = reference === null ? '' : `  x${(seconds / reference).toFixed(2)}`;
  console.log(
    `${name.padEnd(26)} numbers in the text ${percent(facts)}  words ${percent(words)}  ${seconds.toFixed(1)} s${ratio}, CPU ${cpu.toFixed(1)} s`,
  );
}

/** Numbers that were found as listed for branding. Those of a CSV that comes with the letter need not be in the letter. */
function scoreNumbers({ letter, fields }: Judged): { recall: Share; precision: Share } {
  const truth = new Set(letter.truth.phones);
  const found = (fields?.phones ?? []).map(({ phone }) => phone);
  const right = found.filter((phone) => truth.has(phone)).length;
  return {
    recall: letter.layout === 'csv_beside' ? { right: 0, all: 0 } : { right, all: truth.size },
    precision: { right, all: found.length },
  };
}

function reportOutcomes(judged: readonly Judged[]): void {
  console.log(`\n${'letters'.padEnd(34)} approved  in review  rejected`);
  const kinds = new Map<string, Judged[]>();
  for (const each of judged) {
    const { forgery, truth, scanned } = each.letter;
    const kind = forgery ?? `honest, ${scanned ? 'scan' : 'text'}, signature ${truth.signature}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), each]);
  }
  for (const [kind, group] of [...kinds].sort(([a], [b]) => a.localeCompare(b))) {
    const count = (wanted: LetterOutcome) => String(group.filter(({ outcome }) => outcome === wanted).length);
    console.log(
      `${kind.padEnd(34)} ${count('approved').padStart(8)}  ${count('in_review').padStart(9)}  ${count('rejected').padStart(8)}`,
    );
  }
}

/** Prints a letter that was read wrongly, or an honest one with the obstacles to its approval. */
function show(judged: Judged): void {
  const { letter, fields, findings, outcome, refusal } = judged;
  const { recall, precision } = scoreNumbers(judged);
  const wrong = Object.entries(fieldChecks).flatMap(([field, isRight]) => (isRight(judged) ? [] : [field]));
  const hindered = (letter.forgery === null ? findings : [])
    .filter(({ severity }) => severity === 'review' || severity === 'reject')
    .map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
  if (
    refusal === null &&
    wrong.length === 0 &&
    recall.right === recall.all &&
    precision.right === precision.all &&
    hindered.length === 0
  )
    return;
  console.log(
    `\n${letter.name} (${letter.fileName}): ${refusal ?? outcome}; numbers ${recall.right} of ${recall.all}, ${precision.all - precision.right} wrong`,
  );
  const read = [
    fields?.signerName?.value,
    fields?.signerTitle?.value,
    fields?.signingDate?.date,
    fields?.signature.kind,
  ];
  const { signerName, signerTitle, signedOn, signature } = letter.truth;
  if (wrong.length > 0)
    console.log(
      `  wrong: ${wrong.join(', ')}; read ${JSON.stringify(read)}, true ${JSON.stringify([signerName, signerTitle, signedOn, signature])}`,
    );
  for (const line of hindered) console.log(`  ${line}`);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function sumShares(shares: readonly Share[]): Share {
  return { right: sum(shares.map(({ right }) => right)), all: sum(shares.map(({ all }) => all)) };
}

function percent({ right, all }: Share): string {
  return all === 0 ? 'none' : `${((right / all) * 100).toFixed(1)} % (${right} of ${all})`;
}
