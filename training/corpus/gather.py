"""Gathers genuine and synthetic speech from public repositories: `gather.py --repositories FOLDER --output FOLDER`.

Reads `sources.toml`, takes each file from a local clone at its commit, compares it with `digests.tsv`, and writes 16 kHz clips with
`clips.tsv`. A file whose digest changed, a licence that changed and a clone that is missing end the run with what to do.
`--record` writes `digests.tsv` from what is there, for new sources; `--only OWNER/NAME` takes one source.
"""
import argparse
import csv
import hashlib
import subprocess
import sys
import wave
from collections import defaultdict
from dataclasses import asdict, dataclass, fields
from io import BytesIO
from pathlib import Path

from git_files import Repository
from source_table import CorpusError, read_table, refusal_of

HERE = Path(__file__).resolve().parent
RATE = 16000
SECONDS_MIN, SECONDS_MAX = 1.0, 60.0
LICENCE = "licence"


@dataclass
class Clip:
    """One file of one repository, as 16 kHz speech."""
    path: str
    repository: str
    commit: str
    source_path: str
    source_sha256: str
    sha256: str
    seconds: float
    system: str         # empty when genuine
    family: str
    speaker: str
    utterance: str      # empty where the file name does not tell
    language: str
    paired: str = ""    # sentence | speaker; empty where there is no genuine speech of the same speaker


def decoded(data: bytes) -> bytes:
    """Mono int16 samples at 16 kHz of any file that ffmpeg reads, at most SECONDS_MAX of them; empty where it reads none."""
    command = ["ffmpeg", "-v", "error", "-i", "pipe:0", "-t", str(SECONDS_MAX), "-ac", "1", "-ar", str(RATE), "-f", "s16le", "pipe:1"]
    try:
        return subprocess.run(command, input=data, capture_output=True, check=False).stdout
    except FileNotFoundError:
        raise CorpusError("ffmpeg is not on the PATH: install it") from None


def read_digests(file: Path) -> dict:
    """SHA-256 by repository and path."""
    if not file.exists():
        return {}
    with open(file, newline="") as rows:
        return {(row["repository"], row["path"]): row["sha256"] for row in csv.DictReader(rows, delimiter="\t")}


def write_digests(file: Path, digests: dict) -> None:
    write_rows(file, ("repository", "path", "sha256"), ((*key, digest) for key, digest in sorted(digests.items())))


def write_rows(file: Path, header, rows) -> None:
    with open(file, "w", newline="") as out:
        table = csv.writer(out, delimiter="\t", lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


class Gathering:
    """One run over a table: `digests` are the known ones; with `record` those of new files are added to it."""

    def __init__(self, repositories: Path, output: Path, digests: dict, record: bool = False, decode=decoded):
        self.repositories, self.output, self.digests, self.record, self.decode = repositories, output, digests, record, decode
        self.clips, self.missing = [], []

    def check(self, repository: str, path: str, data: bytes) -> str:
        """The digest of a file; raises CorpusError when it is not the known one."""
        digest = hashlib.sha256(data).hexdigest()
        known = self.digests.get((repository, path))
        if known is None and not self.record:
            raise CorpusError(f"{repository} {path} has no digest: read its licence, then run with --record")
        if known not in (None, digest):
            raise CorpusError(f"{repository} {path} changed: its sha256 is {digest}, digests.tsv has {known}. Take the file out of the table, or find out why it changed")
        self.digests[repository, path] = digest
        return digest

    def take(self, source) -> None:
        """All files of a source that a rule takes."""
        clone = Repository.find(source.repository, self.repositories)
        licence = source.licence
        text = clone.read(licence["commit"], licence["file"])
        if text is None:
            raise CorpusError(f"{source.repository} has no {licence['file']} at {licence['commit']}: without its licence it may not be used")
        self.check(source.repository, f"{LICENCE}:{licence['file']}", text)
        for path in clone.paths(source.commit):
            if (taken := source.rule_of(path)) is None:
                continue
            if part := refusal_of(source.repository, path):
                raise CorpusError(f"{source.repository} {path} is in the independent test ({part}): narrow the pattern of its rule")
            if (data := clone.read(source.commit, path)) is None:
                self.missing.append((source.repository, path))
                continue
            self.keep(source, path, data, *taken)

    def keep(self, source, path: str, data: bytes, rule, match) -> None:
        digest, samples = self.check(source.repository, path, data), self.decode(data)
        seconds = len(samples) / 2 / RATE
        if seconds < SECONDS_MIN:
            return
        name = f"{hashlib.sha256(f'{source.repository}/{path}'.encode()).hexdigest()[:16]}.wav"
        clip = wave_file(samples)
        (self.output / name).write_bytes(clip)
        groups = {key: value or "" for key, value in match.groupdict().items()}
        self.clips.append(Clip(
            path=name, repository=source.repository, commit=source.commit, source_path=path, source_sha256=digest,
            sha256=hashlib.sha256(clip).hexdigest(), seconds=round(seconds, 3), system=rule.system, family=rule.family,
            speaker=rule.speaker.format(**groups), utterance=groups.get("utterance", ""), language=groups.get("language") or rule.language or source.language))

    def pair(self) -> None:
        """Says of each synthetic clip what genuine speech there is: the same sentence, the same speaker, or none."""
        sentences = {(c.speaker, c.utterance) for c in self.clips if not c.system and c.utterance}
        speakers = {c.speaker for c in self.clips if not c.system}
        for clip in self.clips:
            if clip.system:
                clip.paired = "sentence" if (clip.speaker, clip.utterance) in sentences else "speaker" if clip.speaker in speakers else ""

    def write(self) -> None:
        write_rows(self.output / "clips.tsv", [field.name for field in fields(Clip)], (asdict(clip).values() for clip in self.clips))

    def report(self) -> list:
        """Lines of counts: each system with its family, and all of them."""
        by_system = defaultdict(list)
        for clip in self.clips:
            if clip.system:
                by_system[clip.family, clip.system].append(clip)
        lines = ["family\tsystem\tclips\tseconds\tspeakers\tpaired"]
        for (family, system), clips in sorted(by_system.items()):
            paired = sum(bool(clip.paired) for clip in clips)
            lines.append(f"{family}\t{system}\t{len(clips)}\t{sum(c.seconds for c in clips):.0f}\t{len({c.speaker for c in clips})}\t{paired}")
        genuine = [clip for clip in self.clips if not clip.system]
        families = {family for family, _ in by_system}
        with_pairs = sum(any(clip.paired for clip in clips) for clips in by_system.values())
        lines.append(f"{len(by_system)} systems of {len(families)} families, {with_pairs} of them with genuine speech of the same speaker")
        lines.append(f"{len(self.clips) - len(genuine)} synthetic clips, {len(genuine)} genuine clips of {len({c.speaker for c in genuine})} speakers")
        lines.append(f"{len(self.missing)} files that the clones lack")
        return lines


def wave_file(samples: bytes) -> bytes:
    out = BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples)
    return out.getvalue()


def arguments(line):
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--repositories", type=Path, required=True, help="folder of clones: OWNER/NAME.git or OWNER/NAME")
    reader.add_argument("--output", type=Path, required=True, help="folder for clips and clips.tsv; never inside the repository")
    reader.add_argument("--table", type=Path, default=HERE / "sources.toml")
    reader.add_argument("--digests", type=Path, default=HERE / "digests.tsv")
    reader.add_argument("--only", help="one repository of the table")
    reader.add_argument("--record", action="store_true", help="write digests of files that have none")
    return reader.parse_args(line)


def main(line) -> int:
    given = arguments(line)
    try:
        sources = [s for s in read_table(given.table) if given.only in (None, s.repository)]
        if not sources:
            raise CorpusError(f"{given.only} is not in {given.table}")
        given.output.mkdir(parents=True, exist_ok=True)
        gathering = Gathering(given.repositories, given.output, read_digests(given.digests), given.record)
        for source in sources:
            gathering.take(source)
    except CorpusError as error:
        print(error, file=sys.stderr)
        return 1
    gathering.pair()
    gathering.write()
    if given.record:
        write_digests(given.digests, gathering.digests)
    print("\n".join(gathering.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
