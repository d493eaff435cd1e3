import { basename } from 'node:path';
import type { Operation } from '../pipelines/branding/operation.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { WrittenSamples } from './sample-letters/sample-letters.ts';
import { formatTable } from './table.ts';

/** The commands of the demo's service. */
export interface DemoCommands {
  /** Runs a command that must succeed, and returns what it prints with --json. */
  cli<Result>(...args: string[]): Promise<Result>;
  /** The same for a command that may also end with a result that is a failure. */
  outcome<Result>(...args: string[]): Promise<Result>;
}

/** What became of one sample letter. */
export interface ShownLetter {
  readonly file: string;
  readonly brand: string;
  readonly decidedBy: string;
  readonly outcome: string;
  readonly verified: number;
  readonly because: string;
}

/** Client whose brands the demo registers. */
export const demoOwner = 'demo';

/**
 * Registers a brand with each sample letter: a clean one that the rules approve, a scan that a person must look at and
 * approves, and a forged one that the rules reject.
 */
export async function registerBrands(commands: DemoCommands, samples: WrittenSamples): Promise<ShownLetter[]> {
  const signed = await register(commands, samples.signed, 'approved');
  const scan = await register(commands, samples.scan, 'in_review');
  const forged = await register(commands, samples.forged, 'rejected');
  await commands.cli('letter', 'decide', String(scan.result!.letter!.letterId), '--approve', '--reason', 'The signature is the one on file.');
  const brand = await commands.cli<{ numbers: { verified?: number } }>('brand', 'show', scan.result!.brand.handle);
  return [describe(samples.signed, signed, 'rules'), { ...describe(samples.scan, scan, 'person'), outcome: 'approved', verified: brand.numbers.verified ?? 0 }, describe(samples.forged, forged, 'rules')];
}

async function register({ outcome }: DemoCommands, letter: string, expected: string): Promise<Operation> {
  const operation = await outcome<Operation>('brand', 'add', letter.replace(/\.[a-z]+$/, '.json'), '--owner', demoOwner, '--letter', letter);
  if (operation.result?.outcome === expected) return operation;
  const found = operation.result?.letter?.findings.filter(({ severity }) => severity === 'reject' || severity === 'review').map(({ code, message }) => `${code}: ${message}`) ?? [operation.failure?.reason];
  throw new ServiceError('internal', { operation: 'run demo', object: basename(letter), problem: `The letter was ${operation.result?.outcome ?? operation.state}, and should have been ${expected}. ${found.join(' ')}` });
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
