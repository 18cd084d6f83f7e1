"""The MCP face: six tools and two resources for agents, over stdio and streamable HTTP, on the official SDK."""
