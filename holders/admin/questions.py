"""Questions in the admin: those this curator may see as one of their parties or on the household's board."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from holders.models import Question
from holders.questions import get_question
from memories.curators import CuratorAdmin, curator, moment_column
from memories.models import Atom
from memories.visibility import Viewer

ASKED = moment_column("created_at", _("asked"))


@admin.register(Question)
class QuestionAdmin(CuratorAdmin):
    """Who asked whom; the words are an atom, and its readers are the question's."""

    list_display = ("question_id", "asker_id", "to_holder", "state", ASKED)
    list_filter = ("state",)
    ordering = ("-created_at",)
    fields = ("asker_id", "to_holder", "state", ASKED, "words", "answers")

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        atoms = Atom.objects.visible_to(viewer).filter(atom_id=OuterRef("question_id"))
        return Question.objects.filter(Exists(atoms))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found is not None:
            found.card = get_question(curator(request), found.question_id)
        return found

    @admin.display(description=_("question"))
    def words(self, question: Any) -> str:
        """What was asked."""
        return format_html('<bdi dir="auto">{}</bdi>', question.card.text)

    @admin.display(description=_("answers you may read"), empty_value="–")
    def answers(self, question: Any) -> str | None:
        """The readable answers, each with a link to its memory."""
        rows = [
            (reverse("admin:memories_atom_change", args=[one.memory.atom_id]), one.memory.text[:200])
            for one in question.card.answers
        ]
        return format_html_join("", '<p><a href="{}"><bdi dir="auto">{}</bdi></a></p>', rows) or None
