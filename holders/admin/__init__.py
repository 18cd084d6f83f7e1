"""The curators' admin of who: holders, tokens, questions and the invitations' other end, the sign-ins."""

from holders.admin import directory, questions, tokens

__all__ = ["directory", "questions", "tokens"]
