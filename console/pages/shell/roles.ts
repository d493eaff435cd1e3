/** Roles of users, each with what the one before it may do. The server decides; pages leave out what it would refuse. */
const inOrder = ['viewer', 'reviewer', 'operator'] as const;

export type LeastRole = (typeof inOrder)[number];

/** An agency is outside of the order: it sees and hands in what is its own. */
export type Role = LeastRole | 'agency';

/** True if a role may do what another one may. */
export function mayActAs(role: Role, needed: LeastRole): boolean {
  return role !== 'agency' && inOrder.indexOf(role) >= inOrder.indexOf(needed);
}

/** True if a role may hand in requests for branding. */
export function mayHandIn(role: Role): boolean {
  return role === 'agency' || mayActAs(role, 'reviewer');
}
