"""Reads and checks `sources.toml`: which files of which repositories are speech of which synthesizer.

`refusal_of` is the list of what the independent test of these models is made of. Nothing of it may be trained on or measured with.
"""
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

LICENCES = ("MIT", "BSD-3-Clause", "Apache-2.0", "MPL-2.0", "CC0-1.0", "CC-BY-4.0")
# (what it is, where it is told: the repository or the path, lower case)
REFUSED = (
    ("FreeVC-demo", "repository", r"/freevc-demo"),
    ("wavegrad.github.io", "repository", r"wavegrad\.github\.io"),
    ("espnet-tts-sample", "repository", r"/espnet-tts-sample"),
    ("styletts2.github.io", "repository", r"styletts2\.github\.io"),
    ("bigvgan-demo.github.io", "repository", r"bigvgan-demo"),
    ("univnet", "repository", r"univnet"),
    ("fatchord/model_outputs", "repository", r"/model_outputs"),
    ("tortoise-tts", "repository", r"tortoise"),
    ("r9y9.github.io", "repository", r"r9y9\.github\.io"),
    ("Thorsten-Voice", "repository", r"thorsten"),
    ("Resemblyzer's audio", "repository", r"/resemblyzer"),
    ("speech-emotion-recognition (EmoDB)", "repository", r"speech-emotion-recognition|emo-?db"),
    ("mboshi-french-parallel-corpus", "repository", r"mboshi"),
    ("Precise-Community-Data", "repository", r"precise-community-data"),
    ("web-audio-samples", "repository", r"web-audio-samples"),
    # Copies of the above on other pages.
    ("r9y9.github.io", "repository", r"azraelkuan/parallel_wavenet_vocoder"),
    ("r9y9.github.io", "path", r"r9y9"),
    ("wavegrad.github.io", "path", r"specaug_utt\d"),
    ("Thorsten-Voice", "path", r"thorsten"),
    ("Debian's flite voices slt and awb", "path", r"flite.*(slt|awb)"),
)


class CorpusError(Exception):
    """What is wrong with the table or a repository, and what to do."""


@dataclass(frozen=True)
class FileRule:
    """Files whose whole path matches `pattern`; without a system they are genuine speech."""
    pattern: re.Pattern
    speaker: str
    system: str = ""
    family: str = ""
    language: str = ""


@dataclass(frozen=True)
class Source:
    """One repository at one commit."""
    repository: str
    commit: str
    licence: dict
    language: str
    files: tuple

    def rule_of(self, path: str):
        """The first rule that takes the path, with its match; None where no rule does."""
        for rule in self.files:
            if match := rule.pattern.fullmatch(path):
                return rule, match
        return None


def refusal_of(repository: str, path: str = ""):
    """The part of the independent test that this is, or None."""
    told = {"repository": "/" + repository.lower(), "path": path.lower()}
    return next((name for name, where, form in REFUSED if re.search(form, told[where])), None)


def read_table(file: Path) -> list:
    """All sources of a table. Raises CorpusError on one that may not be used."""
    table = tomllib.loads(file.read_text())
    sources = [source_of(row) for row in table["source"]]
    names = [source.repository for source in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CorpusError(f"{', '.join(twice)} is in the table twice: join its rows")
    return sources


def source_of(row: dict) -> Source:
    name = row["repository"]
    if part := refusal_of(name):
        raise CorpusError(f"{name} is in the independent test ({part}): take it out of the table")
    if row["licence"]["code"] not in LICENCES:
        raise CorpusError(f"{name} has the licence {row['licence']['code']}, which is not in LICENCES: take it out of the table, or add the licence after reading it")
    if not re.fullmatch(r"[0-9a-f]{40}", row["commit"]):
        raise CorpusError(f"{name} has no full commit: name 40 hexadecimal digits, so that the files cannot change")
    return Source(name, row["commit"], row["licence"], row["language"], tuple(file_rule(name, rule) for rule in row["files"]))


def file_rule(name: str, rule: dict) -> FileRule:
    if ("system" in rule) != ("family" in rule):
        raise CorpusError(f"{name}: a rule has a system without a family, or a family without a system: {rule['pattern']}")
    return FileRule(re.compile(rule["pattern"]), rule["speaker"], rule.get("system", ""), rule.get("family", ""), rule.get("language", ""))
