/** Roles of the people behind the service, each with what the one before it may do. */
const inOrder = ['viewer', 'reviewer', 'operator'] as const;

/**
 * The closed list of roles. A viewer reads. A reviewer decides letters and brands, and hands recordings, voices and branding requests in.
 * An operator also runs nights, works on the queues and deletes. An agency is outside of that order: it sees and hands in the brands,
 * letters and numbers of its owners, and decides nothing.
 */
export const ROLES = [...inOrder, 'agency'] as const;

export type Role = (typeof ROLES)[number];

/** The least role that a route takes. */
export type LeastRole = (typeof inOrder)[number];

/** True if a role may do what another one may. */
export function mayActAs(role: Role, needed: LeastRole): boolean {
  return role !== 'agency' && inOrder.indexOf(role) >= inOrder.indexOf(needed);
}

/** True if a role may use a route; one that is for agencies too gives them what is theirs alone. */
export function mayUse(role: Role, { access, forAgencies }: { access: LeastRole; forAgencies: boolean }): boolean {
  return role === 'agency' ? forAgencies : mayActAs(role, access);
}
