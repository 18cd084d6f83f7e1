"""What every list and form of the curators' admin shares.

Nothing here reads wider than `visible_to(request.viewer)`: a staff flag or a superuser opens no memory. Lists never
count their rows, so they stay as fast over half a million memories as over five thousand.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.helpers import AdminForm
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memories.errors import NotFound
from memories.pages import viewer_of
from memories.templatetags.times import moment
from memories.visibility import Viewer

PAGE = 100
DEEPEST_PAGE = (
    50  # an offset costs what it skips; beyond this many pages a filter finds more than leafing does
)
GONE = "There is nothing with this id that you may read."


def curator(request: HttpRequest) -> Viewer:
    """The curator in front of the admin. Raises `NotFound` for anybody else, who never gets this far."""
    viewer = viewer_of(request)
    if viewer is None or not viewer.is_curator:
        raise NotFound(GONE)
    return viewer


def is_curator(request: HttpRequest) -> bool:
    """Whether the signed-in holder keeps the household's store in order."""
    viewer = viewer_of(request)
    return viewer is not None and viewer.is_curator


class LookAheadPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable when it runs
    """Pages that know whether another one follows, and never how many there are."""

    def page(self, number: int | str) -> Page[Any]:
        """One page, read with one row more than it shows. Raises `InvalidPage`."""
        place = self.validate_number(number)
        start = (place - 1) * self.per_page
        rows = list(self.object_list[start : start + self.per_page + 1])
        self.more = len(rows) > self.per_page and place < DEEPEST_PAGE
        self.known = start + min(len(rows), self.per_page)
        return Page(rows[: self.per_page], place, self)

    def validate_number(self, number: Any) -> int:
        """A page number within reach. Raises `PageNotAnInteger`, `EmptyPage`."""
        self.more, self.known = True, DEEPEST_PAGE * self.per_page
        return super().validate_number(number)

    @property
    def count(self) -> int:
        """As many as have been seen so far, and one more where another page follows."""
        return self.known + int(self.more)

    known: int = 0
    more: bool = False


class ReadableChangeList(ChangeList):
    """A list that looks one row ahead instead of counting, ordered by one indexed column."""

    def get_results(self, request: HttpRequest) -> None:
        """Fill in what the list's templates read."""
        if not 1 <= self.page_num <= DEEPEST_PAGE:
            raise IncorrectLookupParameters
        start = (self.page_num - 1) * self.list_per_page
        rows = list(self.queryset[start : start + self.list_per_page + 1])
        self.result_list = rows[: self.list_per_page]
        self.more = len(rows) > self.list_per_page
        self.at_the_end = self.more and self.page_num == DEEPEST_PAGE
        self.result_count = len(self.result_list)
        self.full_result_count = None
        self.show_full_result_count = False
        self.show_admin_actions = bool(rows)
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """One column, and the key in the same direction: an index gives both without sorting."""
        first = str(next(iter(super().get_ordering(request, queryset)), "-pk"))
        if first.lstrip("-") == "pk":
            return [first]
        return [first, "-pk" if first.startswith("-") else "pk"]

    def neighbour(self, step: int) -> str:
        """The address of the page before or after this one."""
        return self.get_query_string({"p": self.page_num + step})

    @property
    def previous_page(self) -> str:
        """The address of the page before; empty on the first."""
        return self.neighbour(-1) if self.page_num > 1 else ""

    @property
    def next_page(self) -> str:
        """The address of the page after; empty on the last."""
        return self.neighbour(1) if self.more and not self.at_the_end else ""


class CuratorAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # each subclass is of another model
    """Rights come from being a curator, rows from what she may read; unreadable and missing ids answer alike."""

    adds: ClassVar[bool] = False
    changes: ClassVar[bool] = False
    deletes: ClassVar[bool] = False

    list_per_page = PAGE
    paginator = LookAheadPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    actions: Any = None
    view_on_site = False

    def readable(self, viewer: Viewer) -> QuerySet[Any]:
        """The rows this curator may see."""
        raise NotImplementedError

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        if viewer is None or not viewer.is_curator:
            nothing: QuerySet[Any] = self.model._default_manager.none()
            return nothing
        return self.readable(viewer)

    def get_sortable_by(self, request: HttpRequest) -> Any:
        """Every column that names what it is ordered by."""
        return None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ReadableChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Our own filters alone: a look-up through a relation would tell of rows that are not hers to read."""
        return lookup in {
            name
            for one in self.list_filter
            for name in ((one, f"{one}__exact") if isinstance(one, str) else (one.parameter_name,))  # type: ignore[union-attr]
        }

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_curator(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.adds and is_curator(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.changes and is_curator(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.deletes and is_curator(request)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """The thing itself: what hangs on it may not be hers to read, not even by its name or number."""
        return [str(one) for one in objs], {}, set(), []

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> HttpResponse:
        raise NotFound(GONE)


def moment_column(name: str, words: Any) -> Any:
    """A column that shows a stored moment in the curator's own zone, ordered by what is stored."""

    @admin.display(description=words, ordering=name)
    def column(row: Any) -> str:
        return str(moment(getattr(row, name)))

    column.__name__ = f"{name}_words"
    return column


def sections(form: Any, fieldsets: Any) -> AdminForm:
    """Any form in the shape that Django's own templates draw."""
    return AdminForm(form, fieldsets, {})


class TypedFilter(admin.SimpleListFilter):
    """A filter whose choices may be none at all, and which takes a value that is not among them."""

    limit: ClassVar[int] = 50

    def has_output(self) -> bool:
        return bool(self.lookup_choices) or bool(self.value())

    def choices(self, changelist: Any) -> Iterator[Any]:
        """All, then each value; the chosen one also where it is not among those shown."""
        chosen = self.value()
        yield {
            "selected": chosen is None,
            "query_string": changelist.get_query_string(remove=[self.parameter_name]),
            "display": _("All"),
        }
        shown = list(self.lookup_choices)
        if chosen is not None and chosen not in {str(value) for value, _label in shown}:
            shown.append((chosen, chosen))
        for value, label in shown:
            yield {
                "selected": str(value) == chosen,
                "query_string": changelist.get_query_string({self.parameter_name: value}),
                "display": label,
            }
