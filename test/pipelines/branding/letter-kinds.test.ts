import { describe, expect, it } from 'vitest';
import { honestKinds, kindSets, tunedKinds } from '../../../bench/letter-kinds/all-kinds.ts';
import { drawKind } from '../../../bench/letter-kinds/draw-kind.ts';
import { formKinds } from '../../../bench/letter-kinds/form-kinds.ts';
import { judgeForm } from '../../../bench/letter-kinds/judge-form.ts';
import { judgeKind, readAsText, type JudgedKind } from '../../../bench/letter-kinds/judge-kind.ts';
import type { LetterKind } from '../../../bench/letter-kinds/letter-draft.ts';
import { pageKinds } from '../../../bench/letter-kinds/page-kinds.ts';
import { sampleTrustRootPem } from '../../../samples/letters/sample-letters.ts';
import type { LetterReadingOutcome } from '../../../pipelines/branding/letter-reading.ts';
import { readPdfText } from '../../../pipelines/branding/reading/text-task.ts';
import type { RevocationData } from '../../../pipelines/branding/letter-trust.ts';
import { letterLimits } from '../../../pipelines/branding/reading/gate/letter-limits.ts';

const described = (kinds: readonly LetterKind[]) => kinds.map((kind) => [`${kind.group}: ${kind.name}`, kind] as const);

function judgeText(kind: LetterKind): JudgedKind {
  return judgeKind(kind, { kind: 'read', reading: readAsText(kind) });
}

async function read(bytes: Uint8Array, revocationData?: RevocationData): Promise<LetterReadingOutcome> {
  const { pages, signatures, revisions, embeddedCsv } = await readPdfText({
    bytes,
    limits: letterLimits,
    trustRootsPem: sampleTrustRootPem(),
    revocationData,
  });
  return { kind: 'read', reading: { format: 'pdf', pages, signatures, revisions, embeddedCsv } };
}

async function judgePdf(kind: LetterKind): Promise<JudgedKind> {
  return judgeKind(kind, await read(drawKind(kind)));
}

describe('the catalogue of letters', () => {
  it('has at least 100 kinds of impostors and forgeries and 40 of honest letters, each under a name of its own', () => {
    expect(tunedKinds.length).toBeGreaterThanOrEqual(100);
    expect(honestKinds.length).toBeGreaterThanOrEqual(40);
    const names = [...tunedKinds, ...honestKinds].map(({ group, name }) => `${group}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a letter of an impostor or forger', () => {
  it.each(described(tunedKinds.filter((kind) => !pageKinds.includes(kind))))(
    '%s: is not approved, not refused where a clerk would ask, and a finding points at what is wrong',
    (_name, kind) => {
      const { outcome, isPointedAt } = judgeText(kind);
      expect(outcome === 'rejected' && kind.careful !== 'reject').toBe(false);
      expect(isPointedAt).toBe(true);
    },
  );

  it.each(described(pageKinds))(
    '%s: made as a PDF, is not approved, and a finding points at what is wrong',
    async (_name, kind) => {
      const { outcome, isPointedAt } = await judgePdf(kind);
      expect(outcome).not.toBe('approved');
      expect(isPointedAt).toBe(true);
    },
  );
});

describe('letters that the marks were not written against', () => {
  const judged = [...kindSets.later, ...kindSets.last].map((kind) => [kind, judgeText(kind)] as const);

  it('are not refused where a clerk would ask', () => {
    expect(
      judged
        .filter(([kind, { outcome }]) => outcome === 'rejected' && kind.careful !== 'reject')
        .map(([{ name }]) => name),
    ).toEqual([]);
  });

  it('are pointed at in two of three cases at least', () => {
    const last = kindSets.last.filter(({ tricks }) => tricks.length === 0).map(judgeText);
    expect(last.filter(({ isPointedAt }) => isPointedAt).length * 3).toBeGreaterThanOrEqual(last.length * 2 - 3);
  });
});

/** Letters whose numbers or wording the reader cannot follow: what it did not find it says so of itself. */
const notFollowed = ['wording that the reader does not know', 'Polish, which the reader does not know'];

describe('an honest letter', () => {
  it.each(described(honestKinds))('%s: is never refused', (_name, kind) => {
    expect(judgeText(kind).findings.filter(({ severity }) => severity === 'reject')).toEqual([]);
  });

  it.each(described(honestKinds.filter(({ scripts, name }) => !scripts && !notFollowed.includes(name))))(
    '%s: made as a PDF, has all its numbers read',
    async (_name, kind) => {
      const { findings } = await judgePdf(kind);
      expect(findings.filter(({ code, severity }) => code === 'numbers_authorized' || severity === 'reject')).toEqual(
        [],
      );
    },
  );

  it.each(notFollowed)('%s: goes to a person, and each finding says that the reader did not find something', (name) => {
    const { findings, outcome } = judgeText(honestKinds.find((kind) => kind.name === name)!);
    expect(outcome).toBe('in_review');
    expect(
      findings.filter(
        ({ message }) =>
          !/^The reader (?:found|did not find)|are in the letter, but outside|a word that letters of authorization seldom have/.test(
            message,
          ),
      ),
    ).toEqual([]);
  });

  it('has at most one mark in two letters that a person reads in vain', () => {
    const marks = honestKinds.flatMap((kind) =>
      judgeText(kind).findings.filter(({ code }) => code === 'sentences_to_read' || code === 'page_plain'),
    );
    expect(marks.length).toBeLessThan(honestKinds.length / 2);
  });
});

describe('an issued form', () => {
  const kinds = formKinds.map((kind) => [kind.name, kind] as const);

  it.each(kinds.filter(([, { careful }]) => careful === 'approve'))('%s: is approved', async (_name, kind) => {
    const { findings, outcome } = await judgeForm(kind, read);
    expect(findings.filter(({ severity }) => severity !== 'pass')).toEqual([]);
    expect(outcome).toBe('approved');
  });

  it.each(kinds.filter(([, { careful }]) => careful !== 'approve'))(
    '%s: is not approved, and the rule that it breaks says so',
    async (_name, kind) => {
      const { outcome, isPointedAt } = await judgeForm(kind, read);
      expect([outcome, isPointedAt]).toEqual([kind.careful === 'reject' ? 'rejected' : 'in_review', true]);
    },
  );
});
