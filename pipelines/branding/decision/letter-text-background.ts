import { answerOfThread } from '../../../runtime/processes/one-answer-thread.ts';
import { decideLetterText, type LetterTextDecision, type LetterTextFacts } from './letter-text-decision.ts';

/** Limits of a decision on a text. */
export const textDecisionLimits = {
  /**
   * A text of at most this many characters is decided synchronously, in some 10 ms; a longer one, or one with more numbers, in a
   * thread.
   */
  charactersAtOnceMax: 6000,
  numbersAtOnceMax: 1000,
  /** 100,000 characters take half a second. */
  secondsMax: 60,
  heapMib: 256,
} as const;

/**
 * Decides the text of a letter without blocking the event loop: a short one synchronously, a long one in a worker thread.
 * @throws ServiceError `interrupted` when the signal fires, `internal` if the thread fails or takes too long
 */
export async function decideLetterTextInBackground(
  facts: LetterTextFacts,
  signal?: AbortSignal,
): Promise<LetterTextDecision> {
  if (isShortLetter(facts)) return decideLetterText(facts);
  const { heapMib, secondsMax } = textDecisionLimits;
  return answerOfThread<LetterTextDecision>(
    {
      module: 'pipelines/branding/decision/letter-text-thread',
      data: facts,
      heapMib,
      secondsMax,
      failure: {
        code: 'internal',
        operation: 'decide letter',
        problem: 'The thread that decides the text of a letter failed, or took too long.',
      },
    },
    signal,
  );
}

function isShortLetter({ reading, requestedPhones, csvPhones }: LetterTextFacts): boolean {
  if (reading.kind === 'refused') return true;
  const { pages, embeddedCsv } = reading.reading;
  const characters = pages.reduce(
    (sum, { lines }) => sum + lines.reduce((length, { text }) => length + text.length, 0),
    embeddedCsv?.text.length ?? 0,
  );
  return (
    characters <= textDecisionLimits.charactersAtOnceMax &&
    requestedPhones.length + (csvPhones?.length ?? 0) <= textDecisionLimits.numbersAtOnceMax
  );
}
