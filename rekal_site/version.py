"""Which version this is."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed


def version() -> str:
    """The installed version, or '' in a checkout that is not installed."""
    try:
        return installed("rekal")
    except PackageNotFoundError:
        return ""
