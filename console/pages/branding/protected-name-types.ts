/** What the routes of protected names answer; times are ISO 8601 text. */

/** A name that an operator has protected. */
export interface ProtectedName {
  readonly name: string;
  readonly category: string;
  readonly country: string | null;
  readonly common: boolean;
  readonly reason: string;
  readonly addedBy: string;
  readonly addedAt: string;
}

/** The names in force, and the categories that there are. */
export interface ProtectedNames {
  readonly names: readonly ProtectedName[];
  readonly categories: readonly string[];
}

/** The protected name that a name is near to, in words; null if it is near none. */
export interface NearName {
  readonly near: { readonly name: string; readonly category: string; readonly how: string } | null;
}
