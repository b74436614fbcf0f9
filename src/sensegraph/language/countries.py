"""Other forms of the names of countries: what is said of their people and things, and how they are abbreviated."""

from __future__ import annotations

from types import MappingProxyType

_FORMS = """
afghanistan: afghan
albania: albanian
algeria: algerian
angola: angolan
argentina: argentine, argentinian
armenia: armenian
australia: australian
austria: austrian
azerbaijan: azerbaijani
bahrain: bahraini
bangladesh: bangladeshi
belarus: belarusian
belgium: belgian
bhutan: bhutanese
bolivia: bolivian
bosnia and herzegovina: bosnian
botswana: botswanan
brazil: brazilian
bulgaria: bulgarian
cambodia: cambodian
cameroon: cameroonian
canada: canadian
chile: chilean
china: chinese, people s republic of china, prc
colombia: colombian
costa rica: costa rican
croatia: croatian
cuba: cuban
cyprus: cypriot
czech republic: czech
denmark: danish
ecuador: ecuadorian
egypt: egyptian
el salvador: salvadoran
england: english
estonia: estonian
ethiopia: ethiopian
european union: e u, eu
fiji: fijian
finland: finnish
france: french
georgia: georgian
germany: german
ghana: ghanaian
greece: greek
guatemala: guatemalan
haiti: haitian
honduras: honduran
hungary: hungarian
iceland: icelandic
india: indian
indonesia: indonesian
iran: iranian
iraq: iraqi
ireland: irish
israel: israeli
italy: italian
ivory coast: ivorian
jamaica: jamaican
japan: japanese
jordan: jordanian
kazakhstan: kazakh
kenya: kenyan
korea: korean
kosovo: kosovar
kuwait: kuwaiti
laos: laotian
latvia: latvian
lebanon: lebanese
libya: libyan
lithuania: lithuanian
luxembourg: luxembourgish
madagascar: malagasy
malaysia: malaysian
mali: malian
malta: maltese
mexico: mexican
moldova: moldovan
mongolia: mongolian
montenegro: montenegrin
morocco: moroccan
mozambique: mozambican
myanmar: burmese
namibia: namibian
nepal: nepalese
netherlands: dutch
new york city: nyc
new zealand: nz
nicaragua: nicaraguan
nigeria: nigerian
north korea: north korean
north macedonia: macedonian
norway: norwegian
oman: omani
pakistan: pakistani
palestine: palestinian
panama: panamanian
papua new guinea: papua new guinean
paraguay: paraguayan
peru: peruvian
philippines: filipino, philippine
poland: polish
portugal: portuguese
puerto rico: puerto rican
qatar: qatari
romania: romanian
russia: russian
rwanda: rwandan
samoa: samoan
saudi arabia: saudi
scotland: scottish
senegal: senegalese
serbia: serbian
singapore: singaporean
slovakia: slovak
slovenia: slovenian
somalia: somali
south africa: south african
south korea: south korean
soviet union: soviet, u s s r, ussr
spain: spanish
sri lanka: sri lankan
sudan: sudanese
sweden: swedish
switzerland: swiss
syria: syrian
taiwan: taiwanese
tanzania: tanzanian
thailand: thai
tonga: tongan
tunisia: tunisian
turkey: turkish
uganda: ugandan
ukraine: ukrainian
united arab emirates: emirati, u a e, uae
united kingdom: british, u k, uk
united nations: u n, un
united states: american, u s, u s a, united states of america, us, usa
uruguay: uruguayan
uzbekistan: uzbek
venezuela: venezuelan
vietnam: vietnamese
wales: welsh
yemen: yemeni
zambia: zambian
zimbabwe: zimbabwean
"""


def _read(table: str) -> dict[str, str]:
    pairs = (line.split(": ") for line in table.strip().split("\n"))
    return {form: name for name, forms in pairs for form in forms.split(", ")}


COUNTRY = MappingProxyType(_read(_FORMS))
"""The name of the country for each of its other forms, both folded: `danish` → `denmark`, `u s` → `united states`."""
