-- Compatible with older workers: yes (a new table, which they do not read).
-- Names that nobody is shown under without a person: an operator's own, beside the list that comes with the service.

CREATE TABLE protected_name (
  protected_name_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name clean_text NOT NULL,
  -- The name as it is compared: the same name in another spelling is protected already.
  folded text COLLATE "C" NOT NULL CHECK (folded <> ''),
  category text COLLATE "C" NOT NULL CHECK (category ~ '^[a-z]+$'),
  country text COLLATE "C" CHECK (country ~ '^[A-Z]{2}$'),
  -- An ordinary word or a family name: in a longer name it counts only beside generic words.
  common boolean NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  added_by text NOT NULL CHECK (added_by ~ '\S'),
  added_at timestamptz NOT NULL DEFAULT now(),
  removed_by text CHECK (removed_by ~ '\S'),
  removed_reason text CHECK (removed_reason ~ '\S'),
  removed_at timestamptz,
  CONSTRAINT protected_name_removed CHECK ((removed_at IS NULL) = (removed_by IS NULL) AND (removed_at IS NULL) = (removed_reason IS NULL))
);
COMMENT ON TABLE protected_name IS 'Names of an operator that always go to a person. A row that is removed stays, with who removed it and why.';
CREATE UNIQUE INDEX protected_name_once ON protected_name (folded) WHERE removed_at IS NULL;

-- The row is its own trail: it is removed once, and nothing else of it changes.
CREATE FUNCTION keep_protected_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL
    AND to_jsonb(NEW) - ARRAY['removed_at', 'removed_by', 'removed_reason'] = to_jsonb(OLD) - ARRAY['removed_at', 'removed_by', 'removed_reason'] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'an entry of protected_name is only added, and removed once';
END $$;
CREATE TRIGGER protected_name_kept BEFORE UPDATE OR DELETE ON protected_name FOR EACH ROW EXECUTE FUNCTION keep_protected_name();
ALTER TABLE protected_name ENABLE ALWAYS TRIGGER protected_name_kept;
