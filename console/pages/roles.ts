/** The roles of users, each with what the one before it may do. The server decides; pages leave out what it would refuse. */
const roles = ['viewer', 'reviewer', 'operator'] as const;

export type Role = (typeof roles)[number];

/** True if a role may do what another one may. */
export function mayActAs(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
