/** Ordered roles: each includes the permissions of the previous ones. */
const ordered = ['viewer', 'reviewer', 'operator'] as const;

/**
 * The closed list of roles. A viewer reads. A reviewer decides letters and brands, and submits recordings, voices and branding
 * requests. An operator also runs nights, manages the queues and deletes. An agency is outside this order: it sees and submits
 * the brands, letters and numbers of its owners, and decides nothing.
 */
export const ROLES = [...ordered, 'agency'] as const;

export type Role = (typeof ROLES)[number];

/** The least role that a route requires. */
export type LeastRole = (typeof ordered)[number];

/** True if a role includes another one. */
export function mayActAs(role: Role, needed: LeastRole): boolean {
  return role !== 'agency' && ordered.indexOf(role) >= ordered.indexOf(needed);
}

/** True if a role may use a route. */
export function mayUse(role: Role, { access, forAgencies }: { access: LeastRole; forAgencies: boolean }): boolean {
  return role === 'agency' ? forAgencies : mayActAs(role, access);
}
