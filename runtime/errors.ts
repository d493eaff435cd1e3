import { CLIENT_ERRORS, CodedError, type ErrorDetail } from '../format/base/errors.ts';

export { messageOf as errorMessageOf, type ErrorDetail } from '../format/base/errors.ts';

/**
 * The closed list of errors. docs/errors.md is checked against it both ways.
 *
 * - `http`: status of the API's answer.
 * - `retry`: a job that failed with it may be tried again.
 * - `exit`: exit code of the CLI (1 failed, 2 usage, 3 some recordings could not be scored, 69 a service is unavailable, as in
 * sysexits(3)).
 */
export const ERRORS = {
  // asking
  usage_invalid: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.usage_invalid },
  setting_invalid: { http: 500, retry: false, exit: 2, meaning: 'A setting in the environment is not valid.' },
  country_required: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.country_required },
  country_invalid: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.country_invalid },
  parameter_unknown: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.parameter_unknown },
  parameter_invalid: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.parameter_invalid },
  cache_unknown: { http: 404, retry: false, exit: 2, meaning: CLIENT_ERRORS.cache_unknown },
  route_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.route_unknown },
  method_not_allowed: {
    http: 405,
    retry: false,
    exit: 1,
    meaning: 'The resource does not take this method; the API is read only: GET and HEAD.',
  },
  request_invalid: { http: 400, retry: false, exit: 1, meaning: 'The HTTP request could not be read.' },
  request_timeout: { http: 408, retry: true, exit: 1, meaning: 'The request did not arrive in time.' },
  header_too_large: {
    http: 431,
    retry: false,
    exit: 1,
    meaning: 'The header of the request is larger than the limit.',
  },
  unauthenticated: { http: 401, retry: false, exit: 1, meaning: CLIENT_ERRORS.unauthenticated },
  forbidden: { http: 403, retry: false, exit: 1, meaning: CLIENT_ERRORS.forbidden },
  rate_limited: { http: 429, retry: true, exit: 1, meaning: 'Too many requests for this key or address.' },
  artefact_not_found: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.artefact_not_found },
  precondition_failed: {
    http: 412,
    retry: false,
    exit: 1,
    meaning: 'The resource is not the one that If-Match or If-Unmodified-Since names.',
  },
  range_not_satisfiable: { http: 416, retry: false, exit: 1, meaning: 'No byte of the requested range exists.' },
  overloaded: {
    http: 503,
    retry: true,
    exit: 1,
    meaning:
      'Too many operations of this kind are in progress: downloads of the API, or uploads, checks and followed pages of the console.',
  },
  not_ready: {
    http: 503,
    retry: true,
    exit: 69,
    meaning: 'The service is starting, or a service that it needs is unavailable.',
  },
  internal: {
    http: 500,
    retry: true,
    exit: 1,
    meaning: 'A fault in the service; the log has the cause under the same request id.',
  },
  // signed publications
  trust_document_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_document_unknown },
  trust_unsigned: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_unsigned },
  trust_invalid: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_invalid },
  trust_older: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_older },
  trust_expired: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_expired },
  trust_mixed: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.trust_mixed },
  trust_key_missing: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'A key that must sign is missing or cannot be opened.',
  },
  // intake
  media_type_unsupported: {
    http: 415,
    retry: false,
    exit: 1,
    meaning: 'The resource does not take a body of this media type.',
  },
  idempotency_key_required: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The request needs an Idempotency-Key, or has one that is not valid.',
  },
  upload_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'A header field of an upload is missing or not valid, or does not fit the bytes.',
  },
  upload_unknown: {
    http: 404,
    retry: false,
    exit: 1,
    meaning: 'No upload of this client has this id: it was used, given up or removed after its time.',
  },
  upload_offset_wrong: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'The bytes do not continue the upload: it has another offset.',
  },
  upload_completed: { http: 400, retry: false, exit: 1, meaning: 'The upload is complete already.' },
  upload_incomplete: { http: 409, retry: false, exit: 1, meaning: 'A request names an upload that is not complete.' },
  digest_required: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'An upload is completed with the SHA-256 of all its bytes, and none was given.',
  },
  digest_wrong: { http: 400, retry: false, exit: 1, meaning: 'The bytes do not have the SHA-256 that was given.' },
  uploads_too_many: {
    http: 429,
    retry: true,
    exit: 1,
    meaning: 'One client has as many incomplete uploads, or as many bytes of uploads, as it may.',
  },
  uploads_full: {
    http: 503,
    retry: true,
    exit: 1,
    meaning: 'The limit of bytes that the intake keeps of uploads is reached.',
  },
  queue_full: { http: 503, retry: true, exit: 1, meaning: 'The limit of waiting work of this kind is reached.' },
  // services
  address_unavailable: {
    http: 500,
    retry: false,
    exit: 69,
    meaning: 'The address or port to listen on is taken or not ours.',
  },
  database_unavailable: { http: 503, retry: true, exit: 69, meaning: 'PostgreSQL cannot be reached or started.' },
  database_unsuitable: {
    http: 503,
    retry: false,
    exit: 69,
    meaning: 'The database is too old, or its schema is not the one that this version needs.',
  },
  database_too_new: {
    http: 503,
    retry: false,
    exit: 69,
    meaning: 'A later version of the service has changed the database so that this one cannot run on it.',
  },
  database_role_writes: {
    http: 503,
    retry: false,
    exit: 69,
    meaning: 'The API was given a database role that can write, or the intake one that can write more than it needs.',
  },
  redis_unavailable: { http: 503, retry: true, exit: 69, meaning: 'Redis cannot be reached.' },
  redis_unsafe: {
    http: 503,
    retry: false,
    exit: 69,
    meaning: 'Redis would lose or evict jobs with its present settings.',
  },
  process_failed: { http: 500, retry: true, exit: 1, meaning: 'A process of the Procfile ended repeatedly.' },
  // feeds
  feed_unknown: { http: 400, retry: false, exit: 2, meaning: 'No feed has this name.' },
  feed_not_found: { http: 404, retry: false, exit: 1, meaning: 'The feed file or the load does not exist.' },
  feed_header_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The header line of the feed lacks a column or names one twice.',
  },
  feed_gzip_invalid: { http: 400, retry: false, exit: 1, meaning: 'The gzip data of the feed is damaged or cut off.' },
  feed_too_large: { http: 400, retry: false, exit: 1, meaning: 'The feed is larger than the limit.' },
  feed_file_invalid: { http: 400, retry: false, exit: 1, meaning: 'The feed is not a regular file.' },
  feed_option_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'An option of the load is not valid, or the feed has no such option.',
  },
  feed_encoding_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The encoding of the feed is not supported, or its bytes are not valid in it.',
  },
  feed_dates_unclear: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The order of day and month in the dates of the feed is ambiguous.',
  },
  feed_mostly_rejected: { http: 400, retry: false, exit: 1, meaning: 'Most rows of the feed are refused.' },
  feed_not_held: { http: 409, retry: false, exit: 1, meaning: 'The load is not held.' },
  // numbers
  phone_invalid: { http: 400, retry: false, exit: 2, meaning: CLIENT_ERRORS.phone_invalid },
  phone_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.phone_unknown },
  protection_exists: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'This number or prefix is protected from labels already.',
  },
  protection_unknown: { http: 404, retry: false, exit: 1, meaning: 'The list of protected numbers has no such entry.' },
  dispute_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'The request to dispute a label lacks a field, or has one that is not valid.',
  },
  dispute_unneeded: { http: 409, retry: false, exit: 1, meaning: 'The number has no label that could be disputed.' },
  dispute_unknown: { http: 404, retry: false, exit: 1, meaning: 'No dispute has this id.' },
  dispute_decided: { http: 409, retry: false, exit: 1, meaning: 'The dispute is decided already.' },
  disputes_too_many: {
    http: 429,
    retry: false,
    exit: 1,
    meaning: 'Too many disputes of this number, or from this contact, are open.',
  },
  reason_required: { http: 400, retry: false, exit: 2, meaning: 'The operation needs a reason.' },
  // branding
  brand_request_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'A branding request lacks a field, or has one that is not valid.',
  },
  idempotency_conflict: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'The idempotency key was used for another request.',
  },
  operation_unknown: { http: 404, retry: false, exit: 1, meaning: 'No branding operation has this id.' },
  brand_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.brand_unknown },
  protected_name_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'A name to be protected is too short or too long, or has no letter or digit.',
  },
  protected_name_exists: { http: 409, retry: false, exit: 1, meaning: 'Operators have protected this name already.' },
  protected_name_unknown: { http: 404, retry: false, exit: 1, meaning: 'Operators have not protected this name.' },
  brand_handle_taken: { http: 409, retry: false, exit: 1, meaning: 'Another brand has this handle.' },
  brand_withdrawn: { http: 409, retry: false, exit: 1, meaning: 'The brand was withdrawn, which is final.' },
  transition_refused: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'The state of a brand, letter or number does not allow the action.',
  },
  decided_by_requester: {
    http: 403,
    retry: false,
    exit: 1,
    meaning: 'A person does not decide what they have submitted, or what belongs to an owner for whom they act.',
  },
  numbers_waiting_too_many: {
    http: 429,
    retry: false,
    exit: 1,
    meaning: 'The limit of numbers of one owner that wait for a letter or a decision is reached.',
  },
  number_calls_off: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'No caller of verification calls is set, so no number can be proven.',
  },
  proof_limit_reached: { http: 429, retry: false, exit: 1, meaning: 'A limit of verification calls is reached.' },
  proof_unknown: { http: 404, retry: false, exit: 1, meaning: 'No code of this number is pending.' },
  proof_code_wrong: { http: 400, retry: false, exit: 1, meaning: 'The code is not the one that the call gave out.' },
  caller_failed: { http: 503, retry: true, exit: 1, meaning: 'The caller did not take a verification call.' },
  letter_unknown: { http: 404, retry: false, exit: 1, meaning: 'No letter has this id.' },
  form_unknown: { http: 404, retry: false, exit: 1, meaning: 'No issued form of a letter has this id.' },
  form_revoked: { http: 409, retry: false, exit: 1, meaning: 'The form of a letter was revoked before.' },
  form_text_unsupported: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'A text has characters that the issued form cannot show.',
  },
  letter_file_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The letter is not a regular file of a PDF or PNG within the limit.',
  },
  numbers_file_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The CSV of numbers is not a regular file of rows within the limits.',
  },
  document_destroyed: { http: 410, retry: false, exit: 1, meaning: 'The document was deleted: its key is destroyed.' },
  document_sealed: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'A stored document or voiceprint cannot be opened with the master key.',
  },
  // audio
  audio_request_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'A batch of recordings lacks something, or has a field that is not valid.',
  },
  audio_list_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The list of recordings is not a CSV or JSONL file with a path in each row.',
  },
  batch_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.batch_unknown },
  batch_ended: { http: 409, retry: false, exit: 1, meaning: 'The state of the batch does not allow the action.' },
  batch_too_large: { http: 400, retry: false, exit: 1, meaning: 'The batch has more recordings than the limit.' },
  items_failed: { http: 500, retry: false, exit: 3, meaning: 'Some recordings of the batch could not be scored.' },
  verification_unknown: { http: 404, retry: false, exit: 1, meaning: CLIENT_ERRORS.verification_unknown },
  recording_unknown: { http: 404, retry: false, exit: 1, meaning: 'No recording with this digest is stored.' },
  recording_refused: { http: 400, retry: false, exit: 1, meaning: 'The recording cannot be scored.' },
  model_unknown: { http: 404, retry: false, exit: 2, meaning: CLIENT_ERRORS.model_unknown },
  model_removed: { http: 410, retry: false, exit: 1, meaning: CLIENT_ERRORS.model_removed },
  model_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The weights or the manifest of a model are not valid, or do not fit each other.',
  },
  model_exists: { http: 409, retry: false, exit: 1, meaning: 'The registry has another model of this name.' },
  release_unknown: { http: 404, retry: false, exit: 2, meaning: CLIENT_ERRORS.release_unknown },
  drift_report_unknown: { http: 404, retry: false, exit: 1, meaning: 'No drift report has this id.' },
  drift_report_missing: {
    http: 409,
    retry: false,
    exit: 1,
    meaning: 'A default moves only after a drift report of the old and the new model.',
  },
  scorer_unavailable: {
    http: 500,
    retry: true,
    exit: 69,
    meaning: 'The process that scores recordings could not be started.',
  },
  stream_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'A message of an audio stream is not valid, or not allowed at this point.',
  },
  stream_frame_too_large: {
    http: 413,
    retry: false,
    exit: 1,
    meaning: 'A message of an audio stream is larger than the limit.',
  },
  stream_too_long: { http: 413, retry: false, exit: 1, meaning: 'The audio stream is longer than the limit.' },
  stream_idle: { http: 408, retry: true, exit: 1, meaning: 'No audio arrived for too long.' },
  stream_not_read: { http: 408, retry: true, exit: 1, meaning: 'The client does not read its messages.' },
  streams_too_many: { http: 429, retry: true, exit: 1, meaning: 'Too many audio streams are open.' },
  stream_lost: { http: 503, retry: true, exit: 69, meaning: 'The connection of an audio stream broke off.' },
  voiceprint_unknown: { http: 404, retry: false, exit: 1, meaning: 'No voiceprint has this id.' },
  voiceprint_exists: { http: 409, retry: false, exit: 1, meaning: 'This person has a voiceprint already.' },
  voiceprint_refused: { http: 400, retry: false, exit: 1, meaning: 'No voiceprint can be made of these recordings.' },
  consent_required: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'A voiceprint needs the recorded consent of the person.',
  },
  index_invalid: {
    http: 400,
    retry: false,
    exit: 1,
    meaning: 'The index of a test set is not a CSV with the columns that evaluation needs.',
  },
  // nights
  date_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'The date is not a calendar date, or lies in the future.',
  },
  job_unknown: {
    http: 404,
    retry: false,
    exit: 1,
    meaning: 'The queue has no job of this id in a state that allows the action.',
  },
  night_unknown: { http: 404, retry: false, exit: 1, meaning: 'No night run has this id or date.' },
  night_failed: { http: 500, retry: false, exit: 1, meaning: 'The night ended with failed artefacts.' },
  night_empty: {
    http: 404,
    retry: false,
    exit: 1,
    meaning: 'The night has nothing to build: no number has this country.',
  },
  snapshot_gone: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'The transaction that holds the snapshot of the night has ended.',
  },
  copy_cut: { http: 500, retry: true, exit: 1, meaning: 'The COPY stream ended before the database confirmed it.' },
  copy_stalled: { http: 500, retry: true, exit: 1, meaning: 'The database sent no byte of a COPY for too long.' },
  rows_differ: {
    http: 500,
    retry: true,
    exit: 1,
    meaning: 'Rows counted by SQL, lines written and the count of COPY are not the same.',
  },
  artefact_shrunk: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'The new artefact has many fewer rows than the published one.',
  },
  artefact_held: {
    http: 500,
    retry: false,
    exit: 1,
    meaning:
      'The new artefact differs too much from the published one, or its labels would differ from those of a file that stays.',
  },
  night_not_held: { http: 409, retry: false, exit: 1, meaning: 'No file of this name is held.' },
  artefact_older: { http: 500, retry: false, exit: 1, meaning: 'A newer snapshot of this cache is published already.' },
  artefact_not_stored: { http: 500, retry: true, exit: 1, meaning: 'The file of an artefact could not be written.' },
  segment_index_invalid: { http: 500, retry: false, exit: 1, meaning: CLIENT_ERRORS.segment_index_invalid },
  delta_gone: { http: 410, retry: false, exit: 1, meaning: CLIENT_ERRORS.delta_gone },
  delta_invalid: { http: 400, retry: false, exit: 1, meaning: CLIENT_ERRORS.delta_invalid },
  filter_invalid: { http: 400, retry: false, exit: 1, meaning: CLIENT_ERRORS.filter_invalid },
  filter_not_made: { http: 500, retry: false, exit: 1, meaning: 'The filter of an artefact could not be made.' },
  scoring_rule_differs: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'The labels were scored by a rule that this version of the service does not have.',
  },
  storage_unavailable: {
    http: 503,
    retry: true,
    exit: 69,
    meaning:
      'A storage of the service cannot be used: the object store is unreachable or refuses, or a disk is full, broken or not writable.',
  },
  download_failed: { http: 500, retry: true, exit: 69, meaning: CLIENT_ERRORS.download_failed },
  download_damaged: { http: 500, retry: true, exit: 1, meaning: CLIENT_ERRORS.download_damaged },
  directory_busy: { http: 409, retry: true, exit: 1, meaning: CLIENT_ERRORS.directory_busy },
  artefact_damaged: { http: 500, retry: false, exit: 1, meaning: 'A stored artefact does not match its manifest.' },
  build_lost: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'The build ended without an outcome: its worker crashed too often.',
  },
  interrupted: { http: 503, retry: true, exit: 1, meaning: 'The process was stopped; the work is done again later.' },
  // jobs
  job_invalid: { http: 500, retry: false, exit: 1, meaning: 'A job has a payload that its queue does not know.' },
  job_lost: {
    http: 500,
    retry: false,
    exit: 1,
    meaning: 'The job ended without an outcome: its worker crashed too often.',
  },
  // webhooks
  webhook_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'The name, the address or the events of an endpoint of webhooks are not valid.',
  },
  webhook_exists: { http: 409, retry: false, exit: 1, meaning: 'An endpoint of webhooks has this name already.' },
  webhook_unknown: { http: 404, retry: false, exit: 1, meaning: 'No endpoint of webhooks has this name.' },
  webhook_disabled: { http: 409, retry: false, exit: 1, meaning: 'The endpoint of webhooks is disabled.' },
  webhook_delivery_unknown: { http: 404, retry: false, exit: 1, meaning: 'No delivery of a webhook has this id.' },
  // keys
  key_secret_differs: {
    http: 503,
    retry: false,
    exit: 69,
    meaning: 'The key secret of this process is not the one with which the keys of the database were made.',
  },
  key_limit_reached: { http: 400, retry: false, exit: 1, meaning: 'The client has two live keys already.' },
  console_user_unknown: { http: 404, retry: false, exit: 1, meaning: 'No user of the console has this name.' },
  console_user_exists: { http: 409, retry: false, exit: 1, meaning: 'The console has a user of this name.' },
  console_user_invalid: {
    http: 400,
    retry: false,
    exit: 2,
    meaning: 'The name, role or password of a user of the console is not valid.',
  },
  upload_too_large: {
    http: 413,
    retry: false,
    exit: 1,
    meaning: 'What was sent to the console or to the intake is larger than the limit.',
  },
  key_unknown: { http: 404, retry: false, exit: 1, meaning: 'No key has this id.' },
  scope_unknown: { http: 400, retry: false, exit: 2, meaning: 'No scope has this name.' },
} as const satisfies Record<string, ErrorFacts>;

/** The facts about an error code. */
interface ErrorFacts {
  readonly http: number;
  readonly retry: boolean;
  readonly exit: 1 | 2 | 3 | 69;
  readonly meaning: string;
}

export type ErrorCode = keyof typeof ERRORS;

/** The error class of the service: a code of the closed list with operation, object, problem and hint. */
export class ServiceError extends CodedError<ErrorCode> {
  override readonly name: string = 'ServiceError';

  constructor(code: ErrorCode, detail: ErrorDetail) {
    super(code, detail, ERRORS[code].meaning);
  }
}

/** True if the value is an error of the closed list, the client's among them, of this code if one is given. */
export function isServiceError(value: unknown, code?: ErrorCode): value is ServiceError {
  return (
    value instanceof CodedError && Object.hasOwn(ERRORS, value.code) && (code === undefined || value.code === code)
  );
}

/** The facts about the code of an error. */
export function factsOf({ code }: Pick<CodedError<ErrorCode>, 'code'>): ErrorFacts {
  return ERRORS[code];
}

/** What an error of a file operation means, by its code (errno(3)). */
const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'No space is left on the device.',
  EDQUOT: 'The disk quota of this user is used up.',
  EFBIG: 'The file is larger than the file system or a limit of this process allows.',
  EROFS: 'The file system is mounted read-only.',
  EACCES: 'This user has no permission.',
  EPERM: 'This user has no permission.',
  EIO: 'The device failed.',
  EMFILE: 'This process has too many open files.',
  ENFILE: 'The machine has too many open files.',
};

const fileOperation =
  /^(open|read|write|mkdir|mkdtemp|rename|link|unlink|rmdir|rm|fsync|fdatasync|ftruncate|scandir|opendir|l?stat|copyfile|symlink|access|chmod)$/;

/** PostgreSQL's insufficient resources, such as a full disk, and I/O errors (appendix A, classes 53 and 58). */
const databaseFault = /^(53[0-9A-Z]{3}|58030)$/;

/**
 * The error of the closed list for a thrown value: a ServiceError unchanged, one for a fault of a disk or of PostgreSQL's
 * resources; undefined for others.
 */
export function recognizeError(thrown: unknown): ServiceError | undefined {
  if (isServiceError(thrown)) return thrown;
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', syscall = '', path } = thrown as NodeJS.ErrnoException;
  if (databaseFault.test(code))
    return new ServiceError('database_unavailable', {
      operation: 'use PostgreSQL',
      problem: `PostgreSQL lacks a resource: ${thrown.message}.`,
      hint: 'Look at its disk, memory and connections, and at its log.',
      cause: thrown,
    });
  if (FILE_FAULTS[code] === undefined || !fileOperation.test(syscall)) return undefined;
  return new ServiceError('storage_unavailable', {
    operation: syscall,
    object: path,
    problem: FILE_FAULTS[code],
    hint: 'Look at the disk, and at owner and permissions of the file or directory.',
    cause: thrown,
  });
}

/** The code of a thrown value: its own, or `internal`. */
export function errorCodeOf(value: unknown): ErrorCode {
  return recognizeError(value)?.code ?? 'internal';
}

/** True if the error says that a resource of the service is full or away, so that the same work succeeds once it is back. */
export function isOutage(error: unknown): boolean {
  const code = recognizeError(error)?.code;
  return code === 'storage_unavailable' || code === 'database_unavailable' || code === 'redis_unavailable';
}

/** True for an error of node:zlib: the data is damaged. */
export function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

/** True if a job that threw this is not tried again: the error is final, or this was the last attempt. */
export function isFinalFailure(error: unknown, lastAttempt: boolean): boolean {
  if (isServiceError(error, 'interrupted')) return false;
  return lastAttempt || (isServiceError(error) && !factsOf(error).retry);
}

/** A failure in reports and manifests. */
export interface Failure {
  readonly code: ErrorCode;
  readonly reason: string;
}

/** The failure to show for an error: the sentence of a ServiceError; for others, where to look. */
export function failureOf(error: unknown): Failure {
  const known = recognizeError(error);
  if (known === undefined) return { code: 'internal', reason: 'An unexpected fault; the log of the worker has it.' };
  return { code: known.code, reason: known.problem };
}
