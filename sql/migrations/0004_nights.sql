-- Compatible with older workers: yes (new objects only).
-- Nights, their builds, the versions of each artefact, and the pointer to the published one.
-- In these tables country is '' for a cache that is not split by country.

CREATE TABLE night_run (
  run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  night_date date NOT NULL,
  trigger text COLLATE "C" NOT NULL CHECK (trigger IN ('schedule', 'operator')),
  only_cache text COLLATE "C",
  only_country text COLLATE "C",
  accept_shrink boolean NOT NULL DEFAULT false,
  -- The instant at which complaints decay and brands must be live. NULL: when the night opens.
  evaluated_at timestamptz,
  state text COLLATE "C" NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'running', 'finished')),
  outcome text COLLATE "C" CHECK (outcome IN ('ok', 'partial', 'failed')),
  -- Fence: raised each time that an attempt opens the night. A late finisher of an older one is refused.
  generation integer NOT NULL DEFAULT 0,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  opened_at timestamptz,
  as_of timestamptz,
  snapshot text,
  finished_at timestamptz,
  failure_code text,
  failure_reason text,
  report jsonb,
  CONSTRAINT night_run_finished CHECK ((state = 'finished') = (outcome IS NOT NULL))
);
-- Two schedulers make one night.
CREATE UNIQUE INDEX night_run_scheduled_once ON night_run (night_date) WHERE trigger = 'schedule';
CREATE INDEX night_run_open ON night_run (run_id) WHERE state <> 'finished';

CREATE TABLE build (
  build_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint NOT NULL REFERENCES night_run,
  generation integer NOT NULL,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'running', 'built', 'published', 'unchanged', 'failed')),
  -- Rows counted by SQL in the snapshot of the night, in all and a level.
  rows_expected bigint NOT NULL,
  levels_expected jsonb NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  started_at timestamptz,
  built_at timestamptz,
  rows bigint,
  file_sha256 text COLLATE "C",
  file_bytes bigint,
  plain_sha256 text COLLATE "C",
  plain_bytes bigint,
  failure_code text,
  failure_reason text,
  UNIQUE (run_id, generation, cache, country)
);

CREATE TABLE artefact_version (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  build_id bigint NOT NULL REFERENCES build,
  as_of timestamptz NOT NULL,
  built_at timestamptz NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  rows bigint NOT NULL,
  levels jsonb NOT NULL,
  categories_version integer NOT NULL,
  file_sha256 text COLLATE "C" NOT NULL,
  file_bytes bigint NOT NULL,
  plain_sha256 text COLLATE "C" NOT NULL,
  plain_bytes bigint NOT NULL,
  PRIMARY KEY (cache, country, version)
);
COMMENT ON TABLE artefact_version IS 'Every version that was published. Rows are only added.';

CREATE TABLE publication (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  -- NULL while a cache has failed builds only.
  version integer,
  status text COLLATE "C" NOT NULL CHECK (status IN ('fresh', 'stale')),
  stale_code text,
  stale_reason text,
  stale_since timestamptz,
  -- Snapshot time of the last night whose rows gave exactly the published bytes.
  confirmed_as_of timestamptz,
  PRIMARY KEY (cache, country),
  FOREIGN KEY (cache, country, version) REFERENCES artefact_version,
  CONSTRAINT publication_stale_has_reason CHECK ((status = 'stale') = (stale_code IS NOT NULL))
);
COMMENT ON TABLE publication IS 'The one pointer: which version of each artefact readers are given.';
