"""Fixtures of pytest: one server for all tests, reset before each of them."""

from pathlib import Path

import pytest

from app import App
from signet_am import AM

CONFIG = Path(__file__).parent.parent / "am.yaml"


@pytest.fixture(scope="session")
def running_am():
    with AM(CONFIG) as am:
        yield am


@pytest.fixture
def am(running_am):
    running_am.reset()
    return running_am


@pytest.fixture
def app(am):
    return App(am)
