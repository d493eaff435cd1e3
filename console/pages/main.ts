import type { Json } from '../answers/json.ts';
import type { NoSession, Session } from '../answers/session-answers.ts';
import { Layout } from './layout.ts';
import { asProblem, getJson, keepSession, type Problem, sendJson } from './shell/request.ts';
import { ProblemNotice, Field, Notice } from './shell/components.ts';
import { html, render, useEffect, useState, type VNode } from './shell/view.ts';

/** The state of the log-in. */
type LoginState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'nobody'; readonly ended: boolean; readonly hasUsers: boolean }
  | { readonly kind: 'somebody'; readonly session: Json<Session> };

function Console(): VNode {
  const [login, setLogin] = useState<LoginState>({ kind: 'unknown' });
  const [problem, setProblem] = useState<Problem | null>(null);
  const enter = (session: Json<Session>) => {
    keepSession(session, () => setLogin({ kind: 'nobody', ended: true, hasUsers: true }));
    setLogin({ kind: 'somebody', session });
  };
  const leave = (hasUsers = true) => {
    keepSession(undefined, () => {});
    setLogin({ kind: 'nobody', ended: false, hasUsers });
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
  if (login.kind === 'unknown') return html`<p class="loading" role="status">Loading the console …</p>`;
  if (login.kind === 'nobody')
    return html`<${SignIn} ended=${login.ended} hasUsers=${login.hasUsers} onEnter=${enter} />`;
  return html`<${Layout} session=${login.session} onLeave=${() => leave()} />`;
}

const root = document.getElementById('console')!;
root.replaceChildren();
render(html`<${Console} />`, root);

/** The log-in page. */
function SignIn({
  ended,
  hasUsers,
  onEnter,
}: {
  ended: boolean;
  hasUsers: boolean;
  onEnter: (session: Json<Session>) => void;
}): VNode {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => void (document.title = 'Log in · Caller Trust'), []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.target as HTMLFormElement);
    setBusy(true);
    setProblem(null);
    try {
      onEnter(
        await sendJson<Session>('POST', '/api/session', { name: form.get('name'), password: form.get('password') }),
      );
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return html`<main class="alone">
    <h1>Caller Trust</h1>
    <p class="lead">Log in with the name and the password that you were given. If you have none, or have lost them, ask the people who run this service.</p>
    ${ended ? html`<${Notice} kind="warn"><p>The session has ended. Log in again to continue.</p></${Notice}>` : null}
    ${hasUsers ? null : html`<${Notice} kind="warn"><p>Nobody can log in yet: the console has no user. Who runs the service adds the first one on its machine, as the document "Console" says.</p></${Notice}>`}
    <form class="card" onSubmit=${submit}>
      <${Field} label="Name" hint="In small letters.">${(ids: object) => html`<input name="name" autocomplete="username" autocapitalize="none" spellcheck=${false} required autofocus ...${ids} />`}</${Field}>
      <${Field} label="Password">${(ids: object) => html`<input name="password" type="password" autocomplete="current-password" required ...${ids} />`}</${Field}>
      ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
      <button class="primary" disabled=${isBusy}>${isBusy ? 'Logging in …' : 'Log in'}</button>
    </form>
  </main>`;
}
