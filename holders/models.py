"""Who: the registry of holders, their sign-ins and tokens, and the log of who was referred to whom."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from memories import timestamps
from memories.fields import dump_json, read_json
from memories.models import MOMENT, json_check, moment_check
from memories.visibility import GUESTS

KINDS = ("person", "agent", "service")
SCOPES = ("read", "write", "ask", "curate")


class Holder(models.Model):
    """A person, agent or service that may hold or answer a memory.

    A holder with memories exists whether or not anybody registered it; the registry adds reachability.
    """

    holder_id = models.CharField(primary_key=True, max_length=200)
    name = models.CharField(max_length=200, default="", blank=True)
    kind = models.CharField(max_length=16, default="person")
    knows_about_json = models.TextField(default="[]")
    contact_json = models.TextField(default="{}")
    groups_json = models.TextField(default="[]")
    created_at = models.CharField(default=timestamps.now, **MOMENT)
    updated_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "holders"
        verbose_name = _("holder")
        verbose_name_plural = _("holders")
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="holders_kind_is_known"),
            models.CheckConstraint(condition=~Q(holder_id=""), name="holders_id_is_given"),
            json_check("holders", "knows_about_json", "array"),
            json_check("holders", "contact_json", "object"),
            json_check("holders", "groups_json", "array"),
            moment_check("holders", "created_at"),
            moment_check("holders", "updated_at"),
        ]

    def __str__(self) -> str:
        return self.name or self.holder_id

    @property
    def topics(self) -> list[str]:
        """What the holder declared to know about."""
        return [one for one in read_json(self.knows_about_json, list, []) if isinstance(one, str)]

    @property
    def contact(self) -> dict[str, str]:
        """How to reach the holder: free-form keys (`phone`, `email`, `chat`, `rekal_url`, …)."""
        return {str(key): str(value) for key, value in read_json(self.contact_json, dict, {}).items()}

    @property
    def groups(self) -> list[str]:
        """The household's own groups this holder is in (`adults`, `kids`, `guests`, `curators`, …).

        Who has a list that cannot be read is a guest: a torn record must not let anybody in.
        """
        stored = read_json(self.groups_json, list, [None])
        names = [one for one in stored if isinstance(one, str)]
        return names if len(names) == len(stored) else [*names, GUESTS]


class SignIn(models.Model):
    """Which account signs in as which holder; linking one is the host's business alone."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in")
    holder_id = models.CharField(max_length=200, unique=True)

    class Meta:
        db_table = "sign_ins"

    def __str__(self) -> str:
        return self.holder_id


def hash_token(plain: str) -> str:
    """sha256 in hex: tokens are 32 random bytes, so a slow hash would add nothing."""
    return hashlib.sha256(plain.encode()).hexdigest()


class TokenQuerySet(models.QuerySet["Token"]):
    """Tokens by the household's own words."""

    def live(self) -> "TokenQuerySet":
        """Tokens that open the door now: not expired, not revoked."""
        return self.filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=timestamps.now()), revoked_at__isnull=True
        )

    def of(self, holder_id: str) -> "TokenQuerySet":
        """Tokens that a holder carries, or that act for her."""
        return self.filter(Q(holder_id=holder_id) | Q(acting_for=holder_id))

    def issue(
        self, holder_id: str, scopes: list[str], days: int | None = None, **extra: Any
    ) -> "tuple[Token, str]":
        """Make a token: `(row, plain text)`. Only the hash is kept; the plain text is shown this once."""
        plain = f"rekal_{secrets.token_urlsafe(32)}"
        expires = timestamps.to_text(datetime.now(UTC) + timedelta(days=days)) if days else None
        token = self.create(
            holder_id=holder_id,
            sha256=hash_token(plain),
            scopes_json=dump_json(sorted(set(scopes))),
            expires_at=expires,
            **extra,
        )
        return token, plain


class Token(models.Model):
    """A bearer token of the API and MCP: hashed, scoped, expiring; may act for a person who made it so."""

    holder_id = models.CharField(max_length=200, db_index=True)
    label = models.CharField(max_length=100, default="", blank=True)
    sha256 = models.CharField(max_length=64, unique=True)
    scopes_json = models.TextField(default="[]")
    acting_for = models.CharField(max_length=200, default="", blank=True, db_index=True)
    created_at = models.CharField(default=timestamps.now, **MOMENT)
    expires_at = models.CharField(null=True, blank=True, **MOMENT)
    revoked_at = models.CharField(null=True, blank=True, **MOMENT)
    last_used_at = models.CharField(null=True, blank=True, **MOMENT)

    objects = TokenQuerySet.as_manager()

    class Meta:
        db_table = "tokens"
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        constraints: ClassVar = [json_check("tokens", "scopes_json", "array")]

    def __str__(self) -> str:
        return f"token {self.pk} of {self.holder_id}"

    @property
    def scopes(self) -> frozenset[str]:
        """What the token may do; `read` covers recall and listing, `ask` covers who_knows and ask."""
        return frozenset(one for one in read_json(self.scopes_json, list, []) if isinstance(one, str))


class Referral(models.Model):
    """A line in a holder's own book: who was told that she may know, about which question, and when."""

    holder_id = models.CharField(max_length=200, db_index=True)
    asker_id = models.CharField(max_length=200)
    question = models.TextField()
    verb = models.CharField(max_length=16)
    confidence = models.CharField(max_length=16)
    created_at = models.CharField(default=timestamps.now, db_index=True, **MOMENT)

    class Meta:
        db_table = "referrals"

    def __str__(self) -> str:
        return f"referral {self.pk}"


class InviteQuerySet(models.QuerySet["Invite"]):
    """Invitations by the household's own words."""

    def open(self) -> "InviteQuerySet":
        """Invitations that still let somebody in: neither used nor expired."""
        return self.filter(used_at__isnull=True, expires_at__gt=timestamps.now())


class Invite(models.Model):
    """A link that lets one person make the account of one holder id: used once, and not for long."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    holder_id = models.CharField(max_length=200, db_index=True)
    created_at = models.CharField(default=timestamps.now, **MOMENT)
    expires_at = models.CharField(**MOMENT)
    used_at = models.CharField(null=True, blank=True, **MOMENT)

    objects = InviteQuerySet.as_manager()

    class Meta:
        db_table = "invites"
        constraints: ClassVar = [moment_check("invites", "created_at"), moment_check("invites", "expires_at")]

    def __str__(self) -> str:
        return f"invite of {self.holder_id}"


class Preference(models.Model):
    """How one holder likes the pages: language, time zone, theme (empty: as the household has it), topics not shown."""

    holder_id = models.CharField(primary_key=True, max_length=200)
    language = models.CharField(max_length=16, default="", blank=True)
    time_zone = models.CharField(max_length=64, default="", blank=True)
    theme = models.CharField(max_length=8, default="", blank=True)
    hidden_topics_json = models.TextField(default="[]")

    class Meta:
        db_table = "preferences"
        constraints: ClassVar = [json_check("preferences", "hidden_topics_json", "array")]

    def __str__(self) -> str:
        return f"preferences of {self.holder_id}"

    @property
    def hidden_topics(self) -> list[str]:
        """Topics her memories show that she would rather not be asked about."""
        return [one for one in read_json(self.hidden_topics_json, list, []) if isinstance(one, str)]


EVENT_KINDS = ("question", "answered", "expiring")


class Event(models.Model):
    """Something a holder wants to hear of, by ids alone: who may read what they name is decided on delivery.

    `question`: somebody asks her. `answered`: her question has an answer. `expiring`: a memory of hers is about to
    lapse. `subject` is a question's or a memory's id, `atom_id` the memory to read, if any, `due` when it lapses.
    """

    kind = models.CharField(max_length=16)
    holder_id = models.CharField(max_length=200, db_index=True)
    subject = models.CharField(max_length=64)
    atom_id = models.CharField(max_length=64, default="", blank=True)
    due = models.CharField(default="", blank=True, **MOMENT)
    created_at = models.CharField(default=timestamps.now, db_index=True, **MOMENT)

    class Meta:
        db_table = "events"
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(kind__in=EVENT_KINDS), name="events_kind_is_known"),
            models.UniqueConstraint(
                fields=["kind", "holder_id", "subject", "atom_id", "due"], name="events_are_told_once"
            ),
            moment_check("events", "created_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} event {self.pk}"


class Webhook(models.Model):
    """An address that a holder has her events sent to, signed with a secret that only it and we know."""

    holder_id = models.CharField(max_length=200, db_index=True)
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=64)
    kinds_json = models.TextField(default="[]")
    last_event_id = models.BigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    next_try_at = models.CharField(null=True, blank=True, **MOMENT)
    created_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "webhooks"
        constraints: ClassVar = [
            json_check("webhooks", "kinds_json", "array"),
            models.UniqueConstraint(fields=["holder_id", "url"], name="webhooks_are_unique"),
            moment_check("webhooks", "created_at"),
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk} of {self.holder_id}"

    @property
    def kinds(self) -> list[str]:
        """The kinds of events it is told; each of `EVENT_KINDS` when none is named."""
        return [one for one in read_json(self.kinds_json, list, []) if one in EVENT_KINDS] or list(
            EVENT_KINDS
        )


QUESTION_STATES = ("open", "answered", "closed")


class Question(models.Model):
    """A question put to one holder, or to the household's board when `to_holder` is empty.

    Its words are an atom of the asker's that was never true (it ends as it begins), so that nothing recalls it; who
    may read that atom is who may see the question. `question_id` is the atom's id; a question whose atom was
    forgotten is seen by nobody. `passed_json` lists who did not know, and whom they named instead.
    """

    question_id = models.CharField(primary_key=True, max_length=64)
    asker_id = models.CharField(max_length=200, db_index=True)
    to_holder = models.CharField(max_length=200, default="", blank=True, db_index=True)
    state = models.CharField(max_length=16, default="open")
    passed_json = models.TextField(default="[]")
    created_at = models.CharField(default=timestamps.now, db_index=True, **MOMENT)
    updated_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "questions"
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(state__in=QUESTION_STATES), name="questions_state_is_known"),
            json_check("questions", "passed_json", "array"),
            moment_check("questions", "created_at"),
            moment_check("questions", "updated_at"),
        ]

    def __str__(self) -> str:
        return f"question {self.question_id}"

    @property
    def passed(self) -> list[dict[str, str]]:
        """`{"by", "to"}` of everybody who did not know; `to` is empty where nobody was named."""
        return [one for one in read_json(self.passed_json, list, []) if isinstance(one, dict)]


class Answer(models.Model):
    """An answer to a question: an atom of the answerer's, beside the evidence edge `answers`.

    `helped` is the asker's word: None until she says. It feeds the answerer's standing in who_knows.
    """

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="answers")
    atom_id = models.CharField(max_length=64, db_index=True)
    holder_id = models.CharField(max_length=200, db_index=True)
    helped = models.BooleanField(null=True, blank=True)
    created_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "question_answers"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["question", "atom_id"], name="question_answers_are_unique"),
            moment_check("question_answers", "created_at"),
        ]

    def __str__(self) -> str:
        return f"answer {self.atom_id}"
