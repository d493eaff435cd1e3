import type { Json } from '../../answers/json.ts';
import { asProblem, getJson, readProblem, type Problem } from './request.ts';
import { useEffect, useRef, useState } from './view.ts';

/** What a page knows of something that it reads. An older value stays while a newer one is read. */
export interface Reading<Value> {
  readonly value: Value | undefined;
  readonly problem: Problem | undefined;
  readonly isReading: boolean;
  /** True if newer values come by themselves at this moment. */
  readonly isLive: boolean;
  readonly readAgain: () => void;
}

/** Reads JSON of a path, and again when the path changes. */
export function useReading<Value>(path: string | null): Reading<Json<Value>> {
  const [state, setState] = useState<Omit<Reading<Json<Value>>, 'readAgain' | 'isLive'>>({
    value: undefined,
    problem: undefined,
    isReading: path !== null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const left = new AbortController();
    setState(({ value }) => ({ value, problem: undefined, isReading: true }));
    getJson<Value>(path, left.signal).then(
      (value) => setState({ value, problem: undefined, isReading: false }),
      (error: unknown) => {
        if (!left.signal.aborted) setState(({ value }) => ({ value, problem: asProblem(error), isReading: false }));
      },
    );
    return () => left.abort();
  }, [path, round]);
  return { ...state, isLive: false, readAgain: () => setRound((before) => before + 1) };
}

/** Milliseconds after which a live answer that broke off is asked for again: at first, and at most. */
const againMs = { first: 3000, most: 60_000 };

/**
 * Follows a live path (server-sent events): the value as it stands, then each newer one until the last. While the page is in the
 * background nothing is followed: a browser has six connections to a host, and other pages need them.
 */
export function useLive<Value>(path: string | null): Reading<Json<Value>> {
  const [state, setState] = useState<Omit<Reading<Json<Value>>, 'readAgain'>>({
    value: undefined,
    problem: undefined,
    isReading: path !== null,
    isLive: false,
  });
  const [round, setRound] = useState(0);
  const tries = useRef(0);
  const hasEnded = useRef(false);
  const isInSight = useInSight();
  useEffect(() => {
    hasEnded.current = false;
  }, [path]);
  useEffect(() => {
    if (path === null || !isInSight || hasEnded.current) return;
    const source = new EventSource(path);
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    source.addEventListener('value', ({ data }: MessageEvent<string>) => {
      tries.current = 0;
      setState({ value: JSON.parse(data) as Json<Value>, problem: undefined, isReading: false, isLive: true });
    });
    source.addEventListener('end', () => {
      source.close();
      hasEnded.current = true;
      setState((before) => ({ ...before, isReading: false, isLive: false }));
    });
    source.addEventListener('error', () => {
      source.close();
      void whyNot(path, left.signal).then((problem) => {
        if (left.signal.aborted) return;
        setState((before) => ({ ...before, problem, isReading: false, isLive: false }));
        if (problem === undefined || mayPass(problem))
          timer = setTimeout(
            () => setRound((before) => before + 1),
            Math.min(againMs.first * 2 ** tries.current++, againMs.most),
          );
      });
    });
    return () => {
      clearTimeout(timer);
      left.abort();
      source.close();
      setState((before) => ({ ...before, isLive: false }));
    };
  }, [path, round, isInSight]);
  const readAgain = () => {
    hasEnded.current = false;
    setRound((before) => before + 1);
  };
  return { ...state, readAgain };
}

/** True for a problem of the moment; what is refused for good is not asked for again. */
function mayPass({ status }: Problem): boolean {
  return status === 0 || status === 429 || status >= 500;
}

/** True while the page is not in the background. */
function useInSight(): boolean {
  const [isInSight, setInSight] = useState(document.visibilityState === 'visible');
  useEffect(() => {
    const look = () => setInSight(document.visibilityState === 'visible');
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  return isInSight;
}

/** An EventSource does not say what was wrong: the same path is asked once more for its problem. */
async function whyNot(path: string, signal: AbortSignal): Promise<Problem | undefined> {
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
