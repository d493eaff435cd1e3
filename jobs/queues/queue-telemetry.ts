import { BullMQOtel } from 'bullmq-otel';
import type { Telemetry } from 'bullmq';

/** Makes queues and workers carry the trace of a job from who adds it to who runs it. Loaded while the process traces. */
export function makeTelemetry(): Telemetry {
  return new BullMQOtel({ tracerName: 'bullmq' });
}
