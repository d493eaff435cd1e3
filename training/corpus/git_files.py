"""Files of a git repository at a commit, read from its object store without a work tree."""
import subprocess
from pathlib import Path

from source_table import CorpusError


class Repository:
    """A bare or plain clone."""

    def __init__(self, name: str, folder: Path):
        self.name, self.folder = name, folder

    @staticmethod
    def find(name: str, repositories: Path) -> "Repository":
        """The clone of `owner/name` below a folder: `owner/name.git`, `owner/name`, or either with `+` for the slash."""
        flat = name.replace("/", "+")
        for place in (f"{name}.git", name, f"{flat}.git", flat):
            for inner in ("", ".git", "repo", "repo/.git"):
                folder = repositories / place / inner
                if (folder / "objects").is_dir() and (folder / "HEAD").is_file():
                    return Repository(name, folder)
        raise CorpusError(f"no clone of {name} in {repositories}: git clone --bare https://github.com/{name} {repositories}/{name}.git")

    def run(self, *arguments) -> bytes:
        command = ["git", "--git-dir", str(self.folder), "-c", "safe.directory=*", *arguments]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            raise CorpusError(f"git {arguments[0]} failed in the clone of {self.name}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def paths(self, commit: str) -> list:
        return self.run("ls-tree", "-r", "-z", "--name-only", commit).decode(errors="surrogateescape").rstrip("\0").split("\0")

    def read(self, commit: str, path: str):
        """The bytes of a file; None where the clone lacks them, as a partial clone does."""
        done = subprocess.run(["git", "--git-dir", str(self.folder), "-c", "safe.directory=*", "cat-file", "blob", f"{commit}:{path}"], capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else None
