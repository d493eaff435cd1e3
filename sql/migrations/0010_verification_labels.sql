-- Compatible with older workers: yes (they wait while it runs).
-- Labels of the verifications that were there before 0009_console.sql, and the indexes by which the console lists verifications of all clients.
-- Nobody writes to verification until it has ended; reading goes on. For a million verifications that takes three minutes on two busy
-- cores; an index that was added later would hold them up as well. Taken first, the lock cannot meet a worker's row half-way.

LOCK TABLE verification IN SHARE ROW EXCLUSIVE MODE;
UPDATE verification AS v SET label = r.decision ->> 'label' FROM verification_result AS r
WHERE r.result_id = v.result_id AND r.decision IS NOT NULL AND v.label IS NULL;

CREATE INDEX verification_newest_in_state ON verification (state, batch_id, line);
CREATE INDEX verification_newest_of_model ON verification (model, batch_id, line) WHERE model IS NOT NULL;
CREATE INDEX verification_newest_with_label ON verification (label, batch_id, line) WHERE label IS NOT NULL;
