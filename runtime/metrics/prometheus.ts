import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type MetricName, type MetricsProcess, type NameOf } from './metric-table.ts';
import type { Metrics, SetGauge } from './metrics.ts';

/** The metrics of one process in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string;
  /** Reads what is read at a scrape, and renders all. Scrapes at the same time share one reading. */
  text(): Promise<string>;
}

type AnyGauge = NameOf<'gauge'>;

/** A reader of gauges at each scrape. */
interface Reader {
  readonly names: readonly AnyGauge[];
  readonly read: (set: SetGauge<AnyGauge>) => void | Promise<void>;
}

/** Opens the metrics of a process: those of the closed list, and those of the process and of Node. */
export function openMetrics(process: MetricsProcess): Metrics & Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'caller_trust_' });
  const made = new Map<string, Counter | Gauge | Histogram>();
  for (const name of Object.keys(METRICS) as MetricName[])
    if ((METRICS[name].processes as readonly string[]).includes(process)) made.set(name, makeMetric(name, registry));
  // Each name was made by its kind; a name of another process is a fault of the program.
  const counter = (name: NameOf<'counter'>) => found(made, name) as Counter;
  const gauge = (name: AnyGauge) => found(made, name) as Gauge;
  const histogram = (name: NameOf<'histogram'>) => found(made, name) as Histogram;
  const readers: Reader[] = [];
  let rendering: Promise<string> | undefined;

  async function readOne({ names, read }: Reader): Promise<void> {
    for (const name of names) gauge(name).reset();
    await read((name, labels, value) => gauge(name).set(labels, value));
  }

  async function render(): Promise<string> {
    await Promise.allSettled(readers.map(readOne)); // one that fails has no samples, which alerts notice
    return registry.metrics();
  }

  return {
    count: (name, labels, by = 1) => counter(name).inc(labels, by),
    change: (name, labels, by) => gauge(name).inc(labels, by),
    set: (name, labels, value) => gauge(name).set(labels, value),
    observe: (name, labels, value) => histogram(name).observe(labels, value),
    atScrape: (names, read) => void readers.push({ names, read: read as Reader['read'] }), // it sets gauges of its names only
    contentType: registry.contentType,
    text: () => (rendering ??= render().finally(() => (rendering = undefined))),
  };
}

function makeMetric(name: MetricName, registry: Registry): Counter | Gauge | Histogram {
  const { kind, help, labels, ...rest } = METRICS[name];
  const options = { name, help, labelNames: labels, registers: [registry] };
  switch (kind) {
    case 'counter':
      return new Counter(options);
    case 'gauge':
      return new Gauge(options);
    case 'histogram':
      return new Histogram({ ...options, buckets: [...(rest as { buckets: readonly number[] }).buckets] });
  }
}

function found(made: ReadonlyMap<string, unknown>, name: MetricName): unknown {
  const metric = made.get(name);
  if (metric === undefined) throw new Error(`${name} is not a metric of this process`);
  return metric;
}
