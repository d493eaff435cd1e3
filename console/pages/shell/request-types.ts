import type { Role } from './roles.ts';

/** Who is logged in, and what requests that change something carry. */
export interface SessionFacts {
  readonly user: { readonly name: string; readonly role: Role; readonly owners: readonly string[] };
  readonly endsAt: string;
  readonly csrfToken: string;
}

/** Nobody is logged in. */
export interface NoSession {
  readonly user: null;
  /** False for a console that nobody can log in to yet. */
  readonly hasUsers: boolean;
}

/** An error as the console answers it. */
export interface ProblemFacts {
  readonly code: string;
  readonly detail: string;
  readonly hint: string | null;
}
