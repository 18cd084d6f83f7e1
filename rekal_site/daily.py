"""The daily task inside the server, so that retention also holds in a household that set up no cron."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from django.db import DatabaseError, close_old_connections, connections

from memories import retention
from memories.store import checkpoint, log_is_held
from memories.transfer import waiting

logger = logging.getLogger(__name__)

FIRST = 30.0  # seconds after the start: the first pages come first
LOOK = 1_800.0  # seconds between two looks whether a day has gone by


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Look every half hour, while the server runs."""
    task = asyncio.create_task(_every_day())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _every_day() -> None:
    await asyncio.sleep(FIRST)
    while True:
        await asyncio.to_thread(run_if_due)
        await asyncio.sleep(LOOK)


def run_if_due() -> None:
    """Do today's work unless it is done; a store that is busy is tried again at the next look."""
    close_old_connections()
    try:
        waiting.sweep()
        if retention.is_due():
            retention.expire()
        elif log_is_held():
            checkpoint()
    except DatabaseError as error:
        logger.warning("The daily task did not run: %s", type(error).__name__)
    finally:
        connections.close_all()
