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

/**
 * Why an actor may not decide: the same person has a part in the subject. Null if the actor may.
 * A submission by a program that names no person excludes nobody.
 */
export async function whyNotDecide(
  db: Queryable,
  { eyes, actor, of }: { eyes: EyesPolicy; actor: string; of: Decided },
): Promise<string | null> {
  const decider = personOf(actor);
  if (eyes.twoPairsOfEyes === 'off' || decider === null) return null;
  const names = namesOf(decider, eyes.samePersons);
  const [statement, values] = partiesOf(of);
  const parties = await queryRows<{ actor: string; part: keyof typeof parts }>(db, statement, values);
  const party = parties.find((each) => names.has(personOf(each.actor) ?? ''));
  return party === undefined ? null : `${decider} ${parts[party.part]}.`;
}

/** @throws ServiceError `decided_by_requester`, see {@link whyNotDecide} */
export async function requireAnotherPerson(
  db: Queryable,
  options: { eyes: EyesPolicy; actor: string; of: Decided },
): Promise<void> {
  const problem = await whyNotDecide(db, options);
  if (problem !== null)
    throw new ServiceError('decided_by_requester', {
      operation: 'decide',
      object: options.of.kind,
      problem,
      hint: 'Another person decides it.',
    });
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
