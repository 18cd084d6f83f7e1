"""The MCP server: tools and resources over the SDK's low-level server, refusals as one sentence, verbs in threads.

SQLite and the embedding engine block, so each call runs in one of a few threads of its own. Who asks is decided a
call: `principal_of` gets the request and says on whose behalf it is.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import unquote

import mcp_types as types
from django.db import close_old_connections, connections
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from holders.auth import Principal
from holders.registry import list_holders
from memories.browse import get_memory
from memories.errors import NotFound, RekalError
from rekal_site.mcp.payloads import Reply, memory_item, memory_text
from rekal_site.mcp.quoting import NOTICE
from rekal_site.mcp.tools import INSTRUCTIONS, TOOLS, ToolSpec, spend
from rekal_site.refusals import note_fault, sentence_about
from rekal_site.version import version

THREADS = 8  # SQLite has one writer; more readers than this only wait for the same cores
MEMORY_URI = "rekal://memory/"
HOLDERS_URI = "rekal://holders"

Context = ServerRequestContext[Any, Any]
PrincipalOf = Callable[[Any], Principal]
Value = TypeVar("Value")


class Face:
    """The tools and resources for one way of reaching them; `server` is what the SDK's transports run."""

    def __init__(self, principal_of: PrincipalOf, tools: Sequence[ToolSpec] = TOOLS) -> None:
        self.principal_of = principal_of
        self.tools = {tool.name: tool for tool in tools}
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="rekal-mcp")
        self.server: Server[Any] = Server(
            "rekal",
            version=version(),
            title="Rekal",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def run_stdio(self) -> None:
        """Serve stdin and stdout until stdin ends; nothing but protocol reaches stdout."""
        async with stdio_server() as (reading, writing):
            await self.server.run(reading, writing, self.server.create_initialization_options())

    def close(self) -> None:
        """Let the threads finish and close their connections."""
        self.threads.shutdown(wait=True, cancel_futures=True)

    async def in_thread(self, work: Callable[[], Value]) -> Value:
        """Run `work` in one of our threads."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, _with_connection, work)

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        tool = self.tools.get(name)
        return tool.arguments.model_json_schema() if tool else None

    async def _list_tools(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_published(tool) for tool in self.tools.values()])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self.tools.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"There is no tool “{params.name[:40]}”.")
        arguments = params.arguments or {}
        try:
            reply = await self.in_thread(lambda: tool.run(self.principal_of(ctx.request), arguments))
        except Exception as error:  # noqa: BLE001  (whatever it is, the agent gets a sentence and never a traceback)
            return _refused(sentence_of(error))
        return _result(reply)

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        holders = types.Resource(
            uri=HOLDERS_URI, name="holders", title="The directory of holders", mime_type="application/json"
        )
        return types.ListResourcesResult(resources=[holders])

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        memory = types.ResourceTemplate(
            uri_template=f"{MEMORY_URI}{{id}}",
            name="memory",
            title="One memory, whole",
            mime_type="text/markdown",
        )
        return types.ListResourceTemplatesResult(resource_templates=[memory])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            mime, text = await self.in_thread(lambda: read_resource(self.principal_of(ctx.request), uri))
        except Exception as error:  # noqa: BLE001  (as above)
            known = isinstance(error, RekalError)
            code = types.INVALID_PARAMS if known else types.INTERNAL_ERROR
            raise MCPError(code=code, message=sentence_of(error), data={"uri": uri[:200]}) from None
        contents: list[Any] = [types.TextResourceContents(uri=uri, mime_type=mime, text=text)]
        return types.ReadResourceResult(contents=contents)


def read_resource(principal: Principal, uri: str) -> tuple[str, str]:
    """`(MIME type, text)` of a resource. Raises `RekalError`."""
    spend(principal, "read")
    if uri == HOLDERS_URI:
        cards = [asdict(card) for card in list_holders(principal.viewer)]
        return "application/json", json.dumps({"holders": cards}, ensure_ascii=False)
    if uri.startswith(MEMORY_URI):
        memory = get_memory(principal.viewer, unquote(uri.removeprefix(MEMORY_URI)))
        return "text/markdown", f"{NOTICE}\n\n{memory_text(memory_item(memory))}\n"
    raise NotFound("There is no such resource.")


def sentence_of(error: Exception) -> str:
    """One sentence for whatever a call raised; an unexpected error's own words, which may quote, stay out of it."""
    if isinstance(error, RekalError):
        return str(error)
    if isinstance(error, ValidationError):
        problem: dict[str, Any] = {**error.errors(include_url=False, include_input=False)[0]}
        return sentence_about(str((problem["loc"] or ("",))[0]), problem)
    return note_fault(error)


def _with_connection(work: Callable[[], Value]) -> Value:
    close_old_connections()
    try:
        return work()
    finally:
        if not connections["default"].is_usable():
            connections["default"].close()


def _published(tool: ToolSpec) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        output_schema=tool.returns.model_json_schema(mode="serialization"),
        annotations=tool.annotations,
    )


def _result(reply: Reply) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=reply.text)], structured_content=reply.structured
    )


def _refused(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)
