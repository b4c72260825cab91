"""Small studies, and raters who answer them by rule."""

from dialogauge import Corpus, Turn
from dialogauge.people.rating.questions import parse_questions
from dialogauge.people.rating.settings import StudySettings
from dialogauge.people.rating.study import Study

SYSTEMS = ("alpha-bot", "beta-bot", "gamma-bot")


def a_corpus(contexts=12, systems=SYSTEMS, **turn):
    """Contexts of two utterances, and one reply of each system; every text says where it is from."""
    return Corpus(
        [
            Turn(
                id=f"turn-{number}",
                response=f"reply number {number} by voice {place} of many",
                context=(f"question {number} asked", f"more on subject {number}"),
                system=system,
                **turn,
            )
            for number in range(contexts)
            for place, system in enumerate(systems)
        ]
    )


def a_study(folder, corpus=None, ask=("coherence 1-5",), pairwise=False, **settings):
    questions = parse_questions(ask, pairwise=pairwise)
    corpus = a_corpus() if corpus is None else corpus
    return Study.create(folder, corpus, StudySettings(questions=questions, pairwise=pairwise, **settings))


def raters_of(study):
    """All raters with a link, by name."""
    return {name: study.rater_by_token(token) for name, token in study.links.raters.items()}


def rate_all(study, rater, choose, seconds=5.0):
    """One rater's whole list; `choose(screen)` gives the answers. Gives the screens in the order of the list."""
    study.consent(rater)
    screens = []
    while screen := study.next_assignment(rater):
        study.answer(rater, screen.public_id, choose(screen), seconds)
        screens.append(screen)
    return screens


def always(value):
    return lambda screen: {question.dimension: value for question in screen.questions}


def rows(study, query, *values):
    with study.store.reading() as db:
        return [tuple(row) for row in db.execute(query, values)]


def events(study, what):
    return rows(study, "SELECT rater, assignment, detail FROM event WHERE what = ? ORDER BY id", what)
