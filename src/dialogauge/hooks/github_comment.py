"""GitHub: a report as one comment below a pull request, written anew by each run; `action.yml` calls it.

python -m dialogauge.hooks.github_comment report.md NAME
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

LONGEST = 60_000
"""Characters of a comment; GitHub takes 65,536."""
PAGE = 100
FORBIDDEN = (403, 404)
"""What a token gets that may not write, as those for pull requests from forks."""


def main(report: str, name: str) -> int:
    """Writes the comment, over the one of this name that a run before has written."""
    mark = f"<!-- dialogauge: {name} -->"
    body = {"body": f"{mark}\n{cut(Path(report).read_text(encoding='utf-8'))}"}
    repository = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    thread = f"{repository}/{os.environ['PULL_REQUEST']}/comments"
    try:
        earlier = _earlier(thread, mark)
        if earlier is None:
            _asked("POST", thread, body)
        else:
            _asked("PATCH", f"{repository}/comments/{earlier}", body)
    except HTTPError as error:
        if error.code not in FORBIDDEN:
            raise
        print(f"::warning::no comment written: GitHub answered {error.code}; the job's summary has the table")
    return 0


def cut(report: str) -> str:
    if len(report) <= LONGEST:
        return report
    return f"{report[:LONGEST].rpartition(chr(10))[0]}\n\n(cut here; the job's summary has the whole)\n"


def _earlier(thread: str, mark: str) -> int | None:
    """The comment with this mark, which people cannot pass theirs off as."""
    page = 1
    comments: list[Any] = []
    while page == 1 or len(comments) == PAGE:
        comments = _asked("GET", f"{thread}?per_page={PAGE}&page={page}")
        for comment in comments:
            if comment["user"]["type"] == "Bot" and comment["body"].startswith(mark):
                return int(comment["id"])
        page += 1
    return None


def _asked(method: str, url: str, body: dict[str, str] | None = None) -> Any:
    headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, headers, method=method), timeout=60) as answer:
        return json.load(answer)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
