"""Little corpora for the worked examples of the textbook: drugs, Jordan, physicists, companies, courts, duplicates."""

from __future__ import annotations

Texts = dict[str, str]

DRUGS: Texts = {
    "Metformin and cimetidine": (
        "Metformin is a drug against type 2 diabetes. Cimetidine interacts with metformin: it slows the removal of "
        "metformin by the kidneys, and the level in the blood rises by half."
    ),
    "Loop diuretics": (
        "Furosemide interacts with metformin. Both drugs leave the body through the kidneys, and each raises the level "
        "of the other. Furosemide is given against swelling."
    ),
    "Case report: warfarin": (
        "A man of 71 years took both drugs for a year. Warfarin interacts with metformin only mildly. "
        "His clotting time was checked every week."
    ),
    "Side effects of metformin": (
        "Metformin causes nausea and diarrhoea in the first weeks. In patients with weak kidneys, metformin can cause "
        "lactic acidosis, which is rare and dangerous."
    ),
    "Enzymes of the liver": (
        "Many drugs are broken down by the enzyme CYP3A4. Ketoconazole inhibits CYP3A4. Clarithromycin inhibits CYP3A4 "
        "as well. Grapefruit juice inhibits CYP3A4 in the gut. Rifampicin speeds the enzyme up."
    ),
    "Warfarin: what must not be given with it": (
        "Warfarin thins the blood. Ketoconazole is contraindicated with warfarin because bleeding may follow. "
        "Aspirin in high doses is contraindicated with warfarin. Paracetamol may be taken."
    ),
    "Lactic acidosis: three cases": (
        "Three patients on metformin developed lactic acidosis after a scan with contrast medium. "
        "Lactic acidosis is the gravest safety concern with metformin, and the kidneys must be checked before."
    ),
    "Ketoacidosis under SGLT2 inhibitors": (
        "SGLT2 inhibitors such as dapagliflozin cause ketoacidosis in a few patients, often at normal blood sugar. "
        "Ketoacidosis is a safety concern before every operation."
    ),
    "Ketoacidosis: a warning": (
        "The agency warned in 2015 of ketoacidosis under SGLT2 inhibitors. Patients should stop the tablets three days "
        "before an operation."
    ),
    "Stomach and gut under GLP-1 agonists": (
        "GLP-1 agonists such as semaglutide slow the stomach. Gastrointestinal effects are the main safety concern: "
        "nausea in one of five patients, and vomiting in one of ten."
    ),
    "Leaving GLP-1 agonists": (
        "One of ten patients leaves GLP-1 agonists because of gastrointestinal effects. A slow rise of the dose "
        "makes gastrointestinal effects milder."
    ),
    "Treatment of diabetes in 2018": (
        "In 2018 most patients with diabetes began with metformin, and insulin came second."
    ),
    "Treatment of diabetes in 2022": (
        "Since 2021 GLP-1 agonists are given before insulin. In 2022 the guideline put SGLT2 inhibitors first for "
        "patients with a weak heart."
    ),
}
JORDAN: Texts = {
    "The kingdom": (
        "Jordan signed a treaty of peace with Israel in 1994. The capital of Jordan is Amman. Jordan is a kingdom in "
        "the Near East. King Hussein of Jordan shook hands with Yitzhak Rabin."
    ),
    "The player": (
        "Michael Jordan is an American basketball player. Jordan scored 63 points against Boston in 1986. "
        "Michael Jordan won six titles with the Chicago Bulls."
    ),
    "The river": (
        "The Jordan River rises at Mount Hermon and flows into the Dead Sea. The Jordan River is 251 kilometres long."
    ),
}
PHYSICISTS: Texts = {
    "Relativity": (
        "Albert Einstein developed the theory of general relativity in 1915. Einstein was born in Ulm. "
        "Einstein worked at the patent office in Bern."
    ),
    "The Solvay debates": (
        "At the Solvay conference of 1927, Albert Einstein argued with Niels Bohr about quantum mechanics. "
        "Bohr answered each of the thought experiments of Einstein."
    ),
    "Copenhagen": "Niels Bohr founded an institute in Copenhagen. Werner Heisenberg worked there with Niels Bohr.",
}
COMPANIES: Texts = {
    "The market for batteries": (
        "Asterion makes batteries for ships. The competitors of Asterion are Borealis, Calder Cells and Dunmore Power."
    ),
    "Calder Cells buys a start-up": "In May 2021 Calder Cells acquired the start-up Voltwerk for nine million euros.",
    "Borealis grows": "Borealis acquired the start-up Nimbus Storage in 2019. It kept the name of the company.",
    "A young company": "Voltwerk was founded by Ines Moreau and a friend in a garage in Lyon.",
    "Another young company": "Nimbus Storage was founded by Karl Lind, who came straight from university.",
    "People": "Ines Moreau worked at Brightline for six years before she left to start on her own.",
}
COURTS: Texts = {
    "Hale v. Datacore": (
        "The Supreme Court of Nevara overturned the non-compete agreement of a software engineer in Hale v. Datacore. "
        "The court cited Marsh v. Union Mills as precedent: an agreement must not last longer than a year."
    ),
    "Ortiz v. Cloudline": (
        "In Ortiz v. Cloudline the Court of Appeals overturned a non-compete agreement in the technology sector. "
        "It cited Reed v. Baxter, under which a ban must name the rivals."
    ),
    "Wood v. Green Acres": (
        "The court upheld the non-compete agreement of a farm manager in Wood v. Green Acres and cited Bell v. Hart."
    ),
}
DUPLICATES: Texts = {
    "Results": "Apple Inc. reported a profit of 20 billion dollars. The shares of Apple Inc. (AAPL) rose by 3 percent.",
    "Suppliers": "Apple buys screens from Samsung. Apple also buys chips from TSMC.",
    "Shares": "AAPL closed at 190 dollars. Analysts expect that AAPL will buy back shares.",
    "Lawsuit": "Epic Games sued Apple Inc. over the fees of its store. A judge heard both sides in Oakland.",
}
