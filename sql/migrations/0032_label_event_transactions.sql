-- Compatible with older workers: yes (a new index).
-- The gates of a night read the label changes since the published snapshot by their transactions, not those of more than a day by their time.

CREATE INDEX label_event_changed_by ON label_event (changed_by);
