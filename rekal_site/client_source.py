"""Writes the Python client from the OpenAPI document: one typed method a call, one TypedDict a body, stdlib only.

`manage.py client > rekal_site/client.py` renews the module; a test says when that is due.
"""

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rekal_site.api import api

Document = Mapping[str, Any]

HEAD = '''"""A client of a rekal server, in one module without dependencies.

Written from the OpenAPI document by `rekal client`; do not edit it, renew it.

    from rekal_site.client import Rekal

    rekal = Rekal("http://127.0.0.1:8000", token="rekal_…")
    rekal.remember("The spare key is in the blue box.", scenario="house")
    rekal.ask("Where is the spare key?")["status"]
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict, cast
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen


class LeftOut(Enum):
    """What an argument is that was not given: the server then decides, where None would say something."""

    LEFT_OUT = "left out"


LEFT_OUT = LeftOut.LEFT_OUT


class Refused(Exception):
    """The server refused a call: `status` is HTTP's, `detail` one sentence, `retry_after` seconds, if it said so."""

    def __init__(self, status: int, detail: str, retry_after: int | None = None) -> None:
        super().__init__(f"{detail} ({status})")
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
'''

CORE = '''

class Rekal:
    """Calls a server as whoever the token belongs to. Every method raises `Refused`, and `OSError` when unreachable."""

    def __init__(self, url: str, token: str, *, timeout: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.timeout = timeout

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
        body: Any = LEFT_OUT,
        content_type: str = "application/json",
    ) -> Any:
        """The reply of a call: JSON as Python values, anything else as bytes, nothing as None."""
        pairs = {name: _text(value) for name, value in (query or {}).items() if value not in (LEFT_OUT, None)}
        address = f"{self.url}{path}{'?' + urlencode(pairs) if pairs else ''}"
        data = None if body is LEFT_OUT else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(address, data=data, method=method)  # noqa: S310
        request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None:
            request.add_header("Content-Type", content_type)
        for name, value in (headers or {}).items():
            if value not in (LEFT_OUT, None):
                request.add_header(name, _text(value))
        try:
            with urlopen(request, timeout=self.timeout) as reply:  # noqa: S310
                return _read(reply.headers.get_content_type(), reply.read())
        except HTTPError as error:
            with error:
                raise _refused(error) from None
'''

TAIL = '''

def etag(memory: MemoryOut) -> str:
    """The version of a memory, for `if_match`."""
    return f'"{memory["updated_at"]}"'


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not LEFT_OUT}


def _read(content_type: str, content: bytes) -> Any:
    if not content:
        return None
    return json.loads(content) if content_type == "application/json" else content


def _refused(error: HTTPError) -> Refused:
    wait = error.headers.get("Retry-After", "")
    try:
        detail = str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        detail = error.reason
    return Refused(error.code, detail, int(wait) if wait.isdecimal() else None)
'''

BASIC = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def document() -> Document:
    """The API's OpenAPI document."""
    schema: Document = api.get_openapi_schema(path_prefix="/api/")
    return schema


def source(given: Document | None = None) -> str:
    """The client module's text."""
    found = given or document()
    schemas = found["components"]["schemas"]
    used = _used(found)
    types = "".join(_typed_dict(name, schemas[name]) for name in sorted(schemas) if name in used)
    methods = "".join(_method(path, verb, call, schemas) for path, verb, call in calls(found))
    return f"{HEAD}{types}{CORE}{methods}{TAIL}"


def calls(found: Document) -> Iterator[tuple[str, str, Document]]:
    """`(path, method, operation)` of every call, in the document's order."""
    for path, item in found["paths"].items():
        for verb, call in item.items():
            if verb in {"get", "post", "put", "patch", "delete"}:
                yield path, verb, call


def _used(found: Document) -> set[str]:
    """The schemas that a reply or a nested field names; a request's own body becomes arguments."""
    schemas = found["components"]["schemas"]
    wanted: set[str] = set()
    for _, _, call in calls(found):
        wanted |= set(_named(_reply_schema(call)))
        for field in _body_schema(call, schemas).get("properties", {}).values():
            wanted |= set(_named(field))
    frontier = set(wanted)
    while frontier:
        frontier = {inner for name in frontier for inner in _named(schemas[name])} - wanted
        wanted |= frontier
    return wanted


def _named(schema: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield _name_of(schema)
        for inner in schema.values():
            yield from _named(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _named(inner)


def _name_of(schema: Document) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def type_of(schema: Document) -> str:
    """A schema as a Python annotation."""
    if "$ref" in schema:
        return _name_of(schema)
    if alternatives := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return " | ".join(dict.fromkeys(type_of(one) for one in alternatives))
    if "enum" in schema or "const" in schema:
        return f"Literal[{', '.join(_literal(value) for value in schema.get('enum', [schema.get('const')]))}]"
    if schema.get("type") == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"dict[str, {type_of(inner) if isinstance(inner, Mapping) else 'Any'}]"
    return BASIC.get(str(schema.get("type")), "Any")


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _typed_dict(name: str, schema: Document) -> str:
    lines = [f"\n\nclass {name}(TypedDict):", f'    """{_sentence(schema.get("description", name))}"""', ""]
    required = schema.get("required", [])
    for field, inner in schema.get("properties", {}).items():
        kind = type_of(inner)
        lines.append(f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}")
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """The first paragraph on one line, fit for a docstring."""
    line = " ".join(text.strip().partition("\n\n")[0].split()).replace("\\", "").replace('"', "”")
    return line if line.endswith((".", "?", "!")) else f"{line}."


def _reply_schema(call: Document) -> Document:
    """The schema of the reply that is no refusal; empty when there is no body."""
    for status, reply in call["responses"].items():
        if str(status).startswith("2"):
            content = reply.get("content", {})
            return content.get("application/json", {}).get("schema", {"type": "bytes"} if content else {})  # type: ignore[no-any-return]
    return {}


def _body_schema(call: Document, schemas: Document) -> Document:
    """The schema of a JSON body, looked up; empty when there is none."""
    content = call.get("requestBody", {}).get("content", {})
    schema: Document = content.get("application/json", {}).get("schema", {})
    return schemas[_name_of(schema)] if "$ref" in schema else schema


def _optional(annotation: str) -> str:
    """The annotation of an argument that may be left out, with None last."""
    bare = annotation.removesuffix(" | None")
    return f"{bare} | LeftOut{' | None' if bare != annotation else ''}"


def snake(name: str) -> str:
    """A parameter's name as a Python argument."""
    plain = re.sub(r"\W", "_", name).lower()
    return f"{plain}_" if keyword.iskeyword(plain) else plain


def _method(path: str, verb: str, call: Document, schemas: Document) -> str:
    """One method: required things first, in order; the rest by name."""
    parameters = call.get("parameters", [])
    body = _body_schema(call, schemas)
    fields: Document = body.get("properties", {})
    required = [one for one in parameters if one.get("required")]
    first = [f"{snake(one['name'])}: {type_of(one['schema'])}" for one in required]
    first += [
        f"{snake(name)}: {type_of(fields[name])}" for name in fields if name in body.get("required", [])
    ]
    rest = [(one["name"], one["schema"]) for one in parameters if not one.get("required")]
    rest += [(name, inner) for name, inner in fields.items() if name not in body.get("required", [])]
    raw = "requestBody" in call and not body
    first += ["body: bytes", "content_type: str"] if raw else []
    later = [f"{snake(name)}: {_optional(type_of(inner))} = LEFT_OUT" for name, inner in rest]
    arguments = ["self", *first, *(["*", *later] if later else [])]
    return _rendered(path, verb, call, arguments, fields, raw=raw)


def _rendered(
    path: str, verb: str, call: Document, arguments: list[str], fields: Document, *, raw: bool
) -> str:
    """The method's text."""
    reply = _reply_schema(call)
    returns = "None" if not reply else "bytes" if reply.get("type") == "bytes" else type_of(reply)
    given = [f'"{verb.upper()}"', _address(path, call), *_sent_beside(call)]
    if fields:
        given.append(f"body=_given({_pairs(fields)})")
    elif raw:
        given.append("body=body, content_type=content_type")
    called = f"self._call({', '.join(given)})"
    last = called if returns == "None" else f"return cast({_literal(returns)}, {called})"
    separator = ",\n        "
    summary = _sentence(call.get("summary", ""))
    detail = _sentence(call["description"]) if call.get("description") else ""
    return (
        f"\n    def {snake(call['operationId'])}(\n        {separator.join(arguments)},\n    ) -> {returns}:\n"
        f'        """{summary}\n\n        {detail}\n        """\n        {last}\n'
    )


def _address(path: str, call: Document) -> str:
    """The path as a literal that puts its parameters in; integers need no quoting."""
    integers = {one["name"] for one in call.get("parameters", []) if one["schema"].get("type") == "integer"}
    quoted = [name for name in re.findall(r"{(\w+)}", path) if name not in integers]
    address = re.sub(
        r"{(\w+)}",
        lambda found: (
            f'{{quote({snake(found[1])}, safe="")}}' if found[1] in quoted else f"{{{snake(found[1])}}}"
        ),
        path,
    )
    mark = "'" if quoted else '"'
    return f"{'f' if '{' in address else ''}{mark}{address}{mark}"


def _sent_beside(call: Document) -> list[str]:
    """The query and header parameters, as keyword arguments of `_call`."""
    places = {"query": "query", "header": "headers"}
    named = {
        keyword_name: [one["name"] for one in call.get("parameters", []) if one["in"] == place]
        for place, keyword_name in places.items()
    }
    return [f"{keyword_name}={_pairs(names)}" for keyword_name, names in named.items() if names]


def _pairs(names: Iterable[str]) -> str:
    return f"{{{', '.join(f'{_literal(name)}: {snake(name)}' for name in names)}}}"
