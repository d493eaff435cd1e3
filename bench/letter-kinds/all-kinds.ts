import { factKinds } from './fact-kinds.ts';
import { honestKinds } from './honest-kinds.ts';
import type { LetterKind } from './letter-draft.ts';
import { pageKinds } from './page-kinds.ts';
import { wordingKinds } from './wording-kinds.ts';

/** Impostors and forgeries that the marks were written against. */
export const tunedKinds: readonly LetterKind[] = [...wordingKinds, ...factKinds, ...pageKinds];

export { honestKinds };
