-- Compatible with older workers: yes (new objects only).
-- Proofs that a brand answers its numbers: codes that calls give out, and what they proved.

-- One proof stands for one number, or for a block of consecutive numbers of which some, drawn at random, are called.
CREATE TABLE number_proof (
  proof_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  brand_id bigint NOT NULL REFERENCES brand,
  state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'proven', 'failed')),
  language text COLLATE "C" NOT NULL CHECK (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  requested_by text NOT NULL CHECK (requested_by ~ '\S'),
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it was proven or failed; why it failed.
  ended_at timestamptz,
  failure_code text COLLATE "C",
  valid_until timestamptz,
  CONSTRAINT number_proof_ended CHECK (
    (state = 'open') = (ended_at IS NULL) AND (state = 'failed') = (failure_code IS NOT NULL) AND (state = 'proven') = (valid_until IS NOT NULL))
);
CREATE INDEX number_proof_open ON number_proof (brand_id, proof_id) WHERE state = 'open';
CREATE INDEX number_proof_due ON number_proof (proof_id) WHERE state = 'open';

-- The numbers that a proof stands for. It ends for a number that leaves the brand or that another brand takes.
CREATE TABLE number_proof_member (
  proof_id bigint NOT NULL REFERENCES number_proof,
  phone e164 NOT NULL,
  left_at timestamptz,
  PRIMARY KEY (proof_id, phone)
);
CREATE INDEX number_proof_member_phone ON number_proof_member (phone, proof_id);

-- The calls of a proof, one a number that is called. The code itself is never stored.
CREATE TABLE number_proof_call (
  call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  proof_id bigint NOT NULL REFERENCES number_proof,
  phone e164 NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- HMAC-SHA-256 of the code under a secret that is not in the database; NULL until a code is made.
  code_hash bytea CHECK (octet_length(code_hash) = 32),
  expires_at timestamptz,
  -- When the caller had taken the call.
  placed_at timestamptz,
  tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  confirmed_at timestamptz,
  UNIQUE (proof_id, phone),
  CONSTRAINT number_proof_call_code CHECK ((code_hash IS NULL) = (expires_at IS NULL) AND (placed_at IS NULL OR code_hash IS NOT NULL))
);
CREATE INDEX number_proof_call_phone ON number_proof_call (phone, requested_at);

-- No path by which a number changes can forget the end of its proofs.
CREATE FUNCTION end_number_proofs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE number_proof_member AS m
  SET left_at = clock_timestamp()
  FROM number_proof AS p, changed_rows AS n
  WHERE m.proof_id = p.proof_id AND m.phone = n.phone AND m.left_at IS NULL
    AND CASE WHEN n.brand_id = p.brand_id THEN n.state IN ('removed', 'permanently_rejected')
             ELSE n.state IN ('submitted', 'in_review', 'verified', 'suspended') END;
  RETURN NULL;
END $$;
CREATE TRIGGER brand_number_end_proofs_insert AFTER INSERT ON brand_number REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();
CREATE TRIGGER brand_number_end_proofs_update AFTER UPDATE ON brand_number REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();
