import type { LetterRefusalCode } from '../letter-reading.ts';
import { LetterRefused } from './gate/letter-refused.ts';

/** Printed by a child that has loaded its modules; a later failure is due to the letter. */
export const readyLine = 'ready\n';

/** Printed by a child at its end. */
export type ChildAnswer<Result> =
  { readonly result: Result } | { readonly refused: LetterRefusalCode; readonly problem: string };

/** A request for a child: length of the settings, the settings as JSON, the letter. */
export function encodeRequest(settings: unknown, bytes: Uint8Array): Buffer[] {
  const json = Buffer.from(JSON.stringify(settings));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return [length, json, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)];
}

/**
 * The main function of a child: reads one request from standard input, works, and prints one answer. Faults of the libraries are
 * due to the letter; their messages may hold its text, so they are dropped.
 */
export async function answerRequest<Settings, Result>(
  work: (settings: Settings, bytes: Uint8Array) => Promise<Result>,
): Promise<void> {
  process.stdout.write(readyLine);
  const request = Buffer.concat((await process.stdin.toArray()) as Buffer[]);
  const start = 4 + request.readUInt32BE(0);
  const settings = JSON.parse(request.toString('utf8', 4, start)) as Settings;
  const answer = await work(settings, request.subarray(start)).then(
    (result): ChildAnswer<Result> => ({ result }),
    refusedAnswer,
  );
  process.stdout.write(JSON.stringify(answer), () => process.exit(0)); // a timer or a thread of a library must not keep the child alive
}

function refusedAnswer(error: unknown): ChildAnswer<never> {
  if (error instanceof LetterRefused) return { refused: error.code, problem: error.message };
  if (isMemoryError(error))
    return { refused: 'letter_limit_exceeded', problem: 'Reading the letter took more memory than the limit.' };
  return { refused: 'letter_damaged', problem: 'The file cannot be read.' };
}

/** Messages of V8 and Emscripten for a failed allocation. */
function isMemoryError(error: unknown): boolean {
  const message = error instanceof Error ? error.message : String(error);
  return /allocation failed|out of memory|OOM|invalid (?:typed )?array length|Cannot enlarge memory/i.test(message);
}
