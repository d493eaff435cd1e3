import type { LetterPlace } from '../letter-reading.ts';
import type { LetterFinds } from './letter-finds.ts';
import type { FoundName } from './letter-names.ts';

/** One line of the list of what was looked for on a letter. */
export interface ShownFind {
  readonly name: string;
  readonly state: 'found' | 'unclear' | 'not found' | 'not requested';
  /** What the request says; null for what no request names. */
  readonly asked: string | null;
  /** As the page reads; empty if it was not found. */
  readonly value: string;
  readonly place: LetterPlace | null;
}

const names = { legalName: 'Legal name', dba: 'Doing business as', displayName: 'Display name' } as const;

const how: Readonly<Record<NonNullable<FoundName['how']>, string>> = {
  whole: '',
  other_form: ' (with another legal form)',
  longer: ' (perhaps a part of a longer name)',
  near: ' (differs in a letter or two)',
};

/** What was looked for on a letter, found or not: names, numbers, the signature, dates, and the numbers that nobody asked for. */
export function shownFinds(finds: LetterFinds): readonly ShownFind[] {
  const { signing } = finds;
  const missing = (name: string, asked: string | null = null): ShownFind => ({
    name,
    state: 'not found',
    asked,
    value: '',
    place: null,
  });
  const text = (name: string, found: typeof signing.signer): ShownFind =>
    found === null ? missing(name) : { name, state: 'found', asked: null, ...found };
  return [
    ...finds.names.map(({ kind, name, how: as, seen }): ShownFind => {
      if (as === null || seen === null) return missing(names[kind], name);
      return {
        ...seen,
        name: names[kind],
        asked: name,
        state: as === 'whole' ? 'found' : 'unclear',
        value: `${seen.value}${how[as]}`,
      };
    }),
    ...finds.requested.map(({ phone, where, place }): ShownFind => ({
      name: 'Requested number',
      state: where === 'range' ? 'unclear' : 'found',
      asked: phone,
      value:
        where === 'page' ? phone : `${phone} (${where === 'range' ? 'perhaps in a range' : 'in the embedded list'})`,
      place,
    })),
    ...finds.missing.map((phone) => missing('Requested number', phone)),
    ...(finds.missingCount > finds.missing.length
      ? [missing('Requested number', `${finds.missingCount - finds.missing.length} more`)]
      : []),
    ...(signing.ink.length === 0 ? [missing('Ink')] : []),
    ...signing.ink.map((place): ShownFind => ({
      name: 'Ink',
      state: 'found',
      asked: null,
      value: 'handwriting, a stamp or a picture',
      place,
    })),
    text('Name at the signature', signing.signer),
    text('Title at the signature', signing.title),
    ...(finds.dates.length === 0 ? [missing('Date')] : []),
    ...finds.dates.map(({ date, alternative, place }): ShownFind => ({
      name: 'Date',
      state: 'found',
      asked: null,
      value: alternative === null ? date : `${date} or ${alternative}`,
      place,
    })),
    ...finds.others.map(({ phone, place }): ShownFind => ({
      name: 'Other number',
      state: 'not requested',
      asked: null,
      value: phone,
      place,
    })),
  ];
}
