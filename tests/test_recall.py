"""Recall through its verb: what is found, in which order, with which reasons, and what is not."""

import pytest
from django.db import connection

from memories import vectors
from memories.browse import list_memories
from memories.embedding import cache
from memories.errors import Invalid
from memories.forget import forget
from memories.models import Atom, Cartridge, CartridgeAtom, Mount
from memories.recall import recall
from memories.remember import edit, remember
from memories.store import set_setting


def texts(result):
    return [hit.memory.text for hit in result.hits]


@pytest.fixture
def shared(cast):
    """Remember as Mira for the household."""
    return lambda text, **given: remember(cast.mira, text, **{"visibility": "household", **given})


QUERIES = [
    ("O'Hara", "Doctor O'Hara is our dentist."),
    ('"--child-lock"', "Start the oven with --child-lock switched off."),
    ("wifi-password", "The wifi-password hangs on the fridge."),
    ("8:30", "The school bus leaves at 8:30."),
    ("garage::code", "Type garage::code into the panel."),
    ("key OR", "The key lies under the mat."),
    ("NOT key", "The key lies under the mat."),
    ('"unclosed', "The unclosed window rattles."),
    ("(boiler", "The boiler was serviced in May."),
    ("vet:milo", "Milo goes to the vet on Friday: vet:milo."),
    ("@oma", "Ask @oma about the jam."),
    ("#tag", "This carries a tag."),
    ("C++", "Jonas teaches C++ on Mondays."),
    ("50%", "The shop gives 50% off."),
    ("why?", "Nobody knows why the cat sneezes."),
    ("v20.04", "The laptop runs v20.04 since spring."),
    ("-4*", "Set the freezer to -4 degrees."),
    ("boiler May", "The boiler was serviced in May."),
    ("鍵", "予備の鍵は青い箱の中"),
    ("钥匙", "备用钥匙在冰箱上面"),
    ("router", "重置router后要等两分钟"),
    ("열쇠", "예비열쇠는 서랍에 있다"),
    ("กุญแจ", "กุญแจสำรองอยู่ในลิ้นชัก"),
    ("creme", "Die Crème steht im Bad."),
    ("strasse", "Unsere Straße wird gesperrt."),
    ("مفتاح", "المِفْتَاح تحت السجادة"),
    ("Schlüssel", "Die Schlüsseln liegen im Flur."),
    ("keys", "The spare key hangs in the hall."),
    ("ok", "It is ok to use the side door."),
    ("TV", "The TV remote needs new batteries."),
]


@pytest.mark.parametrize(("query", "text"), QUERIES)
def test_it_finds_the_memory_that_has_the_word(cast, shared, query, text):
    shared("Something else entirely: dinner is at seven.")
    shared(text)

    assert texts(recall(cast.jonas, query))[0] == text
    assert [one.text for one in list_memories(cast.jonas, q=query).items] == [text]


@pytest.mark.parametrize(
    "query", ["(" * 300, "🎈", "x" * 60_000, "- * ( ) \" '", "NEAR(a b)", "text:key", "a AND"]
)
def test_any_text_is_a_question(cast, shared, query):
    shared("The key lies under the mat.")

    assert recall(cast.jonas, query).query == query


@pytest.mark.parametrize("query", ["", "   ", "a\0b", "\ud800", "x" * 2_000_000])
def test_what_is_no_question_is_refused_with_a_sentence(cast, shared, query):
    shared("The key lies under the mat.")

    with pytest.raises(Invalid) as refusal:
        recall(cast.jonas, query)
    assert str(refusal.value).endswith(".")
    assert list_memories(cast.jonas, q="key").items


@pytest.mark.parametrize("limit", [0, -1, 201, 5_000])
def test_a_limit_beyond_1_to_200_is_refused(cast, limit):
    with pytest.raises(Invalid):
        recall(cast.jonas, "key", limit=limit)


def test_every_hit_can_be_argued_with(cast, shared):
    shared("The spare key hangs behind the door.")

    hit = recall(cast.jonas, "Where is the spare key?").hits[0]

    assert {"cosine", "meaning", "words", "recency"} <= hit.signals.keys()
    assert 0 <= hit.relevance <= 1
    assert any("“spare”" in line for line in hit.basis)


def test_the_basis_quotes_the_question_and_not_the_stems_of_its_words(cast):
    remember(cast.mira, "Gutter cleaning was done in March", visibility="household")
    hit = recall(cast.mira, "When were the gutters cleaned?").hits[0]
    assert "Holds “cleaned”, “gutters” from the question." in hit.basis


def test_a_question_in_one_language_finds_a_memory_in_another(cast, shared):
    for text in (
        "Dinner is at seven.",
        "The car is in the garage.",
        "晚饭后要洗碗",
        "Lea has piano on Monday.",
    ):
        shared(text)
    shared("备用钥匙在冰箱上面")
    shared("Grandma must not eat nuts.")

    assert texts(recall(cast.jonas, "Where is the spare key?"))[0] == "备用钥匙在冰箱上面"
    assert texts(recall(cast.jonas, "奶奶不能吃什么？"))[0] == "Grandma must not eat nuts."


def test_what_has_nothing_to_do_with_the_question_is_no_hit(cast, shared):
    shared("The spare key hangs behind the door.")
    shared("Dinner is at seven.")

    assert recall(cast.jonas, "Quantum chromodynamics of neutron stars").hits == ()
    assert len(recall(cast.jonas, "Quantum chromodynamics of neutron stars", min_relevance=0.0).hits) == 2


def test_old_facts_do_not_fade(cast, shared):
    allergy = shared("Grandma is allergic to penicillin.", event_time="2019-03-02")
    Atom.objects.filter(atom_id=allergy.atom_id).update(ingested_at="2019-03-02T10:00:00.000+00:00")
    for number in range(20):
        shared(f"Grandma took her vitamin tablet number {number} today.")

    assert (
        texts(recall(cast.jonas, "What is Grandma allergic to?"))[0] == "Grandma is allergic to penicillin."
    )


def test_of_two_versions_of_the_same_thing_the_newer_comes_first(cast, shared):
    old = shared("The plumber's number is on the blue card.")
    Atom.objects.filter(atom_id=old.atom_id).update(ingested_at="2021-03-02T10:00:00.000+00:00")
    new = shared("The plumber's number is on the blue card.", tags=["new"])

    hits = recall(cast.jonas, "Where is the plumber's number?").hits
    assert [hit.memory.atom_id for hit in hits] == [new.atom_id, old.atom_id]


def test_what_was_replaced_does_not_answer_a_question_about_now(cast, shared):
    old = shared("Ben is vegetarian.")
    new = shared("Ben eats fish since May.", replaces=[old.atom_id])

    assert texts(recall(cast.jonas, "Ben is vegetarian")) == [new.text]
    assert old.text in texts(recall(cast.jonas, "What did Ben use to eat?"))


def test_a_fact_that_lies_in_the_future_or_the_past_is_not_current(cast, shared):
    shared("The parking permit number is A12.", valid_to="2020-01-01")
    shared("The new boiler comes next year.", valid_from="2099-01-01")
    shared("The washing machine has a warranty.", valid_to="2099-12-31")

    found = texts(recall(cast.jonas, "parking permit boiler washing machine warranty"))
    assert found == ["The washing machine has a warranty."]


def test_as_of_a_day_it_answers_as_the_store_knew_the_world_then(cast, shared):
    old = shared("The cleaner comes on Tuesday.", valid_from="2024-01-01")
    Atom.objects.filter(atom_id=old.atom_id).update(ingested_at="2024-01-01T10:00:00.000+00:00")
    new = shared("The cleaner comes on Friday.", replaces=[old.atom_id], valid_from="2025-06-01")
    Atom.objects.filter(atom_id=new.atom_id).update(ingested_at="2025-06-01T10:00:00.000+00:00")
    edit(cast.mira, old.atom_id, tags=["cleaning"])

    assert texts(recall(cast.jonas, "When does the cleaner come?", as_of="2024-05-05")) == [old.text]
    assert texts(recall(cast.jonas, "When does the cleaner come?", as_of="2025-06-01")) == [new.text]
    assert texts(recall(cast.jonas, "When does the cleaner come?", as_of="2023-12-31")) == []
    assert texts(recall(cast.jonas, "When does the cleaner come?")) == [new.text]
    with pytest.raises(Invalid):
        recall(cast.jonas, "cleaner", as_of="whenever")


def test_lapsed_retention_never_shows(cast, shared):
    shared("The visitor's wifi is open until Sunday.", retention_until="2025-01-01")

    assert texts(recall(cast.jonas, "visitor wifi")) == []
    assert texts(recall(cast.jonas, "visitor wifi", as_of="2024-12-01")) == []


def test_a_scenario_matches_itself_and_what_fits_any(cast, shared):
    shared("The oven needs ten minutes to warm up.", scenario="kitchen")
    shared("The oven of the car is its heater.", scenario="car")
    shared("An oven is hot.")

    assert set(texts(recall(cast.jonas, "oven", scenario="kitchen"))) == {
        "The oven needs ten minutes to warm up.",
        "An oven is hot.",
    }
    assert len(recall(cast.jonas, "oven").hits) == 3


def test_holder_and_tag_narrow_a_question(cast, shared):
    shared("Mira bakes bread.", tags=["bread"])
    remember(cast.ben, "Ben bakes bread too.", visibility="household")

    assert texts(recall(cast.jonas, "Who bakes bread?", holder="ben")) == ["Ben bakes bread too."]
    assert texts(recall(cast.jonas, "Who bakes bread?", tag="bread")) == ["Mira bakes bread."]


def test_naming_a_holder_helps_and_never_filters(cast, shared):
    remember(cast.ben, "I painted the fence green.", visibility="household")
    shared("I painted the fence blue.")

    found = texts(recall(cast.jonas, "What did Ben paint?"))
    assert found[0] == "I painted the fence green."
    assert len(found) == 2


def test_a_mounted_cartridge_scopes_its_mounters_questions_alone(cast, shared):
    inside = shared("The babysitter may watch TV.")
    shared("The TV is ten years old.")
    cartridge = Cartridge.objects.create(name="Babysitter", owner_id="jonas")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=inside.atom_id)
    Mount.objects.create(holder_id="jonas", cartridge=cartridge)

    assert texts(recall(cast.jonas, "TV")) == [inside.text]
    assert len(recall(cast.ben, "TV").hits) == 2
    assert texts(recall(cast.jonas, "TV", cartridge=cartridge.pk)) == [inside.text]
    assert texts(recall(cast.ben, "TV", cartridge=cartridge.pk)) == []  # nobody shared it with him


def test_a_readable_row_is_found_among_thousands_of_nearer_hidden_ones(cast):
    hers = remember(cast.mira, "The violin teacher lives in Linden Street.", visibility="private")
    vector = cache.embed_query(cast.mira, "Where is the violin teacher?")
    hidden = Atom.objects.bulk_create(
        Atom(text="Violin teacher.", holder_id="jonas", origin="self", visibility_json='{"scope": "private"}')
        for _ in range(5_000)
    )
    vectors.write_vectors((atom.pk, vector) for atom in hidden)

    assert texts(recall(cast.mira, "Where is the violin teacher?")) == [hers.text]


def test_replies_are_the_same_every_time(cast, shared):
    for number in range(12):
        shared(f"Shelf {number} holds jam.")

    assert len({repr(recall(cast.jonas, "Which shelf holds jam?")) for _ in range(5)}) == 1


def test_the_number_of_queries_does_not_grow_with_hits(cast, shared, django_assert_max_num_queries):
    for number in range(30):
        shared(f"The jar number {number} holds plums.", source=f"pantry.txt#line={number}")
    recall(cast.jonas, "warm up")

    with django_assert_max_num_queries(16) as few:
        recall(cast.jonas, "plums", limit=1)
    with django_assert_max_num_queries(len(few)):
        assert len(recall(cast.jonas, "plums", limit=30).hits) == 30


def test_a_turn_is_found_by_what_was_said_just_before_it(cast, shared):
    shared("Which instrument does Lea want to learn?", source="chat.txt#turn=1")
    shared("The cello, she says.", source="chat.txt#turn=2")
    for number in range(40):
        shared(
            f"We bought apples and bread, receipt {number}.", source=f"receipts.txt#line={number * 7 + 100}"
        )

    assert "The cello, she says." in texts(recall(cast.jonas, "What instrument does Lea want to learn?"))[:2]


def test_a_hidden_neighbour_lends_nothing(cast, shared):
    remember(
        cast.mira, "Which instrument does Lea want to learn?", source="chat.txt#turn=1", visibility="private"
    )
    shared("She says yes.", source="chat.txt#turn=2")

    hit = recall(cast.jonas, "What instrument does Lea want to learn?", min_relevance=0.0).hits[0]
    assert hit.signals["words"] == 0


def test_forgotten_words_are_in_no_index(cast, shared):
    memory = shared("The rhubarb grows by the fence.")
    forget(cast.mira, memory.atom_id)

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM atom_fts WHERE atom_fts MATCH 'rhubarb'")
        assert cursor.fetchone() == (0,)
    assert texts(recall(cast.mira, "rhubarb")) == []


def test_another_models_vectors_are_refused_with_the_command_that_helps(cast, shared):
    shared("Tea at four.")
    set_setting("embedding_model", "some-other-model")

    with pytest.raises(vectors.ModelMismatch, match="reembed"):
        recall(cast.jonas, "tea")
    with pytest.raises(vectors.ModelMismatch, match="reembed"):
        shared("More tea.")
