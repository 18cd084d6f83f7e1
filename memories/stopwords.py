"""Words that carry no subject: articles, pronouns, auxiliaries, prepositions and question words.

Plain data, our own selection of closed-class words (a word that can name a thing in a household, such as
"may", "home" or "key", stays out). They are left out of *queries* only, the index keeps every word, and they
are the evidence by which `stemming.language_by_words` tells languages apart. Keys are ISO 639-1 codes; the
spelling is folded where it is read.
"""

STOP_WORDS: dict[str, str] = {
    "en": """a about after again all also am an and any anybody anyone anything are aren as at be because
        been before being between both but by can can't cannot could couldn did didn didn't do does
        doesn doesn't doing don don't done during each either else ever every for from get gets getting
        go goes going gone got had hadn has hasn have haven having he he's her here hers herself him
        himself his how however i i'd i'll i'm i've if in into is isn isn't it it's its itself just kind
        know known knows let let's ll m many me might mine more most much must my myself neither no nor
        not of off on once one only or other our ours ourselves out over own please re s said same say
        says shall she she's should shouldn so some somebody someone something still such t tell than
        that that's the their theirs them themselves then there there's these they they're this those
        through to too under until up upon us use used using ve very was wasn wasn't we we're were weren
        what what's whatever when whenever where where's wherever whether which while who who's whoever
        whom whose why will with within without won would wouldn yet you you're your yours yourself
        yourselves""",
    "de": """aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin
        bis bist da damit dann das dass dein deine deinem deinen deiner dem den denn der des dich die
        dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines
        er es etwas euch euer eure für gegen gibt hab habe haben hat hatte hatten hattest hier hin
        hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden
        jeder jedes jemand jene jener jetzt kann kannst können könnte man manche mein meine meinem
        meinen meiner mich mir mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein
        seine seinem seinen seiner seit selbst sich sie sind so solche soll sollen sollte sondern um und
        uns unser unsere unserem unseren unserer unter vom von vor wann war waren warst warum was weg
        weil welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie
        wieder wieso will wir wird wirst wo wofür woher wohin wollen wollte womit worden wurde wurden
        während würde würden zu zum zur zwischen über""",
    "es": """a al algo alguien algunas algunos ante antes aquí así aun cada como con contra cual cuales
        cualquier cuando cuanta cuantas cuanto cuantos cuya cuyo cuál cuáles cuándo cuánta cuántas
        cuánto cuántos de del desde donde dos durante dónde e el ella ellas ellos en entre era eran es
        esa esas ese eso esos esta estaba estaban estamos estar estas este esto estos estoy está están
        fue fueron ha había habían hace hacer hacia han has hasta hay he hemos la las le les lo los me
        mi mis mucho muchos muy más mí nada ni no nos nosotros nuestra nuestras nuestro nuestros o otra
        otras otro otros para pero poco por porque pues que quien quienes quién quiénes qué se sea según
        ser si sido sin sobre son soy su sus sí también tan tanto te tener tengo tenía ti tiene tienen
        todo todos tras tu tus tuvo tú un una unas uno unos usted ustedes y ya yo él""",
    "fr": """a ai ainsi alors après as au aucun aussi autre autres aux avaient avait avant avec avez avoir
        avons c car ce ceci cela celle celles celui ces cet cette ceux chaque chez combien comme comment
        d dans de depuis des donc dont du elle elles en encore entre es est et eu eux fait faut font il
        ils j je jusque l la laquelle le lequel les lesquels leur leurs lorsque lui là m ma mais me mes
        moi mon même n ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus
        pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son
        sont sous sur ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y à ça
        étaient était étant été être""",
    "it": """a abbiamo ad agli ai al alla alle allo allora anche ancora avere aveva avevano c che chi ci cioè
        come con contro cosa cui da dagli dai dal dall dalla dalle dallo degli dei del dell della delle
        dello di dopo dov dove e ed era erano essere fa fino fra gli ha hanno ho i il in io l la le lei
        li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nell nella nelle nello no noi
        non nostra nostre nostri nostro o ogni oppure per perché però più poi prima qual qualche
        qualcuno quale quali quando quanta quante quanti quanto quella quelle quelli quello questa
        queste questi questo qui se sei sempre senza si sia siamo sono sta stata stati stato su sua sue
        sugli sui sul sull sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutti tutto un una
        uno vi voi è""",
    "pt": """a ainda algo algum alguma alguns alguém ante antes ao aos apenas após aquela aquele aqueles aqui
        aquilo as assim até cada com como contra da das de dela dele deles depois desde do dos e ela
        elas ele eles em entre era eram essa essas esse esses esta estava estavam este estes estou está
        estão eu fazer foi foram há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito
        na nas nem no nos nossa nosso num numa não nós o onde os ou para pela pelas pelo pelos por
        porque porquê quais qual qualquer quando quanta quantas quanto quantos que quem quê se seja sem
        sempre ser seu seus sobre sua suas são só também te tem tenho ter teu tinha todo todos tu tua
        tudo têm um uma umas uns você vocês à às é""",
    "nl": """aan al alle alles als altijd andere ben bent bij dan dat de der deze die dit doen door dus een
        en er ge geen had hadden heb hebben hebt heeft hem het hier hij hoe hoeveel hun iemand iets ik
        in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moet moeten na naar
        niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw
        van veel voor waar waarom wanneer waren was wat we wel welk welke werd wezen wie wiens wij wil
        worden wordt zal ze zei zelf zich zij zijn zo zonder zou""",
    "sv": """alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din dina ditt du
        där då efter ej eller en er era ett från för ha hade han hans har henne hennes hon honom hos hur
        här i icke in inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu
        när någon något några och om oss på samma sedan sin sina sitt själv ska skulle som så sådan till
        under upp ut utan vad var vara varför varit varje vars vart vem vems vi vid vilka vilken vilket
        vår våra vårt är över""",
    "da": """ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dine
        disse dit dog du efter eller en end er et for fra ham han hans har havde have hende hendes her
        hos hun hvad hvem hvilken hvis hvor hvordan hvorfor hvornår i ikke ind jeg jer jo kan kunne man
        mange med meget men mig min mine mit mod ned nogen noget nogle nu når og også om op os over på
        selv sig sin sine sit skal skulle som sådan thi til ud under var vi vil ville vor være været""",
    "no": """alle at av bare ble bli blir da de deg dem den denne der deres det dette din ditt du eller en
        enn er et ett etter for fra få før ha hadde han hans har henne hennes her hos hun hva hvem hver
        hvilke hvilken hvis hvor hvordan hvorfor i ikke inn jeg kan kunne man mange med meg mellom men
        min mine mitt mot mye nei noe noen nå når og også om opp oss over på seg selv sin sine sitt skal
        skulle slik som så til under ut uten var ved vi vil ville vår være vært""",
    "fi": """ei eivät emme en et ette että hän häneen hänelle hänellä hänen hänet ja jo johon joka joko jolla
        jolle jonka jos jossa josta jota jotka kanssa keiden keitä kenelle kenellä kenen ketkä ketä
        koska kuin kuinka kuka kun me meidän meille meillä meitä mihin miksi mikä mille milloin millä
        minkä minua minulla minulle minun minut minä missä mistä mitkä mitä mukaan mutta myös ne niiden
        niin niitä nyt näitä nämä ole olemme olen olet olette oli olimme olin olivat olla on ovat se
        sekä sen siinä siitä sillä sinun sinä sitä tai te teidän tuo tuon tämä tämän tässä tästä tätä
        vaan vai vaikka""",
    "hu": """a abban ahhoz ahogy aki akik akkor amely amelyek ami amikor amit annak arra arról az azok azon
        azonban azt aztán azzal azért be belül benne cikk csak de e ebben egy egyes egyik el előtt ez
        ezek ezen ezt ezzel ezért fel ha hanem hiszen hogy hogyan hol honnan hová hány ide igen is ismét
        itt jó kell ki kinek kit kié le lehet lenne lesz meg mellett mely mert mi mikor milyen mind
        minden mint mit miért most nagyon ne nekem neki nem nincs olyan ott pedig s saját sem sok
        szemben számára te tehát után vagy van vannak volt voltak által általában én és össze úgy ő ők""",
    "tr": """acaba ama ancak bana bazı belki ben benden beni benim bir biri birkaç birşey biz bizden bize
        bizi bizim bu buna bunda bundan bunlar bunu bunun da daha de değil diye en gibi hangi hem hep
        her hiç ile ise için kadar kaç ki kim kimde kimden kime kimi kimin mi mu mü mı nasıl ne neden
        nedir nerede nereden nereye niye niçin o olan olarak olduğu olsa ona ondan onlar onu onun sana
        sen senin siz sizin tüm var ve veya ya yani yok çok çünkü şey şu şunu""",
    "ro": """a acea aceasta această aceea acei acel acest aceste acestea acum ai al ale altă am ar are as
        asta astfel atunci au avea ca care ce cea cei cel cele celor cine cu cui cum cât câte câți că
        către da dacă dar de deci decât despre din doar după ea ei el ele era erau este eu fi fie fost
        fără iar la le li lor lui mai mea mei mele meu mi nici nimic noastră noi nostru nu o ori pe
        pentru peste prin sa sale sau se sunt să ta te tu un una unde unei unor unui unul va voi vostru
        vă îi îl îmi în încă între își îți și""",
    "pl": """a aby albo ale bardzo bez bo by być był była było były ci co coś czego czemu czy czyj dla
        dlaczego do gdy gdyż gdzie go i ich ile im inne ja jak jaka jaki jakie jako je jego jej jemu
        jest jestem jeszcze jeśli już kiedy kim kogo komu kto która które którego której który którzy
        lub ma mają mam mi mnie mną moja moje może my mój na nad nam nas nasz nasza nasze nic nich nie
        nim niż o od on ona one oni ono oraz po pod przed przez przy się skąd so swoje są ta tak także
        tam te tego tej ten to tobie tu twoje twój ty tych tylko tym u w wam was we wszystko z za ze że""",
    "cs": """a aby aj ale ani asi až bez bude budou by byl byla byli bylo být co což další do ho i jak jako
        jaká jaké jaký je jeho jejich její jen jestli ještě ji jich jsem jsi jsme jsou já k kam kde kdo
        kdy kdyby když ke kolik komu která které který mezi mi my má mám máme mít mě můj může na nad ne
        nebo není než nic nám náš o od on ona oni ono pak po pod podle pro proto protože proč před při s
        se si sice své svůj ta tak také tam tato te tedy ten tento to tohle toho tom tomu tu ty u už v
        ve vy vám váš však všechno z za ze čí že""",
    "id": """ada adalah akan aku anda apa apakah atau bagaimana bagi bahwa banyak beberapa belum berapa bisa
        boleh bukan dalam dan dapat dari dengan di dia hanya harus hingga ia ini itu jadi jika juga
        kalau kami kamu kapan karena kata ke kepada ketika kita lagi lalu lebih mana masih mengapa
        mereka milik namun oleh pada para pernah saat saja sampai sangat saya sebuah secara sedang sejak
        seperti siapa sudah supaya tanpa tapi telah tentang tetapi tidak untuk yang""",
    "ru": """а без более бы был была были было быть в вам вас вдруг ведь во вот все всего всех всё вы где да
        даже для до его ее если есть еще ещё её же за зачем здесь и из или им их к как какая какие
        какого какой когда кого кому которая которые который кто куда ли либо между меня мне много может
        мой моя мы на над надо нам нас наш наша наши не него нее нет ни них но ну о об однако он она они
        оно от откуда очень по под после потом потому почему при про с сам своих свою себе себя сейчас
        со так также такой там тебя тем то тогда того тоже только том тут ты у уже хоть чего чей чем что
        чтобы чья эта эти это этого этой этом этот я""",
    "el": """ένα ένας έχει έχουν έχω ή ήταν αλλά αν ανά από αυτά αυτές αυτή αυτοί αυτό αυτός για γιατί δε δεν
        εάν είμαι είναι είσαι είχα είχε εγώ εκεί η θα κάθε και κατά κι μέχρι μας με μετά μη μην μια μου
        να ο οι ου ούτε παρά πιο ποια ποιο ποιος ποιού πολύ ποτέ που πού προς πρώτα πως πόσα πόσο πότε
        πώς σαν σας σε σου στα στη στην στις στο στον στους τα την της τι τις το τον του τους των ως όλα
        όπου όπως όταν ότι""",
    "ar": """أ أن أنا أنت أنه أو أي أيضا أين إذا إلا إلى إن ا التي الذي الذين الى ان او اي اين بعد بعض بل به
        بها بين تلك ثم جدا حتى حول حيث خلال ذلك سوف ضد على عليه عن عند عندما غير فقط في فيه فيها قبل قد
        كان كانت كل كم كما كيف لا لدى لقد لكن لم لماذا لن له لها لهم ليس ما ماذا متى مثل مع من منذ منه
        منها نحن نعم هذا هذه هل هم هنا هناك هو هي و وقد وكان وهو وهي يا يكون""",
    "fa": """آن آنها از است اما اگر این با باید بر برای بسیار به بود تا تو خواهد خود در را شد شده شما شود ما
        من می نیز نیست ها هر هست هم همه هیچ و ولی پس چرا چند چه چگونه چی چیست کجا کدام کرد کرده که کی
        کیست یا یک""",
    "hi": """अगर अपना अपनी अपने अब आप इन इस इसका इसकी इसके इसे उन उनका उनके उस उसका उसकी उसके उसे एक ऐसे और
        कब कर करता करते करना करने कहाँ कहां का कि कितना कितने किस किसका किसकी किसके किसने किसी की कुछ के
        कैसे को कोई कौन कौनसा क्या क्यों गई गए गया जब जहाँ जा जो तक तब तो था थी थे दिया दो द्वारा न नहीं
        ने पर बहुत बाद भी मुझे में मेरा मेरी मेरे मैं यदि यह यहाँ या ये रहा रही रहे लिए लेकिन वह वहाँ
        वाला वाली वाले वे सकता सब से हम हमारा हमारी हमारे ही हुआ हुई हुए है हैं हो होता होती होने""",
}

# Where words are not set apart by spaces. Phrases cut a question into the parts around them.
NO_SPACE_PHRASES = """
    在哪里 在哪裡 在哪儿 在哪 是什么 是什麼 是谁 是誰 有什么 有什麼 谁有 誰有 谁知道 誰知道 有谁 知道
    どこですか ですか ますか でしょうか なのか 什么时候 什麼時候 什么 什麼 甚麼 哪里 哪裡 哪裏 哪儿 哪兒
    哪个 哪個 哪些 哪种 哪年 哪天 谁 誰 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 为什么 為什麼 为何 為何 多少
    多久 几个 幾個 是否 有没有 有沒有 是不是 会不会 能不能 請問 请问 吗 嗎 呢 吧 的 了 我们 我們 你们
    你們 他们 他們 她们 她們 它们 咱们 这个 這個 那个 那個 这些 那些 关于 關於 因为 因為 所以 以及 如何
    何时 何地 どこ だれ どれ どの どんな どう どうして どうやって なぜ なに いつ いくつ いくら どちら
    何時 何処 です でしょう でした ます ました ません ください という について している していた ている
    ていた ありますか ありました あります いますか います それ これ あれ この その あの 어디에 어디 누구
    누가 무엇 무슨 뭐 언제 왜 어떻게 어떤 얼마나 얼마 입니까 습니까 인가요 있나요 있어요 있습니다 있는
    있다 나요 하나요 했나요 합니까 ที่ไหน ไหน ใคร อะไร เมื่อไหร่ เมื่อไร เมื่อใด ทำไม อย่างไร ยังไง
    เท่าไหร่ เท่าไร กี่ หรือไม่ หรือเปล่า ไหม ครับ ค่ะ คะ อยู่ที่ อยู่ใน ได้รับ ซึ่ง และ หรือ ของ คือ
    ว่า ที่ ใด เป็น การ ความ อยู่ มี ใน ຢູ່ໃສ ໃຜ ຫຍັງ ເມື່ອໃດ ແນວໃດ ແລະ ຂອງ នៅឯណា អ្នកណា អ្វី ពេលណា
    ហេតុអ្វី យ៉ាងណា និង របស់ ဘယ်မှာ ဘယ်သူ ဘာ ဘယ်တော့ ဘယ်လို ဘာကြောင့် သည် ၏ နှင့်
"""
# Characters of which a pair says nothing; next to another character they may be part of a word.
NO_SPACE_SOFT = """
    是 在 有 和 与 與 及 我 你 您 他 她 它 这 這 那 哪 个 個 也 都 就 把 被 让 讓 给 給 对 對 从 從 到
    里 裡 上 下 中 为 為 之 其 于 於 以 会 會 能 要 可 不 没 沒 过 過 着 著 地 得 还 還 很 么 麼 们 們
    几 幾 何 年 月 日 时 時 候 人 吗 来 去 说 知 道
"""
# One kana between characters that are not hiragana joins words ("予備の鍵").
KANA_PARTICLES = "のはがをにへとでもやかね"
# The end of a Korean word of three or more syllables.
HANGUL_PARTICLES = "는은이가을를에의로와과도만"
