/**
 * Claims: no letter of an impostor or forger is approved by rules, an honest issued form is, no honest letter is refused, and the
 * findings point a reviewer at what is wrong. Prints the figures for the kinds that the marks were written against and for those
 * that came afterwards, what was missed, and what honest letters cost: marks that a person reads in vain.
 *
 *   npm run build && node dist/bench/letter-kinds.js [--json report.json]
 *
 * Each kind is made as a PDF and read as a letter is, in a process with limits; those whose letters the fonts of the PDFs
 * do not have are read as text. It takes two minutes.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { sampleLetters, sampleTrustRootPem } from '../samples/letters/sample-letters.ts';
import { readLetterFile } from '../pipelines/branding/reading/letter-reader.ts';
import { honestKinds, kindSets } from './letter-kinds/all-kinds.ts';
import { drawKind } from './letter-kinds/draw-kind.ts';
import { formKinds } from './letter-kinds/form-kinds.ts';
import { judgeForm, type JudgedForm } from './letter-kinds/judge-form.ts';
import { judgeFree, judgeKind, readAsText, type JudgedKind } from './letter-kinds/judge-kind.ts';
import { handedInOn, type LetterKind } from './letter-kinds/letter-draft.ts';

const { values: options } = parseArgs({
  options: { json: { type: 'string' }, samples: { type: 'string', default: '100' } },
});
const trustRootsPem = sampleTrustRootPem();

async function judge(kind: LetterKind): Promise<JudgedKind> {
  if (kind.scripts) return judgeKind(kind, { kind: 'read', reading: readAsText(kind) });
  return judgeKind(kind, await readLetterFile({ bytes: drawKind(kind), trustRootsPem }));
}

async function judgeAll(kinds: readonly LetterKind[]): Promise<JudgedKind[]> {
  const judged: JudgedKind[] = [];
  for (const kind of kinds) judged.push(await judge(kind));
  return judged;
}

/** What is printed for a set of impostors and forgeries. */
function summarizeForged(set: string, judged: readonly JudgedKind[]) {
  const named = (some: readonly JudgedKind[]) => some.map(({ kind: { group, name } }) => `${group}: ${name}`);
  const approved = judged.filter(({ outcome }) => outcome === 'approved');
  const refused = judged.filter(({ kind, outcome }) => outcome === 'rejected' && kind.careful !== 'reject');
  const missed = judged.filter(({ isPointedAt }) => isPointedAt !== true);
  return {
    set,
    kinds: judged.length,
    approved: named(approved),
    rejected: judged.filter(({ outcome }) => outcome === 'rejected').length,
    refusedWhereAClerkAsks: named(refused),
    pointedAt: judged.length - missed.length,
    missed: named(missed),
    findings: count(judged) / judged.length,
  };
}

/** Marks for reading, and findings of every kind. */
function count(judged: readonly JudgedKind[], codes?: readonly string[]): number {
  return judged.reduce(
    (sum, { findings }) => sum + findings.filter(({ code }) => codes?.includes(code) ?? true).length,
    0,
  );
}

const marks = ['sentences_to_read', 'page_plain'];

function summarizeHonest(judged: readonly JudgedKind[]) {
  return {
    kinds: judged.length,
    toAPerson: judged.filter(({ outcome }) => outcome === 'in_review').length,
    rejected: judged.filter(({ outcome }) => outcome === 'rejected').map(({ kind }) => kind.name),
    withoutFinding: judged.filter(({ findings }) => findings.length === 0).length,
    findings: count(judged) / judged.length,
    marks: count(judged, marks) / judged.length,
  };
}

/** The same of honest sample letters with text, whose words the lists were not written from. */
async function summarizeSamples() {
  const figures = { letters: 0, rejected: 0, withoutFinding: 0, marks: 0 };
  for await (const letter of sampleLetters({
    seed: 31,
    count: Number(options.samples),
    asOf: new Date(`${handedInOn}T12:00:00Z`),
    scans: false,
  })) {
    if (letter.forgery !== null) continue;
    const findings = await judgeFree(await readLetterFile({ bytes: letter.bytes, trustRootsPem }), letter.request);
    figures.letters++;
    figures.rejected += findings.some(({ severity }) => severity === 'reject') ? 1 : 0;
    figures.withoutFinding += findings.length === 0 ? 1 : 0;
    figures.marks += findings.filter(({ code }) => marks.includes(code)).length;
  }
  return { ...figures, marks: figures.marks / figures.letters };
}

/** Issued forms: what the service approves, and whether the right rule says why it does not approve the others. */
async function summarizeForms() {
  const judged: JudgedForm[] = [];
  for (const kind of formKinds)
    judged.push(
      await judgeForm(kind, (bytes, revocationData) => readLetterFile({ bytes, trustRootsPem, revocationData })),
    );
  const honest = judged.filter(({ kind }) => kind.careful === 'approve');
  const bad = judged.filter(({ kind }) => kind.careful !== 'approve');
  const approved = (some: readonly JudgedForm[]) =>
    some.filter(({ outcome }) => outcome === 'approved').map(({ kind }) => kind.name);
  return {
    honest: honest.length,
    honestApproved: approved(honest).length,
    forged: bad.length,
    forgedApproved: approved(bad),
    pointedAt: bad.filter(({ isPointedAt }) => isPointedAt).length,
  };
}

const forged: ReturnType<typeof summarizeForged>[] = [];
for (const [set, kinds] of Object.entries(kindSets)) forged.push(summarizeForged(set, await judgeAll(kinds)));
const report = {
  forged,
  honest: summarizeHonest(await judgeAll(honestKinds)),
  samples: await summarizeSamples(),
  forms: await summarizeForms(),
};
if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`);

const percent = (part: number, all: number) => `${((100 * part) / all).toFixed(1)} %`;
console.log(
  `${'impostors and forgeries'.padEnd(24)}  kinds  approved  rejected  refused where a clerk asks  pointed at       findings`,
);
for (const { set, kinds, approved, rejected, refusedWhereAClerkAsks, pointedAt, findings } of forged) {
  console.log(
    `${set.padEnd(24)}  ${String(kinds).padStart(5)}  ${String(approved.length).padStart(8)}  ${String(rejected).padStart(8)}  ${String(refusedWhereAClerkAsks.length).padStart(26)}  ${`${pointedAt} (${percent(pointedAt, kinds)})`.padEnd(15)}  ${findings.toFixed(1)}`,
  );
}
for (const { set, missed } of forged) for (const name of missed) console.log(`  missed, ${set}: ${name}`);
const { honest, samples, forms } = report;
console.log(
  `\nhonest kinds: ${honest.kinds}, to a person ${honest.toAPerson}, rejected ${honest.rejected.length}${honest.rejected.map((name) => ` (${name})`).join('')}, without a finding ${honest.withoutFinding}, findings ${honest.findings.toFixed(2)} a letter, marks ${honest.marks.toFixed(2)}`,
);
console.log(
  `honest sample letters with text: ${samples.letters}, rejected ${samples.rejected}, without a finding ${samples.withoutFinding}, marks ${samples.marks.toFixed(2)} a letter`,
);
console.log(
  `issued forms: honest ${forms.honest}, approved ${forms.honestApproved}; forged or abnormal ${forms.forged}, approved ${forms.forgedApproved.length}${forms.forgedApproved.map((name) => ` (${name})`).join('')}, the right rule says why ${forms.pointedAt}`,
);
