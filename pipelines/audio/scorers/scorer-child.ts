import { errorMessageOf, isServiceError } from '../../../runtime/errors.ts';
import { openParentChannel } from '../../../runtime/processes/parent-channel.ts';
import { AudioRefusal } from '../reasons.ts';
import { OpenModels } from '../scoring/open-models.ts';
import { performTask } from './scorer-tasks.ts';
import { detailCharactersMax, requestForm, type ScorerAnswer } from '../scoring/scorer-protocol.ts';

// The process that decodes and scores recordings, one at a time. Its input is untrusted and the decoder is native
// code, so it has no secrets, and a crash affects only the file that it works on.

const opened = new OpenModels();

const answer = openParentChannel<ScorerAnswer>((message) => void answerRequest(message));

async function answerRequest(message: unknown): Promise<void> {
  const { id, task } = requestForm.parse(message);
  const residentBytes = () => process.memoryUsage.rss();
  try {
    const result = await performTask(task, opened);
    answer({ kind: 'done', id, residentBytes: residentBytes(), result });
  } catch (error) {
    if (error instanceof AudioRefusal)
      answer({
        kind: 'refused',
        id,
        residentBytes: residentBytes(),
        reason: error.reason,
        detail: error.detail.slice(0, detailCharactersMax),
      });
    else
      answer({
        kind: 'failed',
        id,
        residentBytes: residentBytes(),
        isModelFault: isServiceError(error, 'model_invalid'),
        problem: problemOfFault(error).slice(0, detailCharactersMax),
      });
  }
}

function problemOfFault(error: unknown): string {
  return isServiceError(error) ? error.problem : errorMessageOf(error);
}

answer({ kind: 'ready' });
