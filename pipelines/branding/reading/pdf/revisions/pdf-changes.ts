import type { PdfRevision } from '../../../letter-reading.ts';
import { emptyDict, type PdfFile, type PdfObject } from '../pdf-file.ts';
import type { PdfPage } from '../pdf-pages.ts';
import {
  readFirstTable,
  readRevisionTable,
  revisionLimits,
  splitRevisions,
  TableProblem,
  type RevisionSpan,
  type RevisionTable,
} from './pdf-revisions.ts';
import { isRef, visitValues } from '../pdf-syntax.ts';
import {
  DocumentRevision,
  RevisionComparison,
  type ComparisonContext,
  type DrawnSignature,
} from './revision-comparison.ts';
import { isOfType } from './value-comparison.ts';

/** A revision with what it changed of the one before. */
export interface ComparedRevision extends RevisionSpan, Pick<PdfRevision, 'kind' | 'changes'> {
  readonly drawn: readonly DrawnSignature[];
}

interface ComparisonOptions {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
}

/** Changes of one revision that are put into words; the rest is counted. */
const changesMax = 20;

/**
 * The revisions of a file, each compared with the one before, object by object. An update counts as a signature, as
 * validation data or as a time stamp only when each number that it defines again is explained by that, its table of
 * objects lists exactly the objects of its bytes. Everything else is `other`. After a table on which readers do not agree, every
 * revision is. What a signature is drawn over is looked at by its caller.
 * @throws LetterRefused `letter_limit_exceeded`
 */
export function compareRevisions({ file, pages }: ComparisonOptions): ComparedRevision[] {
  const whole = { start: 0, mark: file.bytes.length, end: file.bytes.length, tableAt: 0 };
  const [first = whole, ...later] = splitRevisions(file);
  const compared: ComparedRevision[] = [{ ...first, kind: 'original', changes: [], drawn: [] }];
  if (later.length === 0) return compared;
  const budget = { values: revisionLimits.comparedValuesMax };
  const context: ComparisonContext = { file, pages, references: indexReferences(file), budget };
  let { table, problem } = readTable(() => readFirstTable(file, first), file);
  let before = new DocumentRevision(file, first, table);
  for (const span of later) {
    const own = readTable(() => readRevisionTable(file, span), file);
    problem ??= own.problem;
    const after = new DocumentRevision(file, span, own.table, before);
    const comparison = problem === null ? new RevisionComparison(context, before, after) : null;
    const { kind, changes } = comparison?.compare() ?? { kind: 'other' as const, changes: [problem!] };
    compared.push({ ...span, kind, changes: shortenChanges(changes), drawn: comparison?.drawn ?? [] });
    before = after;
  }
  return compared;
}

function shortenChanges(changes: readonly string[]): string[] {
  const distinct = [...new Set(changes)];
  return distinct.length <= changesMax
    ? distinct
    : [...distinct.slice(0, changesMax), `${distinct.length - changesMax} more`];
}

/** A table of objects; where readers do not agree on it, an empty one with the reason. */
function readTable(read: () => RevisionTable, file: PdfFile): { table: RevisionTable; problem: string | null } {
  try {
    return { table: read(), problem: null };
  } catch (error) {
    if (!(error instanceof TableProblem)) throw error;
    const trailer = file.trailers.at(-1) ?? emptyDict;
    return { table: { entries: new Map(), places: [], trailer }, problem: error.message };
  }
}

/** The objects that refer to a number, once per reference, without the tables themselves. */
function indexReferences(file: PdfFile): Map<number, PdfObject[]> {
  const references = new Map<number, PdfObject[]>();
  for (const object of file.all) {
    if (isOfType(object, 'XRef')) continue;
    visitValues(object.value, (value) => {
      if (!isRef(value)) return;
      const from = references.get(value.number) ?? [];
      references.set(value.number, from);
      from.push(object);
    });
  }
  return references;
}
