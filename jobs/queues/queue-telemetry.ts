import { BullMQOtel } from 'bullmq-otel';
import type { Telemetry } from 'bullmq';

/** Makes queues and workers carry the trace of a job from its producer to its worker. Loaded only in a process that traces. */
export function makeTelemetry(): Telemetry {
  return new BullMQOtel({ tracerName: 'bullmq' });
}
