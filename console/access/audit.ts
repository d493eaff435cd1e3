import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** The closed list of recorded actions. Decisions on brands, letters and voiceprints are also in trails of their own. */
const ACTIONS = {
  log_in: 'logged in',
  log_in_refused: 'failed to log in',
  log_out: 'logged out',
  add_user: 'added a user',
  change_password: 'changed a password',
  change_role: 'changed a role',
  remove_user: 'removed a user',
  hand_in_recording: 'submitted a recording',
  listen_to_recording: 'listened to a recording',
  delete_recording: 'deleted a recording',
  retry_batch: 'queued failed items of a batch again',
  cancel_batch: 'cancelled a batch',
  save_results: 'saved the results of a batch',
  run_night: 'ran a night',
  release_files: 'released held files',
  load_feed: 'loaded a feed',
  decide_load: 'decided on a held load',
  download_artefact: 'downloaded an artefact',
  verify_artefacts: 'verified artefacts',
  change_queue: 'changed a queue',
  change_webhook: 'enabled or disabled an endpoint of webhooks',
  replay_webhooks: 'sent webhooks again',
  request_branding: 'asked for branding',
  save_rejects: 'saved the refused rows of a request',
  issue_letter_form: 'issued a letter of authorization to be signed',
  revoke_letter_form: 'revoked a letter of authorization that was issued',
  prove_numbers: 'had numbers of a brand called',
  confirm_number: 'gave the code of a number back',
  decide_brand: 'decided a brand',
  suspend_brand: 'suspended a brand',
  resume_brand: 'resumed a brand',
  withdraw_brand: 'withdrew a brand',
  change_number: 'changed a number of a brand',
  protect_name: 'protected a name',
  unprotect_name: 'ended the protection of a name',
  clear_number: 'cleared a number',
  decide_dispute: 'decided a dispute',
  view_dispute_contact: 'looked at the contact of a dispute',
  view_private_fields: 'looked at private fields of a brand',
  decide_letter: 'decided a letter',
  withdraw_letter: 'withdrew a letter',
  delete_letter: 'destroyed the document of a letter',
  view_letter: 'looked at what was read from a letter',
  view_letter_page: 'looked at a page of a letter',
  save_letter: 'saved the document of a letter',
  enrol_voice: 'enrolled a voice',
  verify_voice: 'compared a recording with a voiceprint',
  delete_voiceprint: 'deleted a voiceprint',
  stream_audio: 'sent audio while it was recorded',
} as const;

export type Action = keyof typeof ACTIONS;

/** A recorded action. */
interface ConsoleEvent {
  readonly eventId: number;
  readonly at: Date;
  readonly actor: string;
  readonly action: Action;
  readonly object: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly address: string | null;
}

/** A new record; its detail contains no content of letters or recordings, and no phone number. */
export interface NewEvent {
  readonly actor: string;
  readonly action: Action;
  readonly object?: string | null;
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly address?: string | null;
}

/** Records an action, without the zone of a link-local address, which `inet` does not support. */
export async function recordEvent(
  db: Queryable,
  { actor, action, object = null, detail = {}, address = null }: NewEvent,
): Promise<void> {
  await db.query(sql('console/insert_event'), [
    actor,
    action,
    object,
    JSON.stringify(detail),
    address?.replace(/%.*$/, '') ?? null,
  ]);
}

/** Describes an event's action in words. */
type ShownEvent = ConsoleEvent & { readonly what: string };

/** An event for the audit page. */
export function shownEvent(event: ConsoleEvent): ShownEvent {
  return { ...event, what: ACTIONS[event.action] };
}

/** Recorded actions, newest first. */
export async function listEvents(
  db: Queryable,
  {
    before = null,
    actor = null,
    limit,
  }: { readonly before?: number | null; readonly actor?: string | null; readonly limit: number },
): Promise<ConsoleEvent[]> {
  const rows = await queryRows<{
    eventId: number;
    at: Date;
    actor: string;
    action: Action;
    object: string | null;
    detail: Record<string, unknown>;
    address: string | null;
  }>(db, sql('console/list_events'), [before, actor, limit]);
  return rows.map(({ eventId, ...event }) => ({ eventId, ...event }));
}
