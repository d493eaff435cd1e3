import type { Config } from '../runtime/config.ts';

/** Whether another person than who handed a request in must decide it, and which names are of one person. */
export type EyesPolicy = Pick<Config, 'twoPairsOfEyes' | 'samePersons'>;

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
