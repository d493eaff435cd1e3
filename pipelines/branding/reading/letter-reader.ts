import type { z } from 'zod';
import type { RevocationData } from '../letter-trust.ts';
import type { LetterReading, LetterReadingOutcome } from '../letter-reading.ts';
import { ocrAnswer, structureAnswer } from './child-answer.ts';
import type { ChildAnswer } from './child-protocol.ts';
import { letterLimits, type LetterLimits } from './gate/letter-limits.ts';
import { LetterRefused } from './gate/letter-refused.ts';
import { sniffLetter } from './gate/letter-sniff.ts';
import {
  runReadingChild,
  type ChildLimits,
  type ChildReport,
  type LimitName,
  type ReadingChild,
} from './reading-child.ts';
import type { OcrRequest, OcrResult } from './ocr/ocr-task.ts';

export type { LetterLimits } from './gate/letter-limits.ts';
export type { ChildReport } from './reading-child.ts';

interface ReadLetterOptions {
  readonly bytes: Uint8Array;
  /** Only tests give others. */
  readonly limits?: LetterLimits;
  /** Root certificates for signatures, PEM, one after another. */
  readonly trustRootsPem?: string | undefined;
  /** Revocation lists and answers for signatures. */
  readonly revocationData?: RevocationData | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called at the end of each child with the resources that it used. */
  readonly onChild?: ((report: ChildReport) => void) | undefined;
}

interface RenderLetterOptions extends Omit<ReadLetterOptions, 'trustRootsPem' | 'revocationData'> {
  /** Lower for pages that would exceed the limit of pixels. */
  readonly dotsPerInch: number;
}

/** A page as a picture for a person. */
export interface RenderedPage {
  readonly page: number;
  readonly png: Uint8Array;
}

/**
 * Reads a letter: what its drawn pages show, its signatures and its embedded CSV. Only its first bytes are inspected here;
 * everything else happens in child processes with limits of time and memory, without a network. Every input has an outcome.
 * @throws ServiceError `interrupted` when the signal fires, `internal` when a child cannot be started
 */
export async function readLetterFile(options: ReadLetterOptions): Promise<LetterReadingOutcome> {
  try {
    const format = judgeFile(options);
    return { kind: 'read', reading: format === 'png' ? await readPng(options) : await readPdf(options) };
  } catch (error) {
    if (error instanceof LetterRefused) return { kind: 'refused', code: error.code, problem: error.message };
    throw error;
  }
}

/**
 * Draws the pages of a letter for the review desk, in a child with limits. A letter that cannot be drawn has no pages.
 * @throws ServiceError as {@link readLetterFile}
 */
export async function renderLetterPages(options: RenderLetterOptions): Promise<readonly RenderedPage[]> {
  try {
    const format = judgeFile(options);
    const { drawn } = await runOcr(options, { task: 'draw', format, dotsPerInch: options.dotsPerInch });
    return drawn.map(({ page, png }) => ({ page, png: Buffer.from(png, 'base64') }));
  } catch (error) {
    if (error instanceof LetterRefused) return [];
    throw error;
  }
}

type RunOptions = Pick<ReadLetterOptions, 'bytes' | 'limits' | 'signal' | 'onChild'>;

function judgeFile({ bytes, limits = letterLimits }: RunOptions): 'pdf' | 'png' {
  if (bytes.length > limits.letterBytesMax)
    throw new LetterRefused('letter_too_large', `The file has more than ${limits.letterBytesMax} bytes.`);
  const sniffed = sniffLetter(bytes);
  if ('refusal' in sniffed) throw new LetterRefused(sniffed.refusal, sniffed.problem);
  return sniffed.format;
}

async function readPng(options: ReadLetterOptions): Promise<LetterReading> {
  const { pages } = await runOcr(options, { task: 'recognise', format: 'png', dotsPerInch: 0 });
  return { format: 'png', pages, signatures: [], revisions: [], embeddedCsv: null };
}

async function readPdf(options: ReadLetterOptions): Promise<LetterReading> {
  const { trustRootsPem, revocationData, limits = letterLimits } = options;
  const {
    letterStructureSecondsMax: secondsMax,
    letterStructureMemoryBytesMax: memoryBytesMax,
    letterOutputBytesMax: outputBytesMax,
  } = limits;
  const facts = await runChild({
    options,
    child: 'structure-child',
    answer: structureAnswer,
    settings: { limits, trustRootsPem, revocationData },
    limits: { secondsMax, memoryBytesMax, outputBytesMax },
  });
  const altered = facts.signatures.find(({ signatureValid, digestMatches }) => signatureValid && !digestMatches);
  if (altered !== undefined)
    throw new LetterRefused('letter_altered', 'Sign it again as the last step, and send it unchanged.');
  const { pages } = await runOcr(options, { task: 'recognise', format: 'pdf', dotsPerInch: 0 });
  return { format: 'pdf', pages, ...facts };
}

function runOcr(options: RunOptions, request: Omit<OcrRequest, 'limits'>): Promise<OcrResult> {
  const { limits = letterLimits } = options;
  const {
    letterOcrSecondsMax: secondsMax,
    letterOcrMemoryBytesMax: memoryBytesMax,
    letterPagesMax,
    letterOutputBytesMax,
  } = limits;
  const outputBytesMax = request.task === 'draw' ? letterPagesMax * drawnPageBytesMax : letterOutputBytesMax;
  return runChild({
    options,
    child: 'ocr-child',
    answer: ocrAnswer,
    settings: { ...request, limits },
    limits: { secondsMax, memoryBytesMax, outputBytesMax },
  });
}

/** A noisy page at 150 dots an inch has 1.6 megabytes as PNG, and a third more in base64. */
const drawnPageBytesMax = 4 * 1024 * 1024;

interface ChildRun<Result> {
  readonly options: RunOptions;
  readonly child: ReadingChild;
  readonly answer: z.ZodType<ChildAnswer<Result>>;
  readonly settings: unknown;
  readonly limits: ChildLimits;
}

async function runChild<Result>({
  options: { bytes, signal, onChild },
  child,
  answer,
  settings,
  limits,
}: ChildRun<Result>): Promise<Result> {
  const outcome = await runReadingChild({ child, settings, bytes, signal, limits });
  onChild?.(outcome.report);
  if ('limit' in outcome) throw new LetterRefused('letter_limit_exceeded', limitProblem(outcome.limit, limits));
  const checked = answer.safeParse(outcome.answer);
  if (!checked.success)
    throw new LetterRefused('letter_damaged', 'The process that read the letter returned an invalid answer.');
  if ('refused' in checked.data) throw new LetterRefused(checked.data.refused, checked.data.problem);
  return checked.data.result;
}

function limitProblem(limit: LimitName, { secondsMax, memoryBytesMax, outputBytesMax }: ChildLimits): string {
  if (limit === 'time') return `Reading the letter took more than ${secondsMax} seconds.`;
  if (limit === 'memory') return `Reading the letter took more than ${memoryBytesMax} bytes of memory.`;
  if (limit === 'output') return `The letter holds more text than ${outputBytesMax} bytes.`;
  return 'Reading the letter ended early: it needed more memory or time than is available.';
}
