import { answerRequest } from './child-protocol.ts';
import { readPdfFacts, type StructureTask } from './structure-task.ts';

// Entry of the child process that reads the structure and the signatures of a PDF.
await answerRequest((settings: Omit<StructureTask, 'bytes'>, bytes) => readPdfFacts({ ...settings, bytes }));
