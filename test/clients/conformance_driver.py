"""Runs the cases of the conformance suite on the client in Python: cases as JSON on standard input, outcomes on standard output."""

import base64
import hashlib
import gzip
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from caller_trust import Client, ClientError, PublicationTrust, find_in_copy, look_up, pull, read_filter, verify_ed25519  # noqa: E402

ARTEFACT = ("spammer_phones", "")


def client_of(url):
    return Client(url, tries_max=2, first_wait_seconds=0.01, silence_seconds_max=5)


def rows_in(directory):
    path = Path(directory) / "spammer_phones" / "rows.tsv.gz"
    return hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest() if path.exists() else None


def cuts_in(directory):
    fields = [line.split("\t") for line in (Path(directory) / "spammer_phones" / "index.tsv").read_text().split("\n")]
    cuts = [" ".join(of[at] for at in ((0, 3, 4, 5, 7) if len(of) == 8 else (0,))) for of in fields]
    return hashlib.sha256("\n".join(cuts).encode()).hexdigest()


def run_step(step, directory, root):
    try:
        if step["kind"] == "pull":
            [pulled] = pull(client_of(step["url"]), directory, ["spammer_phones"], root=root)
            if pulled.failure is not None:
                return {"error": pulled.failure.code, "rows": rows_in(directory)}
            refused = pulled.delta_refused is not None
            outcome = {"how": pulled.how, "version": pulled.version, "refused": refused, "rows": rows_in(directory)}
            return {**outcome, "cuts": cuts_in(directory)}
        if step["kind"] == "find":
            found = find_in_copy(directory, ARTEFACT, step["phone"])
        else:
            client = client_of(step["url"])
            trust = PublicationTrust.open(client, None, root)
            if step["kind"] == "read filter":
                version, held = read_filter(client, ARTEFACT, trust, directory)
                return {"version": version, "keys": held.keys, "found": [phone in held for phone in step["probes"]]}
            options = {"pad_to": step.get("padTo"), "filter_first": step.get("filterFirst", False)}
            found = look_up(client, ARTEFACT, step["phone"], trust, **options)
        return {"version": found.version, "row": found.row, "verified": found.is_verified}
    except ClientError as error:
        return {"error": error.code, "rows": rows_in(directory)}


def main():
    given = json.load(sys.stdin)
    root = base64.b64decode(given["root"])
    outcomes = []
    for steps in given["cases"]:
        with tempfile.TemporaryDirectory() as directory:
            outcomes.append([run_step(step, directory, root) for step in steps])
    signatures = [
        verify_ed25519(*(bytes.fromhex(vector[name]) for name in ("key", "message", "signature")))
        for vector in given["vectors"]
    ]
    json.dump({"outcomes": outcomes, "signatures": signatures}, sys.stdout)


main()
