"""Small tables of words that say little, or everything, about whether two names are one thing. All folded.

They are short on purpose: each entry is common knowledge of how names are written.
"""

from __future__ import annotations

import re
from types import MappingProxyType

LEGAL = frozenset(
    "inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh mbh ag kg kgaa ohg ug ev eg se sa "
    "sas sarl sasu srl spa sl bv nv vof ab asa aps oy oyj kft zrt doo dd sro pte pty pvt kk kabushiki kaisha ооо оао "
    "зао пао ao".split()
)
"""Legal forms of firms: left out where other words remain."""

LEGAL_TAILS = ("股份有限公司", "有限责任公司", "有限公司", "株式会社", "合同会社", "주식회사")
"""Legal forms in scripts without blanks, as they end (or, in Japanese and Korean, begin) a name."""

ARTICLES = frozenset("the a an der die das den dem des le la les el los las il lo gli het de".split())
"""Articles, left out at the beginning of a name."""

SMALL = frozenset(
    "of and the a an in on at for to from by with as or & und der die das des von für im et de la le les du des y e "
    "del di da do dos i и в на".split()
)
"""Words between the words of a name that an acronym may leave out."""

HONORIFICS = frozenset(
    "mr mrs ms miss mister madam sir dr prof professor herr frau monsieur madame mme mlle señor señora senor senora "
    "signor signora don doña dona rev reverend hon".split()
)
"""Titles before a name that only persons have: left out where other words remain."""

AFTER = frozenset("phd md esq obe mbe".split())
"""What stands behind the name of a person."""

OFFICES = frozenset(
    "dame lord lady doctor father fr sister brother rabbi imam pope saint st president king queen prince princess "
    "emperor empress duke duchess count countess baron baroness earl chancellor minister senator congressman "
    "congresswoman representative governor mayor judge justice captain capt colonel col general gen lieutenant lt "
    "major maj sergeant sgt admiral commander chairman ceo coach officer detective inspector".split()
)
"""Titles that other names begin with too (General Motors): left out of those of persons."""

WOMAN = frozenset(
    "mrs ms miss madam dame lady frau madame mme mlle señora senora signora doña dona sister queen princess empress "
    "duchess countess baroness congresswoman".split()
)
MAN = frozenset(
    "mr mister sir lord herr monsieur señor senor signor don father brother king prince emperor duke count baron "
    "congressman".split()
)

GENERATIONS = MappingProxyType({"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr"})
"""What tells a child from a parent of the same name."""

PARTICLES = frozenset("van von der den de la le du da di del della dos das bin ibn ben al el ter ten zu".split())
"""Words that belong to the family name after them."""

NUMBERS = MappingProxyType(
    {
        word: str(number)
        for number, words in enumerate(
            (
                "zero",
                "one first 1st",
                "two second 2nd",
                "three third 3rd",
                "four fourth",
                "five fifth",
                "six sixth",
                "seven seventh",
                "eight eighth",
                "nine ninth",
                "ten tenth",
                "eleven eleventh",
                "twelve twelfth",
            )
        )
        for word in words.split()
    }
)
"""Numbers that are written as words."""

ROMAN = MappingProxyType(
    {
        roman: str(number)
        for number, roman in enumerate("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii".split(), 1)
    }
)

GREEK = frozenset("alpha beta gamma delta epsilon zeta eta theta kappa lambda sigma omega".split())

UNITS = frozenset(
    "kb mb gb tb hz khz mhz ghz mm cm m km in inch ft yd mg g kg lb oz ml l cl w kw mw v mv ah mah mp px dpi ppm rpm "
    "fps p k s ms min h hr x % st nd rd th bit bits".split()
)
"""What may stand at the end of a number without a blank: `8gb` is 8, and gb."""

EXPANSIONS = MappingProxyType(
    {
        "&": "and",
        "+": "and",
        "intl": "international",
        "int'l": "international",
        "natl": "national",
        "nat'l": "national",
        "univ": "university",
        "inst": "institute",
        "dept": "department",
        "gov": "government",
        "govt": "government",
        "gov't": "government",
        "assn": "association",
        "assoc": "association",
        "bros": "brothers",
        "mfg": "manufacturing",
        "mt": "mount",
        "st": "saint",
        "ft": "fort",
        "ave": "avenue",
        "blvd": "boulevard",
        "rd": "road",
        "tech": "technology",
        "mgmt": "management",
        "vs": "versus",
        "conf": "conference",
        "proc": "proceedings",
        "sys": "systems",
        "db": "database",
    }
)
"""Abbreviations that stand for one word whatever the name."""

_SHORT = """
abigail: abby gail
alexander: alex sasha sandy
alexandra: alex sasha sandra
alfred: al alf fred
andrew: andy drew
anthony: tony
antonio: tony
arthur: art
barbara: barb babs
benjamin: ben benny
charles: charlie chuck
christopher: chris kit
christina: chris tina
daniel: dan danny
david: dave
deborah: debbie deb
donald: don donnie
dorothy: dot dottie dolly
edward: ed eddie ted ned
elizabeth: liz lizzie beth betty bess eliza
eugene: gene
francis: frank
franklin: frank
frederick: fred freddy
gregory: greg
harold: hal harry
henry: hank harry
jacob: jake
james: jim jimmy jamie
jeffrey: jeff
jennifer: jen jenny
john: jack johnny
jonathan: jon
joseph: joe joey
joshua: josh
katherine: kate kathy katie kit
catherine: cathy kate kitty
kenneth: ken kenny
lawrence: larry
leonard: leo len lenny
margaret: maggie meg peggy
martin: marty
matthew: matt
michael: mike mick mickey
nathaniel: nate nat
nicholas: nick
patricia: pat patty
patrick: pat paddy
peter: pete
philip: phil
rebecca: becky
richard: dick rick rich richie
robert: bob bobby rob robbie bert
ronald: ron ronnie
rudolph: rudy
samuel: sam sammy
samantha: sam
stephen: steve
steven: steve
susan: sue susie
theodore: ted teddy theo
thomas: tom tommy
timothy: tim
victoria: vicky
vincent: vince vinny
walter: walt
wilfried: willi
wilhelm: willi willy
william: bill billy will willy
zachary: zach zack
"""


def _nicknames() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in _SHORT.strip().splitlines():
        given, _, short = line.partition(": ")
        for nick in short.split():
            found[nick] = (*found.get(nick, ()), given)
    return found


NICKNAMES = MappingProxyType(_nicknames())
"""Given names by their common short forms (English, a few German): `bob` → (`robert`,)."""

CONTRASTS = tuple(
    frozenset(line.split())
    for line in (
        "north south east west northern southern eastern western northeast northwest southeast southwest central",
        "upper lower middle",
        "left right",
        "inner outer",
        "old new",
        "big small large little mini",
        "male female",
        "men women mens womens man woman boys girls boy girl",
        "mother father son daughter brother sister wife husband aunt uncle",
        "input output",
        "minimum maximum min max",
        "positive negative",
        "internal external",
        "domestic foreign",
        "public private",
        "civil military",
        "primary secondary tertiary",
        "undergraduate graduate postgraduate",
        "spring summer autumn fall winter",
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday",
        "black white red blue green yellow pink purple silver gold gray grey orange brown beige",
        "hot cold",
        "high low",
        "buy sell",
        "import export",
        "before after",
        "pre post",
        "micro macro",
        "intra inter",
        "hyper hypo",
        "hypertension hypotension",
        "hyperglycemia hypoglycemia",
        "hyperthermia hypothermia",
        "hyperthyroidism hypothyroidism",
        "symmetric asymmetric",
        "supervised unsupervised",
        "analog digital",
        "house senate",
        "plus pro lite ultra",
        "republican democratic",
    )
)
"""Words of which one name has one and the other another: then they are different things."""

NEGATIONS = frozenset("non not no anti un counter without sans ex former pseudo quasi nicht kein ohne".split())
"""Words that turn the meaning of a name: one name has it, the other does not."""

HEADS = frozenset(
    "company motor motors university college school institute institution foundation society association museum "
    "hospital church airport station street road avenue square bridge river lake mountain island bay county city "
    "state province district region county empire republic kingdom party union club team council committee court "
    "ministry department agency army navy prize award medal theorem theory effect law act bill equation algorithm "
    "disease syndrome cup league championship tournament festival war battle treaty film movie novel album song band "
    "group museum library theatre theater stadium park tower house palace castle building center centre records bank "
    "family dynasty estate trust fund project program programme mission expedition election government "
    "administration presidency press magazine journal newspaper".split()
)
"""What a name becomes the name of another thing with: Nobel, Nobel Prize."""

CJK_KINDS = MappingProxyType(
    {
        "特别行政区": "region",
        "自治区": "region",
        "自治州": "prefecture",
        "市": "city",
        "省": "province",
        "县": "county",
        "縣": "county",
        "区": "district",
        "區": "district",
        "州": "prefecture",
        "镇": "town",
        "村": "village",
        "国": "country",
        "國": "country",
        "県": "prefecture",
        "都": "city",
        "府": "prefecture",
        "町": "town",
        "시": "city",
        "도": "province",
        "군": "county",
        "구": "district",
        "특별시": "city",
        "광역시": "city",
    }
)
"""What kind of place a Chinese, Japanese or Korean name ends with."""

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
"""A character of a script that writes no blanks within names."""

KINDS = MappingProxyType(
    {
        word: kind
        for kind, words in (
            ("person", "person per people human character individual author politician scientist speaker woman man"),
            (
                "organisation",
                "organization organisation org company corporation institution agency government team club party "
                "university school brand group",
            ),
            (
                "place",
                "location loc gpe geo place country city town river region state province facility fac mountain lake "
                "island continent",
            ),
            ("event", "event war battle conference competition tournament election"),
            ("time", "time date year period"),
            ("number", "number num quantity money percent cardinal ordinal"),
            ("work", "work book film song album publication paper artwork"),
            ("product", "product device software vehicle"),
        )
        for word in words.split()
    }
)
"""The kind of thing that a type of an entity tells of, by its words."""
