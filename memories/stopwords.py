"""Words that carry no subject: articles, pronouns, auxiliaries, prepositions and question words.

Plain data, our own selection of closed-class words (a word that can name a thing in a household, such as "may",
"home" or "key", stays out). They are left out of *queries* only, the index keeps every word, and they are the
evidence by which `stemming.guess_language` tells languages apart. Keys are ISO 639-1 codes; the spelling is
folded (`stemming.fold`) where it is read.
"""

STOP_WORDS: dict[str, str] = {
    "en": """a about after again all also am an and any anybody anyone anything are aren as at be because been before
        being between both but by can cannot could couldn did didn do does doesn doing don done during each either
        else ever every for from get gets getting go goes going gone got had hadn has hasn have haven having he her
        here hers herself him himself his how however i if in into is isn it its itself just kind know known knows
        let ll m many me might mine more most much must my myself neither no nor not of off on once one only or
        other our ours ourselves out over own please re s same say said says shall she should shouldn so some
        somebody someone something still such t tell than that the their theirs them themselves then there these
        they this those through to too under until up upon us use used using ve very was wasn we were weren what
        whatever when whenever where wherever whether which while who whoever whom whose why will with within
        without won would wouldn yet you your yours yourself yourselves don't can't didn't doesn't isn't wasn't
        i'm i've i'd i'll it's that's what's who's where's there's let's you're we're they're he's she's""",
    "de": """aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist
        da damit dann das dass dein deine deinem deinen deiner dem den denn der des dich die dies diese diesem
        diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für
        gegen gibt hab habe haben hat hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
        ihrer im in indem ins ist ja jede jedem jeden jeder jedes jemand jene jener jetzt kann kannst können könnte
        man manche mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder
        ohne sehr sein seine seinem seinen seiner seit selbst sich sie sind so solche soll sollen sollte sondern um
        und uns unser unsere unserem unseren unserer unter vom von vor wann war waren warst warum was weg weil
        welche welchem welchen welcher welches wem wen wenn wer werde werden wessen weshalb wie wieder wieso will
        wir wird wirst wo wofür woher wohin womit wollen wollte worden wurde wurden während würde würden zu zum zur
        zwischen über""",
    "es": """a al algo alguien algunas algunos ante antes aquí así aun cada como con contra cual cuál cuales cuáles
        cualquier cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos cuántos cuya cuyo de del desde
        donde dónde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta está
        estaba estaban estamos están estar estas este esto estos estoy fue fueron ha había habían hace hacer hacia
        han has hasta hay he hemos la las le les lo los más me mi mí mis mucho muchos muy nada ni no nos nosotros
        nuestra nuestras nuestro nuestros o otra otras otro otros para pero poco por porque pues que qué quien
        quién quienes quiénes se sea según ser si sí sido sin sobre son soy su sus también tan tanto te tener
        tenía tiene tienen tengo ti todo todos tras tu tú tus tuvo un una unas uno unos usted ustedes y ya yo""",
    "fr": """à a ai ainsi alors après as au aucun aussi autre autres aux avaient avait avant avec avez avoir avons c ça
        car ce ceci cela celle celles celui ces cet cette ceux chaque chez combien comme comment d dans de depuis
        des donc dont du elle elles en encore entre es est et étaient était étant été être eu eux fait faut font il
        ils j je jusque l la là laquelle le lequel les lesquels leur leurs lorsque lui m ma mais me même mes moi
        mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi puis qu
        quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur ta te tes toi ton
        tous tout toute toutes très tu un une vers vos votre vous y""",
    "it": """a abbiamo ad agli ai al alla alle allo allora anche ancora avere aveva avevano c che chi ci cioè come con
        contro cosa cui da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello di dopo dov
        dove e è ed era erano essere fa fino fra gli ha hanno ho i il in io l la le lei li lo loro lui ma me mi mia
        mie miei mio molto ne negli nei nel nell nella nelle nello no noi non nostra nostre nostri nostro o ogni
        oppure per perché però più poi prima qual quale quali qualche qualcuno quando quanta quante quanti quanto
        quella quelle quelli quello questa queste questi questo qui se sei sempre senza si sia siamo sono sta
        stata stati stato su sua sue sugli sui sul sull sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi
        tutti tutto un una uno vi voi""",
    "pt": """à a ainda algo alguém algum alguma alguns ante antes ao aos apenas após aquela aquele aqueles aquilo aqui
        as às assim até cada com como contra da das de dela dele deles depois desde do dos e é ela elas ele eles em
        entre era eram essa essas esse esses esta está estava estavam estão este estes estou eu fazer foi foram há
        isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nosso
        num numa o onde os ou para pela pelas pelo pelos por porque porquê qual quais qualquer quando quanta
        quantas quanto quantos que quê quem se seja sem sempre ser seu seus só sobre sua suas são também te tem
        têm tenho ter teu tinha todo todos tu tua tudo um uma umas uns você vocês""",
    "nl": """aan al alle alles als altijd andere ben bent bij dan dat de der deze die dit doen door dus een en er ge geen
        had hadden heb hebben hebt heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij jou jouw
        jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder
        ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer waren was wat
        we wel welk welke werd wezen wie wiens wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou""",
    "sv": """alla allt att av bara bli blir blev de dem den denna deras dess det detta dig din dina ditt du där då efter
        ej eller en er era ett från för ha hade han hans har henne hennes hon honom hos hur här i icke in inte
        inom jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om
        oss på samma sedan sin sina sitt själv ska skulle som så sådan till under upp ut utan vad var vara varför
        varit varje vars vart vem vems vi vid vilka vilken vilket vår våra vårt är över""",
    "da": """ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dine disse dit dog
        du efter eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvem hvilken
        hvis hvor hvordan hvorfor hvornår i ikke ind jeg jer jo kan kunne man mange med meget men mig min mine mit
        mod ned noget nogle nogen nu når og også om op os over på selv sig sin sine sit skal skulle som sådan thi
        til ud under var vi vil ville vor være været""",
    "no": """alle at av bare ble bli blir da de deg dem den denne der deres det dette din ditt du eller en enn er et ett
        etter for fra få før ha hadde han hans har henne hennes her hos hun hva hvem hver hvilke hvilken hvis hvor
        hvordan hvorfor i ikke inn jeg kan kunne man mange med meg mellom men min mine mitt mot mye nei noe noen nå
        når og også om opp oss over på seg selv sin sine sitt skal skulle slik som så til under ut uten var ved vi
        vil ville vår være vært""",
    "fi": """ei eivät emme en et ette että hän häneen hänellä hänelle hänen hänet ja jo johon joka joko jolla jolle jonka
        jos josta jossa jota jotka kanssa keiden keitä kenelle kenellä kenen ketkä ketä koska kuin kuinka kuka kun
        me meidän meillä meille meitä miksi mikä mille millä milloin minkä minua minulla minulle minun minut minä
        missä mistä mitkä mitä mihin mutta mukaan myös ne nämä näitä niin niiden niitä nyt ole olen olet oli
        olimme olin olivat olla olemme olette on ovat se sekä sen siitä sillä siinä sinun sinä sitä tai tämä tämän
        tässä tästä tätä te teidän tuo tuon vaan vai vaikka""",
    "hu": """a abban ahhoz ahogy aki akik akkor által általában amely amelyek ami amikor amit annak arra arról az azért
        azok azon azonban azt aztán azzal be belül benne cikk csak de e ebben egy egyes egyik el előtt én és ez ezek
        ezen ezért ezt ezzel fel ha hanem hány hiszen hogy hogyan hol honnan hová ide igen is ismét itt jó kell
        ki kié kinek kit le lehet lenne lesz mert meg mely mellett mi miért mikor milyen mind minden mint mit most
        nagyon ne nekem neki nem nincs ő ők olyan össze ott pedig s saját sem sok számára szemben te tehát úgy
        után vagy van vannak volt voltak""",
    "tr": """acaba ama ancak bana bazı belki ben benden beni benim bir biri birkaç birşey biz bize bizden bizi bizim bu
        buna bunda bundan bunlar bunu bunun çok çünkü da daha de değil diye en gibi hangi hem hep her hiç için ile
        ise kadar kaç ki kim kime kimde kimden kimi kimin mı mi mu mü nasıl ne neden nedir nerede nereden nereye
        niçin niye o olan olarak olduğu olsa ona ondan onlar onu onun sana sen senin siz sizin şey şu şunu tüm var
        ve veya ya yani yok""",
    "ro": """a acea aceasta această aceea acei acel acest aceste acestea acum ai al ale altă am ar are as asta astfel
        atunci au avea că câte câți ca care cât ce cea cei cel cele celor cine către cu cum cui da dacă dar de deci
        decât despre din doar după ea ei el ele era erau este eu fără fi fie fost iar îi îl îmi în încă între își
        îți la le li lor lui mai mea mei mele meu mi nici nimic noastră noi nostru nu o ori pe pentru peste prin
        sa să sale sau se și sunt ta te tu un una unde unei unor unui unul va vă voi vostru""",
    "pl": """a aby ale albo bardzo bez bo by był była było były być ci co coś czego czemu czy czyj dla dlaczego do gdy
        gdyż gdzie go i ich ile im inne ja jak jaka jaki jakie jako je jego jej jemu jest jestem jeszcze jeśli już
        kiedy kim kogo komu która które którego której który którzy kto lub ma mają mam mi mnie mną moja moje może
        mój my na nad nam nas nasz nasza nasze nic nich nie nim niż o od on ona one oni ono oraz po pod przed
        przez przy są się skąd so swoje ta tak także tam te tego tej ten to tobie tu twoje twój ty tych tylko tym u
        w wam was we wszystko z za ze że""",
    "cs": """a aby aj ale ani asi až bez bude budou by byl byla byli bylo být co což čí další do ho i já jak jaká jaké jaký
        jako je jeho její jejich jen jestli ještě ji jich jsem jsi jsme jsou k kam kde kdo kdy kdyby když ke kolik
        komu která které který mám má máme mě mezi mi mít můj může my na nad nám náš ne nebo není než nic o od on
        ona oni ono pak po pod podle pro proč proto protože před při s se si sice své svůj ta tak také tam tato te
        tedy ten tento to toho tohle tom tomu tu ty u už v vám váš ve však všechno vy z za ze že""",
    "id": """ada adalah akan aku anda apa apakah atau bagaimana bagi bahwa banyak beberapa belum berapa bisa boleh bukan
        dalam dan dapat dari dengan di dia di mana hanya harus hingga ia ini itu jadi jika juga kalau kami kamu
        kapan karena kata ke kepada ketika kita lagi lalu lebih mana masih mengapa mereka milik namun oleh pada
        para pernah saat saja sampai sangat saya sebuah secara sedang sejak seperti siapa sudah supaya tanpa
        tapi telah tentang tetapi tidak untuk yang""",
    "ru": """а без более бы был была были было быть в вам вас вдруг ведь во вот все всё всего всех вы где да даже для до
        его ее её если есть еще ещё же за здесь зачем и из или им их к как какая какие какой какого когда кого
        кому которая которые который кто куда ли либо между меня мне много может мой моя мы на над надо нам нас наш
        наша наши не него нее нет ни них но ну о об однако он она они оно от откуда очень по под после потом потому
        почему при про с сам своих свою себе себя сейчас со так также такой там тебя тем то тогда того тоже только
        том ты тут у уже хоть чего чей чем что чтобы чья эта эти это этого этой этом этот я""",
    "el": """αλλά αν ανά από αυτά αυτές αυτή αυτό αυτοί αυτός για γιατί δε δεν εάν εγώ είμαι είναι είσαι είχα είχε εκεί ένα
        ένας έχει έχουν έχω ή ήταν η θα και κάθε κατά κι μας με μετά μέχρι μη μην μια μου να ο οι όλα όπου όπως όταν
        ότι ου ούτε παρά πιο ποια ποιο ποιος ποιού πολύ πόσα πόσο ποτέ πότε που πού προς πρώτα πως πώς σαν σας σε
        στα στη στην στις στο στον στους σου τα τι την της τις το τον του τους των ως""",
    "ar": """ا أ أن أو أي أين إذا إلا إلى إن أنا أنت أنه أيضا التي الذي الذين الى ان او اي اين بعد بعض بل به بها بين تلك
        ثم جدا حتى حول حيث خلال ذلك سوف ضد على عليه عن عند عندما غير فقط في فيه فيها قبل قد كان كانت كل كم كما كيف لا
        لدى لقد لكن لم لماذا لن له لها لهم ليس ما ماذا متى مثل مع من منذ منه منها نحن نعم هذا هذه هل هم هنا هناك هو هي و وقد وكان
        وهو وهي يا يكون""",
    "fa": """آن آنها از است اگر اما این با باید بر برای بسیار بود به پس تا تو چه چرا چند چگونه چی چیست خود خواهد در را شد شده
        شما شود که کجا کدام کرد کرده کی کیست ما من می نیز نیست ها هر هم همه هست هیچ و ولی یا یک""",
    "hi": """अगर अपना अपनी अपने अब आप इन इस इसका इसके इसे इसकी उन उनका उनके उस उसका उसकी उसके उसे एक ऐसे और कब कर करता
        करते करना करने का कि कितना कितने किस किसका किसकी किसके किसने किसी की कुछ के को कोई कौन कौनसा क्या क्यों गई गए गया जब जहाँ जा
        जो तक तब तो था थी थे दिया दो द्वारा न नहीं ने पर बहुत बाद भी मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ या ये रहा रही रहे लिए लेकिन
        वह वहाँ वाला वाली वाले वे सकता सब से हम हमारा हमारी हमारे ही हुआ हुई हुए है हैं हो होता होती होने कहाँ कहां कैसे""",
}

# Where words are not set apart by spaces. Phrases cut a question into the parts around them.
NO_SPACE_PHRASES: tuple[str, ...] = tuple(
    """什么时候 什麼時候 什么 什麼 甚麼 哪里 哪裡 哪裏 哪儿 哪兒 哪个 哪個 哪些 哪种 哪年 哪天 谁 誰 怎么样 怎麼樣 怎么 怎麼 怎样
    怎樣 为什么 為什麼 为何 為何 多少 多久 几个 幾個 是否 有没有 有沒有 是不是 会不会 能不能 請問 请问 吗 嗎 呢 吧 的 了 我们 我們 你们
    你們 他们 他們 她们 她們 它们 咱们 这个 這個 那个 那個 这些 那些 关于 關於 因为 因為 所以 以及 如何 何时 何地
    どこ だれ どれ どの どんな どう どうして どうやって なぜ なに いつ いくつ いくら どちら 何時 何処 です でしょう でした ます ました
    ません ください という について している していた ている ていた ありますか ありました あります いますか います それ これ あれ この その あの
    어디에 어디 누구 누가 무엇 무슨 뭐 언제 왜 어떻게 어떤 얼마나 얼마 입니까 습니까 인가요 있나요 있어요 있습니다 있는 있다 나요 하나요 했나요 합니까
    ที่ไหน ไหน ใคร อะไร เมื่อไหร่ เมื่อไร เมื่อใด ทำไม อย่างไร ยังไง เท่าไหร่ เท่าไร กี่ หรือไม่ หรือเปล่า ไหม ครับ ค่ะ คะ อยู่ที่ อยู่ใน ได้รับ
    ซึ่ง และ หรือ ของ คือ ว่า ที่ ใด เป็น การ ความ อยู่ มี ใน
    ຢູ່ໃສ ໃຜ ຫຍັງ ເມື່ອໃດ ແນວໃດ ແລະ ຂອງ
    នៅឯណា អ្នកណា អ្វី ពេលណា ហេតុអ្វី យ៉ាងណា និង របស់
    ဘယ်မှာ ဘယ်သူ ဘာ ဘယ်တော့ ဘယ်လို ဘာကြောင့် သည် ၏ နှင့်""".split()
)
# A pair made only of these says nothing; next to another character they may be part of a word.
NO_SPACE_SOFT = (
    "是在有和与與及我你您他她它这這那哪个個也都就把被让讓给給对對从從到里裡上下中为為之其于於以会會能要可不没沒过過着著地"
    "得还還很么麼们們几幾何年月日时時候人吗来去说知道"
)
# One kana between characters that are not hiragana joins words ("予備の鍵").
KANA_PARTICLES = "のはがをにへとでもやかね"
# The end of a Korean word of three or more syllables.
HANGUL_PARTICLES = "는은이가을를에의로와과도만"
