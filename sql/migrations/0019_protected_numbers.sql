-- Compatible with older workers: yes (a new table, a trigger and columns that may be NULL).
-- Numbers that are never labelled: by numbering plan, and an operator's own.

CREATE TABLE protected_number (
  protection_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What `value` is: one number, the start of numbers, or a regular expression of the numbering plan.
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('number', 'prefix', 'plan')),
  value text COLLATE "C" NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  removed_by text,
  removed_reason text CHECK (removed_reason ~ '\S'),
  removed_at timestamptz,
  CONSTRAINT protected_number_value CHECK (kind = 'plan' OR value ~ CASE kind WHEN 'number' THEN '^\+[1-9][0-9]{7,14}$' ELSE '^\+[1-9][0-9]{2,13}$' END),
  CONSTRAINT protected_number_removed CHECK ((removed_at IS NULL) = (removed_by IS NULL) AND (removed_at IS NULL) = (removed_reason IS NULL))
);
COMMENT ON TABLE protected_number IS 'Numbers that may never be labelled. A row that is removed stays, with who removed it and why.';
CREATE UNIQUE INDEX protected_number_once ON protected_number (value) WHERE removed_at IS NULL;

-- The one question that every path to a label asks.
CREATE FUNCTION is_protected_number(phone text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT EXISTS (SELECT FROM protected_number AS p WHERE p.removed_at IS NULL AND p.kind = 'number' AND p.value = phone COLLATE "C")
    OR EXISTS (
      SELECT FROM protected_number AS p
      WHERE p.removed_at IS NULL AND p.kind <> 'number'
        AND CASE p.kind WHEN 'prefix' THEN starts_with(phone, p.value) ELSE phone COLLATE "C" ~ p.value END)
$$;

-- Whatever writes a label, also a statement that does not know of this table. The word of a feed is kept beside it
-- (feed_level), so that it is published when the protection ends.
CREATE FUNCTION withhold_label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_protected_number(NEW.phone) THEN
    NEW.reputation_level := 'NEUTRAL';
    NEW.reputation_category := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER phone_number_withhold_label BEFORE INSERT OR UPDATE OF phone, reputation_level, reputation_category ON phone_number
  FOR EACH ROW WHEN (NEW.reputation_level <> 'NEUTRAL') EXECUTE FUNCTION withhold_label();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_withhold_label;

-- Labels that a load gave and that are withheld.
ALTER TABLE feed_load ADD COLUMN labels_withheld bigint;

-- Short codes (911, 112, 988, 116xxx) are no E.164 numbers: rows that name one are refused.
INSERT INTO protected_number (kind, value, reason, added_by) VALUES
  ('plan', '^\+1[2-9]\d\d5551212$', 'Directory assistance: line 555-1212 of each area code, also of toll-free ones.', 'numbering plan'),
  ('plan', '^\+1(?!8(?:00|33|44|55|66|77|88))[2-9]\d\d[259]11\d{4}$',
    'Central office codes 211, 511 and 911 of geographic area codes carry no subscribers: emergency calls of wireless phones are routed under such numbers.', 'numbering plan'),
  ('prefix', '+888', 'Country code for telecommunications in disaster relief.', 'numbering plan'),
  ('number', '+18002738255', 'United States: 988 Suicide and Crisis Lifeline.', 'public service'),
  ('number', '+18002221222', 'United States: Poison Control.', 'public service'),
  ('number', '+18007997233', 'United States: National Domestic Violence Hotline.', 'public service'),
  ('number', '+18006564673', 'United States: National Sexual Assault Hotline.', 'public service'),
  ('number', '+18004224453', 'United States: Childhelp National Child Abuse Hotline.', 'public service'),
  ('number', '+18008435678', 'United States: National Center for Missing and Exploited Children.', 'public service'),
  ('number', '+18006213362', 'United States: Federal Emergency Management Agency, assistance.', 'public service'),
  ('number', '+18004248802', 'United States: National Response Center.', 'public service'),
  ('number', '+18002324636', 'United States: Centers for Disease Control and Prevention.', 'public service'),
  ('number', '+18006686868', 'Canada: Kids Help Phone.', 'public service'),
  ('number', '+18447647669', 'Canada: poison centres.', 'public service'),
  ('number', '+18008291040', 'United States: Internal Revenue Service.', 'public service'),
  ('number', '+18007721213', 'United States: Social Security Administration.', 'public service');
