import type { Json } from '../../answers/json.ts';
import { asProblem, getJson, readProblem, type Problem } from './request.ts';
import { useEffect, useRef, useState } from './view.ts';

/** The state of loading a value. An older value stays while a newer one loads. */
export interface Reading<Value> {
  readonly value: Value | undefined;
  readonly problem: Problem | undefined;
  readonly isReading: boolean;
  /** True while values update live. */
  readonly isLive: boolean;
  readonly readAgain: () => void;
}

/** Loads JSON from a path, and reloads when the path changes. */
export function useReading<Value>(path: string | null): Reading<Json<Value>> {
  const [state, setState] = useState<Omit<Reading<Json<Value>>, 'readAgain' | 'isLive'>>({
    value: undefined,
    problem: undefined,
    isReading: path !== null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const stopped = new AbortController();
    setState(({ value }) => ({ value, problem: undefined, isReading: true }));
    getJson<Value>(path, stopped.signal).then(
      (value) => setState({ value, problem: undefined, isReading: false }),
      (error: unknown) => {
        if (!stopped.signal.aborted) setState(({ value }) => ({ value, problem: asProblem(error), isReading: false }));
      },
    );
    return () => stopped.abort();
  }, [path, round]);
  return { ...state, isLive: false, readAgain: () => setRound((before) => before + 1) };
}

/** Milliseconds before reconnecting a lost live answer: at first, and at most. */
const reconnectMs = { first: 3000, most: 60_000 };

/**
 * Follows a live path (server-sent events): the current value, then each change until the last. Pages in the background do
 * not follow: a browser has six connections to a host, and other pages need them.
 */
export function useLive<Value>(path: string | null): Reading<Json<Value>> {
  const [state, setState] = useState<Omit<Reading<Json<Value>>, 'readAgain'>>({
    value: undefined,
    problem: undefined,
    isReading: path !== null,
    isLive: false,
  });
  const [round, setRound] = useState(0);
  const attempts = useRef(0);
  const hasEnded = useRef(false);
  const isVisible = useVisible();
  useEffect(() => {
    hasEnded.current = false;
  }, [path]);
  useEffect(() => {
    if (path === null || !isVisible || hasEnded.current) return;
    const source = new EventSource(path);
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.addEventListener('value', ({ data }: MessageEvent<string>) => {
      attempts.current = 0;
      setState({ value: JSON.parse(data) as Json<Value>, problem: undefined, isReading: false, isLive: true });
    });
    source.addEventListener('end', () => {
      source.close();
      hasEnded.current = true;
      setState((before) => ({ ...before, isReading: false, isLive: false }));
    });
    source.addEventListener('error', () => {
      source.close();
      void readStreamProblem(path, stopped.signal).then((problem) => {
        if (stopped.signal.aborted) return;
        setState((before) => ({ ...before, problem, isReading: false, isLive: false }));
        if (problem === undefined || isTemporary(problem))
          timer = setTimeout(
            () => setRound((before) => before + 1),
            Math.min(reconnectMs.first * 2 ** attempts.current++, reconnectMs.most),
          );
      });
    });
    return () => {
      clearTimeout(timer);
      stopped.abort();
      source.close();
      setState((before) => ({ ...before, isLive: false }));
    };
  }, [path, round, isVisible]);
  const readAgain = () => {
    hasEnded.current = false;
    setRound((before) => before + 1);
  };
  return { ...state, readAgain };
}

/** True for a temporary problem; permanent refusals are not retried. */
function isTemporary({ status }: Problem): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** True while the page is visible. */
function useVisible(): boolean {
  const [isVisible, setVisible] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isVisible;
}

/** An EventSource hides the server's error: requests the same path again to read the problem. */
async function readStreamProblem(path: string, signal: AbortSignal): Promise<Problem | undefined> {
  const enough = new AbortController();
  try {
    const response = await fetch(path, {
      signal: AbortSignal.any([signal, enough.signal]),
      credentials: 'same-origin',
    });
    return response.ok ? undefined : await readProblem(response);
  } catch (error) {
    return asProblem(error);
  } finally {
    enough.abort();
  }
}
