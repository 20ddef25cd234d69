"""The programs of docs/cluster.md, on clusters of this machine, and those of docs/python.md."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import zariz

DOCUMENT = Path(__file__).parents[2] / "docs" / "cluster.md"
GUIDE = DOCUMENT.with_name("python.md")
ROWS = 4000


def program(name: str) -> str:
    programs = re.findall(r"```python\n# ([^\n]*)\n(.*?)```", DOCUMENT.read_text(), re.S)
    return dict(programs)[name]


def message(i: int) -> bytes:
    return b"message %d" % i


@pytest.fixture
def folder(tmp_path: Path, key: zariz.PrivateKey) -> Path:
    (tmp_path / "key.pem").write_text(key.to_pem())
    (tmp_path / "public.pem").write_text(key.public_key.to_pem())
    (tmp_path / "exponent.bin").write_bytes(b"\xa5" * 256)
    (tmp_path / "messages").mkdir()
    for part in range(8):
        ids = list(range(part * ROWS // 8, (part + 1) * ROWS // 8))
        table = pa.table({"id": pa.array(ids, pa.int64()), "message": [message(i) for i in ids]})
        pq.write_table(table, tmp_path / "messages" / f"{part}.parquet")
    return tmp_path


START = """
import ray
ray.init(num_cpus=8, include_dashboard=False, object_store_memory=300 * 2**20, _temp_dir={temporary!r})
marker = ray.put(b"MARKER of the store" * 10000)
"""

# Copies the object store: a file without a name, which a process of Ray's has open. What was freed is still in it. Then
# Ray waits, so that its memory can be read.
END = """
import glob, os, time
def copy_store():
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if "plasma" in os.readlink(link):
                return open("store.bin", "wb").write(open(link, "rb").read())
        except OSError:
            pass
copy_store()
open("finished", "w").close()
while not os.path.exists("leave"):
    time.sleep(0.05)
"""


def read_memory(process: int) -> Iterator[bytes]:
    """What a process can write."""
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb") as memory:
        for place in (line.split() for line in maps if " rw-p " in line):
            start, end = (int(address, 16) for address in place[0].split("-"))
            with contextlib.suppress(OSError):  # It is unmapped meanwhile.
                memory.seek(start)
                yield memory.read(end - start)


class Cluster:
    """A program on a local cluster of Ray, with its logs and object store in a folder of its own."""

    def __init__(self, folder: Path, text: str) -> None:
        pytest.importorskip("ray")
        # The path is short: it has the name of a socket.
        self.temporary = Path(f"/tmp/zr{os.getpid()}{time.monotonic_ns() % 10**6}")
        self.folder = folder
        start = START.format(temporary=str(self.temporary))
        (folder / "program.py").write_text(start + text + END)
        self.log = folder / "log.txt"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "program.py"], cwd=folder, stdout=log, stderr=log, start_new_session=True
            )

    def wait_until(self, due: Callable[[], Any]) -> None:
        """Waits until something is due, or the program has ended."""
        while not due() and self.process.poll() is None:
            time.sleep(0.002)

    def finish(self) -> None:
        self.wait_until((self.folder / "finished").exists)
        self.memory = self.of_servers()
        (self.folder / "leave").touch()
        assert self.process.wait() == 0, self.log.read_text()[-4000:]

    def of_servers(self) -> bytes:
        """The memory of the processes that know of all tasks and their arguments: Ray's control store and scheduler."""
        found = []
        for number, line in self.processes().items():
            if Path(line.split(" ")[0]).name not in ("gcs_server", "raylet"):
                continue
            # It may have ended meanwhile; what must be found says if too much is missing.
            with contextlib.suppress(OSError):
                found += read_memory(number)
        return b"".join(found)

    def written(self) -> bytes:
        """All that Ray's processes logged and stored, and what its servers knew at the end."""
        files = (path for path in self.temporary.rglob("*") if path.is_file())
        logs = b"".join(path.read_bytes() for path in files) + self.log.read_bytes()
        store = (self.folder / "store.bin").read_bytes()
        # The search would find what is there.
        assert b"Parquet finished" in logs and b"MARKER of the store" * 10 in store
        assert b"MapBatches(" in self.memory and b"key.pem" in logs + store + self.memory
        return logs + store + self.memory

    def processes(self) -> dict[int, str]:
        """All of its processes, with their command lines: the driver, its workers and the rest of the cluster."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit():
                    continue
                number, line = int(entry.name), (entry / "cmdline").read_bytes()
                if str(self.temporary).encode() in line or os.getsid(number) == self.process.pid:
                    found[number] = line.replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                pass  # It has ended meanwhile.
        return found

    def kill(self, which: Callable[[str], bool] = lambda line: True) -> int:
        """Kills its processes with such command lines, all at once; how many."""
        killed = 0
        for number in [number for number, line in self.processes().items() if which(line)]:
            try:
                os.kill(number, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        return killed

    def end(self) -> None:
        """Kills all that is left of it."""
        self.kill()
        self.process.wait()
        shutil.rmtree(self.temporary, ignore_errors=True)


def check_signatures(folder: Path, key: zariz.PrivateKey) -> None:
    table = pq.read_table(folder / "signed")
    ids = table["id"].to_pylist()
    assert sorted(ids) == list(range(ROWS)), "every row once"
    assert table["message"].to_pylist() == [message(i) for i in ids]
    valid = key.public_key.verify_batch(table["message"].to_pylist(), table["signature"].to_pylist(), "RS256")
    assert all(valid)


def complete(path: Path) -> int:
    """The rows of a file; none if its write was killed."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except pa.ArrowInvalid:
        return 0


def secrets(folder: Path) -> list[bytes]:
    """What must not be found: the key's text, its primes and exponent as bytes and digits, and the other exponent."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    pem = (folder / "key.pem").read_bytes()
    numbers: Any = load_pem_private_key(pem, None)
    numbers = numbers.private_numbers()
    found = [line for line in pem.splitlines() if len(line) == 64] + [b"\xa5" * 32, b"a5" * 32]
    for number in (numbers.p, numbers.q, numbers.d, numbers.dmp1, numbers.dmq1):
        data = number.to_bytes((number.bit_length() + 7) // 8, "big")
        found += [data[8:40], data[::-1][8:40], data.hex()[16:80].encode(), str(number)[10:60].encode()]
    return found


def test_ray_signs_and_stores_no_secret(folder: Path, key: zariz.PrivateKey) -> None:
    cluster = Cluster(folder, program("ray: sign"))
    try:
        cluster.finish()
        check_signatures(folder, key)
        written = cluster.written()
        assert not [secret for secret in secrets(folder) if secret in written]
    finally:
        cluster.end()


def test_ray_raises_identifiers(folder: Path, key: zariz.PrivateKey) -> None:
    cluster = Cluster(folder, "".join(program(f"ray: {name}") for name in ("hash", "raw", "pow")))
    try:
        cluster.finish()
        n, e = key.public_key.n, key.public_key.e
        exponent = int.from_bytes((folder / "exponent.bin").read_bytes(), "big")
        hashed = {i: int.from_bytes(hashlib.shake_256(message(i)).digest(272), "big") % n for i in range(ROWS)}
        for name, every, is_right in [
            ("raw", 1, lambda raised, x: pow(raised, e, n) == x),
            ("power", 100, lambda raised, x: raised == pow(x, exponent, n)),
        ]:
            rows = pq.read_table(folder / {"raw": "raw", "power": "powers"}[name]).to_pylist()
            assert sorted(row["id"] for row in rows) == list(range(ROWS))
            assert all(is_right(int.from_bytes(row[name], "big"), hashed[row["id"]]) for row in rows[::every])
        written = cluster.written()
        assert not [secret for secret in secrets(folder) if secret in written]
    finally:
        cluster.end()


# A module with a file system for checkpoints: the first worker that has written data never completes its checkpoint.
HELD = """
import fsspec.implementations.local, os, pyarrow.fs, time
class Held(fsspec.implementations.local.LocalFileSystem):
    def mv(self, *arguments, **options):
        if not os.path.exists({held!r}):
            with open({held!r}, "w") as file:
                file.write(str(os.getpid()))
            time.sleep(3600)
        return super().mv(*arguments, **options)
system = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(Held()))
"""


def prepare(folder: Path) -> str:
    """Long rows, so that a file takes a while to write; and the program that goes on where it was killed."""
    for path in (folder / "messages").iterdir():
        table = pq.read_table(path)
        pq.write_table(table.append_column("more", pa.array([os.urandom(20_000) for _ in range(len(table))])), path)
    (folder / "sign.py").write_text(program("ray: sign"))
    return program("ray: resume")


def check_resumed(folder: Path, key: zariz.PrivateKey) -> None:
    cluster = Cluster(folder, program("ray: resume"))
    try:
        cluster.finish()
        check_signatures(folder, key)
    finally:
        cluster.end()


def wait_and_kill(cluster: Cluster, due: Callable[[], bool]) -> None:
    """Kills all of it when that is due, which must be before its end."""
    cluster.wait_until(due)
    assert cluster.process.poll() is None, cluster.log.read_text()[-4000:]
    cluster.end()
    assert cluster.process.returncode == -signal.SIGKILL, "it had not ended"


@pytest.mark.parametrize("least", [0, 1], ids=["while data is written", "when a file is complete"])
def test_a_killed_program_goes_on(folder: Path, key: zariz.PrivateKey, least: int) -> None:
    killed = Cluster(folder, prepare(folder))
    wait_and_kill(killed, lambda: any(complete(path) >= least for path in folder.glob("signed/*.parquet")))
    check_resumed(folder, key)


@pytest.mark.parametrize("which", ["the program", "the worker"])
def test_killed_between_data_and_checkpoint(folder: Path, key: zariz.PrivateKey, which: str) -> None:
    text, held, checkpoints = prepare(folder), folder / "held.txt", folder / "checkpoint"
    (folder / "held.py").write_text(HELD.format(held=str(held)))
    option = "delete_checkpoint_on_success=False"
    assert option in text
    cluster = Cluster(folder, "import held\n" + text.replace(option, option + ", override_filesystem=held.system"))

    def between() -> list[Path]:
        """The complete files of data whose checkpoint is pending."""
        pending = tuple(path.name.removesuffix(".pending.parquet") for path in checkpoints.glob("*.pending.parquet"))
        return [path for path in folder.glob("signed/*.parquet") if path.name.startswith(pending) and complete(path)]

    def is_held() -> bool:
        return held.exists() and held.stat().st_size > 0

    if which == "the program":
        wait_and_kill(cluster, is_held)
        left = between()
        assert left, "data and no checkpoint"
        check_resumed(folder, key)
        assert not [path for path in left if path.exists()], "data without a checkpoint"
        return
    try:
        cluster.wait_until(is_held)
        assert between(), "data and no checkpoint"
        os.kill(int(held.read_text()), signal.SIGKILL)
        # Ray starts another worker, which writes the data again.
        cluster.finish()
        check_signatures(folder, key)
    finally:
        cluster.end()


def test_a_worker_is_killed_while_it_signs(folder: Path, key: zariz.PrivateKey) -> None:
    cluster = Cluster(folder, prepare(folder))
    signs: Callable[[str], bool] = lambda line: line.startswith("ray::MapWorker(MapBatches(Sign)).submit")
    try:
        killed: list[int] = []
        cluster.wait_until(lambda: killed.append(cluster.kill(signs)) or killed[-1])
        cluster.finish()
        assert killed[-1]
        check_signatures(folder, key)
    finally:
        cluster.end()


def test_datafusion(folder: Path, key: zariz.PrivateKey) -> None:
    pytest.importorskip("datafusion")
    (folder / "signed").mkdir()
    signatures = [key.sign(b"message 0", "RS256"), bytes(256)]
    table = pa.table({"message": [b"message 0", b"message 1"], "signature": pa.array(signatures, pa.binary(256))})
    pq.write_table(table, folder / "signed" / "0.parquet")
    check = """
found = sorted(zip(rows["valid"], [number[:3] for number in rows["number"]]))
assert found == [(False, bytes(3)), (True, b"\\0\\1\\xff")], rows
"""
    subprocess.run([sys.executable, "-c", program("datafusion") + check], cwd=folder, check=True)


def test_spark_signs_and_stores_no_secret(folder: Path, key: zariz.PrivateKey) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    (folder / "program.py").write_text(program("spark"))
    (folder / "events").mkdir()
    settings = ("enabled=true", "compress=false", f"dir={folder / 'events'}")
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": " ".join(f"--conf spark.eventLog.{setting}" for setting in settings) + " pyspark-shell",
    }
    log = folder / "log.txt"
    with log.open("w") as file:
        done = subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, stdout=file, stderr=file)
    assert done.returncode == 0, log.read_text()[-4000:]
    check_signatures(folder, key)
    written = b"".join(path.read_bytes() for path in [log, *(folder / "events").rglob("events_*")])
    # The search would find what is there.
    assert b"SparkListenerJobEnd" in written
    assert not [secret for secret in secrets(folder) if secret in written]


def test_a_table_of_claims_becomes_a_column_of_tokens(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    assert len(programs) == 3
    for program in programs:
        subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=600)
    assert pq.read_metadata(tmp_path / "tokens.parquet").num_rows == 10_000
