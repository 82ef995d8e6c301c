"""Two hosts and the link between them: two network namespaces, one rank in each, and the link is cut."""

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from runs.small import PATIENCE, options, small_data, wait_until, weights
from runs.test_workers import train_at

from nary.data.io.writer import write

_TIMEOUT = 20  # seconds after which a worker counts as lost; both must have started by then, on a busy machine too


class Hosts:
    """Two network namespaces joined by a pair of virtual devices; ends what runs in them."""

    def __init__(self) -> None:
        name = f"nary{uuid.uuid4().hex[:6]}"
        self.names = [f"{name}-{number}" for number in (0, 1)]
        self.devices = [f"{name}v{number}" for number in (0, 1)]
        self.addresses = ["10.77.0.1", "10.77.0.2"]

    def make(self) -> None:
        for name in self.names:
            _ip("netns", "add", name)
        ends = ["netns", self.names[0], "type", "veth", "peer", "name", self.devices[1], "netns", self.names[1]]
        _ip("link", "add", self.devices[0], *ends)
        for name, device, address in zip(self.names, self.devices, self.addresses, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", device)
            for one in (device, "lo"):
                _ip("-n", name, "link", "set", one, "up")

    def remove(self) -> None:
        for name in self.names:
            for process in _ip("netns", "pids", name, check=False).split():
                os.kill(int(process), signal.SIGKILL)
            _ip("netns", "delete", name, check=False)

    def set_link(self, state: str) -> None:
        _ip("-n", self.names[0], "link", "set", self.devices[0], state)

    def set_retries(self, count: int) -> None:
        """How often TCP sends data again that the other host does not confirm."""
        for name in self.names:
            _ip("netns", "exec", name, "sh", "-c", f"echo {count} > /proc/sys/net/ipv4/tcp_retries2")

    def static(self, number: int) -> list[str]:
        """The options of torchrun for the host of that number, when all hosts are numbered."""
        return [f"--master-addr={self.addresses[0]}", "--master-port=29500", f"--node-rank={number}"]

    def rendezvous(self, number: int) -> list[str]:
        """The same when the hosts find each other."""
        host = f"--rdzv-conf=is_host={int(number == 0)}"  # both namespaces have the name of this machine
        where = ["--rdzv-backend=c10d", f"--rdzv-endpoint={self.addresses[0]}:29500", "--rdzv-id=test"]
        return [*where, host, f"--local-addr={self.addresses[number]}"]

    def torchrun(self, how: Callable[[int], list[str]], *arguments: object) -> list[subprocess.Popen[str]]:
        """The same command on both hosts."""
        processes = []
        for number, (name, device) in enumerate(zip(self.names, self.devices, strict=True)):
            command = ["ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run"]
            command += ["--nnodes=2", "--nproc-per-node=1", *how(number), "-m", "nary", *map(str, arguments)]
            environment = {"GLOO_SOCKET_IFNAME": device, "NARY_WORKER_TIMEOUT": str(_TIMEOUT), "OMP_NUM_THREADS": "1"}
            processes.append(
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
            )
        return processes


def _ip(*arguments: str, check: bool = True) -> str:
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True).stdout


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root and the command ip")
    hosts = Hosts()
    try:
        try:
            hosts.make()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made here: {error.stderr.strip()}")
        yield hosts
    finally:
        hosts.remove()


def has_checkpoints(folder: Path) -> bool:
    return len(list(folder.glob("checkpoints/step-*"))) > 1


@pytest.mark.namespaces
def test_a_cut_link_costs_no_more_than_starting_again(hosts: Hosts, tmp_path: Path) -> None:
    facts, folder, whole = tmp_path / "toy.jsonl", tmp_path / "run", tmp_path / "whole"
    write(small_data(), facts)
    settings = options(training__checkpoint_minutes=1e-9, training__epochs=6, model__dropout=0.1)
    command = ["train", facts, "--model", "gran", "--out", folder, *settings]

    cut_off = hosts.torchrun(hosts.static, *command)
    wait_until(lambda: has_checkpoints(folder), cut_off[0])
    hosts.set_link("down")
    assert has_checkpoints(folder)
    for process in cut_off:
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode != 0
        assert "another worker has ended or cannot be reached" in err, err
    assert not (folder / "model" / "model.safetensors").exists()

    hosts.set_link("up")
    for process in hosts.torchrun(hosts.static, *command):
        _, err = process.communicate(timeout=2 * PATIENCE)  # at its end, torchrun may wait five minutes for the other
        assert process.returncode == 0, err
    assert "resumed at step" in (folder / "log.txt").read_text()

    shutil.copytree(folder, whole, ignore=shutil.ignore_patterns("checkpoints", "model.safetensors", "metrics.json*"))
    assert train_at(whole, 2) == ["done", "done"]
    assert weights(folder) == weights(whole)


@pytest.mark.namespaces
def test_a_host_without_its_rendezvous_ends_when_tcp_gives_up(hosts: Hosts, tmp_path: Path) -> None:
    facts, folder = tmp_path / "toy.jsonl", tmp_path / "run"
    write(small_data(), facts)
    settings = options(training__checkpoint_minutes=1e-9, training__epochs=40)
    hosts.set_retries(4)  # about six seconds; fifteen, the default, are as many minutes
    cut_off = hosts.torchrun(hosts.rendezvous, "train", facts, "--model", "gran", "--out", folder, *settings)
    wait_until(lambda: has_checkpoints(folder), cut_off[0])
    hosts.set_link("down")
    for process in cut_off:
        process.communicate(timeout=PATIENCE)
        assert process.returncode != 0
