import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** Whether a second person must decide, and which names belong to one person. */
export type EyesPolicy = Pick<Config, 'twoPairsOfEyes' | 'samePersons'>;

/**
 * The closed list of decisions that need a second person: those that publish more, and refusals of a request. A decision that
 * publishes less (suspend, withdraw, remove, discard, end a protection) needs only the role.
 */
type Decided =
  | { readonly kind: 'letter'; readonly brandId: number; readonly letterId: number }
  /** A brand that waits, or its pending revision. */
  | { readonly kind: 'brand'; readonly brandId: number }
  /** The end of a suspension, of a brand or of one of its numbers. */
  | { readonly kind: 'resumption'; readonly brandId: number }
  /** The label of a number (E.164), or of all with a prefix, that is to be taken back. */
  | { readonly kind: 'label'; readonly value: string; readonly isPrefix: boolean }
  | { readonly kind: 'load'; readonly loadId: number }
  /** Held files of a night; null for all of them. */
  | { readonly kind: 'files'; readonly cache: string | null; readonly country: string | null };

/** The part of a person in the subject of a decision, completing a sentence. */
const parts = {
  request: 'submitted the request',
  owner: 'acts for the owner of the brand',
  dispute: 'filed a dispute of the label',
  number_owner: 'acts for the owner of a brand with that number',
  load: 'submitted the load',
  file_load: 'submitted a load of the held files',
} as const;

/** A decision: who wants to decide on what. */
interface Decision {
  readonly eyes: EyesPolicy;
  readonly actor: string;
  readonly of: Decided;
}

/** Why an actor may not decide, and what to do then, for the console; null if the actor may. */
export async function whyNotDecide(db: Queryable, decision: Decision): Promise<string | null> {
  const refusal = await findRefusal(db, decision);
  return refusal && `${refusal.problem} ${refusal.hint}`;
}

/** @throws ServiceError `decided_by_requester` if the same person has a part in the subject */
export async function requireAnotherPerson(db: Queryable, decision: Decision): Promise<void> {
  const refusal = await findRefusal(db, decision);
  if (refusal !== null)
    throw new ServiceError('decided_by_requester', { operation: 'decide', object: decision.of.kind, ...refusal });
}

/** Null if no part in the subject is the actor's. A submission by a program that names no person excludes nobody. */
async function findRefusal(
  db: Queryable,
  { eyes, actor, of }: Decision,
): Promise<{ readonly problem: string; readonly hint: string } | null> {
  const decider = personOf(actor);
  if (eyes.twoPairsOfEyes === 'off' || decider === null) return null;
  const names = namesOf(decider, eyes.samePersons);
  const [statement, values] = partiesOf(of);
  const parties = await queryRows<{ actor: string; part: keyof typeof parts }>(db, statement, values);
  const party = parties.find((each) => names.has(personOf(each.actor) ?? ''));
  if (party === undefined) return null;
  const advice = (await countDeciders(db, eyes)) > 1 ? '' : ` ${actor.startsWith('console ') ? aloneInConsole : alone}`;
  return { problem: `${decider} ${parts[party.part]}.`, hint: `Another person decides it.${advice}` };
}

/** What to do in an installation of one person, for who runs it, and for a page of the console. */
const alone =
  'In an installation of one person set TWO_PAIRS_OF_EYES=off, for the service and for commands; or add a second person, who decides in the console: `caller-trust console users add NAME --role operator --generate`.';
const aloneInConsole =
  'In an installation of one person, who runs the service can lift this rule, or add a second person, as the document "Branding" says.';

/** Persons who may decide in the console. The command line knows no list of its users. */
async function countDeciders(db: Queryable, { samePersons }: EyesPolicy): Promise<number> {
  const users = await queryRows<{ name: string }>(db, sql('access/list_deciders'));
  return new Set(users.map(({ name }) => [...namesOf(personOf(name)!, samePersons)].sort().join('='))).size;
}

/** Whether a second person must decide, and a warning where the rule needs one and at most one is known. */
export async function describeEyes(db: Queryable, eyes: EyesPolicy): Promise<string | { warning: string }> {
  if (eyes.twoPairsOfEyes === 'off') return 'who submits something may decide it too (TWO_PAIRS_OF_EYES=off)';
  const deciders = await countDeciders(db, eyes);
  if (deciders > 1) return `who submits something does not decide it; ${deciders} persons may decide in the console`;
  return {
    warning: `who submits something does not decide it, and ${deciders === 0 ? 'nobody' : 'one person alone'} may decide in the console. ${alone}`,
  };
}

/** The statement that lists the actors with a part in the subject of a decision, with its values. */
function partiesOf(of: Decided): readonly [statement: string, values: unknown[]] {
  switch (of.kind) {
    case 'letter':
      return [sql('branding/list_requesters'), [of.brandId, of.letterId, false]];
    case 'brand':
    case 'resumption':
      return [sql('branding/list_requesters'), [of.brandId, null, of.kind === 'resumption']];
    case 'label':
      return [sql('labels/list_label_parties'), [of.value, of.isPrefix]];
    case 'load':
      return [sql('feeds/list_load_parties'), [of.loadId]];
    case 'files':
      return [sql('nights/list_held_file_parties'), [of.cache, of.country]];
  }
}

/**
 * The person of an actor as audit trails name it (`cli ada`, `console ada`), normalized: without the program, a domain,
 * capitals and compatibility forms. Null for an actor that is no person (a dropped folder, a client of the intake).
 */
export function personOf(actor: string): string | null {
  if (/^(drop folder|intake) /.test(actor)) return null;
  const name = actor
    .normalize('NFKC')
    .trim()
    .replace(/^(?:cli|console) +/, '')
    .toLowerCase();
  return name.replace(/^.*[\\/]/, '').replace(/(?<=.)@.*$/, '');
}

/** All names of a person by SAME_PERSONS (`ada=root=a.lovelace, ben=bsmith`). */
export function namesOf(person: string, samePersons: string | undefined): ReadonlySet<string> {
  const groups = (samePersons ?? '').split(',').map((group) => group.split('=').map((name) => personOf(name)));
  const names = new Set([person]);
  for (let before = 0; before < names.size;) {
    before = names.size;
    for (const group of groups)
      if (group.some((name) => name !== null && names.has(name))) for (const name of group) names.add(name!);
  }
  return names;
}
