"""The JSON API through its public door: shapes, changes, paging, holders, OpenAPI."""

import json

from memories.models import Atom
from memories.remember import remember
from tests.api_calls import api, jonas, mira  # noqa: F401

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


def test_forgetting_is_for_good(mira):
    atom_id = mira.remember("My old password was swordfish.")["atom_id"]
    reply = mira("delete", f"/memories/{atom_id}")
    assert (reply.status_code, reply.content) == (204, b"")
    assert mira("get", f"/memories/{atom_id}").status_code == 404
    assert mira("delete", f"/memories/{atom_id}").status_code == 404


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
