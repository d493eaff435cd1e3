-- Compatible with older workers: yes (they share no build).
-- Shares of a full build, which other workers make: ranges of keys, and what has become of them. Rows live as long as the try of the build.

CREATE TABLE build_share (
  build_id bigint NOT NULL REFERENCES build ON DELETE CASCADE,
  attempt integer NOT NULL,
  share integer NOT NULL,
  format text NOT NULL,
  ranges jsonb NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'lent', 'taken', 'made')),
  made jsonb,
  PRIMARY KEY (build_id, attempt, share),
  CONSTRAINT build_share_made CHECK ((state = 'made') = (made IS NOT NULL))
);

COMMENT ON COLUMN build_share.attempt IS 'The try of the build. Shares of another one are void.';
COMMENT ON COLUMN build_share.format IS 'What the bytes depend on beside the rows: a worker with other settings makes none.';
COMMENT ON COLUMN build_share.state IS 'open; lent to another worker; taken back by the build, which reads the ranges itself; made by another worker';
COMMENT ON COLUMN build_share.made IS 'The stored file with its segment index, and the delta.';
