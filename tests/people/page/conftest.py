import pytest

from dialogauge.people.page.app import RatingApp
from tests.people.page.studies import ORIGIN, Browser, study


@pytest.fixture
def served(tmp_path):
    """A study of some settings: the study, and a browser for each of its raters."""
    made = []

    def serve(*asked, **settings):
        found = study(tmp_path, *asked, **settings)
        made.append(found)
        app = RatingApp(found, (ORIGIN,))
        return found, [Browser(app, token) for token in found.links.raters.values()]

    yield serve
    for found in made:
        found.close()
