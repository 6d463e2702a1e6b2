"""The command line in this process, for runs that nothing is to kill."""

import pytest

#: For the processes of runs alone: it changes the registry of whoever imports it.
collect_ignore = ["faulty"]


@pytest.fixture
def drmbench(run, monkeypatch):
    """Run a command offline; returns exit code, standard output and error."""
    monkeypatch.setenv("DRMBENCH_OFFLINE", "1")

    def command(*arguments):
        ended = run(*map(str, arguments))
        return ended.code, ended.out, ended.err

    return command
