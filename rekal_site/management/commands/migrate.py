"""`migrate`: Django's own, behind the gate: a foreign or newer file is refused before anything opens it."""

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoMigrate

from memories import checks, store_file


class Command(DjangoMigrate):
    """Also makes a new store readable by its owner alone."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """The gate stands before Django's checks, which open the store."""
        prepare_file()
        return super().execute(*args, **options)


def prepare_file() -> None:
    """Make the file of a new store, private; refuse one that is not ours to migrate. Raises `CommandError`."""
    path = store_file.configured_path()
    if path is None:
        return
    store = store_file.inspect(path)
    for problem in checks.check_file(store) or checks.check_newer(store):
        raise CommandError(f"{problem.msg} {problem.hint}")
    if store.kind == "missing":
        store_file.make_private(path)
