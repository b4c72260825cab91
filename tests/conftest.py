"""Every test has a cache of its own making, never the user's, and nothing is fetched from the hub."""

import os
import signal
import tempfile

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.pop("COLUMNS", None)  # tables as wide as they come, as in a pipe
# Tests run in several processes; where each has a thread for every core, they wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session", autouse=True)
def no_signal_is_ignored():
    """Tests that a script runs in the background ignore Ctrl-C, and so would all processes that they start and stop."""
    ignored = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(scope="session", autouse=True)
def cache_folder_of_this_session():
    with tempfile.TemporaryDirectory(prefix="dialogauge-tests-") as folder:
        before = os.environ.get("DIALOGAUGE_CACHE")
        os.environ["DIALOGAUGE_CACHE"] = folder
        yield folder
        if before is None:
            del os.environ["DIALOGAUGE_CACHE"]
        else:
            os.environ["DIALOGAUGE_CACHE"] = before
