-- Compatible with older workers: yes (the same events, whoever makes the change).
-- The functions that announce run as their owner: the role that submits work ends a batch of which every result is known, and must not
-- be able to write an event of its own.

ALTER FUNCTION announce_branding() SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION announce_batch() SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION announce_night() SECURITY DEFINER SET search_path = public, pg_temp;
