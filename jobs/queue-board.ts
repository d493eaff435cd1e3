import type { BaseAdapter } from '@bull-board/api/baseAdapter';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { Queues } from './queues/backend.ts';

/** The queues as the board shows them, in the order in which a night passes them. */
export function boardQueues(queues: Queues): BaseAdapter[] {
  return queues.libraryQueues().map((queue) => new BullMQAdapter(queue));
}
