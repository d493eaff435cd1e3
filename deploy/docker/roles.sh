#!/bin/sh
# Run once by the PostgreSQL image, on an empty volume: the login of the API, which can only read, and that of the intake, which can only submit.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$API_DATABASE_PASSWORD" -v intake_password="$INTAKE_DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE caller_trust_reader NOLOGIN;
CREATE ROLE caller_trust_api LOGIN PASSWORD :'password' IN ROLE caller_trust_reader;
CREATE ROLE caller_trust_submitter NOLOGIN;
CREATE ROLE caller_trust_intake LOGIN PASSWORD :'intake_password' IN ROLE caller_trust_submitter;
SQL
