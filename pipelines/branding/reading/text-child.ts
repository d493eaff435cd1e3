import { answerRequest } from './child-protocol.ts';
import { readPdfText, type TextTask } from './text-task.ts';

// Entry of the child process that reads the structure, the text and the signatures of a PDF.
await answerRequest((settings: Omit<TextTask, 'bytes'>, bytes) => readPdfText({ ...settings, bytes }));
