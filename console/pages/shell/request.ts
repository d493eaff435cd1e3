import type { Json } from '../../answers/json.ts';
import type { ConsoleProblem, LeastRole, Session } from '../../answers/session-answers.ts';
import { mayActAs, maySubmitBranding } from './roles.ts';

/** An error answer of the console: the problem and the advice. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;

  constructor({ status, code, detail, hint }: { status: number; code: string; detail: string; hint: string | null }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

let session: Json<Session> | undefined;
let onEnd = (): void => {};

/** Stores the session for later requests. `whenEnded` is called when an answer reports its end. */
export function keepSession(facts: Json<Session> | undefined, whenEnded: () => void): void {
  session = facts;
  onEnd = whenEnded;
}

/** The session; pages are only shown with one. */
export function currentSession(): Json<Session> {
  if (session === undefined) throw new Error('nobody is logged in');
  return session;
}

/** True if the user's role includes another one. */
export function mayDo(needed: LeastRole): boolean {
  return mayActAs(currentSession().user.role, needed);
}

/** True if the user may submit requests for branding. */
export function mayRequestBranding(): boolean {
  return maySubmitBranding(currentSession().user.role);
}

/** The token of the session, for requests made without these functions, such as an upload with progress. */
export function csrfToken(): string {
  return session?.csrfToken ?? '';
}

/** Reads JSON. @throws Problem */
export function getJson<Value>(path: string, signal?: AbortSignal): Promise<Json<Value>> {
  return request<Value>(path, { method: 'GET', signal: signal ?? null });
}

/** Sends JSON and reads the answer. @throws Problem */
export function sendJson<Value>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body: unknown = {},
): Promise<Json<Value>> {
  return request<Value>(path, { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } });
}

/** Posts JSON with an idempotency key, a text without quotes: repeated requests have one effect. @throws Problem */
export function postOnce<Value>(
  path: string,
  { key, body }: { readonly key: string; readonly body: unknown },
): Promise<Json<Value>> {
  return request<Value>(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `"${key}"` },
  });
}

/** Sends a form with files and reads the answer. @throws Problem */
export function sendForm<Value>(path: string, form: FormData): Promise<Json<Value>> {
  return request<Value>(path, { method: 'POST', body: form });
}

/** Posts JSON and saves the file in the answer under the server's name, which is returned. @throws Problem */
export async function saveAnswer(path: string, body: unknown): Promise<string> {
  const response = await send(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  });
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'file';
  const url = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // saving begins after the click
  return name;
}

async function request<Value>(path: string, init: RequestInit): Promise<Json<Value>> {
  return (await (await send(path, init)).json()) as Json<Value>;
}

/** Sends a request and requires a successful answer. */
async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = {
    ...(init.headers as Record<string, string> | undefined),
    Accept: 'application/json',
    ...(init.method === 'GET' ? {} : { 'X-CSRF-Token': csrfToken() }),
  };
  const response = await fetch(path, { ...init, headers, credentials: 'same-origin' }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Problem({
      status: 0,
      code: 'unreachable',
      detail: 'The console cannot be reached.',
      hint: 'Check the network, and that its process runs; then try again.',
    });
  });
  if (response.ok) return response;
  throw await readProblem(response);
}

/** The problem in an error answer. A 401 ends the session of the pages. */
export async function readProblem(response: Response): Promise<Problem> {
  if (response.status === 401 && session !== undefined) onEnd();
  const body = (await response.json().catch(() => ({}))) as Partial<Json<ConsoleProblem>>;
  return new Problem({
    status: response.status,
    code: body.code ?? 'unknown',
    detail: body.detail ?? `The console answered ${response.status}.`,
    hint: body.hint ?? null,
  });
}

/** Maps a caught value to a problem. */
export function asProblem(error: unknown): Problem {
  return error instanceof Problem
    ? error
    : new Problem({
        status: 0,
        code: 'page_fault',
        detail: 'A fault of this page.',
        hint: error instanceof Error ? error.message : null,
      });
}
