"""One application and one running command for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from shoal.ui.app import make_app
from shoal.ui.guard import Keys
from ui_servers import Running, Server

HOST = "http://127.0.0.1:8000"
LARGEST = 1 << 20


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    keys = Keys()
    app = make_app(tmp_path_factory.mktemp("spaces"), keys, 8000, largest_upload=LARGEST)
    with TestClient(app, base_url=HOST) as client:
        yield Server(client, keys)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    started = Running(tmp_path_factory.mktemp("running"))
    yield started
    if started.process.poll() is None:
        started.end()
