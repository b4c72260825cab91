"""The encoders of one run: every metric that asks for the same one gets the same one."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dialogauge.encode.base import Dtype, Encoder, Pool, Pooled, Text, Tokens, Tuning
from dialogauge.encode.cache.cache import Cache
from dialogauge.errors import Caveat, InputError
from dialogauge.files import expanded
from dialogauge.plugins import PlugIns, foreign

if TYPE_CHECKING:
    from dialogauge.encode.causal.language_model import LanguageModel
    from dialogauge.endpoint.endpoint import AskOptions
    from dialogauge.endpoint.endpoints import Endpoints

STATIC, UNIVERSAL, ELMO = "static:", "use", "elmo"


class Encoders:
    """From names to encoders, and the endpoints that metrics may ask. With `cache` None nothing is kept on disk."""

    def __init__(
        self,
        cache: Cache | None = None,
        progress: bool = False,
        asking: AskOptions | None = None,
        *,
        hub: bool = True,
    ) -> None:
        """`hub`: whether the hub may be asked for any name, or, where names stand in files that nobody typed, for none
        but known ones."""
        self.cache = cache
        self._hub = hub
        self._asking = asking
        self._progress = progress
        self._open: dict[tuple[str, Dtype], Encoder] = {}
        self._tuned: dict[tuple[str, str], Encoder] = {}
        self._language_models: dict[tuple[str, Dtype], LanguageModel] = {}
        self._noticed: list[Caveat] = []

    def get(self, name: str, dtype: Dtype = "float32", hub: bool = True) -> Encoder:
        """`minilm`, `mpnet`, a Hugging Face name or directory; `static:FILE`, `static:minilm`; `use`, `use:FILE`;
        `elmo:DIRECTORY`; what other packages add. `hub`: whether any name may be asked of the hub."""
        if (name, dtype) not in self._open:
            self._open[name, dtype] = self._opened(name, dtype, hub and self._hub)
            if dtype != "float32" and self._open[name, dtype].recipe().get("dtype", "f32") == "f32":
                message = f"{name} counts in float32 alone: dtype={dtype} changes nothing"
                self._noticed.append(Caveat("dtype_ignored", message))
        return self._open[name, dtype]

    def tuned(self, name: str, tuning: Tuning) -> Encoder:
        """A transformer whose weights were trained further."""
        from dialogauge.encode.transformer import Transformer

        place = name, tuning.digest
        if place not in self._tuned:
            base = self.get(name)
            if not isinstance(base, Transformer):
                raise InputError(f"the encoder {base.identity} is no transformer, and has no weights to be tuned")
            self._tuned[place] = Transformer(base.files, base.dtype, self.cache, self._progress, tuning)
        return self._tuned[place]

    def language_model(self, name: str, dtype: Dtype = "float32") -> LanguageModel:
        """`smollm2`, a Hugging Face name or directory: says how likely texts are, with the cache of the encoders."""
        from dialogauge.encode.causal.find import find_language_model
        from dialogauge.encode.causal.language_model import LanguageModel

        if (name, dtype) not in self._language_models:
            found = LanguageModel(find_language_model(name), dtype, self.cache, self._progress)
            self._language_models[name, dtype] = found
        return self._language_models[name, dtype]

    @cached_property
    def endpoints(self) -> Endpoints:
        """Those of language models, which metrics may ask."""
        from dialogauge.endpoint.endpoints import Endpoints

        return Endpoints(self._asking, self.cache.folder if self.cache else None)

    def caveats(self) -> list[Caveat]:
        """What went wrong with the cache and was worked around; which encoders two packages have under one name; which
        count in float32 whatever was asked for."""
        return [
            *(Caveat("cache", problem) for problem in (self.cache.problems if self.cache else ())),
            *self._noticed,
            *(self.endpoints.caveats() if "endpoints" in self.__dict__ else ()),
        ]

    def _opened(self, name: str, dtype: Dtype, hub: bool) -> Encoder:
        if name.startswith(STATIC):
            return self._static(name.removeprefix(STATIC))
        if name.partition(":")[0] == UNIVERSAL:
            from dialogauge.encode.universal import open_universal

            path = name.partition(":")[2]
            return open_universal(Path(path) if path else None)
        if name.partition(":")[0] == ELMO:
            from dialogauge.encode.elmo.encoder import ElmoEncoder
            from dialogauge.encode.elmo.files import find_elmo

            return ElmoEncoder(find_elmo(name.partition(":")[2]), self.cache, self._progress)
        from dialogauge.encode.find import KNOWN, find_model
        from dialogauge.encode.transformer import Transformer

        prefix = name.partition(":")[0]
        if name not in KNOWN and (added := plug_ins().get(prefix)):
            self._noticed += plug_ins().contested([prefix])
            return _made(added, name)
        return Transformer(find_model(name, hub=hub), dtype, self.cache, self._progress)

    def _static(self, name: str) -> Encoder:
        from dialogauge.encode.find import KNOWN, find_model
        from dialogauge.encode.static import InputTable, open_static

        path = expanded(name)
        if name in KNOWN or path.is_dir():
            files = find_model(name)
            table = InputTable(files.directory, files.identity, files.languages)
            files.refuse_changed()
            return table
        if not path.is_file():
            raise InputError(
                f"no word vectors {name!r}: expected a file of GloVe or word2vec vectors, or static:minilm"
            )
        return open_static(path, progress=self._progress)


def plug_ins() -> PlugIns[type[Encoder]]:
    """The encoders of other packages: classes that are called with what stands after the colon of a name."""
    from dialogauge.encode.find import KNOWN

    return PlugIns("encoder", "dialogauge.encoders", {*KNOWN, STATIC.removesuffix(":"), UNIVERSAL, ELMO}, _faults)


def _faults(name: str, encoder: Any) -> list[str]:
    """Everything that keeps what another package gives from being an encoder."""
    if not (isinstance(encoder, type) and issubclass(encoder, Encoder)):
        return ["it is no subclass of dialogauge.encode.Encoder"]
    faults = [f"it does not define {', '.join(lacking)}"] if (lacking := sorted(encoder.__abstractmethods__)) else []
    if encoder.tokens is Encoder.tokens and encoder.pooled is Encoder.pooled:
        faults.append("it defines neither tokens nor pooled")
    if not isinstance(encoder.title, str) or not encoder.title.strip():
        faults.append(f"title: expected a line on what it is, found {encoder.title!r}")
    return faults + ([f"its name {name!r} has a colon"] if ":" in name else [])


def _made(cls: type[Encoder], name: str) -> Encoder:
    """The encoder of another package, with whatever it raises told as what went wrong in it."""
    with foreign(f"the encoder {name!r} of another package"):
        guarded: Any = type(cls.__name__, (_Guarded, cls), {"called": name})
        encoder: Encoder = guarded(name.partition(":")[2])
        if not isinstance(getattr(encoder, "identity", None), str):
            raise TypeError("it has no identity, a text for signatures")
    return encoder


class _Guarded(Encoder):
    """Stands before the class of another package: what that raises is told, and what it gives is looked at."""

    called: ClassVar[str]

    def recipe(self) -> dict[str, str]:
        with self._guard():
            recipe: Any = super().recipe()  # type: ignore[safe-super]
            if not isinstance(recipe, dict):
                raise TypeError(f"recipe: expected a dict, found {shortened(recipe)}")
        return recipe

    def tokens(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        with self._guard():
            found: Any = super().tokens(texts, layer)
            if not isinstance(found, list) or not all(isinstance(each, Tokens) for each in found):
                raise TypeError(f"tokens: expected a list of Tokens, found {shortened(found)}")
            _refuse_count("tokens", found, texts)
            for each in found:
                _refuse_vectors("tokens", each.states, each.ids)
        return found

    def pooled(self, texts: Sequence[Text], pool: Pool = "mean", layer: int | None = None) -> Pooled:
        with self._guard():
            found: Any = super().pooled(texts, pool, layer)
            if not isinstance(found, Pooled):
                raise TypeError(f"pooled: expected a Pooled, found {shortened(found)}")
            _refuse_vectors("pooled", found.vectors, texts)
            _refuse_count("pooled, dropped", found.dropped, texts)
            _refuse_count("pooled, coverage", found.coverage, texts)
        return found

    def _guard(self) -> AbstractContextManager[None]:
        return foreign(f"the encoder {self.called!r} of another package")


def _refuse_vectors(what: str, vectors: Any, items: Sequence[Any]) -> None:
    found = np.asarray(vectors)
    if found.ndim != 2:
        raise TypeError(f"{what}: expected vectors in rows, found an array of shape {found.shape}")
    _refuse_count(what, found, items)
    if not np.isfinite(found).all():
        raise ValueError(f"{what}: expected finite numbers, found others among them")


def _refuse_count(what: str, found: Sized, items: Sequence[Any]) -> None:
    if len(found) != len(items):
        raise ValueError(f"{what}: expected {len(items)} rows, found {len(found)}")
