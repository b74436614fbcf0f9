"""The words that say least: function words of seven languages, and the commonest English words of content.

A bundled stand-in for document frequencies, which an embedder that sees one text at a time cannot count. Written by
hand, not counted in a corpus; the line between common and very common is a judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ENGLISH = """
a about above across after afterwards again against all almost along already also although always am among an and
another any are aren as at away be because been before being below between beyond both but by can cannot could couldn
did didn do does doesn doing don done down due during each either else etc even ever every except few for from further
had hadn has hasn have haven having he hence her here hers herself him himself his how however i if in indeed instead
into is isn it its itself just let ll less many may me might mine more most much must my myself near neither nor no
none not now of off on once only onto or other others our ours ourselves out over own per perhaps quite rather re s
same shall shan she should shouldn since so some such t than that the their theirs them themselves then there
therefore these they this those though through throughout thus to together too toward towards under unless until up
upon us ve very via was wasn we were weren what whatever when whenever where whereas wherever whether which while who
whoever whom whose why will with within without won would wouldn yet you your yours yourself yourselves
"""

GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis bist da dabei
damit dann das dass daß dein deine dem den denn der des dessen deren dich die dies diese dieser dieses doch dort du
durch ein eine einem einen einer eines er es etwas euch für gegen gibt hat hatte hatten habe haben hier hin hinter ich
ihm ihn ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jetzt kann kein keine können man
mehr mein meine mit muss nach nicht nichts noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit
sich sie sind so sowie über um und uns unter vom von vor viel viele vielen war waren warum was weil welche welchem
welchen welcher welches wenn wer werden wie wieder wird wir wo worden wurde wurden während zu zum zur zwischen
"""

FRENCH = """
à afin ai ainsi alors après au aucun aussi autre autres aux avant avec avoir avait c ce cela celle celui ces cet cette
ceux chaque chez comme comment d dans de depuis des dont du elle elles en encore entre est et étaient était été être
eu fait fut furent il ils j je jusqu l la là le les leur leurs lors lorsque lui m ma mais même mes moi mon n ne ni non
nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle quelles quels
qui quoi s sa sans se selon sera ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu un une
vers vos votre vous y
"""

SPANISH = """
a al algo ante antes aquel aquella así aún aunque bajo bien cada como cómo con contra cual cuál cuales cuando cuándo
cuanto de del desde después donde dónde durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos
esta está están estas este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi mientras muy
nada ni no nos nosotros o otra otras otro otros para pero por porque pues que qué quien quién se sea según ser si sí
sido sin sobre son su sus también tan tanto te tiene todo todos tras tu tuvo u un una unas uno unos y ya yo
"""

ITALIAN = """
a ad agli ai al alla alle allo anche ancora avere aveva c che chi ci cioè come con contro cosa cui d da dagli dai dal
dalla dalle dallo degli dei del dell della delle dello di dopo dove e è ed era erano essere fa fra fu furono gli ha
hanno i il in io l la le lei li lo loro lui ma mentre mi mia mio molto ne né negli nei nel nella nelle nello no noi
non nostro o ogni per perché però più poi prima quale quali quando quanto quella quelle quelli quello questa queste
questi questo qui se sei senza si sia sono sopra sotto sta stata stati stato su sua sue sugli sui sul sulla suo suoi
tra tu tutti tutto un una uno vi
"""

PORTUGUESE = """
a à ao aos às as até com como da das de dela dele deles depois do dos e é ela elas ele eles em entre era eram essa
essas esse esta está estão este estes eu foi foram há isso isto já lhe mais mas me mesmo meu minha muito na não nas
nem no nos nós num numa o onde os ou para pela pelas pelo pelos por porque qual quais quando que quem são se seja sem
ser seu seus só sob sobre sua suas também te tem têm tinha todo todos tu um uma uns você
"""

DUTCH = """
aan al alle als andere bij daar dan dat de der deze die dit doch doen door dus een elk en er ge geen haar had hadden
heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar
niet nog nu of om omdat onder ons ook op over reeds sinds te tegen toch toen tot tussen u uit uw van veel voor want
waren was wat welke werd werden wie wij wil word worden wordt zal ze zei zelf zich zij zijn zo zonder zou
"""

VERY_COMMON = """
able actually add ask back bad become began begin best better big bring call came certain change come common course
day different end enough fact far feel felt find first five follow found four full gave general get give given go
going gone good got great group hand happen hard help high hold idea include interest keep kept kind knew know known
large last later least leave left like line little live long look lot made main make man matter mean men mind move
name need never new next night nothing number often old one open order part people person place play point possible
problem put question really right run said saw say second see seem seen set several show side small something
sometimes soon sort start state still stop sure take talk tell ten thing think third thought three time today told
took tried true try turn two use used using want way week well went whole woman women word work world write wrong year
yes young
"""

COMMON = """
accept account achieve act action active activity actual additional address age agree air allow amount answer appear
apply approach april area argue around arrive article aspect attempt attention august available average base based
basis beautiful became behind believe benefit body book born boy break brother build building built business buy car
care carry case cause center central century chance character check child children choose city claim class clear close
collection color combine company compare complete concern condition connect consider contain continue control copy
cost country couple cover create cross current cut daughter dead deal death december decide decision deep define
degree describe describes description design despite detail determine develop development die difference difficult
direct direction discuss door double draw drive early easily east easy eat education effect effort eight element enjoy
entire especially establish event eventually everyone everything evidence exactly example existing expect experience
explain express extend eye face fail fall family famous father favorite february feature field fight figure fill film
final finally fine finish fire focus food force form former forward free friday friend front function future game girl
goal government grow growth half head hear heard heart heat history home hope hour house human hundred husband
identify image imagine impact important improve increase individual industry influence information inside issue item
january job join july june key kid kill king lack lady land language late law lay lead leader learn legal letter level
lie life light limit list listen local location longer lord lose lost love low machine magazine major majority manage
march mark market marriage married material maybe measure medium meet meeting member mention message method middle
mile military million minute miss mode model modern moment monday money month morning mother mountain mouth movement
movie music national natural nature nearly necessary nice nine north note notice november object occur october offer
office officer official oh okay operate operation opinion opportunity option original originally outside page paper
parent park particular particularly party pass past pay perform performance period personal physical pick picture
piece plan plant player please political poor popular population position positive power practice present president
pressure pretty prevent previous primary private probably process produce product production professional program
project property protect provide public publish pull purpose push quality quickly raise range rate reach read ready
real realize reason receive recent recently recognize record red reduce refer reference region regular relate related
relation relationship release remain remember remove replace report represent require research resource respond
response rest result return reveal rise river road role room rule safe sale saturday save scale scene schedule school
science score sea search season section seek sell send sense sentence separate september series serious serve service
seven share short shot shown similar simple simply single sister sit site situation six size skill social society son
song sound source south space speak special specific spend spoke staff stage stand standard star statement station
stay step stood story street strong structure student study stuff style subject succeed success successful suddenly
suggest summer sunday support surface system table task teacher team technology television term test text thank theory
thousand thursday title tomorrow top total town trade travel tree trouble truth tuesday type understand unit united
university usually value various version view village visit voice wait walk wall war watch water wednesday weekend
west white wide wife win window winter wish wonder worth writer yesterday
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "english": _words(ENGLISH),
        "german": _words(GERMAN),
        "french": _words(FRENCH),
        "spanish": _words(SPANISH),
        "italian": _words(ITALIAN),
        "portuguese": _words(PORTUGUESE),
        "dutch": _words(DUTCH),
    }
)
"""Function words by language, as Snowball calls it; English first, which wins a tie."""
