"""How many requests are under way at once."""

from __future__ import annotations

import threading
import time

BEGIN = 4.0


class Pace:
    """Grows by one for every answer until the first trouble, then by one for every round of answers; halves where the
    endpoint is crowded (429, 5xx, timeouts), once for all requests that were under way (AIMD, as TCP has it: Chiu and
    Jain 1989). A pause that an endpoint asks for holds for all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = min(BEGIN, float(most))
        self._slow_start = True
        self._under_way = 0
        self._halved_at = 0.0
        self._resume_at = 0.0
        self._changed = threading.Condition()

    def enter(self, stop: threading.Event) -> float | None:
        """Waits for a place. When it began, by the clock; None where all is to stop."""
        with self._changed:
            while not stop.is_set():
                now = time.monotonic()
                if now >= self._resume_at and self._under_way < max(1, int(self.limit)):
                    self._under_way += 1
                    return now
                self._changed.wait(min(0.2, self._resume_at - now) if now < self._resume_at else 0.2)
            return None

    def answered(self) -> None:
        with self._changed:
            self._under_way -= 1
            self.limit = min(float(self.most), self.limit + (1.0 if self._slow_start else 1.0 / self.limit))
            self._changed.notify(2)

    def failed(self, began: float, crowded: bool, pause: float = 0.0) -> None:
        with self._changed:
            self._under_way -= 1
            self._resume_at = max(self._resume_at, time.monotonic() + pause)
            if crowded and began >= self._halved_at:
                self.limit = max(1.0, self.limit / 2)
                self._halved_at = time.monotonic()
                self._slow_start = False
            self._changed.notify_all()
