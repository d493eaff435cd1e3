import { parentPort, workerData } from 'node:worker_threads';
import { decideLetterText, type LetterTextFacts } from './letter-text-decision.ts';

/** The thread that decides one long text, and ends. */
parentPort!.postMessage(decideLetterText(workerData as LetterTextFacts)); // set by letter-text-background.ts
