"""What run_all and repeat share: running commands side by side, reading what their tests said, and
ending them with all that they left."""

import collections
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
WATCHED = (signal.SIGCHLD, *ENDING)
PR_SET_CHILD_SUBREAPER = 36

Result = collections.namedtuple("Result", "verdict name why seconds")

# How the programs and scripts say what became of a test, a workload's seeds, or a mutant.
LINES = [
    re.compile(r"  (?P<verdict>ok|skipped|FAILED)[^:]*: (?P<name>[^:]+?)(: (?P<why>.*?))?"
               r"( \((?P<seconds>[\d.]+) s\))?$"),
    re.compile(r"(?P<name>\w+) +\d+ of \d+ seeds (?P<verdict>pass)(?P<why>)  (?P<seconds>[\d.]+) s$"),
    re.compile(r"(?P<name>\w+) +\d+ of \d+ seeds pass, then (?P<why>seed \d+ (?P<verdict>FAILS))"
               r"  (?P<seconds>[\d.]+) s$"),
    re.compile(r"(?P<verdict>caught|ALIVE|ERROR|SKIPPED) +(?P<name>[^:]+): (?P<why>.*)(?P<seconds>)"),
    re.compile(r"--- (?P<name>.*): (?P<verdict>skipped), (?P<why>.*)(?P<seconds>)"),
]
VERDICTS = {"ok": "passed", "pass": "passed", "caught": "passed", "skipped": "skipped",
            "SKIPPED": "skipped"}


def result_of(line):
    """The Result that a line of output tells, or None."""
    for pattern in LINES:
        if found := pattern.match(line):
            return Result(VERDICTS.get(found["verdict"], "failed"), found["name"],
                          found["why"] or "", float(found["seconds"] or 0))
    return None


def weigh(pid, nice):
    """Gives a nice value to the process's session: the kernel first shares the processors among
    sessions, and only then among the processes of one, where their priorities count."""
    with contextlib.suppress(OSError):  # no such groups, or no permission
        with open(f"/proc/{pid}/autogroup", "w") as autogroup:
            autogroup.write(str(nice))


class Interrupted(Exception):
    """A signal asks for the end."""


class Job:
    """A command whose output goes to a file, from which its results are read as they come."""

    def __init__(self, name, command, log, environment):
        self.name, self.command, self.log, self.environment = name, command, log, environment
        self.status, self.results, self.rest = None, [], ""
        self.pid = None

    def start(self, policy=os.SCHED_OTHER):
        def prepare():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
            if policy != os.SCHED_OTHER:
                os.sched_setscheduler(0, policy, os.sched_param(0))
                weigh("self", 19)

        self.began = time.monotonic()
        with open(self.log, "w") as out:
            self.pid = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                        env=self.environment, preexec_fn=prepare,
                                        start_new_session=True).pid
        self.output = open(self.log, errors="replace")

    def ended(self, status, busy):
        """`busy`: the seconds of processor time that it and the processes it waited for took."""
        self.status, self.seconds, self.busy = status, time.monotonic() - self.began, busy
        self.read()
        self.output.close()
        if status and not self.count("failed"):
            self.results.append(Result("failed", self.name, f"ended with status {status}", 0))

    def is_under_way(self):
        return self.pid and self.status is None

    def read(self):
        """Returns the results that are new."""
        *lines, self.rest = (self.rest + self.output.read()).split("\n")
        new = [result for line in lines if (result := result_of(line))]
        self.results += new
        return new

    def count(self, verdict):
        return sum(result.verdict == verdict for result in self.results)

    def complaints(self):
        """What it printed, without the lines of what passed."""
        with open(self.log, errors="replace") as log:
            return [line for line in log.read().splitlines()
                    if not ((result := result_of(line)) and result.verdict == "passed")]


# --- processes ------------------------------------------------------------------------------


def descendants():
    """All processes that this one started, or that those started, as their ids."""
    parents, found = {}, {os.getpid()}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                parents[int(pid)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            pass
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def reap():
    """Yields the id of each child that has ended, adopted ones, too, with its status and the seconds
    of processor time that it and its own children took."""
    while True:
        try:
            pid, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime)


def end_all():
    """Ends all descendants: also those in other sessions, and those that are just being started."""
    while found := descendants():
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for _ in reap():
            pass
        time.sleep(0.01)


def makes_above():
    """The makes that started this process. With SIGINT or SIGHUP to it alone, make only waits for
    its recipes; but then it no longer catches the signal."""
    found, pid = [], os.getppid()
    while pid > 1:
        with open(f"/proc/{pid}/status") as status:
            fields = dict(line.split(":\t", 1) for line in status.read().splitlines())
        if fields["Name"] == "make":
            found.append((pid, int(fields["SigCgt"], 16)))
        pid = int(fields["PPid"])
    return found


def is_ending(pid, caught_before):
    try:
        with open(f"/proc/{pid}/status") as status:
            caught = int(re.search(r"SigCgt:\t(\w+)", status.read())[1], 16)
    except OSError:
        return True
    lost = caught_before & ~caught
    return any(lost >> (number - 1) & 1 for number in ENDING)


# --- a run ----------------------------------------------------------------------------------

IN_MEMORY = "/dev/shm"
ROOM = 4 << 30


def place_for_files():
    """Where the tests' files are. As users' nodes do, those of tests then meet in memory, which takes
    a fifth of the processor time of tests/unit off. But a container may have little of it, or none
    from which programs can be started."""
    with contextlib.suppress(OSError):
        found = os.statvfs(IN_MEMORY)
        if found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC:
            return IN_MEMORY
    return "/tmp"



class Run:
    """A context in which jobs run, with a folder for their temporary files. At its end, whatever
    ends it, there are neither processes nor files of theirs."""

    def __init__(self, build):
        self.logs = os.path.join(build, "tests")
        os.makedirs(self.logs, exist_ok=True)

    def __enter__(self):
        for number in WATCHED:  # where they are ignored, as in a shell's background, they never come
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.makes = makes_above()
        # The path is short: with what a test adds it is to be a folder where nodes can meet.
        self.folder = tempfile.mkdtemp(prefix="h", dir=place_for_files())
        os.chmod(self.folder, 0o711)  # some tests are also another user, who needs a way in
        meeting = os.path.join(self.folder, "run")
        os.mkdir(meeting, 0o700)
        self.environment = {**os.environ, "TMPDIR": self.folder, "XDG_RUNTIME_DIR": meeting}
        # make's jobs are its own. Its variables are for the stages, too.
        self.environment.pop("MAKELEVEL", None)
        self.environment["MAKEFLAGS"] = " ".join(
            word for word in os.environ.get("MAKEFLAGS", "").split(" ")
            if not word.startswith(("-j", "--jobserver", "-O", "--output-sync")))
        return self

    def __exit__(self, *_):
        end_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def job(self, name, command):
        return Job(name, command, os.path.join(self.logs, name.replace("/", "-") + ".log"),
                   self.environment)

    def wait(self, jobs, seconds):
        """Waits for the end of a job, at most so long. Returns those that have ended."""
        heard = signal.sigtimedwait(WATCHED, seconds)
        if heard and heard.si_signo in ENDING:
            raise Interrupted(heard.si_signo)
        if any(is_ending(*make) for make in self.makes):
            raise Interrupted(signal.SIGINT)
        ended = dict(reap())
        found = [job for job in jobs if job.pid in ended and job.status is None]
        for job in found:
            job.ended(*ended[job.pid])
        return found
