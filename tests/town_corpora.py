"""Corpora of a valley for the forms of answers: a railway, its archive, a town, its bridges, a program, and "
"interviews."""

from __future__ import annotations

Texts = dict[str, str]

RAILWAY: Texts = {
    "Line report, 4 March 2015": (
        "# Line report, 4 March 2015\n\nThe line has 12 stations and about 300 seats. The guard Jack Dorn joined us. "
        "The failures FX-1 and FX-2 stopped the line. Did the snow stop the trains? Nobody knows."
    ),
    "Line report, 9 June 2016": (
        "# Line report, 9 June 2016\n\nThe line has 14 stations, one more than planned. Guards: Rosa Lund, Carl Voigt. "
        "Two guards left, among them the guard Ann Moor. The failures of the spring, FX-3 and FX-4, are mended."
    ),
    "Line report, 2 May 2017": (
        "# Line report, 2 May 2017\n\nThe line has 15 stations since the tunnel was opened. Hugo Falk, a guard of the "
        "old school, joined the line. The guards Hugo Falk and Rosa Lund won a prize. The line sold 41,000 tickets."
    ),
    "FX-1: the points at Alton": (
        "# FX-1: the points at Alton\n\n1 February 2015\n\nThe morning train stood for two hours at Alton. "
        "The signal at Alton was green all morning.\n\n## Causes\n\n"
        "Ice had blocked the points at Alton. The crew was not to blame. The heater had been off since Sunday."
    ),
    "FX-2: a tree on the track": (
        "# FX-2: a tree on the track\n\nReported on 11 February 2015.\n\nA tree fell on the track at Corby.\n\n"
        "Cause: the storm of 10 February. It had uprooted forty trees.\n\nThe track was closed for six hours."
    ),
    "FX-3: the lamp of the tunnel": (
        "# FX-3: the lamp of the tunnel\n\n3 April 2016\n\nThe lamp of the tunnel failed because a fuse had burned "
        "out. "
        "Perhaps the lamp failed because of the damp walls. The repair took a day."
    ),
    "FX-4: the whistle": (
        "# FX-4: the whistle\n\nIn May 2016 the whistle of the engine Swift fell silent. The silence of the whistle "
        "was "
        "not caused by the frost. A bolt had come loose, as the workshop found."
    ),
    "Timetable": (
        "# Timetable\n\n*Edition of July 2018.*\n\nThe line has 16 stations and up to 20 halts! Trains leave hourly. "
        "Rules for passengers:\n\n1. Passengers show their tickets.\n2. Dogs stay on the lead.\n"
        "3. Nobody leans out of the windows.\n4. Bells are rung in danger only."
    ),
    "Leaflet": "# Leaflet\n\nThe line has more than 20 stations. Come and ride!",
    "Memo": (
        "Memo\n\nThe managers have agreed with the union on wages.\n\n- The managers pay for Sundays.\n"
        "- The union ends the strike.\n- The managers buy new coats.\n\nYours sincerely\nIda Brook\n"
    ),
}
ARCHIVE: Texts = {
    "Letters": (
        "Maren Holt studied at Tarn College. The rector of Tarn College was Peter Quill. Peter Quill hired the mason "
        "Gus Renner. Gus Renner carved the fountain of Velden. The fountain of Velden stands before the Golden Lion. "
        "Maren Holt liked oranges. Is the Golden Lion an inn? Tarn College has a garden and Tarn College has a gate."
    ),
    "Inns": (
        "The Golden Lion belonged to Lars Ebner. Lars Ebner sailed with Nils Orde. Nils Orde mapped the strait of "
        "Kell. "
        "The strait of Kell is narrow. Velden lies in Marken. Marken elected Ida Falk. Ida Falk met Lars Ebner in May."
    ),
    "Guests": (
        "Ada Kern, Ben Lohr, Cora Mai, Dirk Nau, Eva Ost, Fritz Pohl, Gina Quast, Hans Reh and Maren Holt met Lars "
        "Ebner at Velden. The list is long."
    ),
}
TOWN: Texts = {
    "Council minutes, 3 May 2001": (
        "# Council minutes, 3 May 2001\n\nThe fee for parking was two marks. The mayor Olaf Brenn opened the session. "
        "Written by: Hanna Weiss\n\nThe pool closed early."
    ),
    "Council minutes, 7 June 2005": (
        "# Council minutes, 7 June 2005\n\nThe council raised the fee for parking to one euro. The pool stays open. "
        "The choir sang.\n\nMinutes: Emil Sand"
    ),
    "Council minutes, 2 July 2009": (
        "# Council minutes, 2 July 2009\n\nThe fee for parking on Sundays was dropped after protests. Ruth Kamm, the "
        "treasurer, objected. In 2003 the fee for parking had been one euro and a half."
    ),
    "Council minutes, 5 May 2014": (
        "# Council minutes, 5 May 2014\n\nThe fee for parking rose to two euros in the old town. A new pool was built "
        "by Adler and Sons. Since 2012 the parking fee has been paid by card."
    ),
    "Chronicle": (
        "The old bridge was built in 1802 by Jonas Adler. The iron bridge was built in 1911. The old bridge carries "
        "carts, while the iron bridge carries trains. The old bridge is narrow. The iron bridge needs paint every "
        "year. On 5 May 1920 the mill of Rodau burned down. On 6 May 1920 the council met at Rodau. "
        "Olaf Brenn was elected on 2 March 1998. Ruth Kamm was born on 3 April 1961. Emil Sand was born in June 1970."
    ),
    "The iron bridge": (
        "# The iron bridge\n\nTrains cross at walking pace. It was opened on 1 June 1911. It was longer than any other."
    ),
    "The mill": "# The mill\n\nThe miller sold flour. The mill has two wheels and the iron bridge has none.",
}
PROGRAMS: Texts = {
    "Fern 1.9": "# Fern 1.9\n\nFern 1.9 came out on 1 May 2011. It draws maps.",
    "Fern 1.10": "# Fern 1.10\n\nFern 1.10 came out on 2 June 2012. It draws tables.",
    "Fern 2.0": "# Fern 2.0\n\nFern 2.0 came out on 3 July 2013. It prints.",
    "News": (
        "Version 3.0 of Moss replaced version 2.5. The release 2.5 of Moss is no longer sold. Fern is sold for 20 "
        "euros. "
        "The versions 2.5, 3.0 and 3.1 of Moss are free. The engineers fixed BUG-7 in May. BUG-12 was found by Ada "
        "Kern. "
        "After BUG-12 came BUG-15. See BUG-9 for details."
    ),
    "Notices": (
        "# Notice 14\n\nThe gate is shut.\n\n# Notice 15\n\nThe gate is open. Order 66 follows order 65. Order 67 is "
        "new."
    ),
}
INTERVIEWS: Texts = {
    "Interview with the beekeeper": (
        "**Why do bees swarm in early summer?**\n\nThe hive grows too small. The old queen leaves with half of the "
        "bees. "
        "The rest wait for a new queen. They stay calm.\n\n**What do you feed the bees in winter?**\n\n"
        "Sugar water, mostly.\n\nThen I let them sleep. How long does the winter rest last? From November to March.\n\n"
        "**When does the honey harvest begin?** In June. What happens next? We spin the frames."
    ),
    "Questions and answers": (
        "1. Which tools does a beginner need for bees?\n\nA veil, a smoker and a chisel.\n\nQ2: Who checks the "
        "hives?\n\n"
        "The inspector of the county checks all hives once a year. “He is strict.\n\n## Prices\n\nQuestion 3: Where "
        "can I "
        "buy a queen bee?\n\n## Nothing\n\n4. Can bees see red?\n\nNo. Can they see blue? Yes, they can."
    ),
}
WORKS: Texts = {
    "Works": (
        "Clara Vogt painted the ceiling of Saint Ann. The ceiling was praised by Franz Moll. Clara Vogt taught Franz "
        "Moll, Ida Sturm and Leo Karg. Franz Moll was taught by Clara Vogt in 1880. Clara Vogt did not like Leo Karg; "
        "Ida Sturm painted the doors. The doors were painted quickly by Ida Sturm. Leo Karg married Ida Sturm in 1890. "
        "Ida Sturm was married. Leo Karg bought a kiln from Otto Braun. Otto Braun sold bricks to the town of Elm. "
        "The bricks of Saint Ann were sold by Otto Braun, and Otto Braun bought a horse. Saint Ann is near Elm. "
        "Franz Moll, whom everybody liked and who had come from far away over the hills with nothing, taught Paul Ritt."
    ),
    "Trade": (
        "The Elm Company competes with Brook Limited. Brook Limited merged with Hale and Partners in 1950. "
        "Anna Reh founded the Elm Company. Anna Reh founded Reh House. Paul Ritt leads the Elm Company. "
        "The Elm Company was led by Paul Ritt and Anna Reh. Hale and Partners compete with Brook Limited."
    ),
}
