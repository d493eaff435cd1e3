-- Compatible with older workers: yes (new objects, which the intake and its retention alone use).
-- What remote clients send: files on their way, and the requests that became work.

CREATE TABLE upload (
  upload_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('recording', 'letter', 'numbers', 'feed')),
  bytes bigint NOT NULL CHECK (bytes > 0),
  sha256 text COLLATE "C" CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  active_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CONSTRAINT upload_completed CHECK (completed_at IS NULL OR sha256 IS NOT NULL)
);
CREATE INDEX upload_active ON upload (active_at);
CREATE INDEX upload_open ON upload (client) WHERE completed_at IS NULL;
COMMENT ON TABLE upload IS 'Files that remote clients send, until a request uses them. The bytes are in INTAKE_DIR, under the id.';
COMMENT ON COLUMN upload.sha256 IS 'The digest that the client has announced; of a complete upload, that of its bytes.';
COMMENT ON COLUMN upload.active_at IS 'When a request last used it. One that is idle for INTAKE_UPLOAD_HOURS is removed.';

CREATE TABLE intake_request (
  request_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  brand_handle text COLLATE "C",
  idempotency_key text COLLATE "C" NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('batch', 'branding', 'load', 'dispute')),
  request_sha256 text COLLATE "C" NOT NULL CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  object text COLLATE "C" NOT NULL,
  address inet,
  accepted_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (client, idempotency_key)
);
CREATE INDEX intake_request_object ON intake_request (kind, object);
COMMENT ON TABLE intake_request IS 'Which client asked for what through the intake: the trail of what was accepted, and the answers to repeated requests.';
COMMENT ON COLUMN intake_request.brand_handle IS 'The brand that the key was bound to.';
COMMENT ON COLUMN intake_request.object IS 'Public id of the batch, or id of the operation, load or dispute.';
