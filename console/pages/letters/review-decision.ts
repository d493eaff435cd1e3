import type { Json } from '../../answers/json.ts';
import type { LetterRecord, LetterRequest, ReviewedLetter, WaitingLetter } from '../../answers/letter-answers.ts';
import { ActionButton, Field, Name, Notice, ProblemNotice, Section, State, When } from '../shell/components.ts';
import { ReasonField } from '../shell/reason-dialog.ts';
import { asProblem, getJson, sendJson, type Problem } from '../shell/request.ts';
import { goTo, Link } from '../shell/router.ts';
import { usePageKeys } from '../shell/page-keys.ts';
import { formatCount, visible } from '../shell/text.ts';
import { html, useEffect, useMemo, useRef, useState, type VNode } from '../shell/view.ts';
import { reloadCount } from './waiting-count.ts';

type Decided = Pick<Json<LetterRecord>, 'letterId' | 'state' | 'decidedAt' | 'decidedBy' | 'decisionReason'>;

/** Approves or rejects a letter, by mouse or keyboard; once decided, shows by whom. */
export function LetterDecision({
  letter,
  request,
  whyNot,
  neighbours: { previous, next },
  onDecided,
}: {
  letter: Decided;
  request: Json<LetterRequest>;
  whyNot: string | null;
  neighbours: ReviewedLetter['neighbours'];
  onDecided: () => void;
}): VNode {
  const { letterId, state } = letter;
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  /** The decision that a key has chosen, which waits for its reason. */
  const [chosen, setChosen] = useState<'approve' | 'reject' | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const choose = (choice: 'approve' | 'reject') => () => {
    setChosen(choice);
    box.current?.querySelector('textarea')?.focus();
  };
  const open = (id: number | null) => () => {
    if (id !== null) goTo(`/review/letters/${id}`);
  };
  usePageKeys(
    useMemo(
      () => ({ a: choose('approve'), r: choose('reject'), n: open(next), j: open(next), k: open(previous) }),
      [previous, next],
    ),
  );
  const confirm = () => box.current?.querySelector<HTMLButtonElement>(`.${chosen ?? 'none'}-letter button`)?.click();
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const decide = (approve: boolean) => async () => {
    try {
      await sendJson('POST', `/api/letters/${letterId}/decision`, {
        approve,
        reason,
        ...(approve && until !== '' ? { until } : {}),
      });
    } catch (error) {
      const problem = asProblem(error);
      if (problem.code !== 'transition_refused') throw problem;
      setRefusal(problem); // decided by another user meanwhile, as the reloaded letter shows, or too old to be approved
    }
    reloadCount();
    onDecided();
  };
  const isOff = reason.trim() === '' || whyNot !== null;
  const waits = state === 'in_review' || state === 'submitted';
  return html`<${Section} title="Decision">
    ${refusal === null ? null : html`<${ProblemNotice} problem=${refusal} />`}
    ${
      waits
        ? html`
      <p>${whatApprovalMeans(request)}</p>
      ${whyNot === null ? null : html`<${Notice}><p>${visible(whyNot)}</p></${Notice}>`}
      <div ref=${box}>
        <${ReasonField} reason=${reason} onInput=${setReason} onEnter=${confirm} hint=${chosen === null ? 'Required. Kept in the audit trail, and shown to the owner of the brand.' : `Why do you ${chosen}? Ctrl+Enter ${chosen === 'approve' ? 'approves' : 'rejects'} the letter.`} />
        <${Field} label="Ends on (optional)" hint="If the letter says so.">${(ids: object) => html`<input type="date" value=${until} onInput=${({ target }: Event) => setUntil((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
        <div class="actions"><span class="approve-letter"><${ActionButton} kind="primary" disabled=${isOff} act=${decide(true)}>Approve the letter</${ActionButton}></span><span class="reject-letter"><${ActionButton} kind="danger" disabled=${isOff} act=${decide(false)}>Reject the letter</${ActionButton}></span></div>
        <p class="soft"><kbd>a</kbd> approve, <kbd>r</kbd> reject, <kbd>n</kbd> or <kbd>j</kbd> next letter, <kbd>k</kbd> previous letter.</p>
      </div>`
        : html`<${DecidedNotice} letter=${letter} /><${NextLetter} />`
    }
  </${Section}>`;
}

function whatApprovalMeans({ requested, authorized }: { requested: number; authorized: number }): string {
  if (requested === 0) return 'No number was requested with the letter: who approves it approves the brand alone.';
  const numbers = requested === 1 ? 'the number' : `all ${formatCount(requested)} numbers`;
  const missing = authorized < requested ? ', also for those that were not found on it' : '';
  return `Who approves the letter vouches for ${numbers} requested with it${missing}.`;
}

function DecidedNotice({ letter: { state, decidedAt, decidedBy, decisionReason } }: { letter: Decided }): VNode {
  return html`<${Notice} kind=${state === 'approved' || state === 'expiring' ? 'good' : 'info'}>
    <p>The letter is <${State} name=${state} />.${decidedAt === null ? null : html` Decided <${When} at=${decidedAt} /> by <${Name} text=${decidedBy} />: ${visible(decisionReason)}`}</p>
  </${Notice}>`;
}

/** A link to the letter that has waited longest. */
function NextLetter(): VNode {
  const [next, setNext] = useState<Json<WaitingLetter> | null | undefined>(undefined);
  const way = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    getJson<{ letters: WaitingLetter[] }>('/api/review/letters?limit=1').then(
      ({ letters: [letter] }) => setNext(letter ?? null),
      () => setNext(null),
    );
  }, []);
  useEffect(() => {
    // After a decision the button that had the focus is gone.
    if (next !== undefined && (document.activeElement === null || document.activeElement === document.body))
      way.current?.querySelector('a')?.focus({ preventScroll: true });
  }, [next]);
  return html`<p class="next-letter" ref=${way}>${next ? html`<${Link} class="button" href=${`/review/letters/${next.letterId}`}>Next letter: ${visible(next.displayName)}</${Link}>` : null}${next === null ? html`<${Link} class="button" href="/review">No other letter waits: to the desk</${Link}>` : null}</p>`;
}
