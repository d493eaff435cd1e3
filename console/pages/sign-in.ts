import type { Json } from '../answers/json.ts';
import type { Session } from '../answers/session-answers.ts';
import { Field, Notice, ProblemNotice } from './shell/components.ts';
import { asProblem, sendJson, type Problem } from './shell/request.ts';
import { html, useEffect, useState, type VNode } from './shell/view.ts';

/** The page of somebody who is not logged in. */
export function SignIn({
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
    <p class="lead">Nights, letters and voices of this installation.</p>
    ${ended ? html`<${Notice} kind="warn"><p>The session has ended. Log in again to go on.</p></${Notice}>` : null}
    ${hasUsers ? null : html`<${Notice} kind="warn"><p>The console has no user yet. On the machine of the service: <code>caller-trust console users add NAME --role operator --generate</code></p></${Notice}>`}
    <form class="card" onSubmit=${submit}>
      <${Field} label="Name" hint="As \`caller-trust console users list\` shows it.">${(ids: object) => html`<input name="name" autocomplete="username" autocapitalize="none" spellcheck=${false} required autofocus ...${ids} />`}</${Field}>
      <${Field} label="Password">${(ids: object) => html`<input name="password" type="password" autocomplete="current-password" required ...${ids} />`}</${Field}>
      ${problem ? html`<${ProblemNotice} problem=${problem} />` : null}
      <button class="primary" disabled=${isBusy}>${isBusy ? 'Logging in …' : 'Log in'}</button>
    </form>
  </main>`;
}
