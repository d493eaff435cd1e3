-- Purpose: disputes of labels, without their contacts.
-- Parameters: $1 state or NULL for all, $2 phone or NULL for all, $3 id after which the page begins (0 for the first), $4 most rows.
-- Rows: one a dispute, oldest first.
SELECT d.dispute_id, d.phone, d.reason, d.filed_by, d.filed_at, d.idempotency_key AS key, d.sealed_contact IS NOT NULL AS has_contact,
  d.level AS "label.level", d.category AS "label.category", d.source AS "label.source", d.state,
  d.decided_at IS NOT NULL AS decision, d.decided_at AS "decision.at", d.decided_by AS "decision.by", d.decision_reason AS "decision.reason",
  d.redress_id AS "decision.redress_id"
FROM number_dispute AS d
WHERE ($1::text IS NULL OR d.state = $1) AND ($2::text IS NULL OR d.phone = $2) AND d.dispute_id > $3
ORDER BY d.dispute_id
LIMIT $4;
