import { severityRanks } from './letter-marks.ts';
import type { Json } from '../../answers/json.ts';
import type { PublicFinding } from '../../answers/letter-answers.ts';
import { asWords, visible } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const kinds: Readonly<Record<string, string>> = { pass: 'good', note: 'calm', review: 'warn', reject: 'bad' };
const words: Readonly<Record<string, string>> = {
  pass: 'passed',
  note: 'note',
  review: 'for a person',
  reject: 'refused',
};

/** The effect of a finding in a word. */
export function Severity({ name }: { name: string }): VNode {
  return html`<span class=${`state ${kinds[name] ?? 'calm'}`}>${words[name] ?? asWords(name)}</span>`;
}

type ShownFinding = Json<PublicFinding> & { readonly meaning?: string };

/** Findings, the decisive ones first; passed ones are collapsed. */
export function FindingList({ findings }: { findings: readonly ShownFinding[] }): VNode {
  const sorted = [...findings].sort((a, b) => severityRanks[a.severity] - severityRanks[b.severity]);
  const [open, passed] = [
    sorted.filter(({ severity }) => severity !== 'pass'),
    sorted.filter(({ severity }) => severity === 'pass'),
  ];
  const show = (shown: readonly ShownFinding[]) =>
    html`<ul class="plain finding-list">${shown.map((finding, at) => html`<${FindingEntry} key=${at} finding=${finding} />`)}</ul>`;
  return html`${open.length === 0 ? null : show(open)}
    ${passed.length === 0 ? null : html`<details open=${open.length === 0 && passed.length < 4}><summary>${passedWords(passed.length)}</summary>${show(passed)}</details>`}` as VNode;
}

/** The heading of collapsed findings. */
export function passedWords(count: number): string {
  return count === 1 ? '1 check passed' : `${count} checks passed`;
}

function FindingEntry({ finding: { code, severity, message, meaning, page, line } }: { finding: ShownFinding }): VNode {
  const where = page === null ? '' : `Page ${page}${line ? `, line ${line}` : ''}.`;
  return html`<li>
    <div class="entry-head"><${Severity} name=${severity} /> <code>${code}</code></div>
    <div>${visible(message)} <span class="soft">${where}</span></div>
    ${meaning && meaning !== message && severity !== 'pass' ? html`<div class="soft">Checked: ${meaning}</div>` : null}
  </li>`;
}
