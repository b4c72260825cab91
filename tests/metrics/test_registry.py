from importlib.metadata import EntryPoint, EntryPoints

import pytest

from dialogauge.errors import InputError
from dialogauge.metrics import registry
from dialogauge.metrics.overlap.bleu import Bleu
from dialogauge.metrics.prepared import PlainMetric
from dialogauge.metrics.registry import COMPAT, known_names, metric_class, parse_request, parse_requests


def test_names_options_and_parts():
    first, second, third = parse_requests("bleu[lowercase=true], distinct.1 ,meteor[alpha=0.8,beta=2]")
    assert first.metric == Bleu(lowercase=True)
    assert (first.label, first.part) == ("bleu[lowercase=true]", None)
    assert (second.label, second.part) == ("distinct", "1")
    assert third.label == "meteor[alpha=0.8,beta=2.0]"


def test_an_option_at_its_default_does_not_change_the_label():
    assert parse_request("bleu[lowercase=false]").label == "bleu"


def test_metrics_can_be_given_as_objects_and_repeats_are_dropped():
    assert len(parse_requests(["bleu", Bleu(), "bleu,bleu"])) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blue", "unknown metric 'blue'; did you mean bleu"),
        ("zzz", "known: bertscore, bleu, chrf, column"),
        ("bleu[lowrcase=true]", "unknown option of bleu 'lowrcase'; did you mean lowercase"),
        ("bleu[lowercase]", "expected lowercase=VALUE"),
        ("bleu[lowercase=maybe]", "expected one of true, yes, false, no, found 'maybe'"),
        ("meteor[alpha=high]", "option alpha of meteor: expected float, found 'high'"),
        ("BLEU-4", "unknown metric 'BLEU-4'; did you mean bleu or self_bleu?"),
        ("distinct.2", "distinct.2 is distinct itself: ask for distinct; its parts: distinct.1"),
        ("distinct.3", "unknown part of distinct '3'; known: 1"),
        ("bertscore.F1", "bertscore.F1 is bertscore itself: ask for bertscore; its parts: bertscore.precision"),
        ("bertscore.recal", "unknown part of bertscore 'recal'; did you mean recall?"),
        ("bleu.1", "unknown part of bleu '1'; it has no parts: ask for bleu, which is bleu-4"),
        ("meteor.recall", "unknown part of meteor 'recall'; it has no parts: ask for meteor"),
        ("bleu[", "cannot read the metric"),
        ("bleu]x", "cannot read the metric"),
        ("", "no metric named"),
        (" , ", "no metric named"),
    ],
)
def test_what_cannot_be_read_is_answered(text, message):
    with pytest.raises(InputError) as error:
        parse_requests(text)
    assert message in str(error.value)


def test_signatures_name_everything_that_matters():
    assert parse_request("bleu").metric.signature == "bleu|tok:13a|smooth:exp|order:4|lowercase:false|dialogauge:0.1.0"
    assert "syn:wordnet-3.0@" in parse_request("meteor").metric.signature
    metrics = [parse_request(name).metric for name in known_names()]
    signatures = {metric.name: metric.signature for metric in metrics if isinstance(metric, PlainMetric)}
    assert len(set(signatures.values())) == len(signatures)
    assert parse_request("bleu", "fbd-paper").metric.signature == (
        "bleu|compat:fbd-paper|words:nltk-punkt|case:lower|smooth:nltk-floor|order:4|dialogauge:0.1.0"
    )


def test_every_metric_states_its_contract():
    variants = [(name, compat) for compat in COMPAT for name in COMPAT[compat]]
    for name, compat in [*((name, None) for name in known_names()), *variants]:
        cls = metric_class(name, compat)
        assert cls.name == name
        assert cls.title
        low, high = cls().bounds
        assert low < high


def test_compat_changes_the_recipe_and_not_the_name():
    paper = parse_requests("bleu,rouge_l.recall,meteor[alpha=0.8]", "fbd-paper")
    assert [request.label for request in paper] == ["bleu", "rouge_l", "meteor[alpha=0.8]"]
    assert [request.part for request in paper] == [None, "recall", None]
    for request in paper:
        assert request.metric.signature.startswith(f"{request.metric.name}|compat:fbd-paper|")
        assert request != parse_request(request.name)
        assert "compat" not in parse_request(request.name).metric.signature


def test_metrics_without_such_a_recipe_stay_as_they_are_and_can_be_told():
    requests = parse_requests(["rouge_l,distinct", Bleu()], "fbd-paper")
    assert [(request.metric.name, request.compat) for request in requests] == [
        ("rouge_l", "fbd-paper"),
        ("distinct", None),
        ("bleu", None),
    ]
    assert requests[1:] == parse_requests(["distinct", Bleu()])


def test_two_recipes_of_one_name_are_refused():
    with pytest.raises(InputError, match="two different metrics are called bleu"):
        parse_requests(["bleu", Bleu()], "fbd-paper")


@pytest.mark.parametrize("wanted", ["bleu", "distinct", Bleu(), "zzz"])
def test_an_unknown_recipe_is_answered(wanted):
    with pytest.raises(InputError, match="unknown compat 'fbd-papre'; did you mean fbd-paper?"):
        parse_requests(wanted, "fbd-papre")


def test_a_recipe_has_options_of_its_own():
    with pytest.raises(InputError, match="unknown option of bleu 'lowercase'; known: none"):
        parse_request("bleu[lowercase=true]", "fbd-paper")


def test_case_and_hyphens_do_not_matter():
    """The metric is the same: label and signature are those of its own name."""
    for text, name in (("BLEU", "bleu"), ("ROUGE-L", "rouge_l"), ("BertScore.recall", "bertscore.recall")):
        assert parse_request(text) == parse_request(name)
    assert parse_requests("bleu,BLEU") == parse_requests("bleu")
    assert parse_request("BLEU", compat="fbd-paper") == parse_request("bleu", compat="fbd-paper")


def test_names_that_are_alike_are_told_apart(monkeypatch):
    points = EntryPoints([EntryPoint(name, "x:Y", "dialogauge.metrics") for name in ("Mine", "mine")])
    monkeypatch.setattr("dialogauge.plugins.entry_points", lambda **wanted: points.select(**wanted))
    assert [registry.known_name(text) for text in ("mine", "Mine", "MINE")] == ["mine", "Mine", None]
