import type { LeastRole, Role } from '../../answers/session-answers.ts';

/** Ranks of roles: each may do what one of a lower rank may. The server decides; pages leave out what it would refuse. */
const ranks = { viewer: 0, reviewer: 1, operator: 2 } as const satisfies Record<LeastRole, number>;

/** True if a role may do what another one may. */
export function mayActAs(role: Role, needed: LeastRole): boolean {
  return role !== 'agency' && ranks[role] >= ranks[needed];
}

/** True if a role may submit requests for branding. */
export function mayHandIn(role: Role): boolean {
  return role === 'agency' || mayActAs(role, 'reviewer');
}
