"""Requests that leave this server: only to addresses the owner has allowed, and never further than there.

The owner allows an address on the command line (`rekal live`). A name must lead to a public address, unless the
owner said that it lies in the home network; the address that was looked up is the one connected to, so that a
name cannot change its mind between the two. Redirects are not followed, proxies not used, and a reply that is
slow or long is cut off.
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import SplitResult, urlsplit

from memories.errors import Invalid, RekalError
from memories.store import get_setting, set_setting

SETTING = "live_addresses"
MAX_REPLY = 1024 * 1024
PORTS = {"http": 80, "https": 443}
DESCRIPTION = (
    "An address is http:// or https://, a host and perhaps a port, such as https://grandma.example:8443."
)


class Unreachable(RekalError):
    """An outgoing request that was not made, or came to nothing; the message says why and quotes nothing received."""


class Silent(Unreachable):
    """Nobody answered there, or not in time."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """An address the owner allowed: the token to show there, and whether it may lie in a private network."""

    origin: str
    token: str = ""
    private: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content_type: str
    session: str
    body: bytes


def allowed_addresses() -> dict[str, Allowed]:
    """The owner's list, by origin."""
    stored = get_setting(SETTING, {})
    if not isinstance(stored, dict):
        return {}
    return {
        origin: Allowed(origin, str(entry.get("token", "")), entry.get("private") is True)
        for origin, entry in stored.items()
        if isinstance(entry, dict)
    }


def allow(address: str, *, token: str = "", private: bool = False) -> Allowed:
    """Put an address on the list, or change its entry; the owner's business alone. Raises `Invalid`."""
    entry = Allowed(origin_of(address), token, private)
    stored = get_setting(SETTING, {})
    set_setting(SETTING, {**stored, entry.origin: {"token": token, "private": private}})
    return entry


def disallow(address: str) -> bool:
    """Take an address off the list; whether it was on it. Raises `Invalid`."""
    stored = dict(get_setting(SETTING, {}))
    gone = stored.pop(origin_of(address), None)
    set_setting(SETTING, stored)
    return gone is not None


def origin_of(address: str) -> str:
    """`scheme://host:port` of an address, in lower case. Raises `Invalid`."""
    parts = _parts(address)
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{parts.port or PORTS[parts.scheme]}"


def _parts(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.password is not None or not address.isprintable():
        raise Invalid(DESCRIPTION, "address")
    return parts


def post(url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, token: bool = True) -> Reply:
    """POST to an allowed address and read the reply, in `seconds` altogether. Raises `Unreachable`.

    `token` shows the token the owner keeps for the address.
    """
    deadline = time.monotonic() + seconds
    try:
        parts, origin = _parts(url), origin_of(url)
    except Invalid:
        raise Unreachable("Its address is none.") from None
    entry = allowed_addresses().get(origin)
    if entry is None:
        raise Unreachable("The owner of this server has not allowed its address.")
    given = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"} | dict(
        headers
    )
    if token and entry.token:
        given["Authorization"] = f"Bearer {entry.token}"
    address = _address_of(parts, entry, deadline)
    try:
        return _exchange(_Pinned(parts, address, deadline), parts, body, given)
    except TimeoutError:
        raise Silent(f"It did not answer within {seconds:.1f} seconds.") from None
    except (OSError, HTTPException, ValueError):
        late = time.monotonic() >= deadline
        raise Silent(
            f"It did not answer within {seconds:.1f} seconds." if late else "It could not be reached."
        ) from None


def _address_of(parts: SplitResult, entry: Allowed, deadline: float) -> str:
    """The IP address to connect to: the literal the owner wrote, else what the name leads to, if that is public."""
    host = parts.hostname or ""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    found = _resolve(host, parts.port or PORTS[parts.scheme], deadline)
    if not entry.private and not all(is_public(one) for one in found):
        raise Unreachable(
            "Its name leads into a private network, which the owner of this server has not allowed."
        )
    return found[0]


def _resolve(host: str, port: int, deadline: float) -> list[str]:
    """The addresses of a name, looked up in a thread of its own, since a look-up cannot be given a time limit."""
    found: list[str] = []

    def look_up() -> None:
        try:
            found.extend(str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError):
            pass

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(0.0, deadline - time.monotonic()))
    if not found:
        raise Silent("Its name could not be looked up.")
    return list(found)


def is_public(address: str) -> bool:
    """Whether an IP address lies on the open internet, also behind the notations that wrap an IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is not None:
            return is_public(str(inner))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class _Pinned(HTTPConnection):
    """A connection to one IP address under the host's name, which a watchdog shuts at the deadline."""

    def __init__(self, parts: SplitResult, address: str, deadline: float) -> None:
        super().__init__(parts.hostname or "", parts.port or PORTS[parts.scheme])
        self.address = address
        self.deadline = deadline
        self.secure = parts.scheme == "https"
        self.watchdog: threading.Timer | None = None

    def connect(self) -> None:
        """Connect to the address that was checked. Raises `OSError`."""
        self.sock = socket.create_connection((self.address, self.port), timeout=self.left())
        self.watchdog = threading.Timer(self.left(), self._shut)
        self.watchdog.daemon = True
        self.watchdog.start()
        if self.secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def left(self) -> float:
        """Seconds left, a little more than none."""
        return max(0.01, self.deadline - time.monotonic())

    def close(self) -> None:
        """Close the socket and call the watchdog off."""
        if self.watchdog is not None:
            self.watchdog.cancel()
        super().close()

    def _shut(self) -> None:
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _exchange(connection: _Pinned, parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> Reply:
    path = parts.path or "/"
    try:
        connection.request("POST", f"{path}?{parts.query}" if parts.query else path, body, dict(headers))
        response = connection.getresponse()
        return _read(connection, response)
    finally:
        connection.close()


def _read(connection: _Pinned, response: HTTPResponse) -> Reply:
    if 300 <= response.status < 400:
        raise Unreachable("It points elsewhere; redirects are not followed.")
    body = response.read(MAX_REPLY + 1)
    if time.monotonic() >= connection.deadline:
        raise TimeoutError
    if len(body) > MAX_REPLY:
        raise Unreachable("Its reply was too long.")
    kind = response.headers.get_content_type()
    return Reply(response.status, kind, response.headers.get("Mcp-Session-Id", ""), body)
