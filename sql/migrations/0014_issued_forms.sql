-- Compatible with older workers: yes (a new table, and a column that may be NULL).
-- Forms of letters of authorization that the service has issued: rules alone approve nothing else.

CREATE TABLE issued_form (
  form_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- 128 random bits in base32, printed on every page.
  code text COLLATE "C" NOT NULL UNIQUE CHECK (code ~ '^[A-Z2-7]{26}$'),
  owner clean_text NOT NULL,
  -- Of the bytes that were handed out: the first revision of a signed form must be these.
  sha256 text COLLATE "C" NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes > 0),
  form_version text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL CHECK (language ~ '^[a-z]{2}$'),
  -- What the form says: names, address, signer, numbers in ascending order.
  content jsonb NOT NULL,
  -- Page and rectangle that are reserved for the signature.
  signature_place jsonb NOT NULL,
  issued_at timestamptz NOT NULL,
  issued_by text NOT NULL,
  valid_until timestamptz NOT NULL CHECK (valid_until > issued_at),
  -- The brand whose letter it became; no other one can use it.
  brand_id bigint REFERENCES brand
);
CREATE INDEX issued_form_owner ON issued_form (owner, form_id);
CREATE INDEX issued_form_brand ON issued_form (brand_id) WHERE brand_id IS NOT NULL;

ALTER TABLE letter ADD COLUMN form_id bigint REFERENCES issued_form;
CREATE INDEX letter_form ON letter (form_id) WHERE form_id IS NOT NULL;
