"""The JSON API through its public door: shapes, refusals, repeats, versions, paging, OpenAPI."""

import json
import logging

import pytest
from django.test import Client

from holders.models import Token
from memories import remember as remember_module
from memories.models import Atom, IdempotentReply
from memories.remember import remember

JSON = "application/json"
MEMORY_KEYS = [
    "atom_id",
    "text",
    "holder_id",
    "recorded_by",
    "origin",
    "scenario",
    "tags",
    "event_time",
    "event_time_end",
    "event_time_precision",
    "valid_from",
    "valid_to",
    "retention_until",
    "visibility",
    "supersedes",
    "source",
    "created_at",
    "updated_at",
]


class Api:
    """A caller with a token."""

    def __init__(self, holder_id, scopes, **extra):
        _, plain = Token.objects.issue(holder_id, list(scopes), **extra)
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {plain}"}

    def __call__(self, method, path, body=None, **headers):
        extra = {} if body is None else {"data": json.dumps(body), "content_type": JSON}
        return getattr(self.client, method)(f"/api{path}", headers=self.headers | headers, **extra)

    def remember(self, text, **given):
        reply = self("post", "/memories", {"text": text, **given})
        assert reply.status_code == 201, reply.content
        return reply.json()


@pytest.fixture
def api(cast):
    return lambda holder_id, *scopes: Api(holder_id, scopes or ("read", "write", "ask", "curate"))


@pytest.fixture
def mira(api):
    return api("mira")


@pytest.fixture
def jonas(api):
    return api("jonas")


def sentence(reply):
    """The one sentence of a refusal."""
    body = reply.json()
    assert list(body) == ["detail"], body
    assert isinstance(body["detail"], str)
    assert body["detail"].endswith((".", "?"))
    return body["detail"]


def test_a_remembered_statement_comes_back_whole(mira):
    reply = mira(
        "post",
        "/memories",
        {
            "text": "Lea’s judo belt test 🥋\nis on Sunday.",
            "scenario": "school",
            "tags": ["judo", "lea"],
            "event_time": "2026-07-19",
            "valid_to": "2099-01-01T00:00:00Z",
            "visibility": "household",
            "source": "mail.eml",
        },
    )
    assert reply.status_code == 201
    memory = reply.json()
    assert list(memory) == MEMORY_KEYS
    assert memory["text"] == "Lea’s judo belt test 🥋\nis on Sunday."
    assert (memory["event_time"], memory["event_time_precision"]) == ("2026-07-19T00:00:00.000+00:00", "day")
    assert (memory["holder_id"], memory["recorded_by"], memory["origin"]) == ("mira", "", "artifact")
    assert mira("get", f"/memories/{memory['atom_id']}").json() == memory
    assert reply["Location"] == f"/api/memories/{memory['atom_id']}"


def test_replies_are_kept_by_no_cache(mira):
    assert "no-store" in mira("get", "/memories")["Cache-Control"]


def test_written_for_somebody_else_it_is_third_party(mira):
    memory = mira.remember("Jonas is allergic to hazelnuts.", holder_id="jonas", origin="self")
    assert (memory["holder_id"], memory["recorded_by"], memory["origin"]) == ("jonas", "mira", "third_party")


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "“text” is missing."),
        ({"text": ""}, ""),
        ({"text": "  "}, ""),
        ({"text": "a\0b"}, ""),
        ({"text": "x" * 65_537}, ""),
        ({"text": "x" * 1_100_000}, "64 KiB"),
        ({"text": 5}, "“text”"),
        ({"text": None}, "“text”"),
        ({"text": "x", "holder": "jonas"}, "There is no field or parameter “holder” here."),
        ({"text": "x", "viewer": "jonas"}, "“viewer”"),
        ({"text": "x", "tags": "judo"}, "“tags”"),
        ({"text": "x", "origin": "heaven"}, "origin"),
        ({"text": "x", "event_time": "31 February"}, "2026-07-19"),
        ({"text": "x", "event_time": "2026-02-31"}, "calendar"),
        ({"text": "x", "event_time": "2026-07-19", "event_time_end": "2026-07-18"}, "ends before"),
        ({"text": "x", "valid_from": "2026-07-19", "valid_to": "2026-07-18"}, ""),
        ({"text": "x", "visibility": "everybody"}, "scope"),
        ({"text": "x", "visibility": {"scope": "holders", "holder": ["a"]}}, "“holder”"),
        ({"text": "x", "visibility": {"holders": ["a"]}}, "scope"),
        ({"text": "x", "visibility": 5}, "“visibility”"),
        ({"text": "x", "replaces": "abc"}, "“replaces”"),
        ([], ""),
        ("text", ""),
        (5, ""),
    ],
)
def test_what_cannot_be_taken_is_422_with_one_sentence_and_nothing_stored(mira, body, says):
    reply = mira("post", "/memories", body)
    assert reply.status_code == 422
    assert says in sentence(reply)
    assert "xxxxxxxx" not in sentence(reply)
    assert not Atom.objects.exists()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[" * 100_000, b"\xff", b'{"text": "\\ud800"}', b'{"text": NaN}', b"null"]
)
def test_a_body_that_is_no_json_is_422(mira, raw):
    reply = mira.client.post("/api/memories", raw, content_type=JSON, headers=mira.headers)
    assert reply.status_code == 422
    sentence(reply)


@pytest.mark.parametrize("limit", ["0", "-1", "201", "5000", "many", "1.5", ""])
@pytest.mark.parametrize("path", ["/memories?", "/recall?q=key&", "/who_knows?q=key&"])
def test_a_limit_is_a_number_from_1_to_200(mira, path, limit):
    reply = mira("get", f"{path}limit={limit}")
    assert (reply.status_code, sentence(reply)) == (422, "“limit” is a number from 1 to 200.")


def test_200_is_still_a_limit(mira):
    assert mira("get", "/memories?limit=200").status_code == 200


@pytest.mark.parametrize(
    "path", ["/memories?holders=x", "/recall?q=key&holder_id=x", "/who_knows?q=key&as=mira"]
)
def test_a_misspelt_filter_is_refused_rather_than_ignored(mira, path):
    assert "There is no field or parameter" in sentence(mira("get", path))


@pytest.mark.parametrize("query", ["", "%20%20", "%00", "(" * 300, "NOT", "%22unclosed", "🔑", "x" * 3_000])
def test_any_query_is_answered_or_refused_with_a_sentence(mira, query):
    for path in (f"/recall?q={query}", f"/who_knows?q={query}", f"/memories?q={query}"):
        reply = mira("get", path)
        assert reply.status_code in (200, 422), (path, reply.content)
        if reply.status_code == 422:
            sentence(reply)


def test_unreadable_and_missing_ids_are_answered_alike(mira, jonas):
    secret = mira.remember("My diary is under the mattress.", visibility="private")["atom_id"]
    missing = "0123456789abcdef"
    for method, body in (("get", None), ("patch", {"text": "mine now"}), ("delete", None)):
        hidden, nothing = (
            jonas(method, f"/memories/{secret}", body),
            jonas(method, f"/memories/{missing}", body),
        )
        assert hidden.status_code == nothing.status_code == 404
        assert hidden.content == nothing.content
    replaced = [jonas("post", "/memories", {"text": "new", "replaces": [one]}) for one in (secret, missing)]
    assert replaced[0].status_code == replaced[1].status_code == 404
    assert replaced[0].content == replaced[1].content
    assert Atom.objects.get().text == "My diary is under the mattress."


def test_reading_somebody_elses_memory_does_not_mean_changing_it(mira, jonas):
    atom_id = mira.remember("The bin goes out on Tuesday.", visibility="household")["atom_id"]
    assert jonas("get", f"/memories/{atom_id}").status_code == 200
    assert jonas("patch", f"/memories/{atom_id}", {"text": "On Monday."}).status_code == 403
    assert jonas("delete", f"/memories/{atom_id}").status_code == 403
    assert jonas("post", "/memories", {"text": "On Monday.", "replaces": [atom_id]}).status_code == 403


def test_others_learn_the_scope_of_a_memory_and_not_who_else_reads_it(mira, jonas):
    visibility = {"scope": "holders", "holders": ["jonas", "lea"], "deny": ["ben"]}
    memory = mira.remember("We paint the shed in June.", visibility=visibility)
    assert memory["visibility"]["holders"] == ["jonas", "lea"]
    assert jonas("get", f"/memories/{memory['atom_id']}").json()["visibility"] == {"scope": "holders"}


def test_replacing_closes_the_old_memory_and_names_it(mira):
    old = mira.remember("Ben is vegetarian.", scenario="kitchen", tags=["ben"], visibility="household")
    new = mira.remember("Ben eats fish since May.", replaces=[old["atom_id"]])
    assert (new["supersedes"], new["scenario"], new["tags"]) == ([old["atom_id"]], "kitchen", ["ben"])
    assert new["visibility"]["scope"] == "household"
    assert mira("get", f"/memories/{old['atom_id']}").json()["valid_to"] == new["valid_from"]
    current = mira("get", "/memories").json()["items"]
    assert [item["text"] for item in current] == ["Ben eats fish since May."]
    assert len(mira("get", "/memories?current=false").json()["items"]) == 2


def test_a_patch_changes_what_is_given_and_null_clears_a_time(mira):
    memory = mira.remember("Parking permit.", event_time="2026-07-19", tags=["car"])
    changed = mira("patch", f"/memories/{memory['atom_id']}", {"event_time": None, "scenario": "car"}).json()
    assert (changed["event_time"], changed["scenario"], changed["tags"]) == (None, "car", ["car"])
    assert changed["updated_at"] > memory["updated_at"]


@pytest.mark.parametrize(
    "body",
    [
        {"holder_id": "jonas"},
        {"atom_id": "x"},
        {"text": ""},
        {"text": None},
        {"visibility": None},
        {"tags": 5},
    ],
)
def test_a_patch_that_will_not_do_changes_nothing(mira, body):
    memory = mira.remember("Parking permit.")
    reply = mira("patch", f"/memories/{memory['atom_id']}", body)
    assert reply.status_code == 422
    sentence(reply)
    assert mira("get", f"/memories/{memory['atom_id']}").json() == memory


def test_two_editors_never_overwrite_each_other_silently(mira):
    atom_id = mira.remember("The bin goes out on Tuesday.")["atom_id"]
    read = mira("get", f"/memories/{atom_id}")["ETag"]
    first = mira("patch", f"/memories/{atom_id}", {"text": "On Monday."}, **{"If-Match": read})
    assert first.status_code == 200
    second = mira("patch", f"/memories/{atom_id}", {"text": "On Friday."}, **{"If-Match": read})
    assert second.status_code == 412
    sentence(second)
    assert mira("delete", f"/memories/{atom_id}", **{"If-Match": read}).status_code == 412
    assert mira("get", f"/memories/{atom_id}").json()["text"] == "On Monday."
    assert first["ETag"] == mira("get", f"/memories/{atom_id}")["ETag"] != read
    assert (
        mira(
            "patch", f"/memories/{atom_id}", {"tags": ["bin"]}, **{"If-Match": f'"x", {first["ETag"]}'}
        ).status_code
        == 200
    )
    assert mira("delete", f"/memories/{atom_id}", **{"If-Match": "*"}).status_code == 204


def test_a_change_between_reading_and_writing_is_412_too(mira, monkeypatch):
    atom_id = mira.remember("The bin goes out on Tuesday.")["atom_id"]
    read = mira("get", f"/memories/{atom_id}")["ETag"]

    def somebody_is_faster(viewer, found, changes, keep=remember_module._changed_columns):
        Atom.objects.filter(atom_id=atom_id).update(updated_at="2999-01-01T00:00:00.000+00:00")
        return keep(viewer, found, changes)

    monkeypatch.setattr(remember_module, "_changed_columns", somebody_is_faster)
    reply = mira("patch", f"/memories/{atom_id}", {"tags": ["bin"]}, **{"If-Match": read})
    assert reply.status_code == 412


def test_forgetting_is_for_good(mira):
    atom_id = mira.remember("My old password was swordfish.")["atom_id"]
    reply = mira("delete", f"/memories/{atom_id}")
    assert (reply.status_code, reply.content) == (204, b"")
    assert mira("get", f"/memories/{atom_id}").status_code == 404
    assert mira("delete", f"/memories/{atom_id}").status_code == 404


def test_repeating_a_post_with_its_key_creates_nothing_new(mira, jonas):
    body = {"text": "The key is blue.", "event_time": "2026-07-19T18:30"}
    first = mira("post", "/memories", body, **{"Idempotency-Key": "k1"})
    mira("patch", f"/memories/{first.json()['atom_id']}", {"tags": ["key"]})
    again = mira("post", "/memories", dict(reversed(body.items())), **{"Idempotency-Key": "k1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["atom_id"] == again.json()["atom_id"]
    assert Atom.objects.count() == 1
    other = mira("post", "/memories", {"text": "The key is red."}, **{"Idempotency-Key": "k1"})
    assert other.status_code == 422
    sentence(other)
    assert (
        jonas("post", "/memories", {"text": "The key is red."}, **{"Idempotency-Key": "k1"}).status_code
        == 201
    )


def test_a_refused_post_uses_up_no_key(mira):
    assert mira("post", "/memories", {"text": ""}, **{"Idempotency-Key": "k"}).status_code == 422
    assert (
        mira("post", "/memories", {"text": "Now.", "origin": "x"}, **{"Idempotency-Key": "k"}).status_code
        == 422
    )
    assert mira("post", "/memories", {"text": "Now."}, **{"Idempotency-Key": "k"}).status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_a_key_has_1_to_200_printable_characters(mira, key):
    assert mira("post", "/memories", {"text": "x"}, **{"Idempotency-Key": key}).status_code == 422


def test_what_is_kept_of_a_keyed_post_goes_when_the_memory_is_forgotten(mira):
    memory = mira("post", "/memories", {"text": "The key is blue."}, **{"Idempotency-Key": "k"}).json()
    assert "blue" not in str(list(IdempotentReply.objects.values()))
    mira("delete", f"/memories/{memory['atom_id']}")
    assert not IdempotentReply.objects.exists()


def test_the_same_statement_twice_is_stored_once(mira):
    assert mira.remember("The key is blue.")["atom_id"] == mira.remember("The key is blue.")["atom_id"]


def test_pages_follow_each_other_without_gap_or_repeat(mira):
    for number in range(7):
        mira.remember(f"Note number {number}.", visibility="household")
    seen, cursor = [], ""
    while cursor is not None:
        page = mira("get", f"/memories?limit=3{f'&cursor={cursor}' if cursor else ''}").json()
        assert list(page) == ["items", "next"]
        seen += [item["text"] for item in page["items"]]
        cursor = page["next"]
    assert seen == [f"Note number {number}." for number in reversed(range(7))]


@pytest.mark.parametrize("cursor", ["x", "!!!", "a" * 500, "%00", "é"])
def test_a_cursor_that_is_none_of_ours_is_422(mira, cursor):
    assert mira("get", f"/memories?cursor={cursor}").status_code == 422


def test_lists_are_filtered_inside_what_one_may_read(mira, jonas):
    mira.remember("Judo is on Tuesday.", scenario="school", tags=["judo"], visibility="household")
    mira.remember("Judo costs 12 euros.", scenario="school", tags=["judo"], visibility="private")
    jonas.remember("The car needs oil.", scenario="car", visibility="household")

    def texts(caller, query):
        return {item["text"] for item in caller("get", f"/memories?{query}").json()["items"]}

    assert texts(jonas, "tag=judo") == {"Judo is on Tuesday."}
    assert texts(jonas, "scenario=school") == {"Judo is on Tuesday."}
    assert texts(jonas, "holder=mira") == {"Judo is on Tuesday."}
    assert texts(jonas, "q=judo") == {"Judo is on Tuesday."}
    assert texts(mira, "q=judo&tag=judo&holder=mira") == {"Judo is on Tuesday.", "Judo costs 12 euros."}


def test_recall_gives_hits_with_their_reasons(mira, jonas):
    mira.remember("The spare key is in the blue box in the hall.", visibility="household")
    mira.remember("The diary key is in my shoe.", visibility="private")
    body = jonas("get", "/recall?q=Where+is+the+spare+key%3F&limit=5").json()
    assert list(body) == ["query", "hits"]
    assert body["query"] == "Where is the spare key?"
    hit = body["hits"][0]
    assert list(hit) == ["memory", "score", "relevance", "signals", "basis"]
    assert list(hit["memory"]) == MEMORY_KEYS
    assert hit["memory"]["text"] == "The spare key is in the blue box in the hall."
    assert 0 <= hit["relevance"] <= 1
    assert hit["signals"]
    assert all(isinstance(reason, str) for reason in hit["basis"])
    assert "shoe" not in json.dumps(body)


@pytest.mark.parametrize(
    "query", ["as_of=yesterday", "min_relevance=2", "min_relevance=nan", "min_relevance=x"]
)
def test_recall_refuses_what_it_cannot_read(mira, query):
    assert mira("get", f"/recall?q=key&{query}").status_code == 422


def test_holders_over_json(api, mira):
    cura = api("cura")
    body = mira("get", "/holders").json()
    assert list(body) == ["holders"]
    assert list(body["holders"][0]) == [
        "holder_id",
        "name",
        "kind",
        "registered",
        "knows_about",
        "contact",
        "groups",
    ]
    changed = mira(
        "put", "/holders/mira", {"knows_about": ["heating"], "contact": {"phone": "+49 30 5550109"}}
    )
    assert (changed.status_code, changed.json()["knows_about"]) == (200, ["heating"])
    assert mira("get", "/holders/mira").json() == changed.json()
    assert mira("put", "/holders/jonas", {"name": "J"}).status_code == 403
    assert mira("put", "/holders/mira", {"groups": ["curators"]}).status_code == 403
    assert mira("put", "/holders/mira", {"contact": {"chat": "javascript:alert(1)"}}).status_code == 422
    assert mira("put", "/holders/mira", {"language": "en"}).status_code == 422
    assert mira("put", "/holders/mira", {"kind": "dragon"}).status_code == 422
    assert cura("put", "/holders/uncle-tom", {"name": "Tom", "kind": "person"}).status_code == 200
    assert cura("delete", "/holders/uncle-tom").status_code == 204
    assert cura("delete", "/holders/uncle-tom").status_code == 404
    assert mira("delete", "/holders/jonas").status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/nothing", 404),
        ("post", "/nothing", 404),
        ("get", "/", 404),
        ("get", "/memories/", 404),
        ("put", "/memories", 405),
        ("post", "/recall", 405),
        ("get", "/ask", 405),
        ("delete", "/health", 405),
    ],
)
def test_unknown_calls_and_methods_are_refused_in_json(mira, method, path, status):
    reply = mira(method, path)
    assert reply.status_code == status
    assert reply["Content-Type"].startswith("application/json")
    sentence(reply)


def test_a_fault_of_ours_is_json_and_neither_reply_nor_log_holds_memory_text(mira, monkeypatch, caplog):
    def broken(*args, **kwargs):
        raise RuntimeError("cannot store: my secret is swordfish")

    monkeypatch.setattr("memories.api.remember", broken)
    with caplog.at_level(logging.DEBUG):
        reply = mira("post", "/memories", {"text": "my secret is swordfish"})
    assert reply.status_code == 500
    sentence(reply)
    assert b"swordfish" not in reply.content
    assert "swordfish" not in caplog.text
    assert "RuntimeError" in caplog.text


def test_refusals_do_not_repeat_what_was_sent(mira, caplog):
    secret = "swordfish-" * 3
    with caplog.at_level(logging.DEBUG):
        for body in (
            {"text": secret, "origin": secret},
            {"text": secret, "visibility": secret},
            {"text": [secret]},
        ):
            reply = mira("post", "/memories", body)
            assert reply.status_code == 422
            assert b"swordfish" not in reply.content
    assert "swordfish" not in caplog.text


def test_the_openapi_document_is_complete(client, db):
    document = client.get("/api/openapi.json").json()
    ids = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))
    assert {
        "remember",
        "list_memories",
        "read_memory",
        "edit_memory",
        "forget",
        "recall",
        "who_knows",
        "ask",
    } <= set(ids)
    for path, calls in document["paths"].items():
        for call in calls.values():
            assert call["summary"]
            assert call["description"], path
            if path != "/api/health":
                assert {"401", "403", "422", "429"} <= set(call["responses"]), path
                assert call["security"], path
            assert not any("examples" in one for one in call.get("parameters", ())), path
    assert set(document["components"]["securitySchemes"]) == {"TokenAuth", "BrowserAuth"}


def test_the_docs_page_is_served_from_here_and_runs_no_inline_script(client, db):
    page = client.get("/api/docs")
    assert page.status_code == 200
    html = page.content.decode()
    assert "//" not in html.replace("<!DOCTYPE", "").replace("http://www.w3.org", "")
    assert "<script>" not in html
    for asset in ("swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-init.js"):
        served = client.get(f"/static/ninja/{asset}")
        assert served.status_code == 200
        served.close()


def test_a_curator_may_narrow_but_not_widen(api, mira):
    cura = api("cura")
    atom_id = mira.remember("Ben’s shoe size is 43.", visibility={"scope": "holders", "holders": ["cura"]})[
        "atom_id"
    ]
    assert cura("patch", f"/memories/{atom_id}", {"visibility": "household"}).status_code == 403
    assert cura("patch", f"/memories/{atom_id}", {"visibility": "private"}).status_code == 200


def test_a_list_costs_the_same_number_of_queries_whatever_its_length(
    mira, cast, django_assert_max_num_queries
):
    for number in range(40):
        remember(cast.mira, f"Note number {number}.", visibility="household")
    with django_assert_max_num_queries(6):
        assert len(mira("get", "/memories?limit=40").json()["items"]) == 40
