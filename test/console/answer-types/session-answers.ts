import type { shownEvent } from '../../../console/http/audit.ts';
import type { AuditEvent } from '../../../console/pages/people/audit-types.ts';
import type { NoSession, ProblemFacts, SessionFacts } from '../../../console/pages/shell/request-types.ts';
import type { Role as PageRole } from '../../../console/pages/shell/roles.ts';
import type { ConsoleProblem } from '../../../console/http/problem.ts';
import type { Role } from '../../../console/http/roles.ts';
import type { Session } from '../../../console/http/sessions.ts';
import type { hasUsers } from '../../../console/http/users.ts';
import type { Fits, Json, Told } from './json.ts';

/** What every page rests on: who is logged in, what went wrong, and what was done. */
export interface SessionAnswersFit {
  readonly session: Fits<SessionFacts, Json<Session>>;
  readonly noSession: Fits<NoSession, { user: null; hasUsers: Told<typeof hasUsers> }>;
  readonly problem: Fits<ProblemFacts, Json<ConsoleProblem>>;
  readonly events: Fits<AuditEvent, Told<typeof shownEvent>>;
  readonly roles: [Fits<PageRole, Role>, Fits<Role, PageRole>];
}
