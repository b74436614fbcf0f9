"""Three talks about wind farms and a museum, with speakers: for what the offline engine answers."""

from __future__ import annotations

TALKS = {
    "c1": (
        "ANN LEE: We built the wind farms because the coast needed clean energy and the villages wanted it badly.\n"
        "BOB RAY: The wind farms destroyed the bird colonies and harmed the fishing villages along the whole coast.\n"
        "ANN LEE: The turbines of the wind farms now bring a good income to every village on that coast.\n"
    ),
    "c2": (
        "CARA DOE: Our schools teach children how wind farms work and why the coast is windy in winter.\n"
        "BOB RAY: The noise of the wind farms is a danger to the sleep of the people who live close by.\n"
        "CARA DOE: The new harbour museum shows the history of fishing boats since the seventeenth century.\n"
    ),
    "c3": (
        "DAN FOX: The harbour museum opened with a collection of fishing boats that families had kept for decades.\n"
        "EVE HALL: The museum helped the town because visitors came back to the harbour in the summer.\n"
        "DAN FOX: The fishing boats in the museum collection were restored by students of the local school.\n"
    ),
}

HOST = "KIM WEST"
PODCAST = {
    "e1": (
        "KIM WEST: Welcome to the show, today we speak with Ann Lee about the wind farms on the coast.\n"
        "ANN LEE: Wind farms need steady wind and a strong grid that carries the power to the cities.\n"
        "KIM WEST: What do the wind farms mean for the small villages along the coast?\n"
        "ANN LEE: Small villages should own a share of the wind farms because they live with the noise.\n"
        "ANN LEE: My father built the first turbine of the village with parts from an old mill.\n"
    ),
    "e2": (
        "KIM WEST: Our guest Bob Ray has measured the noise of wind farms for twelve years.\n"
        "BOB RAY: The noise of wind farms is a danger to the sleep of people who live close by.\n"
        "BOB RAY: Wind farms destroyed the bird colonies and harmed the fishing villages on the coast.\n"
        "KIM WEST: Do you think that better turbines will be quiet enough for the villages?\n"
        "BOB RAY: New turbines will be quiet enough if the companies pay for better blades.\n"
    ),
    "e3": (
        "KIM WEST: Cara Doe teaches physics and takes her pupils to the wind farms every spring.\n"
        "CARA DOE: Children learn best when a lesson begins with something that they can touch.\n"
        "CARA DOE: Good lessons about energy improve the judgement of children and of their parents.\n"
        "KIM WEST: How much does it cost a school to visit the wind farms?\n"
        "CARA DOE: Schools pay nothing because the company gives two hundred euros for every visit.\n"
    ),
    "e4": (
        "KIM WEST: Dan Fox opened the harbour museum and collects old fishing boats.\n"
        "DAN FOX: The harbour museum needs money because old fishing boats rot when nobody paints them.\n"
        "DAN FOX: Fishing boats tell the history of the coast better than any book can.\n"
        "EVE HALL: The harbour museum brought visitors back to the villages, and that helped the shops.\n"
        "EVE HALL: Visitors must not climb on the fishing boats, although every child wants to do it.\n"
    ),
    "e5": (
        "KIM WEST: Fay Kerr runs a company that stores the power of wind farms in old mines.\n"
        "FAY KERR: Cheap storage makes wind farms useful on calm days, which is the whole point.\n"
        "FAY KERR: Old mines are safe and dry, and they lie where the strong grid already is.\n"
        "GUS LANG: I worry that water will break into the old mines after a heavy storm.\n"
        "GUS LANG: The risk of a flood in the old mines was never measured by anybody.\n"
    ),
    "e6": (
        "KIM WEST: Today Hal Munro and Ann Lee talk about who pays for the strong grid.\n"
        "HAL MUNRO: A strong grid costs more than all wind farms together, and the cities must pay for it.\n"
        "ANN LEE: Cities will pay for the strong grid when the price of gas rises again.\n"
        "HAL MUNRO: People can save more power with better houses than wind farms can ever make.\n"
        "ANN LEE: Better houses are a good idea, but they take thirty years to build.\n"
    ),
    "e7": (
        "KIM WEST: Let us hear what Bob Ray and Eve Hall think of the summer visitors.\n"
        "EVE HALL: Summer visitors love the fishing boats and hate the noise of the ferry.\n"
        "BOB RAY: The ferry is louder than all wind farms, but nobody complains about the ferry.\n"
        "EVE HALL: People need the ferry, and so the villages accept the noise of its engines.\n"
        "BOB RAY: An electric ferry would solve the problem and save the bird colonies too.\n"
    ),
    "e8": (
        "KIM WEST: The last guest of the year is Cara Doe, who wrote a book about energy.\n"
        "CARA DOE: Energy is a subject that everybody has an opinion on and few people understand.\n"
        "KIM WEST: Which mistake about wind farms do you hear most often from parents?\n"
        "CARA DOE: Parents believe that wind farms harm the health of their children, but no study shows it.\n"
        "CARA DOE: A failure of the grid is a larger danger to hospitals than any turbine.\n"
    ),
}
