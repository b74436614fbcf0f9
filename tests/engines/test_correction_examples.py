"""Which later sentence corrects an earlier one, by worked examples."""

from __future__ import annotations

from typing import Any

from office_corpora import Texts, passages
from sensegraph.engines.offline.answers.corrections import list_preferred, prefer_corrections
from sensegraph.engines.offline.answers.source_sentences import read_source_sentences


def correct(texts: Texts, *begin: str) -> list[str]:
    """What is shown where the sentences that begin so were chosen."""
    sentences = read_source_sentences(passages(texts), "en")
    chosen = [next(s for s in sentences if s.raw.startswith(b)) for b in begin]
    return [s.text.strip() for s in list_preferred(prefer_corrections(chosen, sentences))]


# fmt: off
CORRECTED_EXAMPLES: list[tuple[tuple[Any, ...], Any]] = [
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 4 March 2020\n'
                 '\n'
                 'The lake has 43 swans. The 41 swans of the first count left out a pair.'},
      '41'),
     ['41 swans live on the lake.']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n'
                 '\n'
                 'The lake has 43 swans. It rained. It snowed. The 41 swans of the count were wrong.'},
      '41'),
     ['The 41 swans of the count were wrong.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n'
                 '\n'
                 'The 41 swans of the count were wrong. It rained. It snowed. The lake has 43 swans.'},
      '41'),
     ['The 41 swans of the count were wrong.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThe 41 geese were wrong. There are 43 geese.'},
      '41'),
     ['41 swans live on the lake.']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThis letter replaces that of 4 March. 43 swans live on the lake.'},
      '41'),
     ['43 swans live on the lake.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThis letter replaces that of 5 March. 43 swans live on the lake.'},
      '41'),
     ['41 swans live on the lake.']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThis letter replaces that of 4 March. 43 swans were sold to the town.'},
      '41'),
     ['41 swans live on the lake.']),
    (({'Report R-7': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThis replaces report R-7. 43 swans live on the lake.'},
      '41'),
     ['43 swans live on the lake.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Report R-7': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Report R-7 again': 'This replaces it. 43 swans live on the lake.'},
      '41'),
     ['43 swans live on the lake.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Report': '41 swans live on the lake.', 'Letter': 'This replaces it. 43 swans live on the lake.'}, '41'),
     ['41 swans live on the lake.']),
    (({'Count': 'Count of 4 March 2020\n\nTwelve swans live on the lake.',
       'L': 'Letter of 9 March 2020\n\nThe 12 swans left out a pair. There are 14 swans.'},
      'Twelve'),
     ['There are 14 swans.', '- The 12 swans left out a pair.',
      '- Earlier: Twelve swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'L': 'Letter of 9 March 2020\n\nThe 41 swans were wrong. There are 43 swans.',
       'M': 'Letter of 8 March 2020\n\nThe 41 swans were wrong. There are 42 swans.'},
      '41'),
     ['There are 43 swans.', '- The 41 swans were wrong.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count\n'
                '\n'
                'Line one.\n'
                '\n'
                'Line two.\n'
                '\n'
                'Line three.\n'
                '\n'
                'Line four.\n'
                '\n'
                'Line five.\n'
                '\n'
                'Line six.\n'
                '\n'
                '4 March 2020\n'
                '\n'
                '41 swans live here.',
       'L': 'Letter of 3 March 2020\n\nThe 41 swans were wrong.'},
      '41'),
     ['The 41 swans were wrong.', '- Earlier: 41 swans live here. (replaced)']),
    (({'Count': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 4 March '
                '2020\n'
                '\n'
                '41 swans live here.',
       'L': 'Letter of 3 March 2020\n\nThe 41 swans were wrong.'},
      '41'),
     ['41 swans live here.']),
    (({'Count': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 4 March '
                '2020\n'
                '\n'
                '41 swans live here.',
       'L': 'Letter of 3 March 2020\n\nThe 41 swans were wrong.'},
      '41'),
     ['The 41 swans were wrong.', '- Earlier: 41 swans live here. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n1,041 swans live.',
       'L': 'Letter of 9 March 2020\n\nThe 1041 swans were wrong.'},
      '1,041'),
     ['1,041 swans live.']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'The lake has 43 swans. The 41 swans of the count were wrong.'},
      '41'),
     ['The lake has 43 swans.', '- The 41 swans of the count were wrong.',
      '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThis letter replaces that of 4 March. 43 swans came to the lake.'},
      '41'),
     ['43 swans came to the lake.', '- Earlier: 41 swans live on the lake. (replaced)']),
    (({'Count': 'Count of 4 March 2020\n\n41 swans live on the lake.',
       'Letter': 'Letter of 9 March 2020\n\nThe 41 swans were wrong. The lake has 43 geese.'},
      '41'),
     ['The 41 swans were wrong.', '- Earlier: 41 swans live on the lake. (replaced)']),
]
# fmt: on


def test_the_later_sentence_stands_first_where_a_text_says_that_the_earlier_was_wrong() -> None:
    found = [(given, correct(*given)) for given, _ in CORRECTED_EXAMPLES]
    assert found == CORRECTED_EXAMPLES
