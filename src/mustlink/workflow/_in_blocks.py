"""Whether a job reads its table in blocks: asked for, or by the size of the table beside the memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mustlink.blocks.core import refuse_archive, spell_bytes
from mustlink.catalogue import Entry, blocked_methods
from mustlink.errors import OptionError
from mustlink.tables import check_streamed_suffix, is_streamed, open_stream

if TYPE_CHECKING:
    from mustlink.workflow._job import Job

__all__ = ["available_memory", "decide_blocks"]

# A table is read and encoded in several copies; one that takes more than this of the available memory is not.
MAX_SHARE = 0.25
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


def decide_blocks(job: Job, entry: Entry | None) -> tuple[bool, list[str]]:
    """Return whether a job reads its table in blocks, and a note if it would, but its method or options do not.

    Raises OptionError if it must, and cannot.
    """
    # It is read neither in blocks nor into memory.
    refuse_archive(job.table)
    if job.in_blocks is False:
        if Path(job.table).is_dir():
            raise OptionError(f"{job.table} is a folder, which is read in blocks only.")
        return False, []
    if job.in_blocks is None and not is_streamed(job.table):
        return False, []
    reason = why_not(job, entry)
    if job.in_blocks:
        if reason:
            raise OptionError(f"{job.table} cannot be read in blocks: {reason}", remedy="in_memory")
        return True, []
    size, available = open_stream(job.table).memory_bytes, available_memory()
    is_folder = Path(job.table).is_dir()
    if not is_folder and (available is None or size <= MAX_SHARE * available):
        return False, []
    if not reason:
        return True, []
    if is_folder:
        raise OptionError(f"{job.table} is a folder, which is read in blocks only: {reason}.")
    needs = f"{job.table} takes about {spell_bytes(size)} in memory, where {spell_bytes(available or 0)} are free"
    if available is not None and size > available:
        raise OptionError(f"{needs}, and cannot be read in blocks: {reason}", remedy="in_memory")
    return False, [f"{needs}; it was not read in blocks: {reason}."]


def why_not(job: Job, entry: Entry | None) -> str:
    """Return why a job cannot read its table in blocks, in words; nothing if it can."""
    methods = f"those that do are {', '.join(blocked_methods())}"
    if not is_streamed(job.table):
        return "this is done for .parquet, a folder of .parquet files and .npy"
    if entry is None:
        return f"the method auto compares clusterings in memory; choose one that takes blocks, {methods}"
    if not entry.takes_blocks:
        return f"the method {entry.name} takes no blocks; {methods}"
    if job.has_rules:
        return "columns of groups (never or always together) need all rows in memory"
    if job.output is not None and Path(job.output).suffix.lower() == ".xlsx":
        return "a sheet of Excel is not written in blocks; use .csv or .parquet for the clusters"
    if job.output is not None:
        check_streamed_suffix(job.output, keep_columns=job.keep_columns)
    return ""


def available_memory() -> int | None:
    """Return the bytes of memory that can be used without swapping, None where the system does not say."""
    found = [size for size in (_free_of_system(), _free_of_container()) if size is not None]
    return min(found) if found else None


def _free_of_system() -> int | None:
    """Return what the system can give to a new process."""
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return None


def _free_of_container() -> int | None:
    """Return what is left of the limit of a container, if there is one."""
    try:
        limit, used = ((CGROUP / f"memory.{name}").read_text().strip() for name in ("max", "current"))
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None
