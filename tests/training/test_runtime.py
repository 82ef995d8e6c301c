"""Freed memory is kept for the next tensors."""

import platform
import subprocess
import sys

import pytest

_FAULTS = """
import resource, torch
from nary.training.runtime import keep_freed_memory
if {keep}:
    keep_freed_memory()
for turn in range(30):
    if turn == 20:  # by then it has settled
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.empty(20_000_000).fill_(1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(keep: bool) -> int:
    return int(
        subprocess.run([sys.executable, "-c", _FAULTS.format(keep=keep)], capture_output=True, check=True).stdout
    )


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library can be told to keep memory")
def test_tensors_that_come_and_go_ask_the_system_for_no_new_pages() -> None:
    assert 10 * _faults(keep=True) < _faults(keep=False)  # not so many of each: pages may be large
