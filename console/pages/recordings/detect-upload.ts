import type { HandedIn } from '../../answers/detection-answers.ts';
import type { Json } from '../../answers/json.ts';
import { Problem, csrfToken, readProblem } from '../shell/request.ts';

/** What is asked of a recording. */
export interface DetectionRequest {
  readonly file: File;
  readonly model: string;
  readonly channels: 'apart' | 'mixed';
  /** The same key gives the same verification, however often it is sent. */
  readonly key: string;
}

/**
 * Hands a recording in, and tells how much of it is up. `fetch` does not say that.
 * @throws Problem
 */
export function handIn(
  { file, model, channels, key }: DetectionRequest,
  onSent: (share: number) => void,
  signal: AbortSignal,
): Promise<Json<HandedIn>> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ key, model, channels })) form.set(name, value);
  form.set('file', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/api/detection');
    request.setRequestHeader('X-CSRF-Token', csrfToken());
    request.upload.addEventListener('progress', ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total));
    request.addEventListener('load', () => {
      if (request.status === 200) return resolve(JSON.parse(request.responseText) as Json<HandedIn>);
      void readProblem(new Response(request.responseText, { status: request.status })).then(reject);
    });
    request.addEventListener('error', () =>
      reject(
        new Problem({
          status: 0,
          code: 'unreachable',
          detail: 'The recording could not be sent to its end.',
          hint: 'Check the network, and that the file is not larger than the limit; then try again.',
        }),
      ),
    );
    request.addEventListener('abort', () =>
      reject(new Problem({ status: 0, code: 'given_up', detail: 'The upload was stopped.', hint: null })),
    );
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}
