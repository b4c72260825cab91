"""A metric from a plain function of one turn, given in Python (`metric`) or as `FILE.py:FUNCTION`."""

from __future__ import annotations

import hashlib
import inspect
import math
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from numbers import Real
from pathlib import Path
from pkgutil import resolve_name
from reprlib import repr as shortened
from types import ModuleType
from typing import Any, ClassVar, overload

import numpy as np

from dialogauge.corpus.turn import Turn
from dialogauge.errors import InputError, unknown
from dialogauge.files import expanded, plain_file
from dialogauge.metrics.base import Floats
from dialogauge.metrics.checking import INPUTS, metric_faults
from dialogauge.metrics.prepared import MeanMetric

Function = Callable[[Turn], float | None]
IN_FILE = re.compile(r"(?P<path>.+\.py):(?P<function>[^\W\d]\w*)")
"""How a function is asked for that stands in a file."""
OF_TURNS = INPUTS - {"real"}
UNBOUNDED = (-math.inf, math.inf)
BETTER = {True: "higher", False: "lower", None: "neither"}
KEPT = ("function", "sha256", "better")
"""What signatures say of every such metric, enough to draw conclusions from rows that were kept."""


@dataclass(frozen=True, eq=False)
class FunctionMetric(MeanMetric):
    """The mean of what a function says of each turn; None and NaN are turns without a score. Each function has a
    subclass of its own, since a name, a title and needs belong to classes."""

    function: ClassVar[Function]
    source: ClassVar[str]
    """What signatures call the function."""
    digest: ClassVar[str]
    """The sha256 of the function's source, or of the whole file that was given."""
    path: ClassVar[Path | None] = None
    """The file that was given."""

    def __call__(self, turn: Turn) -> float | None:
        return type(self).function(turn)

    def measure(self, turns: Sequence[Turn]) -> Floats:
        with redirect_stdout(sys.stderr):  # stdout is for results
            return np.array([self._score(turn) for turn in turns], dtype=np.float64).reshape(len(turns), 1)

    def _score(self, turn: Turn) -> float:
        place = f"{self.name}: on the turn {turn.id!r} of {turn.system!r} the function"
        try:
            value = type(self).function(turn)
        except (Exception, SystemExit) as error:  # the user's code: whatever it raises
            raise _failed(f"{place} raised {type(error).__name__}: {error}", error, type(self).function) from error
        if value is None:
            return math.nan
        try:
            number = float(value) if isinstance(value, Real | np.bool_) else math.inf
        except OverflowError:
            number = math.inf
        if math.isinf(number):
            raise InputError(f"{place} returned {shortened(value)}; expected a finite number, or None for no value")
        low, high = self.bounds
        if number < low or number > high:
            raise InputError(f"{place} returned {number:g}, outside of its bounds {low:g} to {high:g}")
        return number

    def recipe(self) -> dict[str, str]:
        said = {"function": self.source, "sha256": self.digest[:16], "better": BETTER[self.higher_is_better]}
        if self.needs[0]:
            said["needs"] = "+".join(sorted(self.needs[0]))
        if self.bounds != UNBOUNDED:
            said["bounds"] = "..".join(str(float(end)) for end in self.bounds)
        return said

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.signature, self.title, self.path or id(type(self).function)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionMetric) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: by file and name, by the name of what was decorated, or with the function."""
        if self.path is not None:
            return _reopened, (str(self.path), self.source.rpartition(":")[2], self.digest)
        function: Any = type(self).function
        module = function.__module__
        if getattr(sys.modules.get(module), function.__qualname__, None) is self:
            return resolve_name, (f"{module}:{function.__qualname__}",)
        given = {"higher_is_better": self.higher_is_better, "needs": self.needs[0], "bounds": self.bounds}
        return partial(metric, **given, title=self.title), (self.name, function)


@overload
def metric(
    name: str,
    function: Function,
    *,
    higher_is_better: bool | None = None,
    needs: str | Iterable[str] = (),
    bounds: tuple[float, float] = UNBOUNDED,
    title: str | None = None,
) -> FunctionMetric: ...
@overload
def metric(
    name: str,
    function: None = None,
    *,
    higher_is_better: bool | None = None,
    needs: str | Iterable[str] = (),
    bounds: tuple[float, float] = UNBOUNDED,
    title: str | None = None,
) -> Callable[[Function], FunctionMetric]: ...
def metric(
    name: str,
    function: Function | None = None,
    *,
    higher_is_better: bool | None = None,
    needs: str | Iterable[str] = (),
    bounds: tuple[float, float] = UNBOUNDED,
    title: str | None = None,
) -> FunctionMetric | Callable[[Function], FunctionMetric]:
    """A metric from a function that takes a Turn and returns a number, or None where there is none to be had. Without
    the function, a decorator.

    `needs` names what a turn must have beside the response ("references", "context", "facts", ...): turns without are
    left out and counted, as are those that the function says None of. A system's score is the mean over its turns.

    >>> from dialogauge import Corpus, Turn, evaluate, metric
    >>> asks = metric("asks", lambda turn: "?" in turn.response, bounds=(0, 1), title="share of replies that ask")
    >>> evaluate(Corpus([Turn("0", "why?"), Turn("1", "so.")]), asks).scores[0].value
    0.5
    """
    given = {"higher_is_better": higher_is_better, "needs": needs, "bounds": bounds, "title": title}
    if not isinstance(name, str):
        raise InputError(
            f'expected a name first, as in metric("asks", asks) or @metric("asks"), found {shortened(name)}'
        )
    if function is None:
        return partial(_made, name, **given)
    return _made(name, function, **given)


def _made(
    name: str,
    function: Any,
    *,
    higher_is_better: Any = None,
    needs: Any = (),
    bounds: Any = UNBOUNDED,
    title: Any = None,
    **about: Any,
) -> FunctionMetric:
    """`about`: the source, digest and path, where they are not the function's own."""
    from dialogauge.metrics.registry import BUILT_IN

    if not callable(function) or isinstance(function, type):
        raise InputError(f"the metric {name!r} cannot be made: expected a function, found {shortened(function)}")
    needed = [needs] if isinstance(needs, str) or not isinstance(needs, Iterable) else list(needs)
    wrong = [each for each in needed if not isinstance(each, str) or each not in OF_TURNS]
    faults = [f"needs: {each!r} is none of {', '.join(sorted(OF_TURNS))}" for each in wrong]
    faults += ["the name is taken by dialogauge itself"] if name in BUILT_IN else []
    own = {
        "__doc__": function.__doc__,
        "name": name,
        "title": (inspect.getdoc(function) or f"the mean of {name}").partition("\n")[0] if title is None else title,
        "higher_is_better": higher_is_better,
        "needs": (frozenset(needed) if not wrong else frozenset(),),
        "bounds": tuple(bounds) if isinstance(bounds, Iterable) else bounds,
        "function": staticmethod(function),
        "source": _name_of(function),
        "digest": about.get("digest") or hashlib.sha256(_source(function).encode()).hexdigest(),
        **about,
    }
    cls = type("FunctionMetric", (FunctionMetric,), own)
    faults = faults or metric_faults(name, cls)
    if faults:
        raise InputError(f"the metric {name!r} cannot be made: {'; '.join(faults)}")
    made: FunctionMetric = cls()
    return made


def _name_of(function: Any) -> str:
    return re.sub(r"\W", "", getattr(function, "__name__", type(function).__name__))


def _source(value: Any) -> str:
    """What tells one version of a function from another: its source, or its code where there is none; its defaults,
    and the plain values that it holds from where it was made."""
    if isinstance(value, partial):
        held = [value.func, *value.args, *(item for pair in sorted(value.keywords.items()) for item in pair)]
        return "\n".join(map(_source, held))
    if not inspect.isfunction(value):
        plain = isinstance(value, str | int | float | None)
        return repr(value) if plain else f"{type(value).__qualname__} {getattr(value, '__qualname__', '')}"
    try:
        text = inspect.getsource(value)
    except OSError:
        code = value.__code__
        text = repr((code.co_code, code.co_names, [each for each in code.co_consts if not inspect.iscode(each)]))
    held = [*(value.__defaults__ or ()), *(cell.cell_contents for cell in value.__closure__ or ())]
    return "\n".join([text, *(_source(each) for each in held if each is not value)])


def function_in_file(text: str) -> FunctionMetric | None:
    """The metric that `FILE.py:FUNCTION` asks for, for which the file is run; None for any other text. The function may
    be decorated with `metric`, or carry its arguments as attributes."""
    match = IN_FILE.fullmatch(text)
    if match is None and (text.endswith(".py") or (".py:" in text and "[" not in text)):
        raise InputError(f"which function of {text.rstrip(':')}? Expected FILE.py:FUNCTION")
    return _opened(expanded(match["path"]), match["function"]) if match else None


def _opened(path: Path, name: str) -> FunctionMetric:
    try:
        code = plain_file(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); expected FILE.py:FUNCTION", path) from None
    digest = hashlib.sha256(code).hexdigest()
    names = _run(path.resolve(), code)
    if name not in names:
        functions = [each for each, value in names.items() if inspect.isfunction(value) and each[0] != "_"]
        raise unknown(f"function of {path.name}", name, functions)
    found = names[name]
    about = {"source": f"{path.name.replace('|', '_')}:{name}", "digest": digest, "path": path.resolve()}
    if isinstance(found, FunctionMetric):
        given = {"higher_is_better": found.higher_is_better, "needs": found.needs[0], "bounds": found.bounds}
        return _made(found.name, type(found).function, **given, title=found.title, **about)
    names_given = ("higher_is_better", "needs", "bounds", "title")
    given = {each: getattr(found, each) for each in names_given if hasattr(found, each)}
    return _made(name, found, **given, **about)


@cache
def _run(path: Path, code: bytes) -> dict[str, Any]:
    """What a file defines. It is run once, however often it is asked for."""
    module = ModuleType(f"dialogauge_file_{hashlib.sha256(code).hexdigest()[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where dataclasses, for one, look for it
    try:
        with redirect_stdout(sys.stderr):
            exec(compile(code, str(path), "exec"), vars(module))
    except (Exception, SystemExit) as error:  # the user's code: whatever it raises
        line = _line(error, str(path))
        raise InputError(f"cannot be run: {type(error).__name__}: {error}", path, line) from error
    return vars(module)


def _reopened(path: str, name: str, digest: str) -> FunctionMetric:
    found = _opened(Path(path), name)
    if found.digest != digest:
        raise InputError("was changed while its function was in use; begin again", path)
    return found


def _failed(message: str, error: BaseException, function: Any) -> InputError:
    """With the line of the function's file, where it has one."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "<")
    return InputError(message) if file.startswith("<") else InputError(message, file, _line(error, file))


def _line(error: BaseException, file: str) -> int | None:
    """Where in the file it was raised."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return lines[-1] if lines else None


def kept_metric(signature: str) -> FunctionMetric | None:
    """The metric of a kept run whose signature says that a function measured it; it can conclude, not measure."""
    name, *pieces = signature.split("|")
    said: Mapping[str, str] = {key: value for key, _, value in (piece.partition(":") for piece in pieces)}
    if not all(key in said for key in KEPT):
        return None
    low, _, high = said.get("bounds", "-inf..inf").partition("..")
    return _made(
        name,
        _not_at_hand,
        higher_is_better={word: value for value, word in BETTER.items()}[said["better"]],
        needs=filter(None, said.get("needs", "").split("+")),
        bounds=(float(low), float(high)),
        title=f"measured by the function {said['function']}",
        source=said["function"],
        digest=said["sha256"],
    )


def _not_at_hand(_turn: Turn) -> float:
    raise InputError("the function is not at hand: give it as FILE.py:FUNCTION")
