import type { Json } from '../answers/json.ts';
import type { NoSession, Session } from '../answers/session-answers.ts';
import { Layout } from './layout.ts';
import { asProblem, getJson, keepSession, type Problem } from './shell/request.ts';
import { ProblemNotice } from './shell/components.ts';
import { SignIn } from './sign-in.ts';
import { html, render, useEffect, useState, type VNode } from './shell/view.ts';

/** What is known of who is logged in. */
type Standing =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'nobody'; readonly ended: boolean; readonly hasUsers: boolean }
  | { readonly kind: 'somebody'; readonly session: Json<Session> };

function Console(): VNode {
  const [standing, setStanding] = useState<Standing>({ kind: 'unknown' });
  const [problem, setProblem] = useState<Problem | null>(null);
  const enter = (session: Json<Session>) => {
    keepSession(session, () => setStanding({ kind: 'nobody', ended: true, hasUsers: true }));
    setStanding({ kind: 'somebody', session });
  };
  const leave = (hasUsers = true) => {
    keepSession(undefined, () => {});
    setStanding({ kind: 'nobody', ended: false, hasUsers });
  };
  const ask = () => {
    setProblem(null);
    getJson<Session | NoSession>('/api/session').then(
      (facts) => (facts.user === null ? leave(facts.hasUsers) : enter(facts)),
      (error: unknown) => setProblem(asProblem(error)),
    );
  };
  useEffect(ask, []);
  if (problem !== null) return html`<main class="alone"><${ProblemNotice} problem=${problem} onAgain=${ask} /></main>`;
  if (standing.kind === 'unknown') return html`<p class="loading" role="status">Loading the console …</p>`;
  if (standing.kind === 'nobody')
    return html`<${SignIn} ended=${standing.ended} hasUsers=${standing.hasUsers} onEnter=${enter} />`;
  return html`<${Layout} session=${standing.session} onLeave=${() => leave()} />`;
}

const root = document.getElementById('console')!;
root.replaceChildren();
render(html`<${Console} />`, root);
