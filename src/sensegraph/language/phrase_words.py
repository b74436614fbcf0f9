"""English words at which a noun phrase ends, by cheap rules: no part of speech is worked out, only looked up.

Written by hand; function words are those of `common_words`. A word that is a noun as often as a verb (work, change,
report) is in none of these lists.
"""

from __future__ import annotations

_VERBS = """
achieve add admit agree allow announce appear apply argue arrive ask assume avoid become begin believe belong bring
build buy carry cause choose come compare complete confirm consider contain continue convince create decide define
deliver demonstrate depend describe deserve determine develop die disappear discover discuss eat embrace enable
encourage enjoy ensure establish exist expand expect explain explore express fail fall feel figure find follow forget
gain get give go grow guess happen hear help hope identify imagine improve include increase inspire intend introduce
invite involve join keep kill know learn leave lend let listen live look lose love maintain make matter mean meet
mention move need notice obtain occur offer open own pay perform persuade pick prefer prepare prevent produce promise
protect prove provide publish pull put raise reach read realise realize receive recognize recommend reduce refer
reflect refuse relate remain remember remind remove replace represent require respond reveal run save say see seek seem
sell send serve share show sit solve speak spend stand start stay stop succeed suggest suppose survive take talk teach
tell tend thank think throw touch treat try turn understand use visit wait walk want watch wear win wish wonder write
"""
_FORMS = """
became began begun bent bought broke broken brought built came chose chosen cut did does doing done drew drawn drove
driven fell fallen felt flew fought found gave given gone got gotten grew grown heard held hit hung kept knew known
laid led left lent lost made meant met paid ran rose risen said sang sat saw seen sent set shook shot slept sold spent
spoke spoken spread stood struck stuck sung sworn taken taught thought threw thrown told took understood went woke won
wore worn wrote written born is isn't are aren't was wasn't were weren't be been being am has hasn't have haven't had
hadn't do don't did didn't doesn't will would can could may might shall should must won't wouldn't can't cannot
couldn't shouldn't mustn't ain't let's gonna wanna gotta
"""
_LITTLE = """
able actual afternoon ago ahead alone amazing apart available away awesome back bad basic beautiful best better big bit
bunch careful certain clear close common complete cool couple crazy current cute day days dear deep different difficult
dozen each early earlier easier easy else end enough entire etc evening evil example exact excellent excited exciting
extra extreme fact famous far fast favorite few fewer final fine first folks former full fun funny further future
general glad good gosh great greater greatest guess guy guys half happy hard harder hello hey hi high higher hmm huge
hundred hundreds idea ideas important incredible instead interested interesting jr just key kind kinds kinda large
larger largest last late later latest least left less lesser likely little long longer lot lots loud low lower main
major many maybe mid middle million millions billion billions moment month months morning mr mrs ms multiple near new
newer next nice night nope normal now nowadays number numbers obvious oh ok okay old older one ones only original other
others overall particular past people percent perfect perhaps piece please poor possible potential present pretty
previous primary probable quick quiet rare rather ready real recent regular related rest right sad same second several
short sick significant similar simple single small smaller some somebody someone something sometimes somewhat somewhere
soon sooner sorry sort sorts special specific still strange strong stuff stupid sudden super sure sweet tall ten
terrible thanks thing things third thousand thousands three time times tiny today tomorrow tonight too total tough true
twice two type types ugly uh uhm um unlike usual various vast very way ways week weeks welcome well wide whole wow
wrong yeah year years yes yesterday yet young younger four five six seven eight nine twelve twenty thirty forty fifty
sixty anybody anyone anything everybody everyone everything nobody nothing whatever both every another any such next
always never often usually also again almost already around together though although despite per via among amongst
alongside beneath beside besides like likes liked forward appreciate inside outside within without regardless
concerning regarding including towards
"""
_HEADED = """
accounting advertising banking beginning boxing branding broadcasting brainstorming building cleaning clothing coding
computing consulting cooking counseling crossing dancing dealing drawing drilling editing engineering farming fishing
forecasting funding gaming gathering gardening hacking hearing hiking housing hunting imaging killing landing learning
lending licensing lighting listing machining manufacturing mapping marketing meaning meeting mentoring messaging mining
modeling modelling monitoring morning networking nursing offering opening outsourcing packaging painting parking
planning poisoning policing polling posting pricing printing processing programming publishing racing rating reading
reasoning recording recruiting recycling rendering reporting saving scheduling screening sequencing setting shipping
shooting shopping singing skating skiing spelling spending spring string storytelling streaming surfing swimming
teaching testing thing timing trading trafficking training tuning understanding upbringing warming wedding wing writing
wrestling king ring sibling pudding ceiling being evening
"""
_LY = "ally anomaly assembly belly bully butterfly family fly italy jelly july lily monopoly rally reply sally supply"
_ED = "bed bred breed creed deed feed greed hundred need reed sacred seed shed shred sled speed steed weed wed embed"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _forms(verb: str) -> tuple[str, ...]:
    """The present forms of a verb, some of which do not exist: those do no harm."""
    third = f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeou" else f"{verb}s"
    return verb, third, f"{verb}es"


BREAKING: frozenset[str] = frozenset(f for v in _VERBS.split() for f in _forms(v)) - _words(_HEADED) | _words(_FORMS)
"""Forms of verbs: no phrase holds one."""
SAYING_LITTLE: frozenset[str] = _words(_LITTLE)
"""Words that say nothing by themselves: they break a phrase unless they are part of a name (New York)."""
NEVER: frozenset[str] = _words(
    "ah aw dear hello hey hi hmm huh ok okay oh please thanks uh um wow yeah yep yes sounds "
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday"
)
"""Words that break a phrase with a capital too: greetings, months, days."""
GERMAN_LITTLE: frozenset[str] = _words(
    "diesem diesen jenem jenen jener jenes erste ersten erster erstes letzte letzten letzter letztes solche solchen "
    "solcher solches manche manchen mancher gesamte gesamten eigene eigenen eigener weitere weiteren weiterer weiteres"
)
"""German words that end like adjectives and say nothing by themselves."""
NAMING: frozenset[str] = _words("big far grand great high little long low lower middle near new old red")
"""Of those the words that also begin names."""
NOUNS_IN_ING: frozenset[str] = _words(_HEADED)
"""Words in -ing that a phrase may end in (machine learning)."""
NOUNS_IN_LY: frozenset[str] = _words(_LY)
"""Words in -ly that are no adverbs."""
NOUNS_IN_ED: frozenset[str] = _words(_ED)
"""Words in -ed that are no participles."""
