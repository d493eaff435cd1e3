import type { AcceptedRequest } from '../../pipelines/submissions/request-ledger.ts';
import type { shownEvent } from '../access/audit.ts';
import type { ConsoleProblem } from '../http/problem.ts';
import type { Listed } from './json.ts';
import type { LeastRole, Role } from '../access/roles.ts';
import type { Session } from '../access/sessions.ts';

export type { ConsoleProblem, LeastRole, Role, Session };

/** The answer without a session. */
export interface NoSession {
  readonly user: null;
  /** False while the console has no user. */
  readonly hasUsers: boolean;
}

/** Events of the audit trail, newest first. */
export interface AuditEvents {
  readonly events: readonly ReturnType<typeof shownEvent>[];
}

/** Requests of remote clients that the intake has accepted, newest first. */
export interface IntakeRequests extends Listed {
  readonly requests: readonly AcceptedRequest[];
}
