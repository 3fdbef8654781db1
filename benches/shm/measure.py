#!/usr/bin/env python3
"""How large must /dev/shm be in truth?  Runs real PyTorch loaders, each in a mount namespace of its own with a tmpfs of its own
at /dev/shm, finds the smallest size that a run survives, to the page, and compares it with what `coroner size` says.

    python3 measure.py --coroner target/debug/coroner             all settings, as a Markdown table
    python3 measure.py --coroner … --short                        two settings, a coarser search: for CI
    python3 measure.py --coroner … --only 0,3 --confirm 3         some settings, each smallest size run three more times
    python3 measure.py --list                                     the settings

Needs Linux, root (or CAP_SYS_ADMIN) and a Python with PyTorch.  Ends with status 1 if a formula is below what was needed, or
more than 1.15 times of it; with 77 if the machine cannot run it.

A run survives when its training loop ends by itself with status 0.  Every 50 batches the loop stalls until /dev/shm has stopped
growing, as it does in a checkpoint or an evaluation, so that the queues are full; between stalls it is fast, so that a batch is
handed out while the one before it is being freed.  PyTorch 2.10 and later can hang for ever on a full /dev/shm (the error is
raised in a feeder thread), so that a run which has printed that error and goes on for some seconds counts as dead.
"""
import argparse
import collections
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

try:
    import torch
    from torch.utils.data import DataLoader, Dataset
except ImportError:                                  # the list of settings needs no PyTorch
    torch, DataLoader, Dataset = None, None, object

PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
SKIPPED = 77

# A setting: what it is called, what the run does, and how `coroner size` is told of it.  Keys of a run:
#   workers, prefetch, bytes (of one batch), batch_size, label (int labels), batches, epochs, persistent, keep (batches kept),
#   drop (the loop variable is rebound to a copy), ahead (look-ahead), pin (simulated), list (batch is a list), view_of (batches are
#   slices of a storage of so many bytes), context (start method), dataset (bytes of a tensor in the data set), strategy,
#   loaders ("nested"), ranks
SETTINGS = [
    ("4 workers, 2 MiB and labels", dict(workers=4, bytes=2 * MIB, label=True), "--batch-bytes 2m --batch-bytes 64 --epochs 1"),
    ("4 workers, several epochs", dict(workers=4, bytes=2 * MIB, epochs=4, batches=75), "--batch-bytes 2m"),
    ("1 worker, prefetch 1, 4 MiB", dict(workers=1, prefetch=1, bytes=4 * MIB), "--batch-bytes 4m --epochs 1"),
    ("2 workers, 4 MiB", dict(workers=2, bytes=4 * MIB), "--batch-bytes 4m --epochs 1"),
    ("8 workers, 2 MiB", dict(workers=8, bytes=2 * MIB), "--batch-bytes 2m --epochs 1"),
    ("2 workers, prefetch 4", dict(workers=2, prefetch=4, bytes=2 * MIB), "--batch-bytes 2m --epochs 1"),
    ("persistent workers, several epochs", dict(workers=4, bytes=2 * MIB, epochs=4, batches=75, persistent=True),
     "--batch-bytes 2m --persistent"),
    ("six batches kept", dict(workers=4, bytes=2 * MIB, keep=6), "--batch-bytes 2m --held 6 --epochs 1"),
    ("loop variables rebound to copies", dict(workers=4, bytes=2 * MIB, drop=True), "--batch-bytes 2m --held 0 --epochs 1"),
    ("look-ahead of one batch", dict(workers=4, bytes=2 * MIB, ahead=True), "--batch-bytes 2m --look-ahead --epochs 1"),
    ("pin_memory (pinning simulated)", dict(workers=4, bytes=2 * MIB, pin=True), "--batch-bytes 2m --pin-memory --epochs 1"),
    ("file_system strategy, labels", dict(workers=4, bytes=2 * MIB, label=True, strategy="file_system"),
     "--batch-bytes 2m --batch-bytes 64 --strategy file_system --epochs 1"),
    ("lists of 16 samples", dict(workers=2, bytes=2 * MIB, batch_size=16, list=True),
     "--list --batch-size 16 --sample 32768:f32 --epochs 1"),
    ("views of 32 MiB", dict(workers=3, bytes=MIB, view_of=32 * MIB), "--view-of 32m --epochs 1"),
    ("forkserver, 32 MiB in the data set", dict(workers=3, bytes=2 * MIB, context="forkserver", dataset=32 * MIB, batches=120),
     "--batch-bytes 2m --start-method forkserver --dataset-bytes 32m --epochs 1"),
    ("evaluation inside of an epoch", dict(workers=3, bytes=2 * MIB, loaders="nested", persistent=True, batches=200), None),
]
NESTED = ["--loader", "workers=3 batch-bytes=2m persistent", "--loader", "workers=3 batch-bytes=2m persistent", "--together", "nested"]
DEFAULTS = dict(prefetch=2, batch_size=8, batches=300, epochs=1)
SHORT = [0, 1]


def formula(coroner, setting):
    """what `coroner size --exact` says"""
    _, run, words = setting
    run = {**DEFAULTS, **run}
    if words is None:
        arguments = NESTED
    else:
        arguments = ["--workers", str(run["workers"]), "--prefetch", str(run["prefetch"]), *words.split()]
    page = ["--page-size", str(PAGE)]
    return int(subprocess.run([coroner, "size", *arguments, *page, "--exact"], check=True, capture_output=True, text=True).stdout)


# ------------------------------------------------------------------------------------------------------------ the training run

class Samples(Dataset):
    """makes each sample when it is asked for; may drag a tensor along, which spawned workers get through /dev/shm"""

    def __init__(self, run):
        self.run = run
        self.inner = torch.ones(run["dataset"] // 4) if run.get("dataset") else None

    def __len__(self):
        return self.run["batches"] * self.run["batch_size"]

    def __getitem__(self, index):
        floats = self.run["bytes"] // self.run["batch_size"] // 4
        sample = torch.full((floats,), float(index))
        return (sample, index) if self.run.get("label") else sample


class Slices(Dataset):
    """views of one tensor; each of them is a batch"""

    def __init__(self, run):
        self.run, self.step = run, run["bytes"] // 4
        self.whole = torch.ones(run["view_of"] // 4)

    def __len__(self):
        return self.run["batches"]

    def __getitem__(self, index):
        at = index % (self.whole.numel() // self.step) * self.step
        return self.whole[at:at + self.step]


def as_list(samples):
    return samples


def simulate_pinning():
    """lets the pin-memory thread run without an accelerator: pinning becomes a copy into ordinary memory"""
    torch.Tensor.pin_memory = lambda self, *a, **k: self.clone()
    if hasattr(torch, "accelerator"):
        torch.accelerator.is_available = lambda: True
        torch.accelerator.current_device_index = lambda: 0
        torch.accelerator.set_device_index = lambda *a: None
        torch.accelerator.current_accelerator = lambda *a, **k: torch.device("cpu")
    torch.cuda.is_available = lambda: True
    torch.cuda.current_device = lambda: 0
    torch.cuda.set_device = lambda *a: None


def in_use():
    found = os.statvfs("/dev/shm")
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def stall(quiet=0.15, most=20.0):
    """returns when /dev/shm has stopped growing"""
    started = changed = time.monotonic()
    last = in_use()
    while time.monotonic() - changed < quiet and time.monotonic() - started < most:
        time.sleep(0.005)
        now = in_use()
        if now != last:
            last, changed = now, time.monotonic()


def look_ahead(batches):
    batches = iter(batches)
    current = next(batches)
    for following in batches:
        yield current
        current = following
    yield current


def train(run):
    torch.set_num_threads(1)
    if run.get("strategy"):
        torch.multiprocessing.set_sharing_strategy(run["strategy"])
    if run.get("pin"):
        simulate_pinning()
    options = dict(num_workers=run["workers"], prefetch_factor=run["prefetch"], persistent_workers=bool(run.get("persistent")),
                   pin_memory=bool(run.get("pin")), multiprocessing_context=run.get("context"))
    if run.get("view_of"):
        data, options["batch_size"] = Slices(run), None
    else:
        data, options["batch_size"] = Samples(run), run["batch_size"]
    if run.get("list"):
        options["collate_fn"] = as_list
    loader = DataLoader(data, **options)
    inner = DataLoader(data, **options) if run.get("loaders") == "nested" else None
    kept = collections.deque(maxlen=run.get("keep", 0))

    def step(index, batch):
        if run.get("keep"):
            kept.append(batch)
        if index in (2, 11) or index % 50 == 49:
            stall()
        time.sleep(0.001)

    for _ in range(run["epochs"]):
        if run.get("drop"):
            index = 0
            for batch in loader:
                batch = batch.clone()
                step(index, batch)
                index += 1
            continue
        for index, batch in enumerate(look_ahead(loader) if run.get("ahead") else loader):
            step(index, batch)
            if inner is not None and index == run["batches"] // 2:
                for position, other in enumerate(inner):
                    step(position, other)


# ------------------------------------------------------------------------------------------------------------------- one trial

def private_shm(size):
    """a mount namespace of its own, with a tmpfs of this size at /dev/shm"""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, recursive_private = 0x20000, 0x4000 | 1 << 18

    def sure(result, what):
        if result:
            raise OSError(ctypes.get_errno(), what)

    sure(libc.unshare(new_mounts), "unshare")
    sure(libc.mount(b"none", b"/", None, recursive_private, None), "make mounts private")
    sure(libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, f"size={size}".encode()), "mount tmpfs")


def child(run, size):
    """the training process; never returns"""
    status = 97
    try:
        private_shm(size)
        train(run)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def survives(run, size, patience=120, refused=4):
    """whether the run ends well with a /dev/shm of this size"""
    with tempfile.TemporaryFile() as log:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
            child(run, size)
        started, refused_at, status = time.monotonic(), None, None
        while status is None:
            ended, raw = os.waitpid(pid, os.WNOHANG)
            now = time.monotonic()
            if ended:
                status = os.waitstatus_to_exitcode(raw)
            elif now - started > patience or refused_at and now - refused_at > refused:
                break
            elif refused_at is None and b"unable to allocate shared memory" in os.pread(log.fileno(), MIB, 0):
                refused_at = now
            else:
                time.sleep(0.02)
        try:
            os.killpg(pid, signal.SIGKILL)          # the session made above: the hanging process, and stray workers
        except ProcessLookupError:
            pass
        if status is None:
            os.waitpid(pid, 0)
        return status == 0


def smallest(run, predicted, confirm, grain):
    """the fewest bytes that a run survives; `grain` pages is how closely it is looked for"""
    enough, dead = predicted // PAGE, 0
    runs = 1
    while not survives(run, enough * PAGE):          # the formula must be enough; if it is not, go up
        if enough * PAGE > 2 * predicted:
            raise SystemExit(f"twice what the formula says is not enough: {run}")
        runs += 1
        dead, enough = enough, enough + max(1, enough // 16)
    while True:
        while enough - dead > grain:
            middle = (enough + dead) // 2
            runs += 1
            if survives(run, middle * PAGE):
                enough = middle
            else:
                dead = middle
        runs += confirm
        if all(survives(run, enough * PAGE) for _ in range(confirm)):
            return enough * PAGE, runs
        dead, enough = enough, max(enough + 1, predicted // PAGE)


def able():
    """why this machine cannot run it, if it cannot"""
    if torch is None:
        return "no PyTorch in this Python"
    pid = os.fork()
    if pid == 0:
        try:
            private_shm(MIB)
        except OSError:
            os._exit(1)
        os._exit(0)
    return None if os.waitpid(pid, 0)[1] == 0 else "no right to make a mount namespace (root is needed)"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--coroner", default="coroner", help="the program to compare with")
    options.add_argument("--only", help="numbers of settings, with commas")
    options.add_argument("--short", action="store_true", help="two settings, found to 16 pages")
    options.add_argument("--confirm", type=int, default=2, help="further runs at the smallest size")
    options.add_argument("--list", action="store_true", help="list the settings")
    chosen = options.parse_args()
    if chosen.list:
        for number, (name, run, words) in enumerate(SETTINGS):
            print(number, name, run, words or " ".join(NESTED), sep="   ")
        return 0
    why_not = able()
    if why_not:
        print(f"skipped: {why_not}")
        return SKIPPED
    numbers = SHORT if chosen.short else range(len(SETTINGS))
    if chosen.only:
        numbers = [int(number) for number in chosen.only.split(",")]
    grain, confirm = (16, 0) if chosen.short else (1, chosen.confirm)
    print(f"PyTorch {re.sub('[+].*', '', torch.__version__)}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, "
          f"pages of {PAGE} bytes\n")
    print("| setting | formula | smallest surviving | formula/smallest | runs |\n|---|---:|---:|---:|---:|", flush=True)
    wrong = 0
    for number in numbers:
        predicted = formula(chosen.coroner, SETTINGS[number])
        run = {**DEFAULTS, **SETTINGS[number][1]}
        least, runs = smallest(run, predicted, confirm, grain)
        ratio = predicted / least
        wrong += not 1.0 <= ratio <= 1.15
        print(f"| {SETTINGS[number][0]} | {predicted:,} | {least:,} | {ratio:.4f} | {runs} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
