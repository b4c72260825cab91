"""A real Ray cluster of two nodes on the loopback address."""

import pytest

from tests.engines.two_nodes import joined, two_nodes


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory):
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture
def on_ray(ray_cluster):
    """The engine `ray` is that cluster's."""
    with joined(ray_cluster):
        yield ray_cluster
