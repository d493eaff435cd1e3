import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** Whether another person than who handed a request in must decide it, and which names are of one person. */
export type EyesPolicy = Pick<Config, 'twoPairsOfEyes' | 'samePersons'>;

/** What is decided: a letter, or a brand with its pending revision. */
export interface DecidedThing {
  readonly brandId: number;
  /** Null where the brand itself is decided. */
  readonly letterId: number | null;
}

/**
 * The name of the person behind an actor as trails write it (`cli ada`, `console ada`), so that one person has one name however it is
 * written: without the door, a domain, capitals and compatibility forms. Null for one that names no person (a dropped folder).
 */
export function personOf(actor: string): string | null {
  if (actor.startsWith('drop folder ')) return null;
  const name = actor.normalize('NFKC').trim().replace(/^(?:cli|console) +/, '').toLowerCase();
  return name.replace(/^.*[\\/]/, '').replace(/(?<=.)@.*$/, '');
}

/** Every name of a person, with those that SAME_PERSONS gives to the same one (`ada=root=a.lovelace, ben=bsmith`). */
export function namesOf(person: string, samePersons: string | undefined): ReadonlySet<string> {
  const groups = (samePersons ?? '').split(',').map((group) => group.split('=').map((name) => personOf(name)));
  const names = new Set([person]);
  for (let before = 0; before < names.size; ) {
    before = names.size;
    for (const group of groups) if (group.some((name) => name !== null && names.has(name))) for (const name of group) names.add(name!);
  }
  return names;
}

/**
 * Why an actor may not decide something: the same person handed it in, or acts for its owner. Null if the actor may.
 * What a program handed in without naming a person was handed in by nobody whom a person could be.
 */
export async function whyNotDecide(db: Queryable, { eyes, actor, of: { brandId, letterId } }: { eyes: EyesPolicy; actor: string; of: DecidedThing }): Promise<string | null> {
  const decider = personOf(actor);
  if (eyes.twoPairsOfEyes === 'off' || decider === null) return null;
  const names = namesOf(decider, eyes.samePersons);
  const asked = await queryRows<{ handed_in_by: string | null; actor: string }>(db, sql('branding/list_requesters'), [brandId, letterId]);
  const persons = asked.map(({ handed_in_by: person, actor: by }) => personOf(person ?? by));
  if (persons.some((person) => person !== null && names.has(person))) return `${decider} handed in what is to be decided.`;
  const acts = await queryRow(db, sql('branding/acts_for_owner'), [brandId, [...names]]);
  return acts === undefined ? null : `${decider} acts for the owner of the brand.`;
}

/** @throws ServiceError `decided_by_requester`, see {@link whyNotDecide} */
export async function requireAnotherPerson(db: Queryable, options: { eyes: EyesPolicy; actor: string; of: DecidedThing }): Promise<void> {
  const problem = await whyNotDecide(db, options);
  if (problem === null) return;
  const { brandId, letterId } = options.of;
  throw new ServiceError('decided_by_requester', { operation: 'decide', object: letterId === null ? `brand ${brandId}` : `letter ${letterId}`, problem, hint: 'Another person decides it.' });
}
