from dataclasses import replace
from itertools import product

import pytest

from dialogauge.corpus import Turn
from dialogauge.errors import InputError, MissingPackage, MissingWeights
from dialogauge.metrics import registry
from dialogauge.metrics.base import GROUP_NAMES
from dialogauge.metrics.default_set import BESIDE_REAL, DEFAULT_SET, JUDGES, Choice, reference_shares
from dialogauge.metrics.registry import BUILT_IN, GROUPS, metric_groups, parse_request, parse_requests
from dialogauge.text.languages import Languages, MadeFor


def turns(context=False, references=False, count=4):
    said = {"context": ("how are you?",) if context else (), "references": ("fine",) if references else ()}
    return [Turn(str(number), "well", **said) for number in range(count)]


def names(choice):
    return [request.name for request in choice.requests]


def known(*wanted):
    """Those of the default set that there are."""
    return [name for name in wanted if name in BUILT_IN]


ALWAYS = ("distinct", "length")
BY_INPUT = {"context": ("gauge",), "references": ("bertscore",), "real": ("fbd", "mmd")}


@pytest.mark.parametrize(("context", "references", "real"), [*product((False, True), repeat=3)])
def test_the_default_set_follows_from_what_is_there(context, references, real):
    there = {"context": context, "references": references, "real": real}
    chosen = Choice.by_input(parse_requests("default"), turns(context, references), real)
    wanted = {name for what, members in BY_INPUT.items() if there[what] for name in members} | {*ALWAYS}
    assert set(names(chosen)) - {"self_repetition"} == set(known(*wanted))
    left_out = {name for names in chosen.left_out.values() for name in names}
    assert left_out - {"self_repetition"} == set(known(*DEFAULT_SET)) - wanted - {"self_repetition"}


def test_what_is_left_out_is_said_once_with_its_reason(monkeypatch):
    monkeypatch.setattr(registry, "DEFAULT_SET", ("ruber_unreferenced", "bertscore", "length", "fbd", "mmd"))
    (caveat,) = Choice.by_input(parse_requests("default"), turns(context=True), False).caveats()
    assert caveat.code == "not_measured"
    assert caveat.line == "not measured: bertscore (no references), fbd and mmd (no --real)"
    first = Choice.by_input(parse_requests("default"), turns(), True, first=True)
    assert first.caveats()[0].message == (
        "not measured: ruber_unreferenced (no context in the first 4 turns), "
        "bertscore (no references in the first 4 turns)"
    )
    assert Choice.by_input(parse_requests("default"), turns(True, True), True).caveats() == []


def test_one_turn_is_enough_for_a_score_and_most_are_for_a_correlation():
    mixed = [*turns(references=True, count=1), *turns(count=2)]
    requests = parse_requests("overlap")
    assert names(Choice.by_input(requests, mixed, False)) == ["bleu", "chrf", "rouge_l", "meteor"]
    few = Choice.by_input(requests, mixed, False, on_most=True)
    assert few.left_out == {"no references in 2 of 3 turns": ["bleu", "chrf", "rouge_l", "meteor"]}
    with pytest.raises(
        InputError, match=r"^not measured: bleu, chrf, rouge_l and meteor \(no references in 2 of 3 turns\)$"
    ):
        few.refuse_nothing()
    half = [*mixed, *turns(references=True, count=1)]
    assert not Choice.by_input(requests, half, False, on_most=True).left_out


def test_what_is_named_stays():
    assert names(Choice.by_input(parse_requests("bleu,bertscore,fbd"), turns(), False)) == ["bleu", "bertscore", "fbd"]
    both = Choice.by_input(parse_requests("overlap,bleu"), turns(), False)
    assert names(both) == ["bleu"]
    error = MissingPackage("torch", "neural", "an encoder")
    with pytest.raises(MissingPackage):
        Choice([parse_request("bleu")]).leave_out_missing(parse_request("bleu"), error)


def test_missing_packages_and_weights_are_named_with_what_to_install():
    requests = parse_requests("embedding")
    choice = Choice(list(requests))
    for request in requests[:2]:
        choice.leave_out_missing(request, MissingPackage("torch", "neural", f"the encoder of {request.name}"))
    choice.leave_out_missing(requests[2], MissingWeights("no encoder 'minilm': to get it: pip install x"))
    assert choice.caveats()[0].message == (
        "not measured: embedding_average and embedding_greedy (without the package torch: pip install "
        "'dialogauge[neural]'), embedding_extrema (no encoder 'minilm': to get it: pip install x)"
    )
    assert names(choice) == ["bertscore"]


@pytest.mark.parametrize(("german", "stays"), [(1, True), (2, True), (3, False)])
def test_a_default_made_for_another_language_is_left_out(german, stays):
    languages = Languages()
    languages.note(["what do you think of it?"] * 2 + ["das ist nicht so gut, wie ich es haben will"] * german)
    assert languages.identified == 2 + german
    (request,) = parse_requests("default")[:1]
    choice = Choice([request])
    choice.leave_out_foreign(request, [MadeFor("a model", frozenset({"English"}))], languages)
    assert bool(choice.requests) is stays
    if not stays:
        assert "(made for English, and most texts are in another language)" in choice.caveats()[0].message
    grouped = parse_requests("embedding")
    choice = Choice(list(grouped))
    choice.leave_out_foreign(grouped[0], [MadeFor("a model", frozenset({"English"}))], languages)
    assert choice.requests == grouped


def test_groups_are_the_folders_of_the_metrics():
    groups = metric_groups()
    assert tuple(groups) == GROUPS
    assert groups["overlap"] == ["bleu", "chrf", "rouge_l", "meteor"]
    assert groups["distance"] == ["fbd", "prd", "mmd", "prdc", "mauve"]
    folders = [name for group in GROUP_NAMES for name in groups[group]]
    assert len(folders) == len(set(folders))
    assert {*folders, *groups["default"]} <= {*groups["all"]}
    assert {*BUILT_IN} - {*groups["all"]} == {"column", "judge", "pass_k"}


def test_groups_mix_with_names_and_keep_their_order():
    mixed = parse_requests("length,overlap,bertscore[idf=true],BLEU")
    assert [request.name for request in mixed] == ["length", "bleu", "chrf", "rouge_l", "meteor", "bertscore[idf=true]"]
    assert [request.group for request in mixed] == [None, None, "overlap", "overlap", "overlap", None]
    assert parse_requests("Overlap") == parse_requests("bleu,chrf,rouge_l,meteor")


def test_options_of_the_run_and_recipes_reach_the_metrics_of_a_group():
    paper = parse_requests("overlap", "fbd-paper")
    assert {request.label for request in paper if request.compat != "fbd-paper"} == {"chrf"}
    vectors = parse_requests("embedding", defaults={"encoder": "mpnet"})
    assert {request.metric.encoder for request in vectors} == {"mpnet"}


def test_of_kept_runs_a_group_has_what_they_hold():
    kept = {request.label: request for request in parse_requests("bleu[lowercase=true],length")}
    assert [request.label for request in parse_requests("overlap", known=kept)] == ["bleu[lowercase=true]"]


def test_no_metric_is_called_as_a_group():
    assert not {*GROUPS} & {*BUILT_IN}
    assert {*GROUPS} <= {*registry.PLUG_INS.taken}


def test_the_default_set_is_consistent():
    assert {*JUDGES, *BESIDE_REAL} <= {*DEFAULT_SET}
    for name in known(*JUDGES):
        assert parse_request(name).metric.direction("") is not None


def test_a_default_goes_without_references_that_only_some_systems_have():
    there, lacking = turns(context=True, references=True), turns(context=True)
    mixed = [*there, *(replace(turn, system="other") for turn in lacking)]
    chosen = Choice.by_input(parse_requests("default"), mixed, False)
    assert [name for name in names(chosen) if name.startswith("gauge")] == ["gauge[references=false]"]
    assert {request.group for request in chosen.requests} == {"default"}
    (said,) = [caveat.message for caveat in chosen.caveats() if caveat.code == "without_references"]
    assert "references stand in 100 % of system, 0 % of other" in said
    # What is named stays, and so does what all have alike, or what is correlated with people turn by turn.
    assert "gauge" in names(Choice.by_input(parse_requests("default,gauge"), mixed, False))
    alike = [*there, *(replace(turn, system="other") for turn in there)]
    for kept in (Choice.by_input(parse_requests("default"), alike, False), Choice.by_input([], mixed, False)):
        assert not kept.replaced
    assert "gauge" in names(Choice.by_input(parse_requests("default"), mixed, False, on_most=True))


def test_shares_of_references_count_turns_with_a_context():
    mixed = [*turns(True, True, 3), *turns(True, False, 1), *turns(False, True, 4)]
    assert reference_shares(mixed) == {"system": 0.75}
