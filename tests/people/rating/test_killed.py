"""The server is killed in the middle of a study: every answer that was acknowledged is there, and the study goes on."""

import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from urllib.parse import urlsplit

import pytest

from dialogauge.people.rating.study import Study
from tests.people.rating.studies import a_corpus, a_study, events, rows

GONE = (ConnectionError, http.client.HTTPException, OSError)


class Serving:
    """`dialogauge rate --study DIR` as a process of its own."""

    def __init__(self, folder, *more):
        command = [sys.executable, "-m", "dialogauge", "rate", "--study", str(folder), *more]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.links = {}
        while line := self.process.stdout.readline():
            name, _, link = line.strip().partition("\t")
            self.links[name] = link
            if name == "r04":
                return
        raise AssertionError(self.process.stderr.read())

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        return self.end()

    def end(self):
        self.process.stdout.close()
        told = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(20), told


class ScriptedRater(threading.Thread):
    """Answers as fast as it may until the server is gone. What was sent, and what was acknowledged, by public id."""

    def __init__(self, link, seed, sent, acknowledged):
        super().__init__()
        self.link, self.random = urlsplit(link), random.Random(seed)
        self.sent, self.acknowledged = sent, acknowledged
        self.odd = []

    def run(self):
        connection = http.client.HTTPConnection(self.link.hostname, self.link.port, timeout=10)
        try:
            self.ask(connection, "POST", f"{self.link.path}/consent", "agree=yes")
            while True:
                status, there = self.ask(connection, "GET", self.link.path)
                public_id = there.rpartition("/item/")[2]
                if status == 429:  # even scripts are slowed down
                    time.sleep(0.1)
                    continue
                value = self.random.randint(1, 5)
                self.sent.setdefault(public_id, []).append(value)
                status, _ = self.ask(connection, "POST", there, f"q0={value}")
                if status == 303:
                    self.acknowledged[public_id] = value
                elif status != 429:
                    self.odd.append((status, there))
                    return
        except GONE:
            pass
        finally:
            connection.close()

    def ask(self, connection, method, path, body=None):
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        headers["Origin"] = f"http://{self.link.netloc}"
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers.get("Location", "")


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_no_acknowledged_answer_is_lost(tmp_path, kills):
    folder = tmp_path / "study"
    a_study(folder, a_corpus(100), raters=4, people=4).close()
    sent, acknowledged, counts, origins = {}, {}, [], set()
    for attempt in range(kills):
        server = Serving(folder, *([] if attempt else ["--port", "0"]))
        origins.add(urlsplit(server.links["r01"]).netloc)
        raters = [
            ScriptedRater(link, f"{attempt} {name}", sent, acknowledged)
            for name, link in server.links.items()
            if name.startswith("r")
        ]
        for rater in raters:
            rater.start()
        end = time.monotonic() + 60
        while len(acknowledged) < sum(counts[-1:]) + 10 and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.017 * (attempt % 7))
        server.kill()
        for rater in raters:
            rater.join()
            assert rater.odd == []
        counts.append(len(acknowledged))
    assert len(origins) == 1  # links hold
    assert counts[0] > 0
    assert all(before < after for before, after in pairwise(counts))  # every kill hit a study at work
    with Study.open(folder) as study:
        assert rows(study, "PRAGMA integrity_check") == [("ok",)]
        kept = dict(rows(study, "SELECT public_id, value FROM rating JOIN assignment ON assignment.id = assignment"))
        assert {public_id: kept.get(public_id) for public_id in acknowledged} == acknowledged
        assert all(value in sent[public_id] for public_id, value in kept.items())
        done = rows(study, "SELECT count(*) FROM assignment WHERE done IS NOT NULL")[0][0]
        assert len(kept) == done == len(events(study, "answered"))
        assert rows(study, "SELECT max(n) FROM (SELECT count(*) AS n FROM rating GROUP BY assignment)") == [(1,)]
        assert not events(study, "changed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_leaves_one_file_and_says_how_to_go_on(tmp_path, number):
    folder = tmp_path / "study"
    a_study(folder, a_corpus(4), raters=4, people=4).close()
    server = Serving(folder, "--port", "0")
    rater = ScriptedRater(server.links["r01"], 1, {}, {})
    rater.start()
    while rater.is_alive() and not rater.acknowledged:
        time.sleep(0.01)
    assert rater.odd == []
    server.process.send_signal(number)
    code, told = server.end()
    rater.join()
    assert code == 0
    assert f"`dialogauge rate --study {folder}` goes on" in told
    assert {path.name for path in folder.iterdir()} == {"study.sqlite", "links.txt"}
    with Study.open(folder) as study:
        kept = dict(rows(study, "SELECT public_id, value FROM rating JOIN assignment ON assignment.id = assignment"))
    assert kept.items() >= rater.acknowledged.items()
