import { isIP } from 'node:net';
import { resolve, join } from 'node:path';
import { z } from 'zod';
import { ServiceError } from './errors.ts';

/** A setting: the environment variable, its schema with default, its meaning with unit. */
interface Setting<Schema extends z.ZodType> {
  readonly env: string;
  readonly schema: Schema;
  readonly meaning: string;
}

const setting = <Schema extends z.ZodType>(env: string, schema: Schema, meaning: string): Setting<Schema> => ({
  env,
  schema,
  meaning,
});

const text = () => z.string().min(1);
const count = (fallback: number, options: { min?: number; max?: number } = {}) =>
  z.coerce
    .number()
    .int()
    .min(options.min ?? 1)
    .max(options.max ?? Number.MAX_SAFE_INTEGER)
    .default(fallback);
/** Days for which rows are kept: 0 without limit, else at least `fallback`. */
const retention = (fallback: number) =>
  z.coerce
    .number()
    .int()
    .min(0)
    .max(36_500)
    .refine((days) => days === 0 || days >= fallback, `expected 0 or at least ${fallback}`)
    .default(fallback);
const port = (fallback: number) => count(fallback, { min: 0, max: 65_535 });

/** Named ranges of addresses. */
const namedNetworks = ['loopback', 'linklocal', 'uniquelocal'];

/** True for an address, a network (`10.0.0.0/8`), or the name of one. */
function isNetwork(name: string): boolean {
  if (namedNetworks.includes(name)) return true;
  const [, address, bits] = /^([^/%]+)(?:\/([1-9]\d{0,2}))?$/.exec(name) ?? [];
  const version = isIP(address ?? '');
  return version !== 0 && Number(bits ?? 1) <= (version === 4 ? 32 : 128);
}

const networks = () =>
  text().refine(
    (list) => list.split(',').every((name) => isNetwork(name.trim())),
    `expected addresses, networks such as 10.0.0.0/8, ${namedNetworks.join(', ')}, separated by commas`,
  );

/** Origins as browsers send them: scheme and host in lower case, a port where it is not that of the scheme, no path. */
const origins = () =>
  text().refine(
    (list) =>
      list === '*' ||
      list
        .split(',')
        .every((each) => /^https?:[^*]+$/.test(each) && URL.canParse(each) && new URL(each).origin === each),
    'expected origins such as https://app.example.com, separated by commas, or * for all',
  );

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;

/** The closed list of settings. docs/configuration.md is checked against it both ways. */
export const SETTINGS = {
  databaseUrl: setting(
    'DATABASE_URL',
    text().optional(),
    'PostgreSQL of the worker, the scheduler and the CLI. Absent: an embedded cluster in the state directory.',
  ),
  apiDatabaseUrl: setting(
    'API_DATABASE_URL',
    text().optional(),
    'PostgreSQL of the API, with a role that can only read. Absent: DATABASE_URL, with the role caller_trust_reader set on each connection.',
  ),
  intakeDatabaseUrl: setting(
    'INTAKE_DATABASE_URL',
    text().optional(),
    'PostgreSQL of the intake, with a role that can only submit work. Absent: DATABASE_URL, with the role caller_trust_submitter set on each connection.',
  ),
  redisUrl: setting('REDIS_URL', text().optional(), 'Redis of the queues. Absent: the queues live in PostgreSQL.'),
  stateDir: setting(
    'STATE_DIR',
    text().default('var'),
    'Directory of everything that the service writes, unless named otherwise below.',
  ),
  artefactDir: setting(
    'ARTEFACT_DIR',
    text().optional(),
    'Directory of the published artefacts. Absent: artefacts in the state directory.',
  ),
  artefactStoreUrl: setting(
    'ARTEFACT_STORE_URL',
    z
      .string()
      .regex(/^s3:\/\/[a-z0-9.-]{3,63}(\/[A-Za-z0-9_/-]*)?$/)
      .optional(),
    'Bucket of an S3-compatible object store for the published artefacts, s3://bucket/prefix. Absent: they stay in ARTEFACT_DIR, which otherwise has copies only.',
  ),
  artefactStoreEndpoint: setting(
    'ARTEFACT_STORE_ENDPOINT',
    z
      .string()
      .regex(/^https?:\/\/[^/?#@]+\/?$/)
      .optional(),
    'Address of the object store, without bucket or credentials. Absent: that of Amazon S3 in the region.',
  ),
  artefactStoreRegion: setting(
    'ARTEFACT_STORE_REGION',
    z
      .string()
      .regex(/^[a-z0-9-]+$/)
      .default('us-east-1'),
    'Region of the object store, which signatures name.',
  ),
  artefactStoreAccessKeyId: setting(
    'ARTEFACT_STORE_ACCESS_KEY_ID',
    text().optional(),
    'Id of the access key of the object store.',
  ),
  artefactStoreSecretAccessKey: setting(
    'ARTEFACT_STORE_SECRET_ACCESS_KEY',
    text().optional(),
    'Secret of the access key of the object store.',
  ),
  artefactStoreSessionToken: setting(
    'ARTEFACT_STORE_SESSION_TOKEN',
    text().optional(),
    'Session token that belongs to a temporary access key.',
  ),
  feedDir: setting(
    'FEED_DIR',
    text().optional(),
    'Directory where accepted feed files wait for their load. Absent: feeds in the state directory.',
  ),
  dropDir: setting(
    'DROP_DIR',
    text().optional(),
    'Drop folder: a folder for each feed, branding for branding requests, and recordings for batches of recordings. Absent: drop in the state directory.',
  ),
  audioDir: setting(
    'AUDIO_DIR',
    text().optional(),
    'Directory of the stored recordings, which every worker must reach. Absent: audio in the state directory.',
  ),
  intakeDir: setting(
    'INTAKE_DIR',
    text().optional(),
    'Directory of the files that clients send to the intake, which the scheduler must reach to remove old ones. Absent: intake in the state directory.',
  ),
  modelDir: setting(
    'MODEL_DIR',
    text().optional(),
    'Directory of the models that were added, which every worker must reach. Absent: models in the state directory.',
  ),
  apiKeySecret: setting(
    'API_KEY_SECRET',
    z.string().min(32).optional(),
    'Secret under which API keys are hashed, 32 characters or more. Absent: one is made and kept in the state directory.',
  ),
  letterMasterKey: setting(
    'LETTER_MASTER_KEY',
    z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/)
      .optional(),
    'Key under which the keys of letters and voiceprints are wrapped: 32 bytes as hex digits. Absent: one is made and kept in the state directory.',
  ),
  letterMasterKeyPrevious: setting(
    'LETTER_MASTER_KEY_PREVIOUS',
    z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/)
      .optional(),
    'The previous LETTER_MASTER_KEY, until `letter rotate-key` has ended.',
  ),
  letterTrustRoots: setting(
    'LETTER_TRUST_ROOTS',
    text().optional(),
    'PEM file of the root certificates that PDF signatures must lead to. Absent: the chain of a signature is not checked, and LETTER_APPROVAL=signature approves nothing by rules.',
  ),
  letterApproval: setting(
    'LETTER_APPROVAL',
    z.enum(['signature', 'signature+numbers', 'form+numbers']).default('signature'),
    'Condition for approval by rules alone, besides an issued form that was returned unchanged: signature (its certificate leads to a configured root and names signer and company), signature+numbers (and every number is proven), form+numbers (every number is proven, and more numbers of a brand as it is approved already may be signed in any valid way; a new brand or a change needs the certificate, since numbers prove no name).',
  ),
  letterRevocation: setting(
    'LETTER_REVOCATION',
    z.enum(['require', 'check', 'off']).default('check'),
    'Whether a certificate was revoked: check (a revoked one rejects the form, and that nothing says so is a note), require (where nothing says so, a person decides), off (LETTER_REVOCATION_DATA is not read, and nothing is found about it).',
  ),
  letterRevocationData: setting(
    'LETTER_REVOCATION_DATA',
    text().optional(),
    'Revocation list (CRL) or OCSP answer of an authority, or a folder of them, which the operator keeps current; at most 8 MiB together. Absent: only what the letters bring along is used.',
  ),
  clientKey: setting(
    'CALLER_TRUST_KEY',
    z
      .string()
      .regex(/^[\x21-\x7e]{1,512}$/)
      .optional(),
    'Key that pull and lookup send where no --key-file is given.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    'Least level that is logged.',
  ),

  databaseConnectionsMax: setting(
    'DATABASE_CONNECTIONS_MAX',
    count(10, { min: 5, max: 1000 }),
    'Connections that one process keeps to PostgreSQL, the streams of the night and those of the queues (at most 26) not counted.',
  ),
  shutdownGraceSeconds: setting(
    'SHUTDOWN_GRACE_SECONDS',
    count(10, { min: 0, max: 3600 }),
    'Seconds that a stopping process gives to running work.',
  ),

  nightSchedule: setting(
    'NIGHT_SCHEDULE',
    text().default('0 1 * * *'),
    'When the night runs, as a cron expression in UTC; at most once a day.',
  ),
  reconcileSeconds: setting(
    'RECONCILE_SECONDS',
    count(30, { max: 60 }),
    'Seconds between two comparisons of the due work in PostgreSQL with the queues.',
  ),
  dropSettleSeconds: setting(
    'DROP_SETTLE_SECONDS',
    count(10, { min: 0 }),
    'A dropped file or request is taken when it has not changed for this many seconds.',
  ),

  buildConcurrency: setting('BUILD_CONCURRENCY', count(2, { max: 64 }), 'Builds that one worker runs at a time.'),
  jobLockSeconds: setting(
    'JOB_LOCK_SECONDS',
    count(15, { max: 3600 }),
    'A job whose worker has not reported for this many seconds is taken to be crashed; so is a process whose database session is silent as long.',
  ),
  shrinkPercentMax: setting(
    'SHRINK_PERCENT_MAX',
    count(20, { min: 0, max: 100 }),
    'A build that would drop more than this share of the published rows is held.',
  ),
  growthPercentMax: setting(
    'GROWTH_PERCENT_MAX',
    count(50, { min: 1, max: 1_000_000 }),
    'A build with more additional rows than this share of the published ones is held.',
  ),
  labelChangePercentMax: setting(
    'LABEL_CHANGE_PERCENT_MAX',
    count(25, { min: 1, max: 1_000_000 }),
    'A build is held in which more numbers than this share of the published labels get a label, four fifths of it lose theirs, or two fifths change between SPAM and FRAUD; or in which the share of FRAUD differs by more percentage points than four fifths of it.',
  ),
  filterBits: setting(
    'FILTER_BITS',
    z.enum(['8', '16']).default('8'),
    'Bits of a fingerprint in the filters of spammers and ranges at risk: 8 finds one in 256 other numbers and takes about 9 bits a number, 16 one in 65,536 with about 17.',
  ),
  versionsKept: setting('VERSIONS_KEPT', count(14, { max: 1000 }), 'Versions of each artefact whose files are kept.'),

  feedIntervalHours: setting(
    'FEED_INTERVAL_HOURS',
    z
      .string()
      .regex(/^[a-z]+(\/[a-z0-9._-]+)?=[0-9]+(,[a-z]+(\/[a-z0-9._-]+)?=[0-9]+)*$/)
      .optional(),
    'Hours between two loads of feeds, as complaints=24,reputation/phoneblock=168. For other feeds it is learnt from their last 28 loads.',
  ),
  feedPlainBytesMax: setting(
    'FEED_PLAIN_BYTES_MAX',
    count(32 * GiB),
    'Largest feed, after decompression; a file that is sent to the console or the intake has at most an eighth of it.',
  ),
  complaintRetentionDays: setting(
    'COMPLAINT_RETENTION_DAYS',
    retention(765),
    'Days after its report for which a complaint is kept: 0 for ever, else 765 or more, so that labels of the last 400 nights can be computed again.',
  ),

  twoPairsOfEyes: setting(
    'TWO_PAIRS_OF_EYES',
    z.enum(['on', 'off']).default('on'),
    'on: a person does not decide what they have submitted; off: for an installation of one person.',
  ),
  samePersons: setting(
    'SAME_PERSONS',
    z
      .string()
      .regex(/^[^=,]+(=[^=,]+)+(,[^=,]+(=[^=,]+)+)*$/)
      .optional(),
    'Names in the console and on the command line that belong to one person: ada=root=a.lovelace,ben=bsmith. The same name in both is one person in any case.',
  ),
  numberCallsFile: setting(
    'NUMBER_CALLS_FILE',
    text().optional(),
    'File to which the calls that prove numbers are written for an own dialler, one line of JSON each. Absent: no number can be proven.',
  ),
  numberCodeSecret: setting(
    'NUMBER_CODE_SECRET',
    z.string().min(32).optional(),
    'Secret under which the codes of verification calls are hashed, 32 characters or more. Absent: one is made and kept in the state directory.',
  ),
  numbersWaitingMax: setting(
    'NUMBERS_WAITING_MAX',
    count(200_000, { min: 1, max: 10_000_000 }),
    'Numbers of one owner that may wait for a letter or a person, in all of its brands together. A request that comes with a form that rules approve is not refused.',
  ),
  numberBlockCalls: setting(
    'NUMBER_BLOCK_CALLS',
    count(3, { min: 0, max: 20 }),
    'Numbers, drawn at random, that are called to prove a block of 100 consecutive numbers or more; 0 calls every number.',
  ),
  letterRetentionDays: setting(
    'LETTER_RETENTION_DAYS',
    count(730, { max: 36_500 }),
    'Days for which a letter is kept after it was rejected, withdrawn or expired; then its key is destroyed.',
  ),

  labelHistoryDays: setting(
    'LABEL_HISTORY_DAYS',
    count(800, { min: 400, max: 36_500 }),
    'Days for which the changes of labels are kept.',
  ),
  disputeContactDays: setting(
    'DISPUTE_CONTACT_DAYS',
    count(90, { min: 0, max: 36_500 }),
    'Days for which the contact of a dispute is kept after its decision; then its key is destroyed.',
  ),

  audioScorers: setting(
    'AUDIO_SCORERS',
    count(2, { max: 256 }),
    'Processes that score recordings, in each worker; more than one for each core do not help.',
  ),
  audioBytesMax: setting('AUDIO_BYTES_MAX', count(512 * MiB), 'Largest recording, and file of an audio stream.'),
  audioChannelsMax: setting('AUDIO_CHANNELS_MAX', count(8, { max: 64 }), 'Channels that a recording may have.'),
  audioSecondsMax: setting(
    'AUDIO_SECONDS_MAX',
    count(4 * 3600, { max: 48 * 3600 }),
    'Longest recording and audio stream, in seconds of audio; a stream is ended at the limit, and what was received is verified.',
  ),
  audioWorkSecondsMax: setting(
    'AUDIO_WORK_SECONDS_MAX',
    count(300, { max: 3600 }),
    'Seconds after which the scoring of a recording is aborted, or a silent process that scores streams is ended.',
  ),
  audioMemoryBytesMax: setting(
    'AUDIO_MEMORY_BYTES_MAX',
    count(300 * MiB, { min: 200 * MiB }),
    'Resident memory at which a process that scores recordings is ended.',
  ),
  modelMemoryBytesMax: setting(
    'MODEL_MEMORY_BYTES_MAX',
    count(300 * MiB, { min: 200 * MiB }),
    'Most memory that the manifest of a model may ask for, and the largest model that may be added: the limit of each process that scores with it, instead of AUDIO_MEMORY_BYTES_MAX.',
  ),
  modelThreads: setting(
    'MODEL_THREADS',
    count(1, { max: 64 }),
    'Threads on which one process runs a model. More are worth it for large models on a machine with more cores than AUDIO_SCORERS.',
  ),
  audioRetentionDays: setting(
    'AUDIO_RETENTION_DAYS',
    count(30, { max: 36_500 }),
    'Days for which stored audio is kept after it was last submitted.',
  ),
  batchItemsMax: setting('BATCH_ITEMS_MAX', count(100_000, { max: 10_000_000 }), 'Recordings that one batch may have.'),

  streamConnectionsMax: setting(
    'STREAM_CONNECTIONS_MAX',
    count(64, { max: 4096 }),
    'Audio streams that the console takes at a time, of one client or user a quarter of them; one more is refused.',
  ),

  webhookNetworksAllowed: setting(
    'WEBHOOK_NETWORKS_ALLOWED',
    networks().optional(),
    'Private addresses and networks to which webhooks may be sent, also without TLS, separated by commas, such as loopback or 10.1.0.0/16. Absent: public addresses only, with TLS.',
  ),
  webhookRetentionDays: setting(
    'WEBHOOK_RETENTION_DAYS',
    count(30, { max: 400 }),
    'Days for which events of webhooks and their deliveries are kept, and can be replayed.',
  ),

  apiHost: setting('API_HOST', text().default('127.0.0.1'), 'Address on which the API listens.'),
  apiPort: setting('API_PORT', port(8080), 'Port of the API; 0 takes a free one.'),
  apiAllowedOrigins: setting(
    'API_ALLOWED_ORIGINS',
    origins().optional(),
    'Origins whose pages may read the answers of the API (CORS), separated by commas, such as https://app.example.com, or * for all. Absent: none.',
  ),
  metricsHost: setting(
    'METRICS_HOST',
    text().default('127.0.0.1'),
    'Address on which each process serves its metrics.',
  ),
  metricsPort: setting(
    'METRICS_PORT',
    count(9464, { min: 0, max: 65_531 }),
    'Port of the metrics of the API; those of the worker are on the next port, then scheduler, console and intake. 0: each takes a free one.',
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    z
      .string()
      .regex(/^https?:\/\/[^?#@]+$/)
      .optional(),
    'Address of a collector of OpenTelemetry that takes OTLP over HTTP, such as http://127.0.0.1:4318; traces go to /v1/traces below it. Absent: nothing is traced.',
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    z
      .string()
      .regex(/^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$/)
      .optional(),
    'Headers of requests to the collector, such as a key: name=value, separated by commas, with percent-encoded values.',
  ),
  consoleHost: setting(
    'CONSOLE_HOST',
    text().default('127.0.0.1'),
    'Address on which the console listens. Beyond the loopback interface it needs CONSOLE_ORIGIN.',
  ),
  consolePort: setting('CONSOLE_PORT', port(8090), 'Port of the console; 0 takes a free one.'),
  consoleOrigin: setting(
    'CONSOLE_ORIGIN',
    z
      .string()
      .regex(/^https?:\/\/[^/?#@]+$/)
      .refine((origin) => URL.canParse(origin), 'expected the address of a host')
      .optional(),
    'Address under which browsers reach the console through a reverse proxy with TLS, such as https://console.example.com. Absent: http on the loopback interface.',
  ),
  consoleProxies: setting(
    'CONSOLE_PROXIES',
    networks().default('loopback'),
    'Addresses of the reverse proxies in front of the console, separated by commas, such as loopback or 10.0.0.0/8; the browser addresses that they forward are trusted. Read only with CONSOLE_ORIGIN.',
  ),
  consoleIdleMinutesMax: setting(
    'CONSOLE_IDLE_MINUTES_MAX',
    count(60, { max: 10_080 }),
    'A session of the console that made no request for this many minutes has ended.',
  ),
  consoleLogInsPerMinuteMax: setting(
    'CONSOLE_LOG_INS_PER_MINUTE_MAX',
    count(10, { max: 1000 }),
    'Times that one address, or one name, may try to log in to the console in a minute.',
  ),
  intake: setting(
    'INTAKE',
    z.enum(['on', 'off']).default('off'),
    'on: the intake takes work from remote clients; off: its process ends at once, and `start` does not start it.',
  ),
  intakeHost: setting('INTAKE_HOST', text().default('127.0.0.1'), 'Address on which the intake listens.'),
  intakePort: setting('INTAKE_PORT', port(8070), 'Port of the intake; 0 takes a free one.'),
  intakeApiOrigin: setting(
    'INTAKE_API_ORIGIN',
    z
      .string()
      .regex(/^https?:\/\/[^/?#@]+$/)
      .optional(),
    'Address under which clients reach the API, such as https://api.example.com, for Location. Absent: one address leads to both.',
  ),
  intakeDiskBytesMax: setting(
    'INTAKE_DISK_BYTES_MAX',
    count(64 * GiB),
    'Bytes of all uploads that no request has used yet; one client may have a quarter. Each counts as 4,096 or more.',
  ),
  intakeRequestRetentionDays: setting(
    'INTAKE_REQUEST_RETENTION_DAYS',
    count(400, { min: 7, max: 36_500 }),
    'Days for which the intake remembers a request that it has accepted, with its idempotency key.',
  ),
  intakeRequestsPerMinuteMax: setting(
    'INTAKE_REQUESTS_PER_MINUTE_MAX',
    count(3000),
    'Requests to the intake that one key, or one address without a key, may make in a minute.',
  ),
  pollMs: setting(
    'POLL_MS',
    count(1000, { min: 50, max: 60_000 }),
    'Milliseconds after which API, console and intake look again for made and revoked keys, and the API for new publications.',
  ),
  artefactAgeHoursMax: setting(
    'ARTEFACT_AGE_HOURS_MAX',
    count(26),
    'Readiness reports an artefact that no night has confirmed for this many hours as old.',
  ),
  apiRequestsPerMinuteMax: setting(
    'API_REQUESTS_PER_MINUTE_MAX',
    count(600),
    'Requests that one key, or one address without a key, may make in a minute.',
  ),
  apiDelivery: setting(
    'API_DELIVERY',
    text()
      .refine((sender) => sender === 'object-store' || /^\/[\w./-]*$/.test(sender), 'expected object-store or a path')
      .optional(),
    'Who sends the bytes of downloads: object-store (they are answered 307 with a signed URL), or a reverse proxy, by its internal location for X-Accel-Redirect to ARTEFACT_DIR, such as /artefacts. Absent: the API.',
  ),
} as const;

type Settings = typeof SETTINGS;
type Parsed = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> };

/** All settings, parsed, with every directory resolved to an absolute path. */
export type Config = Omit<Parsed, 'artefactDir' | 'feedDir' | 'dropDir' | 'audioDir' | 'intakeDir' | 'modelDir'> & {
  readonly artefactDir: string;
  readonly feedDir: string;
  readonly dropDir: string;
  readonly audioDir: string;
  readonly intakeDir: string;
  readonly modelDir: string;
};

/**
 * Reads all settings from an environment; the only reader of `process.env` in the project.
 * An empty variable counts as absent; `fallbacks` (by variable) replace absent ones before the documented default does.
 * @throws ServiceError `setting_invalid`, naming each wrong variable.
 */
export function loadConfig(
  env: Record<string, string | undefined> = process.env,
  fallbacks: Record<string, string> = {},
): Config {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, { env: variable, schema }] of Object.entries(SETTINGS)) {
    const parsed = schema.safeParse(env[variable] || fallbacks[variable]);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${variable}: ${parsed.error.issues.map((issue) => issue.message).join(', ')}`);
  }
  if (problems.length > 0) {
    throw new ServiceError('setting_invalid', {
      operation: 'read settings',
      problem: problems.join('; ') + '.',
      hint: 'docs/configuration.md lists each setting with its limits.',
    });
  }
  const parsed = values as Parsed; // each value was parsed by the schema of the same name
  const stateDir = resolve(parsed.stateDir);
  return {
    ...parsed,
    stateDir,
    artefactDir: resolve(parsed.artefactDir ?? join(stateDir, 'artefacts')),
    feedDir: resolve(parsed.feedDir ?? join(stateDir, 'feeds')),
    dropDir: resolve(parsed.dropDir ?? join(stateDir, 'drop')),
    audioDir: resolve(parsed.audioDir ?? join(stateDir, 'audio')),
    intakeDir: resolve(parsed.intakeDir ?? join(stateDir, 'intake')),
    modelDir: resolve(parsed.modelDir ?? join(stateDir, 'models')),
  };
}

/**
 * Switches the telemetry of ONNX Runtime off, which since 1.30 reports to its makers on Linux too and keeps an id of the machine.
 * Call it before the runtime is loaded.
 */
export function silenceInferenceRuntime(): void {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
}

/** The environment of a child process: this one's with changed variables; undefined removes one. */
export function childEnvironment(changes: Record<string, string | undefined>): Record<string, string | undefined> {
  return { ...process.env, ...changes };
}
