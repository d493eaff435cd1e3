import { z } from 'zod';
import { LETTER_REFUSALS, type LetterRefusalCode } from '../letter-reading.ts';
import type { ChildAnswer } from './child-protocol.ts';
import type { OcrResult } from './ocr/ocr-task.ts';
import type { PdfFacts } from './structure-task.ts';

// A hostile file may compromise a child: its answer is checked like any input.

const box = z.strictObject({ left: z.number(), top: z.number(), width: z.number(), height: z.number() });

const word = { text: z.string(), box, confidence: z.number() };

const page = z.strictObject({
  page: z.int().positive(),
  width: z.number().positive(),
  height: z.number().positive(),
  turned: z.number(),
  lines: z.array(z.strictObject({ ...word, words: z.array(z.strictObject(word)) })),
  ink: z.array(box),
});

const chain = z.enum(['trusted', 'untrusted', 'unchecked']);

const signature = z.strictObject({
  field: z.string(),
  page: z.int().positive().nullable(),
  box: box.nullable(),
  subFilter: z.string(),
  signerName: z.string().nullable(),
  signerOrganization: z.string().nullable(),
  signerCountry: z.string().nullable(),
  signerOrganizationId: z.string().nullable(),
  signedAt: z.string().nullable(),
  timeStamp: z.strictObject({ time: z.string(), authority: z.string().nullable(), chain }).nullable(),
  digestMatches: z.boolean(),
  signatureValid: z.boolean(),
  coverage: z.enum(['whole', 'extended', 'changed', 'partial']),
  chain,
  revocation: z.enum(['good', 'revoked', 'unknown']),
  problem: z.string().nullable(),
});

const revision = z.strictObject({
  end: z.int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  kind: z.enum(['original', 'signature', 'validation', 'time_stamp', 'other']),
  changes: z.array(z.string()),
});

const refusal = z.strictObject({
  refused: z.enum(Object.keys(LETTER_REFUSALS) as [LetterRefusalCode, ...LetterRefusalCode[]]),
  problem: z.string(),
});

function answerForm<Result>(result: z.ZodType<Result>): z.ZodType<ChildAnswer<Result>> {
  return z.union([refusal, z.strictObject({ result })]) as unknown as z.ZodType<ChildAnswer<Result>>;
}

/** The answer of the child that reads the structure of a PDF. */
export const structureAnswer: z.ZodType<ChildAnswer<PdfFacts>> = answerForm(
  z.strictObject({
    signatures: z.array(signature),
    revisions: z.array(revision),
    embeddedCsv: z.strictObject({ name: z.string(), text: z.string() }).nullable(),
  }),
);

/** The answer of the child that draws and recognises. */
export const ocrAnswer: z.ZodType<ChildAnswer<OcrResult>> = answerForm(
  z.strictObject({
    pages: z.array(page),
    drawn: z.array(z.strictObject({ page: z.int().positive(), png: z.base64() })),
  }),
);
