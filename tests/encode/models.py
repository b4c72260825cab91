"""Small models with random weights, one of each family, in the layout of Hugging Face; and the real minilm."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch to make small models")
transformers = pytest.importorskip("transformers", reason="needs transformers to make small models")
tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers to make small models")
safetensors = pytest.importorskip("safetensors.torch", reason="needs safetensors to read and write weights")
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

from dialogauge.encode.encoders import Encoders  # noqa: E402
from dialogauge.encode.find import find_model  # noqa: E402
from dialogauge.encode.model_files import MINILM_INSTALL, minilm_directory  # noqa: E402
from dialogauge.encode.transformer import Transformer  # noqa: E402

# Two threads of torch wait for each other where other processes want the cores: ten times as slow.
torch.set_num_threads(1)
transformers.utils.logging.disable_progress_bar()

SENTENCES = [
    "Hello , how are you today ?",
    "I 'm fine , thank you . And you ?",
    "What would you like to eat for dinner ?",
    "I would like the soup and a piece of bread , please .",
    "The weather is nice , is n't it ?",
    "Yes , it is . Let 's go for a walk in the park .",
    "My brother 's dog did not bark at all .",
    "That costs 25 dollars . Do you pay in cash or by card ?",
]
LIMIT = 48
"""The most tokens a small model takes."""

BERT = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA = {"cls": "<s>", "bos": "<s>", "pad": "<pad>", "sep": "</s>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
XLNET = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "cls": "<cls>", "sep": "<sep>", "pad": "<pad>", "mask": "<mask>"}

USUAL = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": LIMIT}
AFTER_PADDING = {**USUAL, "max_position_embeddings": LIMIT + 2, "pad_token_id": 1}
DISTILLED = {"dim": 32, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": LIMIT}
RELATIVE = {"d_model": 32, "n_head": 4, "d_inner": 48, "pad_token_id": 5}


@dataclass(frozen=True)
class Family:
    """How the models of a family are configured, and what their tokenisers call the tokens they add (by id)."""

    config: str
    options: dict[str, Any]
    tokenizer: str
    special: dict[str, str]

    @property
    def ids(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(dict.fromkeys(self.special.values()))}

    @property
    def ends(self) -> list[tuple[str, int]]:
        return [(self.special[end], self.ids[self.special[end]]) for end in ("sep", "cls")]


FAMILIES = {
    "bert": Family("BertConfig", USUAL, "BertTokenizer", BERT),
    "roberta": Family("RobertaConfig", {**AFTER_PADDING, "type_vocab_size": 1}, "RobertaTokenizer", ROBERTA),
    "distilbert": Family("DistilBertConfig", DISTILLED, "DistilBertTokenizer", BERT),
    "mpnet": Family("MPNetConfig", AFTER_PADDING, "MPNetTokenizer", {**ROBERTA, "unk": "[UNK]"}),
    "electra": Family("ElectraConfig", {**USUAL, "embedding_size": 16}, "ElectraTokenizer", BERT),
    "xlnet": Family("XLNetConfig", RELATIVE, "XLNetTokenizer", XLNET),
}


def build(family: str, folder: Path, seed: int = 0, **options: Any) -> Path:
    """Writes a model of three layers and its tokeniser into the folder."""
    about = FAMILIES[family]
    tokenizer = {"roberta": _byte_level, "xlnet": _unigram}.get(family, _word_pieces)(about)
    settings = {**about.options, "num_hidden_layers": 3, "vocab_size": tokenizer.get_vocab_size(), **options}
    random_model(getattr(transformers, about.config)(**settings), seed).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {f"{name}_token": token for name, token in about.special.items()}
    stated = {"model_max_length": LIMIT} if family == "xlnet" else {}  # which has no limit of its own
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": about.tokenizer, **names, **stated})
    return folder


def random_model(config: Any, seed: int = 0, kind: Any = transformers.AutoModel) -> Any:
    """All of it is random: biases and norms begin as 0 and 1, which would hide that they are not read."""
    torch.manual_seed(seed)
    model = kind.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


def write_json(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")


def change_json(file: Path, **changes: Any) -> None:
    write_json(file, {**json.loads(file.read_text(encoding="utf-8")), **changes})


def open_model(directory: Path, **options: Any) -> Transformer:
    return Transformer(find_model(str(directory)), **options)


@cache
def encoders() -> Encoders:
    """Shared, so that no text goes through the real minilm twice in one run of the tests. Nothing is kept on disk."""
    return Encoders()


def minilm() -> Transformer:
    if minilm_directory() is None:
        pytest.skip(f"needs the weights of minilm: {MINILM_INSTALL}")
    encoder = encoders().get("minilm")
    assert isinstance(encoder, Transformer)
    return encoder


def _word_pieces(family: Family) -> Any:
    """The words of every other sentence are whole, the others in pieces of one letter. (The library's trainer breaks
    ties at random.)"""
    words = sorted({word for sentence in SENTENCES[::2] for word in sentence.lower().split()})
    letters = sorted(set("".join(SENTENCES).lower()) - {" "})
    pieces = dict.fromkeys([*family.ids, *letters, *(f"##{letter}" for letter in letters), *words])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=family.special["unk"]))
    tokenizer.add_special_tokens(list(family.ids))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    mpnet = family.config == "MPNetConfig"
    tokenizer.post_processor = (processors.RobertaProcessing if mpnet else processors.BertProcessing)(*family.ends)
    return tokenizer


def _byte_level(family: Family) -> Any:
    """A word at the start of a text is another token than the same word after a space."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=list(family.ids), initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(*family.ends, trim_offsets=True, add_prefix_space=False)
    return tokenizer


def _unigram(family: Family) -> Any:
    """The tokens that are added stand at the end, and <cls> is of a segment of its own."""
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    tokenizer.normalizer = normalizers.Sequence([*quotes, normalizers.NFKD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    added = [*family.ids, "<eop>", "<eod>"]
    trainer = trainers.UnigramTrainer(
        vocab_size=150, special_tokens=added, unk_token=family.special["unk"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2", pair="$A:0 <sep>:0 $B:1 <sep>:1 <cls>:2", special_tokens=family.ends
    )
    return tokenizer
