import { answerRequest } from './child-protocol.ts';
import type { LetterLimits } from './gate/letter-limits.ts';
import { readPdfText } from './text-task.ts';

// Entry of the child process that reads the structure, the text and the signatures of a PDF.
await answerRequest(({ limits, trustRootsPem }: { limits: LetterLimits; trustRootsPem?: string }, bytes) =>
  readPdfText({ bytes, limits, trustRootsPem }),
);
