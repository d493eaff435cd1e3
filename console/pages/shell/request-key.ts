import { asProblem, Problem } from './request.ts';
import { useState } from './view.ts';

/** The idempotency key of a form: pressing twice, or again after a lost connection, has one effect. */
interface RequestKey {
  readonly key: string;
  readonly renew: () => void;
  /** Maps the error of a request. A form that was changed after it was accepted is another request with another key. */
  readonly explain: (error: unknown) => Problem;
}

/** `detail` and `hint` are for a form that was changed after it was accepted. */
export function useRequestKey({ detail, hint: next }: { detail: string; hint: string }): RequestKey {
  const [key, setKey] = useState(makeKey);
  const renew = () => setKey(makeKey());
  const explain = (error: unknown) => {
    const problem = asProblem(error);
    if (problem.code !== 'idempotency_conflict') return problem;
    renew();
    const { status, code, hint } = problem;
    return new Problem({ status, code, detail, hint: `${hint ?? ''} ${next}` });
  };
  return { key, renew, explain };
}

function makeKey(): string {
  return `console-${crypto.randomUUID()}`;
}
