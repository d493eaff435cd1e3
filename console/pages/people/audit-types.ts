/** Something that was done in the console; the time is ISO 8601 text. */
export interface AuditEvent {
  readonly eventId: number;
  readonly at: string;
  readonly actor: string;
  readonly what: string;
  readonly object: string | null;
  readonly address: string | null;
}
