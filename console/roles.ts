/**
 * The closed list of roles, each with what the one before it may do. A viewer reads. A reviewer decides letters and brands, and hands
 * recordings, voices and branding requests in. An operator also runs nights, works on the queues and deletes.
 */
export const ROLES = ['viewer', 'reviewer', 'operator'] as const;

export type Role = (typeof ROLES)[number];

/** True if a role may do what another one may. */
export function mayActAs(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
