import { ServiceError } from '../../runtime/errors.ts';

/** The states of one kind of resource, and the transitions of each action. */
export interface TransitionTable<State extends string, Action extends string> {
  readonly kind: 'brand' | 'letter' | 'number';
  readonly states: readonly State[];
  readonly actions: { readonly [Name in Action]: { readonly from: readonly State[]; readonly to: State } };
}

const table = <const State extends string, const Action extends string>(definition: TransitionTable<State, Action>) =>
  definition;

/** A managed brand. `draft`: it waits for a letter. `expired`: it has no letter in force. */
export const BRAND_TRANSITIONS = table({
  kind: 'brand',
  states: ['draft', 'submitted', 'in_review', 'approved', 'rejected', 'suspended', 'expired', 'withdrawn'],
  actions: {
    submit: { from: ['draft', 'rejected'], to: 'submitted' },
    review: { from: ['submitted'], to: 'in_review' },
    approve: { from: ['submitted', 'in_review'], to: 'approved' },
    reject: { from: ['submitted', 'in_review'], to: 'rejected' },
    suspend: { from: ['approved'], to: 'suspended' },
    resume: { from: ['suspended'], to: 'approved' },
    expire: { from: ['approved'], to: 'expired' },
    renew: { from: ['expired'], to: 'approved' },
    withdraw: {
      from: ['draft', 'submitted', 'in_review', 'approved', 'rejected', 'suspended', 'expired'],
      to: 'withdrawn',
    },
  },
});

/** A letter of authorization. `expiring`: in force, with 30 days or less to go. */
export const LETTER_TRANSITIONS = table({
  kind: 'letter',
  states: ['submitted', 'in_review', 'approved', 'rejected', 'expiring', 'expired', 'withdrawn'],
  actions: {
    review: { from: ['submitted'], to: 'in_review' },
    approve: { from: ['submitted', 'in_review'], to: 'approved' },
    reject: { from: ['submitted', 'in_review'], to: 'rejected' },
    warn: { from: ['approved'], to: 'expiring' },
    expire: { from: ['approved', 'expiring'], to: 'expired' },
    withdraw: { from: ['submitted', 'in_review', 'approved', 'expiring'], to: 'withdrawn' },
  },
});

/** A phone number for branding, with one brand. `unsuccessful` can be submitted again, `permanently_rejected` never. */
export const NUMBER_TRANSITIONS = table({
  kind: 'number',
  states: [
    'submitted',
    'in_review',
    'verified',
    'unsuccessful',
    'permanently_rejected',
    'suspended',
    'expired',
    'removed',
  ],
  actions: {
    submit: { from: ['unsuccessful', 'expired', 'removed'], to: 'submitted' },
    review: { from: ['submitted'], to: 'in_review' },
    verify: { from: ['submitted', 'in_review'], to: 'verified' },
    fail: { from: ['submitted', 'in_review'], to: 'unsuccessful' },
    suspend: { from: ['verified'], to: 'suspended' },
    resume: { from: ['suspended'], to: 'verified' },
    expire: { from: ['verified'], to: 'expired' },
    renew: { from: ['expired'], to: 'verified' },
    reject: {
      from: ['submitted', 'in_review', 'verified', 'unsuccessful', 'suspended', 'expired'],
      to: 'permanently_rejected',
    },
    remove: { from: ['submitted', 'in_review', 'verified', 'unsuccessful', 'suspended', 'expired'], to: 'removed' },
  },
});

type StateOf<Table> = Table extends TransitionTable<infer State, string> ? State : never;
type ActionOf<Table> = Table extends TransitionTable<string, infer Action> ? Action : never;

export type BrandState = StateOf<typeof BRAND_TRANSITIONS>;
export type BrandAction = ActionOf<typeof BRAND_TRANSITIONS>;
export type LetterState = StateOf<typeof LETTER_TRANSITIONS>;
export type LetterAction = ActionOf<typeof LETTER_TRANSITIONS>;
export type NumberState = StateOf<typeof NUMBER_TRANSITIONS>;
export type NumberAction = ActionOf<typeof NUMBER_TRANSITIONS>;

/** True if the table allows the action in the state. */
export function allows<State extends string, Action extends string>(
  { actions }: TransitionTable<State, Action>,
  from: State,
  action: Action,
): boolean {
  return actions[action].from.includes(from);
}

/**
 * The state that an action leads to.
 * @throws ServiceError `transition_refused`, with from and to, if the table does not have it.
 */
export function transition<State extends string, Action extends string>(
  of: TransitionTable<State, Action>,
  from: State,
  { action, object }: { action: Action; object: string },
): State {
  const { from: allowed, to } = of.actions[action];
  if (allowed.includes(from)) return to;
  throw new ServiceError('transition_refused', {
    operation: `${action} ${of.kind}`,
    object,
    problem: `The ${of.kind} is ${from}, and cannot become ${to} from there.`,
    hint: `That takes one that is ${allowed.join(', ')}.`,
  });
}
