"""Real servers on loopback, each a process of its own over a store of its own."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.db import connections

from tests.command_line import use_store

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Household:
    """A store, and the server over it while it runs."""

    path: Path
    unblock: Callable[[], Any]
    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Point this process at the store, to set it up or to look into it."""
        with self.unblock():
            former = use_store(self.path)
            try:
                yield
            finally:
                connections["default"].close()
                connections["default"] = former

    def register(self, **holders: dict[str, Any]) -> None:
        """Put holders into the directory, each with a token for everything but curating."""
        from holders.models import Token
        from holders.registry import set_holder

        with self.inside():
            for holder_id, record in holders.items():
                set_holder(None, holder_id, **({"kind": "person", "name": holder_id.title()} | record))
                self.tokens[holder_id] = Token.objects.issue(holder_id, ["read", "write", "ask"])[1]

    def remember(self, holder_id: str, text: str, **given: Any) -> str:
        """Write a memory down as a holder; its id."""
        from holders.auth import viewer_for
        from memories.remember import remember

        with self.inside():
            return remember(viewer_for(holder_id), text, **given).atom_id

    def allow(self, address: str, **given: Any) -> None:
        """Put an address on the owner's list."""
        from holders.outgoing import allow

        with self.inside():
            allow(address, **given)

    @property
    def environment(self) -> dict[str, str]:
        """What a process over this store is started with."""
        return os.environ | {"REKAL_DB": str(self.path), "OMP_NUM_THREADS": "1"}

    def command(self, *arguments: str) -> list[str]:
        """A command line over this store."""
        return [sys.executable, str(ROOT / "manage.py"), *arguments]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        holder: str = "",
        token: str = "",
        headers: dict[str, str] | None = None,
        timeout: float = 30,
    ) -> tuple[int, Any]:
        """`(status, JSON body)` of a call to the running server."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url.rstrip('/')}{path}", data=data, method=method, headers=headers or {})
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if secret := token or self.tokens.get(holder, ""):
            request.add_header("Authorization", f"Bearer {secret}")
        try:
            with urlopen(request, timeout=timeout) as reply:
                return reply.status, json.loads(reply.read() or b"null")
        except HTTPError as refusal:
            with refusal:
                return refusal.code, json.loads(refusal.read() or b"null")

    @contextmanager
    def serving(self, port: int = 0, options: Sequence[str] = ()) -> Iterator[str]:
        """Run the server; its address."""
        command = self.command("serve", "--port", str(port), "--json", *options)
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        try:
            self.url = json.loads(process.stdout.readline())["url"]
            yield self.url
        finally:
            process.terminate()
            process.communicate(timeout=30)
            self.url = ""


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture(scope="session")
def new_household(
    tmp_path_factory: pytest.TempPathFactory, empty_store: Path, django_db_blocker: Any
) -> Callable[[str], Household]:
    """Makes empty households: `new_household("muellers")`."""

    def make(name: str) -> Household:
        path = tmp_path_factory.mktemp(name) / "memory.db"
        shutil.copy(empty_store, path)
        return Household(path, django_db_blocker.unblock)

    return make
