import { CACHES } from '../../pipelines/caches/definition.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** Where a searched text leads; null: nowhere. */
export interface FoundPlace {
  readonly href: string | null;
}

type PlaceKind = 'verification' | 'batch' | 'voice' | 'night' | 'brand';

/** Paths of the pages by what they show. */
const paths: Readonly<Record<PlaceKind, string>> = {
  verification: '/verifications',
  batch: '/batches',
  voice: '/voices',
  night: '/nights',
  brand: '/brands',
};

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const handleForm = /^[a-z0-9-]{2,63}$/;

/** Words before a number, with the page that it is the number of. */
const numberedPages: readonly (readonly [RegExp, string])[] = [
  [/^(?:night|run) (\d{1,15})$/, '/nights'],
  [/^letter (\d{1,15})$/, '/letters'],
  [/^(?:request|operation) (\d{1,15})$/, '/operations'],
  [/^load (\d{1,15})$/, '/feeds'],
  [/^dispute (\d{1,15})$/, '/disputes'],
];

/**
 * Finds the page that a text names: the id of a verification, batch or voice, the date of a night, the handle of a brand, a model
 * (`phone/v8`), an artefact (`phones/US`), or a word with a number (`letter 4`). Telephone numbers are not looked up here.
 */
export async function findPlace(db: Queryable, text: string): Promise<FoundPlace> {
  const words = text.trim().replace(/\s+/g, ' ');
  const small = words.toLowerCase();
  const direct = placeOfName(words) ?? placeOfNumbered(small);
  if (direct !== null) return { href: direct };
  const found = await queryRow<{ kind: PlaceKind; name: string }>(db, sql('console/find_place'), [
    uuidForm.test(small) ? small : null,
    isDate(small) ? small : null,
    handleForm.test(small) ? small : null,
  ]);
  return { href: found === undefined ? null : `${paths[found.kind]}/${found.name}` };
}

function placeOfNumbered(words: string): string | null {
  for (const [form, path] of numberedPages) {
    const id = form.exec(words)?.[1];
    if (id !== undefined) return `${path}/${Number(id)}`;
  }
  return null;
}

function placeOfName(words: string): string | null {
  const model = /^(phone|digital)\/(v[0-9.]+)$/i.exec(words);
  if (model !== null) return `/models/${model[0].toLowerCase()}`;
  const [cache, country] = words.split('/');
  const definition = CACHES.find(({ name }) => name === cache?.toLowerCase());
  if (definition === undefined) return null;
  if (!definition.perCountry) return country === undefined ? `/artefacts/${definition.name}/-` : null;
  return /^[a-z]{2}$/i.test(country ?? '') ? `/artefacts/${definition.name}/${country!.toUpperCase()}` : null;
}

/** True for a day of the calendar as `YYYY-MM-DD`. */
function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true;
}
