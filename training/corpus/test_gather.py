"""Tests of the table and the gathering, on a small git repository made for each: `python3 -m unittest discover training/corpus`.

Needs git and no network. Clips are decoded by the standard library here, so that ffmpeg is not needed.
"""
import io
import os
import subprocess
import tempfile
import unittest
import wave
from pathlib import Path

import gather
from gather import Gathering, main, read_digests, wave_file, write_digests
from git_files import Repository
from source_table import CorpusError, read_table, refusal_of

TONE = b"\x10\x00\xf0\xff" * 16000


def samples_of(data: bytes) -> bytes:
    with wave.open(io.BytesIO(data)) as file:
        return file.readframes(file.getnframes())


def git(folder: Path, *arguments) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


def table_of(commit: str, **changes) -> str:
    row = {"repository": "maker/voices", "code": "MIT", "commit": commit, "system": ', system = "Maker TTS", family = "Maker"', **changes}
    return f"""
[[source]]
repository = "{row['repository']}"
commit = "{row['commit']}"
licence = {{ code = "{row['code']}", file = "LICENSE", commit = "{row['commit']}", audio = "public domain" }}
language = "en"
files = [
  {{ pattern = 'made/(?P<speaker>\\w+)_(?P<utterance>\\d+)\\.wav'{row['system']}, speaker = "s-{{speaker}}" }},
  {{ pattern = 'real/(?P<speaker>\\w+)_(?P<utterance>\\d+)\\.wav', speaker = "s-{{speaker}}" }},
]
"""


class WithRepository(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.clone = self.folder / "clones" / "maker" / "voices"
        for name in ("made", "real"):
            (self.clone / name).mkdir(parents=True)
        git(self.folder, "init", "--quiet", str(self.clone))
        (self.clone / "LICENSE").write_text("MIT License\n")
        for name in ("made/anna_1", "made/anna_2", "made/ben_1", "real/anna_1"):
            (self.clone / f"{name}.wav").write_bytes(wave_file(TONE))
        (self.clone / "made" / "anna_3.wav").write_bytes(wave_file(TONE[:2 * 15999]))
        self.commit = self.commit_all()

    def commit_all(self) -> str:
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "-m", "voices")
        return git(self.clone, "rev-parse", "HEAD")

    def table(self, **changes) -> Path:
        file = self.folder / "sources.toml"
        file.write_text(table_of(changes.pop("commit", self.commit), **changes))
        return file

    def gathered(self, digests=None, record=True) -> Gathering:
        output = self.folder / "clips"
        output.mkdir(exist_ok=True)
        gathering = Gathering(self.folder / "clones", output, {} if digests is None else digests, record, samples_of)
        for source in read_table(self.table()):
            gathering.take(source)
        gathering.pair()
        return gathering


class Gathers(WithRepository):
    def test_a_synthetic_clip_is_paired_with_the_same_sentence_or_speaker(self):
        paired = {clip.source_path: clip.paired for clip in self.gathered().clips}
        self.assertEqual(paired, {"made/anna_1.wav": "sentence", "made/anna_2.wav": "speaker", "made/ben_1.wav": "", "real/anna_1.wav": ""})

    def test_a_clip_under_one_second_is_left_out(self):
        self.assertNotIn("made/anna_3.wav", [clip.source_path for clip in self.gathered().clips])

    def test_the_manifest_has_the_digest_of_each_clip(self):
        gathering = self.gathered()
        gathering.write()
        rows = (self.folder / "clips" / "clips.tsv").read_text().splitlines()
        self.assertEqual(len(rows), 5)
        self.assertIn(gathering.clips[0].sha256, rows[1])

    def test_the_report_counts_systems_families_and_pairs(self):
        report = self.gathered().report()
        self.assertIn("Maker\tMaker TTS\t3\t6\t2\t2", report)
        self.assertIn("1 systems of 1 families, 1 of them with genuine speech of the same speaker", report)
        self.assertIn("3 synthetic clips, 1 genuine clips of 1 speakers", report)

    def test_the_commit_of_the_table_is_read_and_not_the_newest(self):
        (self.clone / "made" / "anna_1.wav").unlink()
        self.commit_all()
        self.assertEqual(len(self.gathered().clips), 4)

    def test_a_bare_clone_is_found_by_owner_and_name(self):
        git(self.folder, "clone", "--quiet", "--bare", str(self.clone), str(self.folder / "bare" / "maker" / "voices.git"))
        clone = Repository.find("maker/voices", self.folder / "bare")
        self.assertEqual(clone.read(self.commit, "LICENSE"), b"MIT License\n")

    def test_a_file_that_the_clone_lacks_is_counted_and_not_taken(self):
        blob = git(self.clone, "rev-parse", f"{self.commit}:made/ben_1.wav")
        other = self.clone / "made" / "ben_1.wav"
        same = git(self.clone, "rev-parse", f"{self.commit}:made/anna_1.wav")
        self.assertEqual(blob, same)
        other.write_bytes(wave_file(TONE + TONE))
        self.commit = self.commit_all()
        blob = git(self.clone, "rev-parse", f"{self.commit}:made/ben_1.wav")
        (self.clone / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        self.assertEqual(self.gathered().missing, [("maker/voices", "made/ben_1.wav")])


class Refuses(WithRepository):
    def assert_refused(self, words: str, call, *arguments, **named):
        with self.assertRaises(CorpusError) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))

    def test_a_file_that_changed(self):
        digests = dict(self.gathered().digests)
        (self.clone / "made" / "anna_1.wav").write_bytes(wave_file(TONE + TONE))
        self.commit = self.commit_all()
        self.assert_refused("made/anna_1.wav changed", self.gathered, digests)

    def test_a_licence_that_changed(self):
        digests = dict(self.gathered().digests)
        (self.clone / "LICENSE").write_text("All rights reserved\n")
        self.commit = self.commit_all()
        self.assert_refused("licence:LICENSE changed", self.gathered, digests)

    def test_a_file_without_a_digest_unless_it_is_recorded(self):
        self.assert_refused("run with --record", self.gathered, {}, record=False)

    def test_a_repository_without_its_licence(self):
        (self.clone / "LICENSE").unlink()
        self.commit = self.commit_all()
        self.assert_refused("without its licence it may not be used", self.gathered)

    def test_a_licence_that_is_not_in_the_list(self):
        self.assert_refused("CC-BY-NC-4.0, which is not in LICENCES", read_table, self.table(code="CC-BY-NC-4.0"))

    def test_a_short_commit(self):
        self.assert_refused("has no full commit", read_table, self.table(commit=self.commit[:39]))

    def test_a_system_without_a_family(self):
        self.assert_refused("a system without a family", read_table, self.table(system=', system = "Maker TTS"'))

    def test_a_clone_that_is_missing(self):
        self.assert_refused("git clone --bare", Repository.find, "maker/other", self.folder / "clones")

    def test_a_repository_of_the_independent_test(self):
        self.assert_refused("is in the independent test", read_table, self.table(repository="maker/FreeVC-demo"))

    def test_a_path_of_the_independent_test(self):
        (self.clone / "made" / "thorsten_1.wav").write_bytes(wave_file(TONE))
        self.commit = self.commit_all()
        self.assert_refused("narrow the pattern", self.gathered)

    def test_to_decode_without_ffmpeg(self):
        path, os.environ["PATH"] = os.environ["PATH"], str(self.folder)
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        self.assert_refused("ffmpeg is not on the PATH", gather.decoded, b"")

    def test_the_command_says_so_and_ends_with_1(self):
        line = ["--repositories", str(self.folder), "--output", str(self.folder / "out"), "--table", str(self.table())]
        self.assertEqual(main([*line, "--digests", str(self.folder / "digests.tsv")]), 1)


class Lists(unittest.TestCase):
    def test_all_of_the_independent_test_is_refused(self):
        for name in ("OlaWod/FreeVC-demo", "wavegrad/wavegrad.github.io", "espnet/espnet-tts-sample", "styletts2/styletts2.github.io",
                     "bigvgan-demo/bigvgan-demo.github.io", "mindslab-ai/univnet", "fatchord/model_outputs", "neonbjb/tortoise-tts",
                     "r9y9/r9y9.github.io", "thorstenMueller/Thorsten-Voice", "resemble-ai/Resemblyzer", "x4nth055/speech-emotion-recognition",
                     "besacier/mboshi-french-parallel-corpus", "MycroftAI/Precise-Community-Data", "GoogleChromeLabs/web-audio-samples"):
            self.assertIsNotNone(refusal_of(name), name)

    def test_the_flite_voices_slt_and_awb_are_refused_and_others_are_not(self):
        taken = [voice for voice in ("cmu_us_slt", "cmu_us_awb", "cmu_us_rms") if not refusal_of("maker/voices", f"flite/en/{voice}/1.wav")]
        self.assertEqual(taken, ["cmu_us_rms"])

    def test_the_table_of_the_repository_is_sound_and_each_of_its_licences_has_a_digest(self):
        sources, digests = read_table(gather.HERE / "sources.toml"), read_digests(gather.HERE / "digests.tsv")
        without = [s.repository for s in sources if (s.repository, f"licence:{s.licence['file']}") not in digests]
        self.assertEqual(without, [])

    def test_each_digest_is_of_a_file_that_a_rule_takes(self):
        sources = {source.repository: source for source in read_table(gather.HERE / "sources.toml")}
        files = [(name, path) for name, path in read_digests(gather.HERE / "digests.tsv") if not path.startswith("licence:")]
        self.assertGreater(len(files), 1000)
        self.assertEqual([path for name, path in files if sources[name].rule_of(path) is None or refusal_of(name, path)], [])

    def test_digests_are_read_as_they_were_written(self):
        with tempfile.TemporaryDirectory() as folder:
            digests = {("a/b", "x, y.wav"): "0" * 64, ("a/b", "über\t.wav"): "1" * 64}
            write_digests(Path(folder) / "digests.tsv", digests)
            self.assertEqual(read_digests(Path(folder) / "digests.tsv"), digests)


if __name__ == "__main__":
    unittest.main()
