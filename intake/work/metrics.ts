import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** The metrics of the intake; names begin with `caller_trust_`. No label contains a key, an address or a phone number. */
export interface IntakeMetrics {
  readonly registry: Registry;
  requestEnded(request: { route: string; method: string; status: number; seconds: number }): void;
  bytesReceived(kind: string, bytes: number): void;
}

/** Creates the metrics of one intake in a new registry. */
export function createIntakeMetrics(): IntakeMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'caller_trust_' });
  const requests = new Counter({
    name: 'caller_trust_intake_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'caller_trust_intake_request_seconds',
    help: 'Seconds from the header of a request to the end of its answer.',
    labelNames: ['route', 'method'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600],
    registers,
  });
  const bytes = new Counter({
    name: 'caller_trust_intake_upload_bytes_total',
    help: 'Bytes of uploads that were written to disk.',
    labelNames: ['kind'],
    registers,
  });
  return {
    registry,
    requestEnded({ route, method, status, seconds }) {
      requests.inc({ route, method, status });
      duration.observe({ route, method }, seconds);
    },
    bytesReceived: (kind, count) => bytes.inc({ kind }, count),
  };
}
