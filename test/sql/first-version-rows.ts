/** Rows for every table of the schema that the migrations 1 to 9 make: of each kind that the constraints distinguish. */
export const firstVersionRows = String.raw`
INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, started_at, finished_at, rows_given, rows_accepted, rows_rejected, rows_superseded, rows_changed, rejects_by_code) VALUES
  ('reputation', 'reputation.csv', repeat('a', 64), 100, 'ada', 'done', '2026-01-01', '2026-01-01', 3, 2, 1, 0, 2, '{"phone_invalid": 1}'),
  ('complaints', 'complaints.csv', repeat('b', 64), 200, 'ada', 'done', '2026-01-02', '2026-01-02', 2, 2, 0, 0, 2, '{}'),
  ('directory', 'directory.csv', repeat('c', 64), 300, 'ben', 'queued', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}');
INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, finished_at, failure_code, failure_reason) VALUES
  ('directory', 'broken.csv', repeat('d', 64), 10, 'ben', 'failed', '2026-01-03', 'feed_header_invalid', 'No header.');
INSERT INTO feed_reject VALUES (1, 3, 'phone_invalid', 'The text is not a phone number.', 'unknown,SPAM,6');
INSERT INTO phone_number (phone, country, reputation_level, reputation_category, display_name, reputation_source, feed_level, feed_category, feed_load_id, cleared_at) VALUES
  ('+12025550100', 'US', 'SPAM', 6, NULL, 'feed', 'SPAM', 6, 1, NULL),
  ('+12025550101', 'US', 'NEUTRAL', NULL, 'Name', NULL, NULL, NULL, NULL, NULL),
  ('+12025550102', 'US', 'FRAUD', 7, NULL, 'complaints', NULL, NULL, NULL, NULL),
  ('+442079460000', 'GB', 'NEUTRAL', NULL, NULL, 'redress', 'FRAUD', 7, 1, '2026-01-04'),
  ('+88213300001', NULL, 'SPAM', 1, NULL, 'feed', 'SPAM', 1, 1, NULL);
INSERT INTO complaint (phone, country, reported_at, violated_at, consumer_state, subject, recorded, occurrence, load_id) VALUES
  ('+12025550102', 'US', '2026-01-01', '2026-01-01', 'Texas', 'other', true, 1, 2),
  ('+12025550102', 'US', '2026-01-02', NULL, NULL, 'charities', NULL, 1, 2);
INSERT INTO complaint_score VALUES ('+12025550102', 'US', 'FRAUD', 7, 3.5, 2, 2, '2026-01-01', '2026-01-02', 'complaints/1', '2026-01-03');
INSERT INTO redress (phone, reason, cleared_by, level_before, category_before, source_before) VALUES ('+442079460000', 'Recycled number', 'cli ada', 'FRAUD', 7, 'feed');
INSERT INTO night_run (night_date, trigger, evaluated_at, state, outcome, generation, requested_by, opened_at, as_of, finished_at, report) VALUES
  ('2026-01-05', 'schedule', '2026-01-05', 'finished', 'ok', 1, 'scheduler', '2026-01-05', '2026-01-05', '2026-01-05', '{"artefacts": []}');
INSERT INTO night_run (night_date, trigger, requested_by) VALUES ('2026-01-06', 'operator', 'cli ada');
INSERT INTO build (run_id, generation, cache, country, state, rows_expected, levels_expected, attempts, built_at, rows, file_bytes, plain_bytes, file_sha256, plain_sha256) VALUES
  (1, 1, 'phones', 'US', 'published', 3, '{"SPAM": 1}', 1, '2026-01-05', 3, 120, 300, repeat('1', 64), repeat('2', 64)),
  (2, 1, 'phones', 'US', 'published', 4, '{"SPAM": 2}', 1, '2026-01-06', 4, 150, 400, repeat('4', 64), repeat('5', 64));
INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, rows, levels, categories_version, file_bytes, plain_bytes, file_sha256, plain_sha256) VALUES
  ('phones', 'US', 1, 1, '2026-01-05', '2026-01-05', 3, '{"SPAM": 1}', 1, 120, 300, repeat('1', 64), repeat('2', 64)),
  ('phones', 'US', 2, 2, '2026-01-06', '2026-01-06', 4, '{"SPAM": 2}', 1, 150, 400, repeat('4', 64), repeat('5', 64));
INSERT INTO publication (cache, country, version, status, confirmed_as_of) VALUES ('phones', 'US', 2, 'fresh', '2026-01-06');
INSERT INTO publication (cache, country, status, stale_code, stale_reason, stale_since) VALUES ('spammer_phones', '', 'stale', 'artefact_shrunk', 'A loss.', '2026-01-05');
INSERT INTO artefact_delta (cache, country, from_version, version, file_bytes, file_sha256, added, changed, removed) VALUES ('phones', 'US', 1, 2, 50, repeat('3', 64), 1, 0, 0);
INSERT INTO api_key (key_id, client, key_hash, scopes) VALUES ('abcdefgh1234', 'acme', decode(repeat('ab', 32), 'hex'), '{caches:read}');
INSERT INTO document (kind, sha256, bytes, sealed_content, wrapped_key, master_key_id) VALUES
  ('letter', repeat('e', 64), 9, '\x01', '\x02', 'key'), ('numbers', repeat('f', 64), 9, '\x03', '\x04', 'key');
INSERT INTO document (kind, sha256, bytes, master_key_id, destroyed_at, destroyed_why) VALUES ('letter', repeat('0', 64), 9, 'key', '2026-01-01', 'asked for');
INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, letter_document_id, numbers_document_id, requested_by, state, finished_at, result) VALUES
  ('acme', 'one', 'add_managed_brand', '{"handle": "acme-co"}', repeat('4', 64), 1, 2, 'ada', 'done', '2026-01-02', '{}'),
  ('acme', 'two', 'add_managed_brand', '{"handle": "old-co"}', repeat('5', 64), 3, NULL, 'ada', 'done', '2026-01-02', '{}');
INSERT INTO branding_operation (owner, idempotency_key, kind, request, request_sha256, requested_by) VALUES ('acme', 'three', 'add_phone_number', '{}', repeat('6', 64), 'ben');
INSERT INTO branding_operation_row VALUES (1, 2, '+12025550101', 'accepted', 'new');
INSERT INTO brand (handle, owner, state, approved_revision, approved_at) VALUES ('acme-co', 'acme', 'approved', 1, '2026-01-02');
INSERT INTO brand (handle, owner, state, pending_revision) VALUES ('old-co', 'acme', 'in_review', 1);
INSERT INTO brand_revision (brand_id, revision, profile, display_name, needs_decision, created_by) VALUES
  (1, 1, '{"legalName": "Acme Company"}', 'Acme', false, 'ada'), (2, 1, '{"legalName": "Old Company"}', 'Old', true, 'ada');
INSERT INTO letter (brand_id, revision, legal_name, document_id, operation_id, state, submitted_at, rule_version, decided_at, decided_by, decision_reason, valid_from, valid_until) VALUES
  (1, 1, 'Acme Company', 1, 1, 'approved', '2026-01-01', 'letter-rules/1', '2026-01-02', 'rules', 'every rule passed', '2026-01-01', '2027-01-01'),
  (2, 1, 'Old Company', 3, 2, 'in_review', '2026-01-01', 'letter-rules/1', NULL, NULL, NULL, NULL, NULL);
INSERT INTO letter_finding (letter_id, position, code, severity, message, page, line) VALUES (1, 1, 'letter_signed', 'pass', 'It is signed.', 1, 2);
INSERT INTO letter_number (letter_id, phone) VALUES (1, '+12025550101');
INSERT INTO brand_number (brand_id, phone, country, call_reason, state, verified_at) VALUES (1, '+12025550101', 'US', 'Appointments', 'verified', '2026-01-02');
INSERT INTO branded_number (phone, brand_handle, display_name, live_from) VALUES ('+12025550101', 'acme-co', 'Acme', '2026-01-02');
INSERT INTO branding_event (brand_id, subject, letter_id, phone, action, before, after, actor, reason, operation_id) VALUES
  (1, 'brand', NULL, NULL, 'approve', 'in_review', 'approved', 'ada', 'as asked', 1),
  (1, 'letter', 1, NULL, 'approve', 'in_review', 'approved', 'rules', 'every rule passed', 1),
  (1, 'number', NULL, '+12025550101', 'verify', 'submitted', 'verified', 'rules', 'in the letter', 1);
INSERT INTO recording (sha256, bytes, format, codec, sample_rate, channels, duration_seconds) VALUES (repeat('7', 64), 1000, 'wav', 'pcm_mulaw', 8000, 1, 4);
INSERT INTO recording (sha256, bytes, deleted_at, deleted_why) VALUES (repeat('8', 64), 1000, '2026-01-03', 'asked for');
INSERT INTO verification_batch (owner, idempotency_key, request_sha256, name, mode, requested_model, release, settings, settings_sha256, state, items, requested_by, ended_at) VALUES
  ('operator', 'batch', repeat('9', 64), 'calls', 'api', 'phone', '0.1.0', '{}', repeat('a', 64), 'done', 3, 'ada', '2026-01-03');
INSERT INTO verification_result (model, model_sha256, audio_sha256, settings_sha256, state, reason, sample_rate, channels, duration_seconds, voice_seconds, synthesis, replay, decision, computed_ms) VALUES
  ('phone/v1', repeat('b', 64), repeat('7', 64), repeat('a', 64), 'performed', NULL, 8000, 1, 4, 3, 0.9, 0.8, '{"verdict": "authentic"}', 12),
  ('phone/v1', repeat('b', 64), repeat('8', 64), repeat('a', 64), 'performedWithoutScore', 'no_voice', 8000, 1, 4, 0, NULL, NULL, NULL, 12);
INSERT INTO verification (batch_id, line, chunk, audio_sha256, source, requested_model, model, state, result_id, reason, ended_at) VALUES
  (1, 1, 0, repeat('7', 64), 'a.wav', 'phone', 'phone/v1', 'performed', 1, NULL, '2026-01-03'),
  (1, 2, 0, repeat('8', 64), 'b.wav', 'phone', 'phone/v1', 'performedWithoutScore', 2, 'no_voice', '2026-01-03'),
  (1, 3, 0, NULL, 'c.wav', 'phone', NULL, 'error', NULL, 'file_missing', '2026-01-03');
INSERT INTO added_model VALUES ('phone/v9', 'phone', '{}', repeat('c', 64), repeat('d', 64), '2026-01-01', 'ada', 'a trial');
INSERT INTO drift_report (old_model, new_model, batch_id, made_by, items, report) VALUES ('phone/v1', 'phone/v9', 1, 'ada', 3, '{}');
INSERT INTO model_default (family, model, set_by, reason, report_id) VALUES ('phone', 'phone/v9', 'ada', 'better', 1);
INSERT INTO voiceprint (owner, subject, model, model_sha256, recordings, voice_seconds, consent_reference, consent_at, consent_recorded_by, sealed_embedding, wrapped_key, master_key_id) VALUES
  ('acme', 'person-1', 'voiceprint/v1', repeat('e', 64), 3, 30, 'form 1', '2026-01-01', 'ada', '\x05', '\x06', 'key');
INSERT INTO voiceprint (owner, subject, model, model_sha256, recordings, voice_seconds, consent_reference, consent_at, consent_recorded_by, master_key_id, deleted_at, deleted_why) VALUES
  ('acme', 'person-2', 'voiceprint/v1', repeat('e', 64), 3, 30, 'form 2', '2026-01-01', 'ada', 'key', '2026-01-02', 'withdrawn');
INSERT INTO voice_verification (voiceprint_id, audio_sha256, result_id, identity, decision, verified_by) VALUES (1, repeat('7', 64), 1, 0.97, '{}', 'ada');
INSERT INTO voiceprint_event (voiceprint_id, action, actor, reason) VALUES (1, 'enrolled', 'ada', 'asked for'), (2, 'deleted', 'ada', 'withdrawn');
INSERT INTO console_user (name, role, password_hash) VALUES ('ada', 'operator', 'hash');
INSERT INTO console_session (session_hash, user_id, ends_at) VALUES (decode(repeat('cd', 32), 'hex'), 1, '2027-01-01');
INSERT INTO console_event (actor, action, object, detail, address) VALUES ('ada', 'log in', NULL, '{}', '192.0.2.1');
`;
