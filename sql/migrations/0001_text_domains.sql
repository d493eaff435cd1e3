-- Compatible with older workers: yes (new objects only).
-- The values that every later table is made of. What these domains refuse can never reach an artefact.

-- E.164 number with its plus sign.
CREATE DOMAIN e164 AS text COLLATE "C"
  CONSTRAINT e164_form CHECK (VALUE ~ '^\+[1-9][0-9]{7,14}$');

-- ISO 3166-1 alpha-2.
CREATE DOMAIN country_code AS text COLLATE "C"
  CONSTRAINT country_code_form CHECK (VALUE ~ '^[A-Z]{2}$');

CREATE DOMAIN reputation_level AS text COLLATE "C"
  CONSTRAINT reputation_level_known CHECK (VALUE IN ('NEUTRAL', 'SPAM', 'FRAUD'));

-- Text that is at once valid COPY text and plain TSV: NFC, no C0 or C1 control, no backslash,
-- no line or paragraph separator, no bidi control. Absent text is NULL, never empty.
CREATE DOMAIN clean_text AS text COLLATE "C"
  CONSTRAINT clean_text_characters CHECK (VALUE !~ E'[\\u0001-\\u001F\\u007F-\\u009F\\\\\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069]')
  CONSTRAINT clean_text_nfc CHECK (VALUE IS NFC NORMALIZED)
  CONSTRAINT clean_text_present CHECK (VALUE <> '');
