import { factKinds } from './fact-kinds.ts';
import { honestKinds } from './honest-kinds.ts';
import { lastKinds } from './last-kinds.ts';
import { laterKinds } from './later-kinds.ts';
import type { LetterKind } from './letter-draft.ts';
import { pageKinds } from './page-kinds.ts';
import { wordingKinds } from './wording-kinds.ts';

/** Impostors and forgeries that the marks were written against. */
export const tunedKinds: readonly LetterKind[] = [...wordingKinds, ...factKinds, ...pageKinds];

/**
 * The set of kinds that a letter belongs to. The marks were written against `tuned`; `later` came after them and had 18 of
 * 40 pointed at in its first run, upon which the usual words replaced longer lists; `last` came after those, and nothing
 * was changed for it.
 */
export const kindSets: Readonly<Record<'tuned' | 'later' | 'last', readonly LetterKind[]>> = {
  tuned: tunedKinds,
  later: laterKinds,
  last: lastKinds,
};

export { honestKinds };
