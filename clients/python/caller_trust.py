"""A client of a Caller Trust service: verified copies of its caches, deltas, look-ups.

One file of the standard library, for Python 3.9 and later. docs/artefacts.md and docs/trust.md of the service describe what
it reads; test/clients/conformance.test.ts checks that it does so as the client in TypeScript does.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union

__version__ = "0.1.0"
__all__ = [
    "CACHES", "Client", "ClientError", "NumberFilter", "PublicationTrust", "Pulled", "apply_delta_file", "find_in_copy", "look_up",
    "pull", "read_filter", "read_manifest", "read_manifests", "read_number", "verify_ed25519",
]

Result = TypeVar("Result")
Json = Any
Artefact = Tuple[str, str]
"""A cache and its country, which is empty for a cache that is not split by country."""

CACHES: Mapping[str, bool] = {"phones": True, "branded_phones": False, "spammer_phones": False, "spam_ranges": False}
"""The caches, and whether each is split by country."""


class ClientError(Exception):
    """An error of the client or the service; `code` is one of the codes of docs/errors.md of the service."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class VersionChanged(Exception):
    """Another version was published while one was read."""


class ConnectionLost(Exception):
    """The connection failed or was too slow; another try may get the rest."""


def key_of(cache: str, phone: str) -> str:
    """The key of the row about a number in E.164: of ranges at risk, the number without its last three digits."""
    return phone[:-3] if cache == "spam_ranges" else phone


def artefact_of(cache: str, country: Optional[str] = None) -> Artefact:
    """Checks a cache and a country. Raises `cache_unknown`, `country_required`, `country_invalid`."""
    if cache not in CACHES:
        raise ClientError("cache_unknown", f"No cache has the name {cache}; there are {', '.join(CACHES)}.")
    if not CACHES[cache]:
        if country:
            raise ClientError("country_invalid", f"{cache} is not split by country.")
        return cache, ""
    if not country:
        raise ClientError("country_required", f"{cache} is split by country.")
    if re.fullmatch("[A-Z]{2}", country) is None:
        raise ClientError("country_invalid", "A country is two upper-case letters of ISO 3166-1.")
    return cache, country


def copy_name(artefact: Artefact) -> str:
    """The name of a copy in its directory: `phones-US`."""
    return "-".join(part for part in artefact if part)


# --- Ed25519 (RFC 8032, section 5.1.7) ---------------------------------------------------------------------------------

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_SQRT_M1 = pow(2, (_P - 1) // 4, _P)
_Point = Tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def _recover_x(y: int, sign: int) -> Optional[int]:
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _SQRT_M1 % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _recover_x(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def _add(a: _Point, b: _Point) -> _Point:
    low, high = (a[1] - a[0]) * (b[1] - b[0]) % _P, (a[1] + a[0]) * (b[1] + b[0]) % _P
    c, d = 2 * a[3] * b[3] * _D % _P, 2 * a[2] * b[2] % _P
    e, f, g, h = high - low, d - c, d + c, high + low
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(times: int, point: _Point) -> _Point:
    product = _NEUTRAL
    while times > 0:
        if times & 1:
            product = _add(product, point)
        point = _add(point, point)
        times >>= 1
    return product


def _decompress(encoded: bytes) -> Optional[_Point]:
    number = int.from_bytes(encoded, "little")
    y, sign = number & ((1 << 255) - 1), number >> 255
    x = _recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


def verify_ed25519(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """True if the signature of 64 bytes is one of the message by the key of 32 bytes. Takes some tens of milliseconds at most."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, point = _decompress(public_key), _decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or point is None or scalar >= _L:
        return False
    hashed = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % _L
    left, right = _multiply(scalar, _BASE), _add(point, _multiply(hashed, key))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (left[1] * right[2] - right[1] * left[2]) % _P == 0


# --- Requests ----------------------------------------------------------------------------------------------------------

_RETRYABLE = frozenset({429, 500, 502, 503, 504})
_CHUNK_BYTES = 256 * 1024
_DOCUMENT_BYTES_MAX = 64 * 1024 * 1024


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]


@dataclass
class Client:
    """Requests to a service with key, retries and a count of received bytes. Proxies of the environment are not used."""

    url: str
    key: Optional[str] = field(default=None, repr=False)
    tries_max: int = 6
    first_wait_seconds: float = 0.5
    wait_seconds_max: float = 300
    silence_seconds_max: float = 30
    bytes_per_second_min: int = 1024
    bytes_received: int = 0

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ClientError("usage_invalid", "The address of the service is not an http or https URL.")
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def read_json(self, href: str) -> Json:
        """Reads a JSON document."""
        found = self.find_bytes(href, _DOCUMENT_BYTES_MAX, missing=False)
        return _parse_json(found or b"", "The document is not JSON.")

    def find_bytes(self, href: str, bytes_max: int, missing: bool = True) -> Optional[bytes]:
        """Reads a small file; None if the service has none of this name and `missing` allows that."""

        def read() -> Optional[bytes]:
            answer = self._ask(href, {}, missing)
            return None if answer.status == 404 else _collect(answer.chunks, bytes_max)

        return self._retry(read)

    def read_range(
        self, remote: "RemoteFile", start: int, end: int, take: Callable[[bytes, int], object]
    ) -> None:
        """Passes the bytes from `start` to before `end` to `take` with their place. Missing ones are requested again."""
        at = start

        def read() -> None:
            nonlocal at
            headers = {"Range": f"bytes={at}-{end - 1}"}
            if not remote.is_signed:
                headers["If-Range"] = f'"{remote.sha256}"'
            answer = self._ask(remote.href, headers, missing=True)
            _require_range(answer, remote, f"bytes {at}-{end - 1}/{remote.bytes}")
            for chunk in answer.chunks:
                if at + len(chunk) > end:
                    raise ClientError("download_failed", "The service sends more bytes than were requested.")
                take(chunk, at)
                at += len(chunk)
            if at < end:
                raise ConnectionLost("the answer ended early")

        self._retry(read, lambda: at)

    def _retry(self, work: Callable[[], Result], progress: Callable[[], int] = lambda: 0) -> Result:
        failures = 1
        while True:
            before = progress()
            try:
                return work()
            except _RetryableAnswer as error:
                wait, problem = error.after_seconds, str(error)
            except (ConnectionLost, OSError, http.client.HTTPException) as error:
                wait, problem = None, f"The connection failed: {getattr(error, 'reason', error)}."
            if progress() > before:
                failures = 1
            if failures >= self.tries_max or (wait or 0) > self.wait_seconds_max:
                raise ClientError("download_failed", problem)
            seconds = wait if wait is not None else min(self.first_wait_seconds * 2 ** (failures - 1), self.wait_seconds_max)
            time.sleep(seconds + random.random() * self.first_wait_seconds)
            failures += 1

    def _ask(self, href: str, headers: Mapping[str, str], missing: bool) -> _Answer:
        request = urllib.request.Request(self.url + href, headers={"Accept-Encoding": "identity", **headers})
        if self.key is not None:
            request.add_unredirected_header("Authorization", f"Bearer {self.key}")  # never sent to another address
        try:
            response = self._opener.open(request, timeout=self.silence_seconds_max)
        except urllib.error.HTTPError as error:
            if error.code == 404 and missing:
                error.close()
                return _Answer(404, {}, iter(()))
            raise _answer_error(error, href) from None
        given = {name.lower(): value for name, value in response.headers.items()}
        return _Answer(response.status, given, self._chunks(response))

    def _chunks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        with contextlib.closing(response):
            since, received = time.monotonic(), 0
            while True:
                chunk = response.read1(_CHUNK_BYTES)
                if not chunk:
                    return
                received += len(chunk)
                self.bytes_received += len(chunk)
                passed = time.monotonic() - since
                if passed > self.silence_seconds_max:
                    if received < self.bytes_per_second_min * passed:
                        raise ConnectionLost(f"fewer than {self.bytes_per_second_min} bytes a second arrived")
                    since, received = time.monotonic(), 0
                yield chunk


def _require_range(answer: _Answer, remote: "RemoteFile", wanted: str) -> None:
    """A range of a file of another length is another version's, or damaged where only one version can have the address."""
    etag = answer.headers.get("etag")
    is_same = remote.is_signed or etag == f'"{remote.sha256}"'
    if answer.status == 206 and answer.headers.get("content-range") == wanted:
        return
    if answer.status == 206 and is_same:
        raise ClientError("download_damaged", "The downloaded file is not as it was published.")
    if answer.status in (206, 404) or (not is_same and etag is not None):
        raise VersionChanged
    raise ClientError("download_failed", f"The service answers {answer.status} to a request for a range.")


class _RetryableAnswer(Exception):
    def __init__(self, message: str, after_seconds: Optional[float]) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


def _answer_error(error: urllib.error.HTTPError, href: str) -> Exception:
    with contextlib.closing(error):
        body = error.read(64 * 1024)
    try:
        problem = json.loads(body)
        code, detail = str(problem["code"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        code, detail = "download_failed", ""  # the answer of a proxy
    message = f"{href}: the service answers {error.code}{': ' if detail else ''}{detail}"
    if error.code not in _RETRYABLE:
        return ClientError(code, message)
    after = error.headers.get("Retry-After", "")
    return _RetryableAnswer(message, float(after) if after.isdigit() else None)


def _collect(chunks: Iterable[bytes], bytes_max: int) -> bytes:
    parts, size = [], 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > bytes_max:
            raise ClientError("download_damaged", f"The document is longer than {bytes_max} bytes.")
    return b"".join(parts)


def _parse_json(data: bytes, problem: str) -> Json:
    try:
        return json.loads(data)
    except ValueError as cause:
        raise ClientError("download_damaged", problem) from cause


# --- Manifests ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RemoteFile:
    """A file of the service as its manifest names it."""

    href: str
    sha256: str
    bytes: int

    @property
    def is_signed(self) -> bool:
        """True for an address below a digest, whose bytes never change."""
        return self.href.startswith("/v1/trust/targets/")


class FilePart(NamedTuple):
    """A part of a file whose digest is known: the directory of an index, or a page of it."""

    offset: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The facts about a published version; `document` has all of them."""

    document: Json
    file: RemoteFile
    index: RemoteFile
    directory: FilePart
    deltas: Mapping[int, RemoteFile]
    filter: Optional[RemoteFile] = None
    is_verified: bool = False

    @property
    def version(self) -> int:
        return self.document["version"]

    @property
    def columns(self) -> List[str]:
        return [column["name"] for column in self.document["columns"]]

    @property
    def plain_sha256(self) -> str:
        """SHA-256 of the decompressed text."""
        return self.document["file"]["plainSha256"]

    @property
    def artefact(self) -> Artefact:
        return self.document["cache"], self.document["country"] or ""


_HREF = re.compile(r"/(?!/)[\x21-\x7e]*")
_SHA256 = re.compile("[0-9a-f]{64}")


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def _remote(entry: Mapping[str, Json], bytes_min: int = 1) -> RemoteFile:
    href, sha256, size = entry["href"], entry["sha256"], entry["bytes"]
    _require(isinstance(href, str) and _HREF.fullmatch(href) is not None)  # never a full URL: the request carries the key
    _require(isinstance(sha256, str) and _SHA256.fullmatch(sha256) is not None)
    _require(type(size) is int and size >= bytes_min)
    return RemoteFile(href, sha256, size)


def _part(entry: Mapping[str, Json]) -> FilePart:
    offset, size, sha256 = entry["offset"], entry["bytes"], entry["sha256"]
    _require(type(offset) is int and offset >= 0 and type(size) is int and size >= 0 and _SHA256.fullmatch(sha256) is not None)
    return FilePart(offset, size, sha256)


def parse_manifest(document: Json) -> Manifest:
    """Checks a received manifest. Raises `download_damaged`."""
    try:
        _require(document["schema"] == "caller-trust/manifest/1" and re.fullmatch("[a-z_]{1,40}", document["cache"]) is not None)
        _require(document["country"] is None or re.fullmatch("[A-Z]{2}", document["country"]) is not None)
        _require(type(document["version"]) is int and document["version"] > 0)
        _require(type(document["rows"]) is int and document["rows"] >= 0)
        _require(len(document["columns"]) > 0 and all(isinstance(column["name"], str) for column in document["columns"]))
        _require(_SHA256.fullmatch(document["file"]["plainSha256"]) is not None)
        index, held = document["index"], document["filter"]
        _require(type(index["blockBytesMax"]) is int and index["blockBytesMax"] >= 0)
        return Manifest(
            document=document,
            file=_remote(document["file"]),
            index=_remote(index, bytes_min=0),
            directory=_part(index["directory"]),
            deltas={delta["from"]: _remote(delta) for delta in document["deltas"]},
            filter=None if held is None else _remote(held),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as cause:
        raise ClientError("download_damaged", "The manifest has a format that this client does not know.") from cause


def read_manifests(client: Client) -> List[Manifest]:
    """The manifests of everything that a service publishes; their signatures are not checked."""
    return [parse_manifest(each) for each in client.read_json("/v1/caches")["manifests"]]


def read_manifest(client: Client, artefact: Artefact, trust: Optional["PublicationTrust"] = None) -> Manifest:
    """The present manifest of an artefact: as the signed list names it, or by the service's word alone."""
    if trust is not None:
        return trust.read_manifest(artefact)
    cache, country = artefact
    return parse_manifest(client.read_json(f"/v1/caches/{cache}/manifest{f'?country={country}' if country else ''}"))


def read_number(client: Client, phone: str) -> Json:
    """The label of a number as it is now, with its reason; the key needs the scope `numbers:read`."""
    return client.read_json(f"/v1/numbers/{urllib.parse.quote(phone, safe='')}")


# --- Signatures (docs/trust.md) ----------------------------------------------------------------------------------------

_METADATA_BYTES_MAX = {"root": 512 * 1024, "timestamp": 16 * 1024, "snapshot": 1024 * 1024, "targets": 64 * 1024 * 1024}
_ROOTS_FOLLOWED_MAX = 64


def canonical_json(value: Json) -> str:
    """The canonical JSON over which TUF signs: keys in order, integers only, and only quotes and backslashes escaped."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) < 2**53:
        return str(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, dict):
        in_order = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(each)}" for name, each in in_order) + "}"
    raise ClientError("trust_invalid", "Signed metadata holds a value that has no canonical form.")


class _Metadata(NamedTuple):
    signed: Json
    signatures: Sequence[Tuple[str, str]]
    data: bytes


def _mixed(what: str) -> ClientError:
    return ClientError("trust_mixed", f"The served {what} is not the one that the signed metadata names.")


def _check_form(role: str, signed: Json) -> None:
    _require(signed["_type"] == role and re.fullmatch(r"1\.\d+(\.\d+)?", signed["spec_version"]) is not None)
    _require(type(signed["version"]) is int and signed["version"] > 0)
    _parse_time(signed["expires"])
    if role == "root":
        _require(signed["consistent_snapshot"] is True)
        for key in signed["keys"].values():
            _require(key["keytype"] == key["scheme"] == "ed25519" and _SHA256.fullmatch(key["keyval"]["public"]) is not None)
        for each in ("root", "targets", "snapshot", "timestamp"):
            keys = signed["roles"][each]
            _require(len(keys["keyids"]) > 0 and type(keys["threshold"]) is int and keys["threshold"] > 0)
    elif role == "targets":
        for target in signed["targets"].values():
            _check_listed(target)
    else:
        listed = signed["meta"]["targets.json" if role == "snapshot" else "snapshot.json"]
        _require(type(listed["version"]) is int and listed["version"] > 0)
        _check_listed(listed)


def _check_listed(entry: Json) -> None:
    _require(type(entry["length"]) is int and entry["length"] >= 0)
    _require(_SHA256.fullmatch(entry["hashes"]["sha256"]) is not None)


def _parse_time(text: str) -> datetime:
    _require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text) is not None)
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)


def _parse_metadata(role: str, data: bytes) -> _Metadata:
    try:
        document = json.loads(data)
        signatures = [(each["keyid"], each["sig"]) for each in document["signatures"]]
        _require(len(signatures) <= 64)
        _check_form(role, document["signed"])
        return _Metadata(document["signed"], signatures, data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as cause:
        raise ClientError("trust_invalid", f"The metadata of the role {role} has a form that this client does not know.") from cause


def _require_signed(metadata: _Metadata, root: Json) -> None:
    """As many different keys as the threshold of the role must have signed."""
    role = metadata.signed["_type"]
    keys, threshold = root["roles"][role]["keyids"], root["roles"][role]["threshold"]
    message = canonical_json(metadata.signed).encode()
    signers = set()
    for keyid, signature in metadata.signatures:
        key = root["keys"].get(keyid) if keyid in keys else None
        if key is None or re.fullmatch("[0-9a-f]{128}", signature) is None:
            continue
        public = key["keyval"]["public"]
        if public not in signers and verify_ed25519(bytes.fromhex(public), message, bytes.fromhex(signature)):
            signers.add(public)
    if len(signers) < threshold:
        raise ClientError("trust_invalid", f"The metadata of the role {role} has {len(signers)} valid signatures of {threshold}.")


def _require_fresh(signed: Json, now: datetime) -> None:
    if _parse_time(signed["expires"]) <= now:
        raise ClientError("trust_expired", f"The metadata of the role {signed['_type']} expired at {signed['expires']}.")


def _require_not_older(role: str, given: int, trusted: int) -> None:
    if given < trusted:
        raise ClientError("trust_older", f"Version {given} of the {role} metadata is served where {trusted} was trusted before.")


def _first_root(data: bytes) -> _Metadata:
    root = _parse_metadata("root", data)
    _require_signed(root, root.signed)
    return root


class PublicationTrust:
    """The signed list of what is published, verified as a TUF client does. Use :meth:`open`."""

    def __init__(self, client: Client, directory: Optional[Path], anchor: bytes, root: bytes, first_use: bool) -> None:
        self._client, self._directory, self._anchor = client, directory, anchor
        self._is_pinned = directory is not None and (directory / "root.json").exists()
        self._memory: Dict[str, bytes] = {}
        self._root = _first_root(root)
        self.first_use = first_use
        self.anchor_sha256 = hashlib.sha256(anchor).hexdigest()
        self.targets: Json = {}
        self.valid_until = ""

    @classmethod
    def open(
        cls, client: Client, directory: Union[str, Path, None], root: Optional[bytes] = None
    ) -> Optional["PublicationTrust"]:
        """Opens and refreshes the list; None if the service signs nothing, no root was given, and none was seen before.

        `directory` keeps what was trusted; `root` is a root that the caller trusts. Without one the first that the service
        serves is taken at the first use. Raises `trust_unsigned`, `trust_invalid`, `trust_older`, `trust_expired`, `trust_mixed`.
        """
        folder = None if directory is None else Path(directory)
        kept = [None if folder is None else _read_file(folder / name) for name in ("anchor.json", "root.json")]
        if kept[0] is not None and kept[1] is not None:
            if root is not None and root not in kept:
                raise ClientError("usage_invalid", "The directory trusts another root than the one that was given.")
            trust = cls(client, folder, kept[0], kept[1], first_use=False)
        elif root is not None:
            trust = cls(client, folder, root, root, first_use=False)
        else:
            served = client.find_bytes("/v1/trust/1.root.json", _METADATA_BYTES_MAX["root"])
            if served is None:
                return None
            trust = cls(client, folder, served, served, first_use=True)
        trust.refresh()
        return trust

    def refresh(self) -> None:
        """Takes what is signed now."""
        now = datetime.now(timezone.utc)
        self._follow_roots()
        root = self._root.signed
        _require_fresh(root, now)
        trusted = {role: self._read_trusted(role) for role in ("timestamp", "snapshot", "targets")}
        timestamp = self._accept_timestamp(trusted["timestamp"])
        _require_fresh(timestamp.signed, now)
        listed = timestamp.signed["meta"]["snapshot.json"]
        snapshot = self._fetch_listed("snapshot", listed, trusted["snapshot"])
        if trusted["snapshot"] is not None:
            before = trusted["snapshot"].signed["meta"]["targets.json"]["version"]
            _require_not_older("targets", snapshot.signed["meta"]["targets.json"]["version"], before)
        _require_fresh(snapshot.signed, now)
        targets = self._fetch_listed("targets", snapshot.signed["meta"]["targets.json"], trusted["targets"])
        _require_fresh(targets.signed, now)
        self._keep({"targets": targets.data, "snapshot": snapshot.data, "timestamp": timestamp.data})
        self.targets, self.valid_until = targets.signed["targets"], timestamp.signed["expires"]

    def list_artefacts(self) -> List[Artefact]:
        """The artefacts whose manifests are signed."""
        found = []
        for path in self.targets:
            match = re.fullmatch(r"([a-z_]+)/(?:([A-Z]{2})/)?manifest\.json", path)
            if match is not None and CACHES.get(match[1]) == (match[2] is not None):
                found.append((match[1], match[2] or ""))
        return found

    def read_manifest(self, artefact: Artefact) -> Manifest:
        """The signed manifest of an artefact, with the addresses of the signed files."""
        place = "/".join(part for part in artefact if part)
        target = self.targets.get(f"{place}/manifest.json")
        if target is None:
            raise ClientError("artefact_not_found", f"{place} is not published.")
        data = self._client.find_bytes(_target_href(place, "manifest.json", target["hashes"]["sha256"]), target["length"])
        if data is None:
            raise VersionChanged
        if len(data) != target["length"] or hashlib.sha256(data).hexdigest() != target["hashes"]["sha256"]:
            raise _mixed("manifest")
        manifest = parse_manifest(_parse_json(data, "The manifest is not JSON."))

        def at(remote: RemoteFile, name: str) -> RemoteFile:
            return RemoteFile(_target_href(place, name, remote.sha256), remote.sha256, remote.bytes)

        return Manifest(
            document=manifest.document,
            file=at(manifest.file, "rows.tsv.gz"),
            index=at(manifest.index, "index.tsv"),
            directory=manifest.directory,
            deltas={start: at(delta, f"delta-from-{start}.tsv.gz") for start, delta in manifest.deltas.items()},
            filter=None if manifest.filter is None else at(manifest.filter, "filter.bin"),
            is_verified=True,
        )

    def _follow_roots(self) -> None:
        for _ in range(_ROOTS_FOLLOWED_MAX):
            version = self._root.signed["version"]
            data = self._client.find_bytes(f"/v1/trust/{version + 1}.root.json", _METADATA_BYTES_MAX["root"])
            if data is None:
                return
            following = _parse_metadata("root", data)
            _require_signed(following, self._root.signed)
            _require_signed(following, following.signed)
            if following.signed["version"] != version + 1:
                raise ClientError("trust_older", f"The root after version {version} says that it is {following.signed['version']}.")
            self._root = following
            if self._is_pinned:
                self._write("root.json", data)

    def _read_trusted(self, role: str) -> Optional[_Metadata]:
        """What an earlier refresh kept, if the present root's keys still sign for it: else it binds no longer."""
        data = self._read(f"{role}.json")
        if data is None:
            return None
        try:
            metadata = _parse_metadata(role, data)
            _require_signed(metadata, self._root.signed)
            return metadata
        except ClientError:
            return None

    def _accept_timestamp(self, trusted: Optional[_Metadata]) -> _Metadata:
        data = self._client.find_bytes("/v1/trust/timestamp.json", _METADATA_BYTES_MAX["timestamp"])
        if data is None:
            raise ClientError("trust_unsigned", "The service serves no signed list, though a root for it is known.")
        served = _parse_metadata("timestamp", data)
        _require_signed(served, self._root.signed)
        if trusted is None:
            return served
        _require_not_older("timestamp", served.signed["version"], trusted.signed["version"])
        snapshots = [each.signed["meta"]["snapshot.json"]["version"] for each in (served, trusted)]
        _require_not_older("snapshot", snapshots[0], snapshots[1])
        return trusted if served.signed["version"] == trusted.signed["version"] else served

    def _fetch_listed(self, role: str, listed: Json, trusted: Optional[_Metadata]) -> _Metadata:
        data, sha256 = None, listed["hashes"]["sha256"]
        if trusted is not None and hashlib.sha256(trusted.data).hexdigest() == sha256:
            data = trusted.data
        else:
            limit = min(listed["length"], _METADATA_BYTES_MAX[role])
            data = self._client.find_bytes(f"/v1/trust/{listed['version']}.{role}.json", limit)
        if data is None or len(data) != listed["length"] or hashlib.sha256(data).hexdigest() != sha256:
            raise _mixed(f"{role} metadata")
        metadata = _parse_metadata(role, data)
        _require_signed(metadata, self._root.signed)
        if metadata.signed["version"] != listed["version"]:
            raise _mixed(f"{role} metadata")
        return metadata

    def _keep(self, files: Mapping[str, bytes]) -> None:
        """The timestamp last: a refresh that is killed is repeated by the next one."""
        if not self._is_pinned:
            self._write("root.json", self._root.data)
        for role, data in files.items():
            if self._read(f"{role}.json") != data:
                self._write(f"{role}.json", data)
        if not self._is_pinned:
            self._write("anchor.json", self._anchor)
        self._is_pinned = True

    def _read(self, name: str) -> Optional[bytes]:
        return self._memory.get(name) if self._directory is None else _read_file(self._directory / name)

    def _write(self, name: str, data: bytes) -> None:
        if self._directory is None:
            self._memory[name] = data
        else:
            _write_file(self._directory / name, data)


def _target_href(place: str, name: str, sha256: str) -> str:
    return f"/v1/trust/targets/{place}/{sha256}.{name}"


def _read_file(path: Path) -> Optional[bytes]:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None  # other errors are thrown: an unreadable root must not look like a first use


def _write_file(path: Path, data: bytes) -> None:
    """Writes under another name and renames, so that a reader sees the whole new file or the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(unfinished, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


# --- Rows, segments, deltas (docs/artefacts.md) ------------------------------------------------------------------------

_GZIP_HEADER = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
_FINAL_BLOCK = b"\x03\x00"


class Segment(NamedTuple):
    """An independently compressed range of rows."""

    prefix: str
    offset: int
    bytes: int
    plain_bytes: int
    rows: int
    crc: int
    sha256: str


_PAGE_LINE = re.compile(r"\+\d*(?:\t\d{1,15}){2}\t[0-9a-f]{64}")
_SEGMENT_LINE = re.compile(r"\+\d*(?:\t\d{1,15}){4}(?:\t[0-9a-f]{8}){2}\t[0-9a-f]{64}")


def parse_directory(data: bytes, directory: FilePart) -> List[Tuple[str, FilePart]]:
    """The pages of an index, each with the prefix of its first segment. Raises `segment_index_invalid`."""
    lines = _index_lines(data, directory.sha256, _PAGE_LINE)
    return [(prefix, FilePart(int(offset), int(size), sha256)) for prefix, offset, size, sha256 in lines]


def parse_page(data: bytes, page: FilePart) -> List[Segment]:
    """The segments of a page of an index. Raises `segment_index_invalid`."""
    return [
        Segment(prefix, int(offset), int(size), int(plain), int(rows), int(crc, 16), sha256)
        for prefix, offset, size, plain, rows, crc, _block_crc, sha256 in _index_lines(data, page.sha256, _SEGMENT_LINE)
    ]


def parse_index(data: bytes, directory: FilePart) -> List[Segment]:
    """All segments of an index. Raises `segment_index_invalid`."""
    pages = parse_directory(data[directory.offset :], directory)
    return [segment for _, page in pages for segment in parse_page(data[page.offset : page.offset + page.bytes], page)]


def _index_lines(data: bytes, sha256: str, form: "re.Pattern[str]") -> List[List[str]]:
    """The fields of each line: a prefix, a place and a length first, ascending and without gaps."""
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ClientError("segment_index_invalid", "A part of the index is not the one that was announced.")
    lines = data.decode().split("\n")
    if lines.pop() != "" or any(form.fullmatch(line) is None for line in lines):
        raise ClientError("segment_index_invalid", "A line of the index is not well formed.")
    fields = [line.split("\t") for line in lines]
    for before, each in zip(fields, fields[1:]):
        if before[0] >= each[0] or int(before[1]) + int(before[2]) != int(each[1]):
            raise ClientError("segment_index_invalid", "A line of the index does not follow the one before it.")
    return fields


def find_page(pages: Sequence[Tuple[str, FilePart]], key: str) -> Optional[FilePart]:
    """The page with the segment that would contain the row of a key; None if no page can have it."""
    at = bisect_right([prefix for prefix, _ in pages], key)
    return pages[at - 1][1] if at > 0 else None


def find_segment(segments: Sequence[Segment], key: str) -> Optional[Segment]:
    """The segment that would contain the row of a key: the last one up to the key, if the key begins with its prefix."""
    at = bisect_right([segment.prefix for segment in segments], key)
    return segments[at - 1] if at > 0 and key.startswith(segments[at - 1].prefix) else None


def inflate_segment(block: bytes, segment: Segment) -> bytes:
    """The rows of a segment from its bytes in the file. Raises `segment_index_invalid`."""
    try:
        plain = zlib.decompressobj(-15).decompress(block, segment.plain_bytes + 1)
    except zlib.error:
        plain = b""
    if len(plain) != segment.plain_bytes or zlib.crc32(plain) != segment.crc:
        raise ClientError("segment_index_invalid", "The bytes of a segment do not match the segment index.")
    return plain


def find_row(rows: bytes, key: str, columns: Sequence[str]) -> Optional[Dict[str, str]]:
    """The row of a key among rows, by its columns; None if there is none. An absent value is the empty string."""
    wanted = key.encode() + b"\t"
    at = 0 if rows.startswith(wanted) else rows.find(b"\n" + wanted) + 1
    if at == 0 and not rows.startswith(wanted):
        return None
    values = rows[at : rows.index(b"\n", at)].decode().split("\t")
    if len(values) != len(columns):
        raise ClientError("download_damaged", "The row does not have the columns of the manifest.")
    return dict(zip(columns, values))


def read_gzip_lines(chunks: Iterable[bytes], problem: str) -> Iterator[bytes]:
    """The lines of one gzip member, each with its line feed. Raises `delta_invalid` with the problem if it is damaged."""
    inflate, rest = zlib.decompressobj(31), b""
    try:
        for chunk in chunks:
            if inflate.eof:
                raise zlib.error("bytes after the member")
            lines = (rest + inflate.decompress(chunk)).split(b"\n")
            rest = lines.pop()
            for line in lines:
                yield line + b"\n"
    except zlib.error as cause:
        raise ClientError("delta_invalid", problem) from cause
    if not inflate.eof or inflate.unused_data or rest:
        raise ClientError("delta_invalid", problem)


def _read_chunks(path: Union[str, Path]) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while True:
            chunk = file.read(_CHUNK_BYTES)
            if not chunk:
                return
            yield chunk


_DELTA_LINE = re.compile(rb"(?:[+~]\t(\+\d{5,15})\t[^\n]*|-\t(\+\d{5,15}))\n")
_Change = Tuple[bytes, bytes, bytes]
"""Operation, key, and the row that it puts there."""


def read_delta(path: Union[str, Path]) -> List[List[_Change]]:
    """The steps of a delta, in memory: each is a list of changes that ascend by key. Raises `delta_invalid`."""
    steps: List[List[_Change]] = []
    before = b""
    for number, line in enumerate(read_gzip_lines(_read_chunks(path), "The delta is damaged or cut off."), 1):
        match = _DELTA_LINE.fullmatch(line)
        if match is None:
            raise ClientError("delta_invalid", f"Line {number} of the delta is not well formed.")
        key = match[1] or match[2]
        if not steps or key <= before:
            steps.append([])
        steps[-1].append((line[:1], key, line[2:]))
        before = key
    return steps


def apply_step(rows: Iterable[bytes], changes: Sequence[_Change]) -> Iterator[bytes]:
    """Applies one step of a delta to rows, which ascend. Raises `delta_invalid` where it does not fit."""
    at = 0
    for row in rows:
        key = row[: row.index(b"\t")]
        while at < len(changes) and changes[at][1] < key:
            yield _added(changes[at])
            at += 1
        if at == len(changes) or changes[at][1] != key:
            yield row
            continue
        operation, _, text = changes[at]
        if operation == b"+":
            raise ClientError("delta_invalid", "A line adds a number that is there already.")
        if operation == b"~":
            yield text
        at += 1
    for change in changes[at:]:
        yield _added(change)


def _added(change: _Change) -> bytes:
    if change[0] != b"+":
        raise ClientError("delta_invalid", "A line changes or removes a number that is not there.")
    return change[2]


_SEGMENT_ROWS_MAX = 3000
_PAGE_SEGMENTS = 96


def cut_segments(rows: Iterable[bytes], rows_max: int = _SEGMENT_ROWS_MAX) -> Iterator[Tuple[str, List[bytes]]]:
    """Cuts ascending rows into segments: the leaves of the tree of prefixes with at most `rows_max` rows each."""
    lines: List[bytes] = []
    keys: List[bytes] = []
    start, node, closed = 0, b"", b""
    source, ended = iter(rows), False
    while True:
        if not ended and len(lines) - start <= rows_max:
            lines, keys, start = lines[start:], keys[start:], 0
            for row in source:
                key = row[: row.find(b"\t")]
                if keys and key <= keys[-1]:
                    raise ClientError("delta_invalid", "The rows are not in the order of their keys.")
                lines.append(row)
                keys.append(key)
                if len(lines) > 2 * rows_max:
                    break
            else:
                ended = True
        if start == len(lines):
            return
        key = keys[start]
        if not node:
            shared = len(os.path.commonprefix([closed, key]))
            node = key[: shared + 1] if closed else b"+"
        end = bisect_left(keys, node + b":", start)
        if end - start <= rows_max:
            if end == len(keys) and not ended:
                continue  # more of its rows may follow
        elif len(key) == len(node):
            end = start + 1  # a key that is the prefix of others
        else:
            node = key[: len(node) + 1]
            continue
        yield node.decode(), lines[start:end]
        start, closed, node = end, node, b""


class _SegmentWriter:
    """Writes segments to a file as one gzip member, and finds their index and the SHA-256 of the text."""

    def __init__(self, file: Any) -> None:
        self._file, self._offset, self._crc, self._plain = file, len(_GZIP_HEADER), 0, 0
        self._text = hashlib.sha256()
        self._segments: List[Tuple[str, str]] = []
        file.write(_GZIP_HEADER)

    def add(self, prefix: str, rows: Sequence[bytes]) -> None:
        plain = b"".join(rows)
        deflate = zlib.compressobj(6, zlib.DEFLATED, -15)
        block = deflate.compress(plain) + deflate.flush(zlib.Z_FULL_FLUSH)
        facts = f"{self._offset}\t{len(block)}\t{len(plain)}\t{len(rows)}\t{zlib.crc32(plain):08x}\t{zlib.crc32(block):08x}"
        self._segments.append((prefix, f"{prefix}\t{facts}\t{hashlib.sha256(plain).hexdigest()}\n"))
        self._text.update(plain)
        self._file.write(block)
        self._offset += len(block)
        self._crc, self._plain = zlib.crc32(plain, self._crc), self._plain + len(plain)

    def end(self) -> str:
        """Returns the SHA-256 of the text."""
        trailer = self._crc.to_bytes(4, "little") + (self._plain % 2**32).to_bytes(4, "little")
        self._file.write(_FINAL_BLOCK + trailer)
        return self._text.hexdigest()

    def index(self) -> Tuple[bytes, FilePart]:
        """The index, and where its directory is."""
        pages, lines = [], []
        for at in range(0, len(self._segments), _PAGE_SEGMENTS):
            page = "".join(line for _, line in self._segments[at : at + _PAGE_SEGMENTS]).encode()
            digest = hashlib.sha256(page).hexdigest()
            lines.append(f"{self._segments[at][0]}\t{sum(map(len, pages))}\t{len(page)}\t{digest}\n")
            pages.append(page)
        directory, all_pages = "".join(lines).encode(), b"".join(pages)
        return all_pages + directory, FilePart(len(all_pages), len(directory), hashlib.sha256(directory).hexdigest())


def check_file(path: Union[str, Path], manifest: Manifest) -> None:
    """Compares a downloaded file with its manifest: sha256 and plainSha256. Raises `download_damaged`."""
    digest, text, inflate = hashlib.sha256(), hashlib.sha256(), zlib.decompressobj(31)
    try:
        for chunk in _read_chunks(path):
            digest.update(chunk)
            text.update(inflate.decompress(chunk))
    except zlib.error:
        pass  # what is left to compare differs
    if digest.hexdigest() != manifest.file.sha256:
        raise ClientError("download_damaged", "The downloaded file is not as it was published.")
    if not inflate.eof or inflate.unused_data or text.hexdigest() != manifest.plain_sha256:
        raise ClientError("download_damaged", "The downloaded file holds other rows.")


def apply_delta_file(
    old: Union[str, Path], delta: Union[str, Path], output: Union[str, Path], manifest: Manifest
) -> Tuple[bytes, FilePart]:
    """Makes the file of a version from that of an earlier one and a delta; returns its segment index and where its directory is.

    The text is checked by `plainSha256` of the manifest. Raises `delta_invalid`, and leaves no output then.
    """
    rows: Iterable[bytes] = read_gzip_lines(_read_chunks(old), "The old file is damaged or cut off.")
    for step in read_delta(delta):
        rows = apply_step(rows, step)
    try:
        with open(output, "wb") as file:
            writer = _SegmentWriter(file)
            for prefix, part in cut_segments(rows):
                writer.add(prefix, part)
            if writer.end() != manifest.plain_sha256:
                raise ClientError("delta_invalid", "The resulting rows are not those of the expected version.")
            file.flush()
            os.fsync(file.fileno())
        return writer.index()
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(output)
        raise


# --- Filters (docs/filters.md) -----------------------------------------------------------------------------------------

_FILTER_BYTES_MAX = 64 * 1024 * 1024
_FILTER_HEADER = struct.Struct("<8sBBBBIIII")
_PHONE = re.compile(r"\+[1-9][0-9]{7,14}")


def _mix(value: int) -> int:
    value = (value ^ value >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ value >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return value ^ value >> 16


class NumberFilter:
    """A set of numbers as a binary fuse filter: finds each of them, and of other numbers one in 256, or in 65,536.

    `phone in filter` is False for a number, or one whose range, is not in the set. Raises `filter_invalid` for other bytes.
    """

    def __init__(self, data: bytes) -> None:
        try:
            _require(len(data) <= _FILTER_BYTES_MAX)
            magic, version, arity, bits, kind, seed, length, count, keys = _FILTER_HEADER.unpack_from(data)
            _require(magic == b"CTFILTER" and version == 1 and arity == 4 and bits in (8, 16) and kind in (0, 1))
            _require(0 < length <= 65536 and length & (length - 1) == 0 and count <= 65536)
            slots = (count + 3) * length if count else 0
            _require(len(data) == _FILTER_HEADER.size + slots * bits // 8 and (keys == 0) == (count == 0) and keys <= slots)
        except (struct.error, ValueError) as cause:
            raise ClientError("filter_invalid", "The file is not a filter that this client knows.") from cause
        self.keys, self.bits, self.key_type = keys, bits, ("phone", "prefix")[kind]
        self._seed, self._length, self._count = seed, length, count
        self._slots = memoryview(data)[_FILTER_HEADER.size :]
        if bits == 16:
            self._slots = array("H", self._slots.tobytes())
            if sys.byteorder == "big":
                self._slots.byteswap()

    @property
    def false_positive_rate(self) -> float:
        """The share of numbers outside of the set that are found."""
        return 2.0**-self.bits

    def __contains__(self, phone: str) -> bool:
        """Raises `phone_invalid` unless it is a number in E.164."""
        if _PHONE.fullmatch(phone) is None:
            raise ClientError("phone_invalid", "The text is not a number in E.164.")
        if self.keys == 0:
            return False
        key = int(phone[1:] if self.key_type == "phone" else phone[1:-3])
        high, low, seed, length = key >> 32, key & 0xFFFFFFFF, self._seed, self._length
        for step in (0x9E3779B9, 0x3C6EF372, 0xDAA66D2B):  # the golden ratio's 32 bits, once, twice and three times
            high, low = low, high ^ _mix(low + seed + step & 0xFFFFFFFF)
        third, mask, slots = _mix(high + low & 0xFFFFFFFF), length - 1, self._slots
        first = (high * self._count >> 32) * length
        found = slots[first + (low & mask)] ^ slots[first + length + (low >> 16 & mask)]
        found ^= slots[first + 2 * length + (third & mask)] ^ slots[first + 3 * length + (third >> 16 & mask)]
        return found == high & (1 << self.bits) - 1


# --- Copies in a directory, as the client in TypeScript keeps them -----------------------------------------------------


@dataclass(frozen=True)
class Pulled:
    """How the copy of an artefact was updated, or why it was not."""

    cache: str
    country: str
    how: str
    """`unchanged`, `delta`, `full` or `failed`."""
    version: Optional[int] = None
    delta_refused: Optional[str] = None
    failure: Optional[ClientError] = None


def pull(
    client: Client,
    directory: Union[str, Path],
    caches: Iterable[str] = tuple(CACHES),
    countries: Union[str, Sequence[str]] = "all",
    root: Optional[bytes] = None,
) -> List[Pulled]:
    """Updates the copies in a directory, each with the least bytes: nothing, a delta, or the whole file.

    Where the service signs, or did once, everything is taken from the signed list alone; `root` is a root that you trust. A
    failed artefact leaves its copy as it was. Raises ClientError if the list cannot be read: then no copy is touched.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        trust = PublicationTrust.open(client, folder / ".trust", root)
        pulled = []
        for artefact in _list_artefacts(client, trust, list(caches), countries):
            try:
                pulled.append(_bring_up_to_date(client, folder, artefact, trust))
            except ClientError as error:
                pulled.append(Pulled(*artefact, how="failed", failure=error))
        return pulled


def _list_artefacts(
    client: Client, trust: Optional[PublicationTrust], caches: Sequence[str], countries: Union[str, Sequence[str]]
) -> List[Artefact]:
    if countries != "all":
        return [artefact_of(cache, each) for cache in caches for each in (countries if CACHES.get(cache) else [""])]
    for cache in caches:
        if cache not in CACHES:
            artefact_of(cache)
    published = [manifest.artefact for manifest in read_manifests(client)] if trust is None else trust.list_artefacts()
    return [artefact for artefact in published if artefact[0] in caches]


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """While one process works here, another one is refused; the system frees the lock of one that ends."""
    with open(folder / ".lock.python", "w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows: run one at a time
        except OSError as cause:
            raise ClientError("directory_busy", "Another process works in this directory.") from cause
        yield


def _bring_up_to_date(
    client: Client, folder: Path, artefact: Artefact, trust: Optional[PublicationTrust]
) -> Pulled:
    for changes in range(4):
        try:
            if changes > 0 and trust is not None:
                trust.refresh()
            return _update(client, folder, artefact, read_manifest(client, artefact, trust))
        except VersionChanged:
            continue
    raise ClientError("download_failed", "Each time that the version was read, it had changed, or a file of it was missing.")


def _update(client: Client, folder: Path, artefact: Artefact, manifest: Manifest) -> Pulled:
    name = copy_name(artefact)
    state = _read_state(folder / name)
    present = None if state is None else state["manifest"]
    if present is not None and present["file"]["plainSha256"] == manifest.plain_sha256:
        return Pulled(*artefact, how="unchanged", version=manifest.version)
    unfinished = folder / ".versions" / name / ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    delta = None if present is None else manifest.deltas.get(present["version"])
    refused = None
    how = "full"
    if delta is not None and delta.bytes < manifest.file.bytes:
        try:
            path = _download(client, folder, f"{name}.delta", delta)
            index, directory = apply_delta_file(folder / name / "rows.tsv.gz", path, unfinished / "rows.tsv.gz", manifest)
            how = "delta"
        except ClientError as error:
            if error.code not in ("delta_invalid", "delta_gone", "download_damaged"):
                raise
            refused = str(error)
    if how == "full":
        index, directory = _take_whole(client, folder, name, manifest, unfinished), manifest.directory
    (unfinished / "index.tsv").write_bytes(index)
    _replace(folder, name, manifest, directory)
    return Pulled(*artefact, how=how, version=manifest.version, delta_refused=refused)


def _take_whole(client: Client, folder: Path, name: str, manifest: Manifest, unfinished: Path) -> bytes:
    """Downloads the file; returns its index."""
    index = _read_part(client, manifest.index, _whole(manifest.index))
    path = _download(client, folder, f"{name}.full", manifest.file)
    try:
        check_file(path, manifest)
    finally:
        os.replace(path, unfinished / "rows.tsv.gz")  # a damaged one is not gone on with
    return index


def _download(client: Client, folder: Path, name: str, remote: RemoteFile) -> Path:
    """Downloads a file; one that an earlier run began is gone on with. Raises `download_damaged` for another digest."""
    path = folder / ".partial.python" / f"{name}.{remote.sha256}"
    path.parent.mkdir(exist_ok=True)
    for other in path.parent.glob(f"{name}.*"):
        if other != path:
            other.unlink()
    with open(path, "ab") as file:
        start = file.tell()
        if start > remote.bytes:
            file.truncate(0)
            start = 0
        if start < remote.bytes:
            client.read_range(remote, start, remote.bytes, lambda chunk, _at: file.write(chunk))
        file.flush()
        os.fsync(file.fileno())
    digest = hashlib.sha256()
    for chunk in _read_chunks(path):
        digest.update(chunk)
    if digest.hexdigest() != remote.sha256:
        path.unlink()
        if start > 0:
            return _download(client, folder, name, remote)  # what an earlier run left was damaged
        raise ClientError("download_damaged", "The downloaded file is not as it was published.")
    return path


def _read_state(directory: Path) -> Optional[Json]:
    try:
        state = json.loads((directory / "state.json").read_bytes())
        _require(state["schema"] == "caller-trust/copy/1" and (directory / "rows.tsv.gz").stat().st_size == state["bytes"])
        parse_manifest(state["manifest"])
        state["directory"] = _part(state["directory"])
        return state
    except (OSError, ValueError, KeyError, TypeError, ClientError):
        return None


def _replace(folder: Path, name: str, manifest: Manifest, directory: FilePart) -> None:
    """Makes the unfinished version the copy in one step, by a symbolic link; the version before stays until the next time."""
    versions = folder / ".versions" / name
    unfinished = versions / ".unfinished"
    state = {
        "schema": "caller-trust/copy/1",
        "bytes": (unfinished / "rows.tsv.gz").stat().st_size,
        "directory": directory._asdict(),
        "manifestEtag": None,
        "isVerified": manifest.is_verified,
        "manifest": manifest.document,
    }
    _write_file(unfinished / "state.json", json.dumps(state, indent=2).encode())
    before = Path(os.readlink(folder / name)).name if (folder / name).is_symlink() else None
    target, number = f"v{manifest.version}-{manifest.file.sha256[:12]}", 0
    while (versions / target).exists():
        number += 1
        target = f"v{manifest.version}-{manifest.file.sha256[:12]}-{number}"
    os.rename(unfinished, versions / target)
    link = versions / ".link"
    with contextlib.suppress(FileNotFoundError):
        link.unlink()
    os.symlink(Path(".versions") / name / target, link)
    os.replace(link, folder / name)
    for other in versions.iterdir():
        if other.name not in (target, before):
            shutil.rmtree(other, ignore_errors=True)


# --- Look-ups ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LookedUp:
    """The row of a number by its columns, or None if it is not listed."""

    version: int
    row: Optional[Dict[str, str]]
    is_verified: bool


def find_in_copy(directory: Union[str, Path], artefact: Artefact, phone: str) -> LookedUp:
    """Looks a number up in a copy that :func:`pull` keeps, without the service: reads a page of the index, and one segment."""
    folder = Path(os.path.realpath(Path(directory) / copy_name(artefact)))
    state = _read_state(folder)
    if state is None:
        raise ClientError("artefact_not_found", f"The directory has no copy of {copy_name(artefact)}: pull it first.")
    manifest, key = parse_manifest(state["manifest"]), key_of(artefact[0], phone)

    def read(name: str, offset: int, size: int) -> bytes:
        try:
            with open(folder / name, "rb") as file:
                file.seek(offset)
                return file.read(size)
        except FileNotFoundError as cause:
            raise ClientError("segment_index_invalid", "The copy is damaged.") from cause

    place = state["directory"]
    page = find_page(parse_directory(read("index.tsv", place.offset, place.bytes), place), key)
    segment = find_segment(parse_page(read("index.tsv", page.offset, page.bytes), page), key) if page else None
    row = None
    if segment is not None:
        rows = inflate_segment(read("rows.tsv.gz", segment.offset, segment.bytes), segment)
        row = find_row(rows, key, manifest.columns)
    return LookedUp(manifest.version, row, bool(state["isVerified"]))


def look_up(
    client: Client,
    artefact: Artefact,
    phone: str,
    trust: Optional[PublicationTrust] = None,
    pad_to: Optional[int] = None,
    filter_first: bool = False,
    directory: Union[str, Path, None] = None,
) -> LookedUp:
    """Looks a number up in the published file with range requests: the service learns the segment, not the number.

    `pad_to`: bytes that the request for rows has at least; all of a version then have one length and begin on one grid, so that
    the length reveals nothing of the number, and the index is read whole instead of the page of the number. `filter_first`: reads
    the filter, and asks only for a number that it finds; of a version without a filter, as all of profile and branded phones are,
    nothing is asked, and `artefact_not_found` is raised. `directory` keeps filter and index for the next time.
    """

    def look(manifest: Manifest) -> LookedUp:
        if filter_first and phone not in _fetch_filter(client, manifest, directory):
            return LookedUp(manifest.version, None, manifest.is_verified)
        return _look_up_in(client, manifest, key_of(artefact[0], phone), pad_to, directory)

    return _on_present_version(client, artefact, trust, look)


def read_filter(
    client: Client,
    artefact: Artefact,
    trust: Optional[PublicationTrust] = None,
    directory: Union[str, Path, None] = None,
) -> Tuple[int, NumberFilter]:
    """The version and the filter of a published artefact; one that is kept in `directory` is not downloaded again.

    Raises `artefact_not_found` if the cache or the version has none, `filter_invalid`, `download_damaged`.
    """

    def read(manifest: Manifest) -> Tuple[int, NumberFilter]:
        return manifest.version, _fetch_filter(client, manifest, directory)

    return _on_present_version(client, artefact, trust, read)


def _on_present_version(
    client: Client, artefact: Artefact, trust: Optional[PublicationTrust], work: Callable[[Manifest], Result]
) -> Result:
    for changes in range(4):
        try:
            if changes > 0 and trust is not None:
                trust.refresh()
            return work(read_manifest(client, artefact, trust))
        except VersionChanged:
            continue
    raise ClientError("download_failed", "Each time that the version was read, it had changed, or a file of it was missing.")


def _fetch_filter(client: Client, manifest: Manifest, directory: Union[str, Path, None]) -> NumberFilter:
    remote = manifest.filter
    if remote is None:
        raise ClientError("artefact_not_found", "The published version has no filter.")
    if remote.bytes > _FILTER_BYTES_MAX:
        raise ClientError("filter_invalid", f"The filter is longer than {_FILTER_BYTES_MAX} bytes.")
    return NumberFilter(_read_kept(client, manifest, remote, _whole(remote), directory, "filter.bin"))


def _whole(remote: RemoteFile) -> FilePart:
    return FilePart(0, remote.bytes, remote.sha256)


def _read_kept(
    client: Client, manifest: Manifest, remote: RemoteFile, part: FilePart, directory: Union[str, Path, None], ending: str
) -> bytes:
    """A part of a file; one that is kept in the directory is not downloaded again."""
    path = None if directory is None else Path(directory) / f"{copy_name(manifest.artefact)}.{ending}"
    kept = None if path is None else _read_file(path)
    if kept is not None and hashlib.sha256(kept).hexdigest() == part.sha256:
        return kept
    data = _read_part(client, remote, part)
    if path is not None:
        _write_file(path, data)
    return data


def _read_part(client: Client, remote: RemoteFile, part: FilePart) -> bytes:
    """Downloads a part of a file. Raises `download_damaged` for another digest."""
    data = _read_bytes(client, remote, part.offset, part.offset + part.bytes)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise ClientError("download_damaged", "The downloaded file is not as it was published.")
    return data


def _read_bytes(client: Client, remote: RemoteFile, start: int, end: int) -> bytes:
    parts: List[bytes] = []
    if end > start:
        client.read_range(remote, start, end, lambda chunk, _at: parts.append(chunk))
    return b"".join(parts)


_PAD_TO_MAX = 2**30


def _padded_range(segment: Segment, block_bytes_max: int, file_bytes: int, pad_to: int) -> Tuple[int, int]:
    """One length for all of a version, a power of two, on the grid of its half; the last range ends with the file."""
    if not 1 <= pad_to <= _PAD_TO_MAX:
        raise ClientError("usage_invalid", f"A request can be padded to 1 to {_PAD_TO_MAX} bytes.")
    length = 1 << (max(pad_to, 2 * block_bytes_max, 2) - 1).bit_length()
    start = max(0, min(segment.offset // (length // 2) * (length // 2), file_bytes - length))
    return start, min(start + length, file_bytes)


def _look_up_in(
    client: Client, manifest: Manifest, key: str, pad_to: Optional[int], kept_in: Union[str, Path, None]
) -> LookedUp:
    def read(part: FilePart, ending: str) -> bytes:
        return _read_kept(client, manifest, manifest.index, part, kept_in, ending)

    absent = LookedUp(manifest.version, None, manifest.is_verified)
    if pad_to is None:
        pages = parse_directory(read(manifest.directory, "directory.tsv"), manifest.directory)
        page = find_page(pages, key)
        if page is None:
            return absent
        # Named by its place, so that the pages of later versions replace it.
        segments = parse_page(read(page, f"page-{[each for _, each in pages].index(page)}.tsv"), page)
    else:
        segments = parse_index(read(_whole(manifest.index), "index.tsv"), manifest.directory)
    segment = asked = find_segment(segments, key)
    if segment is None and pad_to is not None and segments:
        # A neighbouring segment when no segment can have the number: leaving the request out would reveal that.
        asked = segments[max(0, bisect_left([each.prefix for each in segments], key) - 1)]
    if asked is None:
        return absent
    start, end = asked.offset, asked.offset + asked.bytes
    if pad_to is not None:
        start, end = _padded_range(asked, manifest.document["index"]["blockBytesMax"], manifest.file.bytes, pad_to)
    data = _read_bytes(client, manifest.file, start, end)
    rows = inflate_segment(data[asked.offset - start : asked.offset - start + asked.bytes], asked)
    # A CRC finds damage, but not forgery: rows can be changed so that it stays the same.
    if hashlib.sha256(rows).hexdigest() != asked.sha256:
        raise ClientError("segment_index_invalid", "The rows of the segment are not those of the segment index.")
    row = None if segment is None else find_row(rows, key, manifest.columns)
    return LookedUp(manifest.version, row, manifest.is_verified)


# --- Command line ------------------------------------------------------------------------------------------------------


def _main(words: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m caller_trust", description="A client of a Caller Trust service.")
    commands = parser.add_subparsers(dest="command", required=True)
    pulling = commands.add_parser("pull", help="keep copies of published caches up to date")
    pulling.add_argument("url")
    pulling.add_argument("--dir", required=True, type=Path)
    pulling.add_argument("--cache", nargs="+", default=list(CACHES))
    pulling.add_argument("--country", nargs="+", default=["all"])
    pulling.add_argument("--trust", type=Path, help="the root that vouches for what is published; needed once")
    looking = commands.add_parser("lookup", help="look a number up in a copy, or in a published file")
    looking.add_argument("source", help="a directory of copies, or the address of the service")
    looking.add_argument("phone", help="E.164")
    looking.add_argument("--cache", default="phones")
    looking.add_argument("--country")
    looking.add_argument("--trust", type=Path)
    looking.add_argument("--pad", type=int, metavar="BYTES", help="bytes of each request at least, so that its length reveals nothing")
    looking.add_argument("--filter-first", action="store_true", help="ask only for a number that the filter finds")
    numbering = commands.add_parser("number", help="the label of a number as it is now")
    numbering.add_argument("url")
    numbering.add_argument("phone", help="E.164")
    for each in (pulling, looking, numbering):
        each.add_argument("--key-file", type=Path, help="file that holds the key; by default CALLER_TRUST_KEY")
    given = parser.parse_args(words)
    try:
        return _run(given)
    except ClientError as error:
        print(f"caller_trust: {error} [{error.code}]", file=sys.stderr)
        return 1


def _run(given: argparse.Namespace) -> int:
    key = given.key_file.read_text().strip() if given.key_file else os.environ.get("CALLER_TRUST_KEY")
    root = given.trust.read_bytes() if getattr(given, "trust", None) else None
    if given.command == "pull":
        countries = "all" if given.country == ["all"] else given.country
        pulled = pull(Client(given.url, key), given.dir, given.cache, countries, root)
        for each in pulled:
            print(copy_name((each.cache, each.country)), each.how, each.version or "", each.failure or each.delta_refused or "")
        return 1 if any(each.how == "failed" for each in pulled) else 0
    if given.command == "number":
        print(json.dumps(read_number(Client(given.url, key), given.phone), indent=2, ensure_ascii=False))
        return 0
    artefact = artefact_of(given.cache, given.country)
    if re.match("https?://", given.source):
        client = Client(given.source, key)
        trust = PublicationTrust.open(client, None, root) if root else None
        found = look_up(client, artefact, given.phone, trust, pad_to=given.pad, filter_first=given.filter_first)
    else:
        found = find_in_copy(given.source, artefact, given.phone)
    print(json.dumps({"version": found.version, "verified": found.is_verified, "row": found.row}, ensure_ascii=False))
    return 0 if found.row is not None else 1


if __name__ == "__main__":
    sys.exit(_main())
