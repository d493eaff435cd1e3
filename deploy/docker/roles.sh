#!/bin/sh
# Run once by the PostgreSQL image, on an empty volume: the login of the API, which can only read.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$API_DATABASE_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE caller_trust_reader NOLOGIN;
CREATE ROLE caller_trust_api LOGIN PASSWORD :'password' IN ROLE caller_trust_reader;
SQL
