import { randomInt } from 'node:crypto';

/** Fewest consecutive numbers that are proven as a block: carriers assign whole ranges of hundreds and thousands. */
export const blockNumbersMin = 100;

/** A longer run is proven in parts. */
export const blockNumbersMax = 1000;

/** One proof: the numbers that it covers, and those of them that are called. */
interface PlannedProof {
  readonly phones: readonly string[];
  readonly called: readonly string[];
}

interface ProofPlanOptions {
  /** Numbers of a block that was drawn before and not proven: they are proven one by one, so that nobody can draw repeatedly. */
  readonly drawnBefore: ReadonlySet<string>;
  /** Numbers of a block that are called, drawn at random; 0 proves every number by a call of its own. */
  readonly blockCalls: number;
  /** A random integer from 0 to below a limit. */
  readonly draw?: (limit: number) => number;
}

/**
 * Divides numbers (E.164) into proofs: one for each number, and one for each run of at least {@link blockNumbersMin} consecutive
 * ones, in which some are called. The requester cannot choose which: an applicant who answers h of the n numbers of a block, where
 * k are called, passes with probability C(h, k) / C(n, k), and never with fewer than k.
 */
export function planProofs(
  phones: readonly string[],
  { drawnBefore, blockCalls, draw = (limit) => randomInt(limit) }: ProofPlanOptions,
): PlannedProof[] {
  const runs = runsOf([...new Set(phones)].sort(inOrder), drawnBefore);
  return runs.flatMap((run) =>
    blockCalls === 0 || run.length < blockNumbersMin
      ? run.map((phone) => ({ phones: [phone], called: [phone] }))
      : partsOf(run).map((part) => ({ phones: part, called: drawSome(part, blockCalls, draw) })),
  );
}

function inOrder(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

/** Runs of consecutive numbers; a number that was drawn before is a run of its own. */
function runsOf(phones: readonly string[], drawnBefore: ReadonlySet<string>): string[][] {
  const runs: string[][] = [];
  for (const phone of phones) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    if (
      last !== undefined &&
      before !== undefined &&
      !drawnBefore.has(phone) &&
      !drawnBefore.has(before) &&
      isNext(before, phone)
    )
      last.push(phone);
    else runs.push([phone]);
  }
  return runs;
}

function isNext(before: string, phone: string): boolean {
  return before.length === phone.length && BigInt(phone.slice(1)) - BigInt(before.slice(1)) === 1n;
}

/** Parts of about the same size, none above {@link blockNumbersMax}. */
function partsOf(run: readonly string[]): string[][] {
  const parts = Math.ceil(run.length / blockNumbersMax);
  const bound = (at: number) => Math.round((at * run.length) / parts);
  return Array.from({ length: parts }, (_, at) => run.slice(bound(at), bound(at + 1)));
}

function drawSome(phones: readonly string[], some: number, draw: (limit: number) => number): string[] {
  const left = [...phones];
  return Array.from({ length: Math.min(some, left.length) }, () => left.splice(draw(left.length), 1)[0]!).sort(inOrder);
}
