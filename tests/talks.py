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
