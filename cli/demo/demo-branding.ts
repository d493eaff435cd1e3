import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Operation } from '../../pipelines/branding/operation.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { certifySigner } from '../../samples/letters/sample-keys.ts';
import { signForm } from '../../samples/letters/sign-form.ts';
import type { WrittenSamples } from '../../samples/letters/sample-letters.ts';
import { formatTable } from '../table.ts';

/** The commands of the demo's service. */
export interface DemoCommands {
  /** Runs a command that must succeed, and returns what it prints with --json. */
  cli<Result>(...args: string[]): Promise<Result>;
  /** The same for a command whose result may be a failure. */
  outcome<Result>(...args: string[]): Promise<Result>;
}

/** The outcome of one sample letter. */
export interface ShownLetter {
  readonly file: string;
  readonly brand: string;
  readonly decidedBy: string;
  readonly outcome: string;
  readonly verified: number;
  readonly because: string;
}

/** The client that owns the demo's brands. */
export const demoOwner = 'demo';

/**
 * Registers a brand with each kind of letter: a signed issued form, which the rules approve, a scanned free letter, which a
 * person approves, and a forged letter, which is rejected.
 */
export async function registerBrands(commands: DemoCommands, samples: WrittenSamples): Promise<ShownLetter[]> {
  const form = await issueAndSign(commands, samples.signed);
  const signed = await register(commands, samples.signed, { letter: form, expected: ['approved'] });
  const scan = await register(commands, samples.scan, { expected: ['in_review'] });
  const forged = await register(commands, samples.forged, { expected: ['rejected', 'in_review'] });
  await commands.cli(
    'letter',
    'decide',
    String(scan.result!.letter!.letterId),
    '--approve',
    '--reason',
    'The signature is the one on file.',
  );
  const brand = await commands.cli<{ numbers: { verified?: number } }>('brand', 'show', scan.result!.brand.handle);
  return [
    describe(form, signed, 'rules'),
    { ...describe(samples.scan, scan, 'person'), outcome: 'approved', verified: brand.numbers.verified ?? 0 },
    describe(samples.forged, forged, forged.result?.outcome === 'rejected' ? 'rules' : 'nobody yet'),
  ];
}

/** Issues the form of a sample's request and signs it with a certificate of the sample authority. */
async function issueAndSign({ cli }: DemoCommands, sample: string): Promise<string> {
  const [request, form, signed] = [
    requestOf(sample),
    sample.replace(/[^/\\]+$/, 'issued-form.pdf'),
    sample.replace(/[^/\\]+$/, 'signed-form.pdf'),
  ] as const;
  await rm(form, { force: true }); // from an earlier run
  await cli('letter', 'form', request, '--owner', demoOwner, '-o', form);
  const { brand, signer } = JSON.parse(await readFile(request, 'utf8')) as {
    brand: { legalName: string; country: string };
    signer: { name: string };
  }; // as the sample generator wrote it
  const certificate = certifySigner({ name: signer.name, organization: brand.legalName, country: brand.country });
  await writeFile(
    signed,
    signForm(await readFile(form), {
      certificate,
      signedAt: new Date(),
      lines: [`Digitally signed by ${signer.name}`, brand.legalName],
    }),
  );
  return signed;
}

function requestOf(sample: string): string {
  return sample.replace(/\.[a-z]+$/, '.json');
}

async function register(
  { outcome }: DemoCommands,
  sample: string,
  { letter = sample, expected }: { letter?: string; expected: readonly string[] },
): Promise<Operation> {
  const operation = await outcome<Operation>(
    'brand',
    'add',
    requestOf(sample),
    '--owner',
    demoOwner,
    '--letter',
    letter,
  );
  if (expected.includes(operation.result?.outcome ?? '')) return operation;
  const found = operation.result?.letter?.findings
    .filter(({ severity }) => severity === 'reject' || severity === 'review')
    .map(({ code, message }) => `${code}: ${message}`) ?? [operation.failure?.reason];
  throw new ServiceError('internal', {
    operation: 'run demo',
    object: basename(letter),
    problem: `The letter was ${operation.result?.outcome ?? operation.state}, and should have been ${expected.join(' or ')}. ${found.join(' ')}`,
  });
}

function describe(letter: string, { result }: Operation, decidedBy: string): ShownLetter {
  const decisive = result!.letter!.findings.filter(({ severity }) => severity === 'reject' || severity === 'review');
  return {
    file: basename(letter),
    brand: result!.brand.handle,
    decidedBy,
    outcome: result!.outcome,
    verified: result!.numbers?.states.verified ?? 0,
    because: decisive.length === 0 ? 'every rule passed' : [...new Set(decisive.map(({ code }) => code))].join(', '),
  };
}

/** The letters as a table. */
export function formatLetters(letters: readonly ShownLetter[]): string {
  return formatTable(letters, [
    { title: 'letter', value: ({ file }) => file },
    { title: 'brand', value: ({ brand }) => brand },
    { title: 'outcome', value: ({ outcome }) => outcome },
    { title: 'decided by', value: ({ decidedBy }) => decidedBy },
    { title: 'numbers verified', value: ({ verified }) => verified },
    { title: 'findings', value: ({ because }) => because },
  ]);
}
