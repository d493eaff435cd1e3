import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { namesOf, personOf, type EyesPolicy } from '../person-name.ts';

/** What is decided: a letter, or a brand with its pending revision. */
export interface DecidedThing {
  readonly brandId: number;
  /** Null where the brand itself is decided. */
  readonly letterId: number | null;
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
