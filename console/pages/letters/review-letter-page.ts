import { severityRanks, marksOf, markIdOf, type Mark } from './letter-marks.ts';
import { operationTitles, visible } from '../shell/text.ts';
import type { Json } from '../../answers/json.ts';
import type {
  LetterRequest,
  PdfSignature,
  PlacedFinding,
  ReviewedLetter,
  ShownFind,
  ShownLetter,
} from '../../answers/letter-answers.ts';
import { Empty, Facts, Name, Notice, Page, Read, Section, State, When } from '../shell/components.ts';
import { passedWords, Severity } from './finding-list.ts';
import { RequestedNumbers } from './letter-numbers.ts';
import { LetterFacts } from './letter-page.ts';
import { LetterViewer, type ActiveMark } from './letter-viewer.ts';
import { LetterDecision } from './review-decision.ts';
import { RivalClaims } from './rival-claims.ts';
import { useReading } from '../shell/reading.ts';
import { Link, type PageProps } from '../shell/router.ts';
import { html, useEffect, useMemo, useRef, useState, type VNode } from '../shell/view.ts';

/** The review desk for a letter: its pages next to the findings, and the decision. */
export default function ReviewLetterPage({ params }: PageProps): VNode {
  const id = encodeURIComponent(params['id']!);
  const reading = useReading<ReviewedLetter>(`/api/review/letters/${id}`);
  const current = useReading<ShownLetter>(`/api/letters/${id}`); // reloaded after a decision, without reading the document again
  return html`<${Page} title=${`Review letter ${params['id']}`} lead=${html`<${Link} href="/review">Review desk</${Link}>. That the letter and its pages were looked at is recorded.`} actions=${reading.value?.letter.document.destroyedAt === null ? html`<a class="button" href=${`/api/letters/${id}/file`} download>Save the file as it came</a>` : null}>
    <${Read} reading=${reading} what="the letter" show=${(reviewed: Json<ReviewedLetter>) => (String(reviewed.letter.letterId) === params['id'] ? html`<${Desk} reviewed=${reviewed} current=${current.value ?? null} onDecided=${current.readAgain} />` : null)} />
  </${Page}>`;
}

function Desk({
  reviewed,
  current,
  onDecided,
}: {
  reviewed: Json<ReviewedLetter>;
  current: Json<ShownLetter> | null;
  onDecided: () => void;
}): VNode {
  const { letter, request, reading, whyNotDecide, neighbours } = reviewed;
  const [active, setActive] = useState<ActiveMark | null>(null);
  const marks = useMemo(() => marksOf(reading.findings, reading.finds), [reading]);
  const findings = useMemo(() => partFindings(reading.findings), [reading]);
  const [isOpen, setOpen] = useState(false);
  const onPage = (markId: string) => {
    if (findings.passed.some(({ place }) => markIdOf(place) === markId)) setOpen(true);
    setActive({ id: markId, from: 'page' });
  };
  const inList = (markId: string) => setActive({ id: markId, from: 'list' });
  const isDestroyed = letter.document.destroyedAt !== null;
  const barHeight = useBarHeight();
  const listOf: ListOf = (entries, show) =>
    html`<${MarkedList} entries=${entries} marks=${marks} active=${active} onActivate=${inList} show=${show} />`;
  return html`<div class="desk" style=${{ '--bar': `${barHeight}px` }}>
    <div class="desk-letter">
      ${isDestroyed ? html`<${Notice} kind="warn"><p>The document was destroyed <${When} at=${letter.document.destroyedAt} />: the file and what was read from it are lost.</p></${Notice}>` : null}
      ${!isDestroyed && reading.pages.length === 0 ? html`<${Empty} title="The letter could not be read.">Its findings say why. Its file can be saved as it came.</${Empty}>` : null}
      ${isDestroyed || reading.pages.length === 0 ? null : html`<${LetterViewer} letterId=${letter.letterId} pages=${reading.pages} marks=${marks} active=${active} onActivate=${onPage} />`}
    </div>
    <div class="desk-facts">
      ${reviewed.rivals.length === 0 ? null : html`<${Section} title="Claimed by others too"><${RivalClaims} rivals=${reviewed.rivals} /></${Section}>`}
      ${
        reading.finds.length === 0
          ? null
          : html`<${Section} title="Found on the letter, and not found">
        ${reading.confidence === null ? null : html`<p class="soft">Read from the drawn pages; the least sure page: ${reading.confidence} of 100.</p>`}
        ${listOf(reading.finds, showFind)}
      </${Section}>`
      }
      <${Section} title="For a person"><${OpenFindings} findings=${findings.open} list=${listOf} /></${Section}>
      <div class="desk-decision"><${LetterDecision} key=${letter.letterId} letter=${current ?? letter} request=${request} whyNot=${whyNotDecide} neighbours=${neighbours} onDecided=${onDecided} /></div>
      <${Section} title="Request"><${Asked} letter=${letter} request=${request} /></${Section}>
      ${reading.signatures.map((signature) => html`<${Section} key=${signature.field} title="PDF signature"><${SignatureFacts} signature=${signature} /></${Section}>`)}
      <${Section} title="Numbers of the request">${reading.embeddedCsv === null ? null : html`<p>The PDF embeds a list: <${Name} text=${reading.embeddedCsv} />.</p>`}<${RequestedNumbers} letterId=${letter.letterId} request=${current?.request ?? request} /></${Section}>
      ${findings.passed.length === 0 ? null : html`<details class="section" open=${isOpen} onToggle=${({ currentTarget }: { currentTarget: HTMLDetailsElement }) => setOpen(currentTarget.open)}><summary>${passedWords(findings.passed.length)}</summary>${listOf(findings.passed, showFinding)}</details>`}
      <${Section} title="The letter"><${LetterFacts} letter=${current ?? letter} /></${Section}>
      <${ReadText} reviewed=${reviewed} />
    </div>
  </div>`;
}

/** The height of the bar above every page, in CSS pixels: it wraps on narrow screens, and the letter stays below it. */
function useBarHeight(): number {
  const [height, setHeight] = useState(57);
  useEffect(() => {
    const bar = document.querySelector<HTMLElement>('.bar')!;
    const observer = new ResizeObserver(() => setHeight(bar.offsetHeight));
    observer.observe(bar);
    return () => observer.disconnect();
  }, []);
  return height;
}

function Asked({
  letter,
  request: { profile, kind, requestedBy, requestedAt, callReason, brandState },
}: {
  letter: Json<ReviewedLetter>['letter'];
  request: Json<LetterRequest>;
}): VNode {
  return html`<${Facts} entries=${[
    ['Request', html`<${Link} href=${`/operations/${letter.operationId}`}>${operationTitles[kind]}</${Link}>`],
    [
      'Brand',
      html`<${Link} href=${`/brands/${letter.handle}`}>${letter.handle}</${Link}> is <${State} name=${brandState} />`,
    ],
    ['Display name', html`<strong><${Name} text=${profile.displayName} /></strong>`],
    ['Legal name', html`<strong><${Name} text=${profile.legalName} /></strong>`],
    ['Doing business as', profile.dba && html`<${Name} text=${profile.dba} />`],
    ['Country', profile.country],
    ['Address', profile.address && html`<${Name} text=${profile.address} />`],
    ['Website', profile.website && html`<${Name} text=${profile.website} />`],
    ['Relationship', profile.relationship],
    ['Call reason', callReason && html`<${Name} text=${callReason} />`],
    ['Owner', html`<${Name} text=${letter.owner} />`],
    ['Asked for', html`<${When} at=${requestedAt} /> by <${Name} text=${requestedBy} />`],
  ]} />`;
}

type Entry = Json<PlacedFinding> | Json<ShownFind>;
type ListOf = <Each extends Entry>(entries: readonly Each[], show: (entry: Each) => VNode) => VNode;

/** The decisive findings, the worst first, and the passed ones. */
function partFindings(findings: readonly Json<PlacedFinding>[]): {
  readonly open: readonly Json<PlacedFinding>[];
  readonly passed: readonly Json<PlacedFinding>[];
} {
  const sorted = [...findings].sort((a, b) => severityRanks[a.severity] - severityRanks[b.severity]);
  return {
    open: sorted.filter(({ severity }) => severity !== 'pass'),
    passed: sorted.filter(({ severity }) => severity === 'pass'),
  };
}

function OpenFindings({ findings, list }: { findings: readonly Json<PlacedFinding>[]; list: ListOf }): VNode {
  return findings.length === 0 ? html`<p>Every check passed.</p>` : list(findings, showFinding);
}

const showFinding = ({ severity, code, message, meaning, excerpt }: Json<PlacedFinding>): VNode =>
  html`<span class="entry-head"><${Severity} name=${severity} /> <code>${code}</code></span>
  <span class="entry-text">${visible(message)}</span>
  ${meaning === '' || meaning === message || severity === 'pass' ? null : html`<span class="soft">Checked: ${meaning}</span>`}
  ${excerpt === null ? null : html`<q class="excerpt">${visible(excerpt)}</q>`}` as VNode;

const findColours = { found: 'good', unclear: 'warn', 'not found': 'bad', 'not requested': 'calm' } as const;

const showFind = ({ name, state, asked, value }: Json<ShownFind>): VNode =>
  html`<span class="entry-head"><span class=${`state ${findColours[state]}`}>${state}</span> <span class="soft">${name}</span></span>
  ${asked === null || asked === value ? null : html`<span class="soft">Requested: ${visible(asked)}</span>`}
  ${value === '' ? null : html`<span class="entry-text">${visible(value)}</span>`}` as VNode;

interface MarkedListProps<Entry extends { readonly place: Json<PlacedFinding>['place'] }> {
  readonly entries: readonly Entry[];
  readonly marks: readonly Mark[];
  readonly active: ActiveMark | null;
  readonly onActivate: (id: string) => void;
  readonly show: (entry: Entry) => VNode;
}

/** Entries that link to their marks on the page; those without a place have a note. */
function MarkedList<Entry extends { readonly place: Json<PlacedFinding>['place'] }>({
  entries,
  marks,
  active,
  onActivate,
  show,
}: MarkedListProps<Entry>): VNode {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (active?.from === 'page')
      list.current!.querySelector(`[data-entry="${active.id}"]`)?.scrollIntoView({ block: 'nearest' }); // without animation: a button that moves under the pointer is missed
  }, [active]);
  return html`<ul class="plain marked-list" ref=${list}>${entries.map((entry, at) => {
    const mark = marks.find(({ id }) => id === markIdOf(entry.place));
    if (mark === undefined)
      return html`<li key=${at} class="entry"><span class="entry-number none">${entry.place === null ? '–' : html`<span class="unseen">page </span>p${entry.place.page}`}</span><div>${show(entry)}</div></li>`;
    const isActive = active?.id === mark.id;
    return html`<li key=${at} data-entry=${mark.id}><button type="button" class=${`entry ${isActive ? 'active' : ''}`} aria-pressed=${isActive ? 'true' : 'false'} onFocus=${() => onActivate(mark.id)} onClick=${() => onActivate(mark.id)}>
      <span class=${`entry-number ${mark.severity}`}><span class="unseen">Mark </span>${mark.number}</span><span class="entry-body">${show(entry)}</span>
    </button></li>`;
  })}</ul>`;
}

const chains = {
  trusted: 'leads to a trusted root',
  untrusted: 'is not trusted',
  unchecked: 'not checked: no trusted roots are configured',
} as const;
const coverages = {
  whole: 'the whole file',
  extended: 'the letter; validation data, time stamps or signatures were added later',
  changed: 'an earlier version: the letter was changed later',
  partial: 'a part of the file',
} as const;

function SignatureFacts({ signature }: { signature: Json<PdfSignature> }): VNode {
  const yes = (is: boolean, words: readonly [string, string]) =>
    html`<span class=${`state ${is ? 'good' : 'bad'}`}>${is ? words[0] : words[1]}</span>`;
  return html`<${Facts} entries=${[
    ['Signer by the certificate', html`<${Name} text=${signature.signerName ?? 'not named'} />`],
    ['Organization', signature.signerOrganization && html`<${Name} text=${signature.signerOrganization} />`],
    ['Signed at', signature.signedAt && html`<${When} at=${signature.signedAt} />`],
    ['Signed bytes', yes(signature.digestMatches && signature.signatureValid, ['unchanged', 'changed or not valid'])],
    [
      'Time',
      signature.timeStamp
        ? html`stamped by <${Name} text=${signature.timeStamp.authority ?? 'an authority without a name'} /> (${chains[signature.timeStamp.chain]}), <${When} at=${signature.timeStamp.time} />`
        : 'claimed by the signer',
    ],
    [
      'Covers',
      signature.coverage &&
        yes(signature.coverage === 'whole' || signature.coverage === 'extended', [
          coverages[signature.coverage],
          coverages[signature.coverage],
        ]),
    ],
    ['Certificate', chains[signature.chain]],
    ['Problem', signature.problem && visible(signature.problem)],
    ['Field', html`<${Name} text=${signature.field} />`],
  ]} />`;
}

/** The text of the pages, for screen readers and for comparison. */
function ReadText({ reviewed: { reading } }: { reviewed: Json<ReviewedLetter> }): VNode | null {
  if (reading.pages.length === 0) return null;
  return html`<details class="section"><summary>The text as it was read</summary>
    ${reading.pages.map(
      ({ page, lines }) => html`<div key=${page}><h3>Page ${page}</h3>
      <ol class="read-lines">${lines.map(({ text, confidence }) => html`<li>${visible(text)}${confidence < 75 ? html` <span class="soft">(unsure: ${Math.round(confidence)} of 100)</span>` : null}</li>`)}</ol>
    </div>`,
    )}
  </details>`;
}
