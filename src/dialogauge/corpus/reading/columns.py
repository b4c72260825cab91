"""Which column of a table, or field of a JSON record, holds which field of a turn."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from dialogauge.corpus.reading.fields import refuse_many_names, refuse_near_misses, resembles
from dialogauge.corpus.turn import NOTHING
from dialogauge.errors import Caveat, InputError, describe, quote, quote_all, unknown
from dialogauge.tables import printable

FIELDS = ("id", "context", "response", "references", "system", "ratings", "dialogue", "facts", "extra")
RATINGS = "ratings."
"""What a column of one rated dimension begins with."""

OTHER_NAMES = {
    "system": ("model", "model_name", "model_id", "bot", "bot_name", "chatbot", "agent", "system_name", "generator"),
    "context": (
        *("prompt", "question", "query", "input", "instruction", "message", "user_input", "user_message"),
        *("history", "conversation", "chat_history", "dialogue_history", "dialog_history", "conversation_history"),
    ),
    "response": (
        *("answer", "reply", "output", "generation", "completion", "prediction", "hypothesis"),
        *("model_output", "model_response", "bot_response", "system_response", "assistant_response"),
    ),
    "references": (
        *("reference", "target", "gold", "ground_truth", "expected", "expected_output", "expected_answer"),
        *("reference_answer", "reference_response", "gold_answer", "gold_response", "human_response"),
    ),
    "dialogue": ("conversation_id", "dialogue_id", "dialog_id", "session_id", "chat_id", "thread_id"),
}
"""Names that are understood, in any case, where a file has no column of the field's own name."""
_FIELD_OF = {name: field for field, names in OTHER_NAMES.items() for name in names}

_LIKE_RESPONSE = (
    *("response", "answer", "reply", "completion", "generat", "output", "predict", "hyp"),
    *("assistant", "agent", "bot", "says", "text", "content"),
)
_LIKE_CONTEXT = (
    *("context", "history", "prompt", "question", "query", "message", "dialog", "conversation"),
    *("instruct", "input", "user", "human", "turns"),
)
"""Parts of names that say what a column might hold, the most telling first."""

_PLANS = 1000
_MOST_SYSTEMS, _TURNS_EACH, _LONGEST_NAME = 20, 2, 60

ColumnMap: TypeAlias = Mapping[str, str | None]
"""The column by the field that it holds; None where no column is to be taken for the field."""
Value = TypeVar("Value")


def check_mapping(mapping: ColumnMap) -> None:
    """Refuses a field that turns do not have."""
    if not isinstance(mapping, Mapping):
        raise InputError(f'mapping: expected a dict such as {{"response": "text"}}, found {describe(mapping)}')
    for field, column in mapping.items():
        if field not in FIELDS[:-1] and not (str(field).startswith(RATINGS) and field != RATINGS):
            raise unknown("field", field, (*FIELDS[:-1], f"{RATINGS}DIMENSION"))
        if column is not None and not isinstance(column, str):
            raise InputError(f"mapping {field}: expected the name of a column, found {describe(column)}")


def holds_responses(names: Collection[str], mapping: ColumnMap) -> bool:
    """Whether one of the columns is that of the responses, is spelled almost like it, or has a common name for it."""
    if mapping.get("response") is not None:
        return mapping["response"] in names
    return any(resembles(name, "response") or _meant(name) == "response" for name in names)


def refuse_names(
    names: Sequence[str] | Mapping[str, Any], mapping: ColumnMap, path: Path | None, line: int | None = None
) -> None:
    """Refuses what is wrong in every row of a table: a name twice, a name that resembles a field's, no response, a
    column that was asked for and is not there. Of a record with its values the hints are better."""
    try:
        _check_names(names, mapping)
    except InputError as error:
        raise InputError(error.message, path, line) from None


def no_response(record: Mapping[str, Any]) -> InputError:
    """What is wrong with a record in which nothing is known to be the response; by its own names, not ours."""
    found = f"found no such field (the fields are {quote_all(record) or 'no field'})"
    return InputError(f"response: expected text, {found}; {suggestion(record)}")


def suggestion(record: Mapping[str, Any] | Sequence[str]) -> str:
    """What to do about a record in which nothing is known to be the response: the `--map` that might be meant, by the
    names of its fields and, where they are at hand, by what these hold."""
    values: Mapping[str, Any] = record if isinstance(record, Mapping) else dict.fromkeys(record)
    texts = [name for name, value in values.items() if value is None or isinstance(value, str)]
    lists = [name for name, value in values.items() if isinstance(value, list) and value]
    response = _hinted(texts, _LIKE_RESPONSE) or _longest(values)
    if response is None and (held := [name for name in lists if isinstance(values[name][0], dict)]):
        inner = f"{quote(held[0])} holds a list of objects; give them alone"
        return f"{inner}: jq -c '.{held[0]}[]' FILE | dialogauge score -" if held[0].isidentifier() else inner
    rest = [name for name in (*lists, *texts) if name != response]
    context = _hinted(rest, _LIKE_CONTEXT)
    found = {"response": response or "COLUMN"} | ({"context": context} if context else {})
    columns = ",".join(f"{field}={name}" for field, name in found.items())
    return f"where another holds it, name it: --map {shlex.quote(printable(columns))}"


def _hinted(names: Sequence[str], hints: Sequence[str]) -> str | None:
    """The name with the first of the hints that any has in it."""
    return next((name for hint in hints for name in names if hint in name.casefold()), None)


def _longest(values: Mapping[str, Any]) -> str | None:
    texts = {name: len(value) for name, value in values.items() if isinstance(value, str) and " " in value.strip()}
    return max(texts, key=lambda name: texts[name], default=None)


def gather_ratings(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its columns `ratings.DIMENSION` gathered into `ratings`."""
    fields = {column: value for column, value in row.items() if not column.startswith(RATINGS)}
    rated = {column.removeprefix(RATINGS): row[column] for column in row if column.startswith(RATINGS)}
    if rated:
        given = fields.get("ratings")
        if given is not None and not isinstance(given, dict):
            raise InputError(f"ratings: expected either one column or columns {RATINGS}DIMENSION, found both")
        fields["ratings"] = {**(given or {}), **rated}
    return fields


class Columns:
    """The columns of one input. What the user named comes first, then the field's own name, then its other names."""

    def __init__(self, mapping: ColumnMap = NOTHING) -> None:
        check_mapping(mapping)
        self.mapping = mapping
        self.understood: dict[str, str] = {}
        """The column of each field that was found by another name."""
        self.unmet = {field: column for field, column in mapping.items() if column is not None}
        """What was asked for and has not been seen yet."""
        self.contested: dict[str, str] = {}
        """The column of each field that one part of the input took from it, and another with the same columns did
        not."""
        self._rates = any(field.startswith(RATINGS) for field in mapping)
        self._plans: dict[tuple[str, ...], dict[str, str | None]] = {}
        self._texts: dict[str, set[str] | None] = {}
        self._unnamed = 0

    def __add__(self, other: Columns) -> Columns:
        """What was found in two parts of one input."""
        whole = Columns(self.mapping)
        whole.understood = other.understood | self.understood
        whole.unmet = {field: column for field, column in self.unmet.items() if field in other.unmet}
        whole.contested = self.contested | other.contested
        for names, plan in self._plans.items():
            differing = plan.items() ^ other._plans.get(names, plan).items()
            whole.contested |= {field: column for field, column in sorted(differing) if column is not None}
        whole._plans = dict(islice((other._plans | self._plans).items(), _PLANS))
        whole._unnamed = self._unnamed + other._unnamed
        for name in (*self._texts, *(name for name in other._texts if name not in self._texts)):
            mine, theirs = (each._texts.get(name, set()) for each in (self, other))
            together = None if mine is None or theirs is None else mine | theirs
            whole._texts[name] = None if together is None or len(together) > _MOST_SYSTEMS else together
        return whole

    def record(self, record: dict[str, Any]) -> dict[str, Any]:
        """The JSON record under our names."""
        renamed = self.rename(record)
        if "response" not in renamed and not any(resembles(name, "response") for name in record):
            raise no_response(record)
        return gather_ratings(renamed) if self._rates else renamed

    def rename(
        self,
        record: dict[str, Value],
        looks: Callable[[Value], Any] = lambda value: value,
        fields: Collection[str] = FIELDS,
    ) -> dict[str, Value]:
        """The record under our names, of which the `fields` are taken from columns of other names. What is meant is
        decided by the first record that has these names; `looks` says what its values are."""
        names = tuple(record)
        plan = self._plans.get(names)
        if plan is None:
            if len(self._plans) == _PLANS:
                self._plans.clear()
            plan = self._plans[names] = self._plan(record, looks, fields)
        if not plan:
            return record
        taken = set(plan.values())
        renamed = {name: value for name, value in record.items() if name not in plan and name not in taken}
        return renamed | {field: record[column] for field, column in plan.items() if column in record}

    def _plan(
        self, record: dict[str, Value], looks: Callable[[Value], Any], fields: Collection[str]
    ) -> dict[str, str | None]:
        refuse_many_names(record, "columns or fields")
        plan = dict(self.mapping)
        for field, column in self.mapping.items():
            if column in record:
                self.unmet.pop(field, None)
        for field in fields:
            if field in plan or field in record or (field == "context" and "messages" in record):
                continue
            meant = [
                name
                for name, value in record.items()
                if _meant(name) == field and name not in plan.values() and _suits(field, looks(value))
            ]
            if len(meant) > 1:
                asked = " or ".join(f"--map {field}={name}" for name in meant)
                raise InputError(f"{field}: expected one column that holds it, found {quote_all(meant)}; say {asked}")
            if meant:
                plan[field] = self.understood[field] = meant[0]
        return plan

    def note_unnamed(self, extra: Mapping[str, Any]) -> None:
        """Notes what else is said of a turn whose system is not named."""
        self._unnamed += 1
        for name, value in extra.items():
            texts = self._texts.setdefault(name, set())
            if texts is None or (isinstance(value, str) and value in texts):
                continue
            if isinstance(value, str) and len(value) <= _LONGEST_NAME and len(texts) < _MOST_SYSTEMS:
                texts.add(value)
            else:
                self._texts[name] = None

    def unused(self) -> list[str]:
        """Columns that might name the system, where none does: each has few different texts."""
        if "system" in self.mapping:
            return []
        found = {name: len(texts) for name, texts in self._texts.items() if texts is not None}
        return [name for name, count in found.items() if 1 < count <= self._unnamed / _TURNS_EACH]

    def caveats(self, path: str) -> list[Caveat]:
        caveats = []
        if self.understood:
            taken = ", ".join(f"{field} from {quote(column)}" for field, column in self.understood.items())
            caveats.append(Caveat("columns_understood", f"{path}: taken {taken}; --map FIELD=COLUMN says otherwise"))
        if unused := self.unused():
            which = f"the column {quote(unused[0])} has" if len(unused) == 1 else f"{quote_all(unused)} have"
            message = f"no column names the system, and all turns are taken for one; {which} few different texts"
            caveats.append(Caveat("unused_column", f"{path}: {message}: is it --map system={unused[0]}?"))
        return caveats


def _check_names(names: Sequence[str] | Mapping[str, Any], mapping: ColumnMap) -> None:
    refuse_many_names(names, "columns")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"expected columns of different names, found {quote(name)} twice")
        seen.add(name)
    for field, column in mapping.items():
        if column is not None and column not in seen:
            raise InputError(f"--map {field}={column}: expected such a column, found {quote_all(names)}")
    if "response" not in seen and not holds_responses(names, mapping):
        raise InputError(f"expected a column 'response', found {quote_all(names) or 'none'}; {suggestion(names)}")
    ours = [name for name in names if not name.startswith(RATINGS) and _meant(name) is None]
    refuse_near_misses([name for name in ours if name not in mapping.values()], FIELDS)


def _meant(name: str) -> str | None:
    """The field that goes by this name elsewhere."""
    return _FIELD_OF.get(name.strip().casefold().replace(" ", "_").replace("-", "_"))


def _suits(field: str, value: Any) -> bool:
    """Whether a value can be the field's: a number called `target` is not a reference, but stays what it was."""
    if value is None or isinstance(value, str) or field == "response":
        return True
    if field in ("system", "dialogue"):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, list) and all(isinstance(item, str | dict) for item in value)
