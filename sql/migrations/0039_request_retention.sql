-- Compatible with older workers: yes (an index more).
-- Requests that the intake has accepted are forgotten after INTAKE_REQUEST_RETENTION_DAYS.

CREATE INDEX intake_request_accepted_at ON intake_request (accepted_at);
COMMENT ON TABLE intake_request IS 'Which client asked for what through the intake: the trail of what was accepted, and the answers to repeated requests. Kept for INTAKE_REQUEST_RETENTION_DAYS.';
