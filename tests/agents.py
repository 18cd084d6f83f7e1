"""The SDK's own client, on both transports, with everything that went over the wire kept for inspection."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.servers import ROOT, Household

Value = TypeVar("Value")


@asynccontextmanager
async def over_stdio(
    home: Household, holder: str, *options: str, mode: str = "auto"
) -> AsyncIterator[Client]:
    """A client that starts `mcp --as HOLDER` and talks to it."""
    command = home.command("mcp", "--as", holder, *options)
    server = StdioServerParameters(command=command[0], args=command[1:], env=home.environment, cwd=str(ROOT))
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        yield client


@asynccontextmanager
async def over_http(
    home: Household, holder: str, *, mode: str = "auto", token: str = "", traffic: list[bytes] | None = None
) -> AsyncIterator[Client]:
    """A client of the running server with a holder's token; `traffic` collects the bodies of all replies."""

    async def keep(response: httpx2.Response) -> None:
        if traffic is not None:
            traffic.append(await response.aread())

    headers = {"Authorization": f"Bearer {token or home.tokens[holder]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, event_hooks={"response": [keep]}) as http:
        transport = streamable_http_client(f"{home.url}mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=60) as client:
            yield client


def talk(work: Callable[[], Awaitable[Value]]) -> Value:
    """Run an asynchronous conversation."""

    async def talking() -> Value:
        return await work()

    return asyncio.run(talking())


def text_of(result: Any) -> str:
    """The text a model would read."""
    return "\n".join(part.text for part in result.content)
