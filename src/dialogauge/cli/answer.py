"""dialogauge answer: a model's responses to the contexts of any file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dialogauge.cli.common.inputs import add_asking, add_inputs, listed_names, number, reading, whole
from dialogauge.cli.common.output import remark, warn
from dialogauge.cli.common.turns import write_turns
from dialogauge.errors import InputError, check_number, check_seed, check_whole
from dialogauge.files import check_writable_file, whole_file
from dialogauge.tables import counted

if TYPE_CHECKING:
    from dialogauge.corpus import Corpus
    from dialogauge.corpus.responses import ModelAsked
    from dialogauge.endpoint.endpoint import Endpoint

MAX_TOKENS = 256
HELP = "fetch a model's responses to the contexts of a file"
DESCRIPTION = """\
Asks a language model behind an endpoint with OpenAI's /v1/chat/completions (vLLM, Ollama, llama.cpp, a hosted one) for
a response to every context of the files, and writes them as JSON lines, with ids, dialogues, facts and references
kept, so that the model stands beside other systems. Each distinct context is asked about once. Every answer is kept on
disk as it comes: a second run asks nothing, and after an error or a kill the same command asks for the rest alone. A
key is taken from $DIALOGAUGE_API_KEY, else $OPENAI_API_KEY, and is nowhere kept."""
EXAMPLES = """\
examples:
  dialogauge answer responses.jsonl --model smollm2 --url http://localhost:8000/v1 --out smollm2.jsonl
  dialogauge score responses.jsonl smollm2.jsonl                        the model beside the systems of the file
  dialogauge answer logs.jsonl --model gpt-4o-mini --url https://api.openai.com/v1 --out new.jsonl --dry-run
  dialogauge answer people.jsonl --own-references --model m --url http://localhost:8000/v1 --out m.jsonl \\
      --system-prompt 'Chat as a friend would, in one sentence.' --temperature 0 --max-tokens 60

--out is written whole or not at all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="CONTEXTS", help="turns or conversations; gzip is fine, - is stdin")
    parser.add_argument("--model", required=True, metavar="NAME", help="as the endpoint calls it")
    parser.add_argument("--url", required=True, metavar="URL", help="the endpoint, as http://localhost:8000/v1")
    parser.add_argument(
        "--out", required=True, metavar="FILE", type=Path, help="where to write; gzip if it ends in .gz"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the file that is there already")
    parser.add_argument("--system", metavar="NAME", help="what the responses' system is called (default: --model)")
    parser.add_argument("--system-prompt", metavar="TEXT", help="what the model is told before the conversation")
    parser.add_argument(
        "--facts", action="store_true", help="also tell it the turn's facts (persona, knowledge), where there are any"
    )
    parser.add_argument("--temperature", metavar="T", type=number, help="(default: the endpoint's own)")
    parser.add_argument(
        "--max-tokens", metavar="N", type=whole, default=MAX_TOKENS, help=f"of a response (default: {MAX_TOKENS})"
    )
    parser.add_argument("--seed", metavar="N", type=whole, help="sent along; not every endpoint heeds it")
    parser.add_argument(
        "--own-references",
        action="store_true",
        help="the responses of the files become references, as suits conversations of people",
    )
    parser.add_argument(
        "--skip-refused", action="store_true", help="leave out contexts that the endpoint refuses, and count them"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    parser.add_argument("--price", metavar="IN,OUT", help="of a million tokens each, for --dry-run: 0.15,0.60")
    parser.add_argument("--no-cache", action="store_true", help="keep no answers, and take none that are kept")
    add_asking(parser)
    add_inputs(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.corpus.responses import contexts_of, fetch
    from dialogauge.endpoint.plan import AskingPlan, Price

    asked, endpoint = _asked(arguments), _endpoint(arguments)
    price = Price.parse(arguments.price) if arguments.price else None
    if not arguments.dry_run:
        check_writable_file(arguments.out, arguments.overwrite, [Path(file) for file in arguments.files])
    corpus = _corpus(arguments)
    system = arguments.system or arguments.model
    turns, caveats = contexts_of(corpus, system, own_references=arguments.own_references)
    requests = [asked.request(turn) for turn in turns]
    if arguments.dry_run:
        warn([*corpus.caveats, *caveats], arguments)
        print("\n".join(AskingPlan.made(endpoint, requests).sentences(price)))
        return 0
    found = fetch(turns, asked, endpoint, skip_refused=arguments.skip_refused)
    with whole_file(arguments.out, arguments.overwrite) as file:
        write_turns(found.turns, file)
    warn([*corpus.caveats, *caveats, *found.caveats], arguments)
    distinct = len({request.key(endpoint.url) for request in requests})
    said = f"{counted(len(found.turns), 'response')} of {system} to {counted(distinct, 'distinct context')}"
    remark(
        f"{said}, {counted(endpoint.sent.count, 'request')} sent; answered by {', '.join(found.answered_by)}", arguments
    )
    return 0


def _asked(arguments: argparse.Namespace) -> ModelAsked:
    """Refuses what no endpoint takes, before any file is read."""
    from dialogauge.corpus.responses import ModelAsked

    if not arguments.model.strip():
        raise InputError("--model: expected a name, found nothing")
    if arguments.temperature is not None:
        check_number("--temperature", arguments.temperature, 0.0, 10.0)
    check_whole("--max-tokens", arguments.max_tokens, 1, 1_000_000)
    if arguments.seed is not None:
        check_seed(arguments.seed)
    return ModelAsked(
        model=arguments.model,
        system_prompt=arguments.system_prompt,
        temperature=arguments.temperature,
        max_tokens=arguments.max_tokens,
        seed=arguments.seed,
        facts=arguments.facts,
    )


def _endpoint(arguments: argparse.Namespace) -> Endpoint:
    from dialogauge.endpoint.answers import Answers
    from dialogauge.endpoint.endpoint import Endpoint
    from dialogauge.evaluation.options import RunOptions

    names = ("offline", "max_requests", "concurrency", "timeout")
    options = RunOptions(**{name: getattr(arguments, name) for name in names}, progress=not arguments.quiet).asking
    return Endpoint(arguments.url, options, Answers() if arguments.no_cache else None)


def _corpus(arguments: argparse.Namespace) -> Corpus:
    from dialogauge.corpus import load

    corpus = load(arguments.files, **reading(arguments), progress=not arguments.quiet)
    return corpus.select(listed_names(arguments.systems))
