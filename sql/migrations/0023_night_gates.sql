-- Compatible with older workers: yes (a column with a default, and a new table).
-- Gates that a build must pass before it is published, and an operator's word that lets one through.

ALTER TABLE build
  -- The gates that held it, with figures and limits (NightBreach[]).
  ADD COLUMN gates jsonb NOT NULL DEFAULT '[]';

CREATE TABLE night_release (
  release_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  -- The build that was held: what later nights differ by is measured against its figures.
  build_id bigint NOT NULL REFERENCES build,
  reason text NOT NULL CHECK (reason ~ '\S'),
  released_by text NOT NULL,
  released_at timestamptz NOT NULL DEFAULT now(),
  -- The build that was published by it.
  used_by_build_id bigint REFERENCES build
);
CREATE INDEX night_release_open ON night_release (cache, country, release_id DESC) WHERE used_by_build_id IS NULL;
COMMENT ON TABLE night_release IS 'Held files that an operator let through by name. Each counts for the next night that publishes the file.';
