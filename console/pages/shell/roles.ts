import type { LeastRole, Role } from '../../answers/session-answers.ts';

/** Ranks of roles: a higher rank includes the lower ones. The server decides; pages hide what it would refuse. */
const ranks = { viewer: 0, reviewer: 1, operator: 2 } as const satisfies Record<LeastRole, number>;

/** True if a role includes another one. */
export function mayActAs(role: Role, needed: LeastRole): boolean {
  return role !== 'agency' && ranks[role] >= ranks[needed];
}

/** True if a role may submit requests for branding. */
export function maySubmitBranding(role: Role): boolean {
  return role === 'agency' || mayActAs(role, 'reviewer');
}
