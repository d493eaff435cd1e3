/** A process that serves metrics. */
export type MetricsProcess = 'api' | 'worker' | 'scheduler' | 'console' | 'intake';

/** A metric: what it counts, its labels, and the processes that have it. Values are in base units. */
interface MetricDefinition<Kind extends 'counter' | 'gauge' | 'histogram', Label extends string> {
  readonly kind: Kind;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly processes: readonly MetricsProcess[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

type Rest<Label extends string> = Omit<MetricDefinition<'counter', Label>, 'kind' | 'help' | 'labels'>;

const counter = <Label extends string>(
  help: string,
  labels: readonly Label[],
  rest: Rest<Label>,
): MetricDefinition<'counter', Label> => ({ kind: 'counter', help, labels, ...rest });

const gauge = <Label extends string>(
  help: string,
  labels: readonly Label[],
  rest: Rest<Label>,
): MetricDefinition<'gauge', Label> => ({ kind: 'gauge', help, labels, ...rest });

const histogram = <Label extends string>(
  help: string,
  labels: readonly Label[],
  rest: Rest<Label> & { readonly buckets: readonly number[] },
): MetricDefinition<'histogram', Label> => ({ kind: 'histogram', help, labels, ...rest });

const api = { processes: ['api'] } as const;
const intake = { processes: ['intake'] } as const;
const scheduler = { processes: ['scheduler'] } as const;
const withDatabase = { processes: ['worker', 'scheduler', 'console', 'intake'] } as const;
const withScorers = { processes: ['worker', 'console'] } as const;
const worker = { processes: ['worker'] } as const;

const requestSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];
const readSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
/** From the reading of one letter to a full build of hundreds of millions of rows. */
const jobSeconds = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14_400];

/**
 * The closed list of metrics. Names follow the conventions of Prometheus: base units, `_total` for counters. No label has a key,
 * an address or a phone number. docs/metrics.md is checked against the list both ways, and so are the dashboard and the alert
 * rules. What the scheduler has of the database is true of the service: one process reads it, at each scrape.
 */
export const METRICS = {
  caller_trust_build_info: gauge('Always 1; the version of the service and of Node that run.', ['version', 'node'], {
    processes: ['api', 'worker', 'scheduler', 'console', 'intake'],
  }),
  caller_trust_database_pool_connections: gauge('Connections of the pool of this process.', ['state'], withDatabase),
  caller_trust_database_pool_waiting: gauge('Statements that wait for a connection of the pool.', [], withDatabase),

  caller_trust_night_outcome: gauge(
    '1 for the outcome of the last finished night of all caches.',
    ['outcome'],
    scheduler,
  ),
  caller_trust_night_finished_timestamp_seconds: gauge(
    'When the last night of all caches with this outcome finished, of the last 60 such nights.',
    ['outcome'],
    scheduler,
  ),
  caller_trust_night_stage_seconds: gauge(
    'Duration of each stage of the last finished night of all caches: wait, prepare, build, publish.',
    ['stage'],
    scheduler,
  ),
  caller_trust_night_files: gauge('Files of that night by outcome.', ['outcome'], scheduler),
  caller_trust_nights_open: gauge('Requested nights that are not finished.', [], scheduler),
  caller_trust_night_open_age_seconds: gauge(
    'Seconds since the oldest unfinished night was requested; 0 without one.',
    [],
    scheduler,
  ),

  caller_trust_cache_age_seconds: gauge(
    'Seconds since the snapshot that last confirmed the oldest file of the cache.',
    ['cache'],
    scheduler,
  ),
  caller_trust_cache_files: gauge('Published files of the cache, fresh or stale.', ['cache', 'status'], scheduler),
  caller_trust_cache_rows: gauge('Rows of the published files of the cache.', ['cache'], scheduler),
  caller_trust_cache_bytes: gauge('Compressed bytes of the published files of the cache.', ['cache'], scheduler),
  caller_trust_labels: gauge('Numbers with a label in the published spammer cache.', ['level'], scheduler),
  caller_trust_label_changes: gauge(
    'Changes of labels in the last 24 hours: a number gets one (rise), loses it (fall), or changes its level (flip).',
    ['kind'],
    scheduler,
  ),

  caller_trust_feed_age_seconds: gauge(
    'Seconds since the submission of the last load that brought something.',
    ['feed', 'source'],
    scheduler,
  ),
  caller_trust_feed_rows: gauge('Accepted rows of that load.', ['feed', 'source'], scheduler),
  caller_trust_feed_late: gauge(
    '1 for a feed that has stayed away for longer than its usual interval allows.',
    ['feed', 'source'],
    scheduler,
  ),
  caller_trust_feed_loads: gauge(
    'Loads that are queued, running or held, and those that failed in the last seven days.',
    ['state'],
    scheduler,
  ),

  caller_trust_decisions_waiting: gauge(
    'What waits for a person: letters, brands, disputes, held loads.',
    ['kind'],
    scheduler,
  ),
  caller_trust_decision_waiting_age_seconds: gauge(
    'Seconds for which the oldest of them has waited; 0 without one.',
    ['kind'],
    scheduler,
  ),
  caller_trust_batches_open: gauge('Batches of recordings that are not done.', [], scheduler),
  caller_trust_batch_open_age_seconds: gauge(
    'Seconds since the oldest of them was submitted; 0 without one.',
    [],
    scheduler,
  ),
  caller_trust_signature_expiry_timestamp_seconds: gauge(
    'When the signed metadata of a role expires; absent while the service does not sign.',
    ['role'],
    scheduler,
  ),

  caller_trust_webhook_deliveries: gauge(
    'Deliveries of webhooks that are pending, and those that failed permanently in the last 24 hours.',
    ['state'],
    scheduler,
  ),
  caller_trust_webhook_pending_age_seconds: gauge(
    'Seconds since the oldest pending delivery was created; 0 without one.',
    [],
    scheduler,
  ),
  caller_trust_webhook_endpoints: gauge(
    'Endpoints of webhooks that are enabled, those of them whose every attempt has failed for an hour (failing), and those that were disabled because they failed (given_up).',
    ['state'],
    scheduler,
  ),

  caller_trust_queue_jobs: gauge('Jobs of a queue by state.', ['queue', 'state'], scheduler),
  caller_trust_queue_waiting_age_seconds: gauge(
    'Seconds since the job that runs next was queued; 0 if none waits.',
    ['queue'],
    scheduler,
  ),
  caller_trust_queue_workers: gauge('Connected workers of a queue.', ['queue'], scheduler),
  caller_trust_queue_paused: gauge('1 for a paused queue.', ['queue'], scheduler),

  caller_trust_service_reads: gauge(
    '1 if this part of the service could be read at the scrape; 0 means that its metrics are absent.',
    ['part'],
    scheduler,
  ),
  caller_trust_service_read_seconds: gauge('Seconds that the reading of this part took.', ['part'], scheduler),
  caller_trust_scheduler_work_timestamp_seconds: gauge(
    'When the scheduler last did this repeated work without an error.',
    ['work'],
    scheduler,
  ),
  caller_trust_scheduler_corrections_total: counter(
    'Jobs that the reconciler queued again (enqueued), or recorded as failed because their worker crashed too often (lost).',
    ['kind'],
    scheduler,
  ),

  caller_trust_jobs_total: counter(
    'Ended attempts at jobs: done, failed (permanently), retried (failed and tried again), waiting (for a full disk, or a database or Redis that is away), interrupted.',
    ['queue', 'job_name', 'outcome'],
    worker,
  ),
  caller_trust_job_seconds: histogram('Seconds that attempts at jobs took.', ['queue', 'job_name'], {
    ...worker,
    buckets: jobSeconds,
  }),
  caller_trust_jobs_in_progress: gauge('Jobs that this worker runs.', ['queue'], worker),
  caller_trust_job_crashes_total: counter(
    'Jobs that this worker found abandoned by a worker that crashed or did not renew its lock.',
    ['queue'],
    worker,
  ),

  caller_trust_recordings_total: counter(
    'Recordings of batches that got an outcome: scored, reused (a stored result), refused.',
    ['outcome'],
    worker,
  ),
  caller_trust_recording_scoring_seconds: histogram(
    'Seconds from the request to score a recording to its result, with the wait for a process.',
    [],
    { ...worker, buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300] },
  ),
  caller_trust_recording_audio_seconds_total: counter('Seconds of audio of scored recordings.', [], worker),
  caller_trust_scorer_starts_total: counter('Scoring processes that were started.', [], withScorers),
  caller_trust_scorer_ends_total: counter(
    'Scoring processes that ended: lost (it crashed, or was ended at a limit), worn (replaced after use), start_failed.',
    ['cause'],
    withScorers,
  ),
  caller_trust_scorers_running: gauge('Scoring processes that run.', [], withScorers),

  caller_trust_intake_requests_total: counter('Answered requests.', ['route', 'method', 'status'], intake),
  caller_trust_intake_request_seconds: histogram(
    'Seconds from the header of a request to the end of its answer.',
    ['route', 'method'],
    { ...intake, buckets: requestSeconds },
  ),
  caller_trust_intake_upload_bytes_total: counter('Bytes of uploads that were written to disk.', ['kind'], intake),

  caller_trust_console_requests_total: counter('Answered requests.', ['route', 'method', 'status'], {
    processes: ['console'],
  }),
  caller_trust_console_request_seconds: histogram(
    'Seconds from the header of a request to the end of its answer; live answers are left out.',
    ['route', 'method'],
    { processes: ['console'], buckets: requestSeconds },
  ),

  caller_trust_api_requests_total: counter('Answered requests.', ['route', 'method', 'status'], api),
  caller_trust_api_request_seconds: histogram(
    'Seconds from the header of a request to the end of its answer.',
    ['route', 'method'],
    { ...api, buckets: requestSeconds },
  ),
  caller_trust_api_body_bytes_total: counter('Bytes of bodies that were handed to the network.', ['route'], api),
  caller_trust_api_unreadable_requests_total: counter('Requests that could not be read as HTTP.', ['code'], api),
  caller_trust_api_downloads_in_progress: gauge('Downloads that are being sent.', [], api),
  caller_trust_api_downloads_total: counter('Ended downloads: sent, client_gone, too_slow, damaged.', ['outcome'], api),
  caller_trust_api_database_reads_total: counter(
    'Requests that needed the database: answered, failed, refused.',
    ['outcome'],
    api,
  ),
  caller_trust_api_database_read_seconds: histogram(
    'Seconds that requests read the database, with the wait for a connection.',
    [],
    { ...api, buckets: readSeconds },
  ),
  caller_trust_artefact_age_seconds: gauge(
    'Seconds since the snapshot that last confirmed the bytes that this API serves.',
    ['cache', 'country'],
    api,
  ),
  caller_trust_artefact_version: gauge('Published version that is served.', ['cache', 'country'], api),
  caller_trust_artefact_rows: gauge('Rows of the served version.', ['cache', 'country'], api),
  caller_trust_artefacts_stale: gauge('Served artefacts whose last build failed.', ['cache'], api),
  caller_trust_artefact_files_damaged: gauge(
    'Published files (artefacts, indexes, deltas) that are damaged or missing, and withheld.',
    [],
    api,
  ),
  caller_trust_artefact_files_unchecked: gauge(
    'Published files that are still to be compared with their digest.',
    [],
    api,
  ),
} as const satisfies Record<string, MetricDefinition<'counter' | 'gauge' | 'histogram', string>>;

type Table = typeof METRICS;

/** A name of the list. */
export type MetricName = keyof Table;

/** The names of one kind. */
export type NameOf<Kind extends 'counter' | 'gauge' | 'histogram'> = {
  [Name in MetricName]: Table[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

/** A value for each label of a metric. */
export type LabelsOf<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string | number>>;
