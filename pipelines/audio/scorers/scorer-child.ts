import { openParentChannel } from '../../../runtime/processes/parent-channel.ts';
import { OpenModels } from '../scoring/open-models.ts';
import { performTask } from './scorer-tasks.ts';
import { failureOfTask, requestForm, type ScorerAnswer } from '../scoring/scorer-protocol.ts';

// The process that decodes and scores recordings, one at a time. Its input is untrusted and the decoder is native
// code, so it has no secrets, and a crash affects only the file that it works on.

const opened = new OpenModels();

const answer = openParentChannel<ScorerAnswer>((message) => void answerRequest(message));

async function answerRequest(message: unknown): Promise<void> {
  const { id, task } = requestForm.parse(message);
  const outcome = await performTask(task, opened).then((result) => ({ kind: 'done' as const, result }), failureOfTask);
  answer({ ...outcome, id, residentBytes: process.memoryUsage.rss() });
}

answer({ kind: 'ready' });
