import { answerRequest } from './child-protocol.ts';
import { recogniseLetter, type OcrRequest } from './ocr/ocr-task.ts';

// Entry of the child process that draws pages and recognises their text.
await answerRequest((request: OcrRequest, bytes) => recogniseLetter(request, bytes));
