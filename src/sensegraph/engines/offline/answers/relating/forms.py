"""The forms of an answer, in the order in which a question is offered to them."""

from __future__ import annotations

from collections.abc import Callable

from sensegraph.engines.offline.answers import facts
from sensegraph.engines.offline.answers.asked import Asked, Written
from sensegraph.engines.offline.answers.definitions import answer_definition
from sensegraph.engines.offline.answers.lists.count_answers import answer_count
from sensegraph.engines.offline.answers.lists.identifiers import answer_identifier
from sensegraph.engines.offline.answers.lists.list_answers import answer_list
from sensegraph.engines.offline.answers.lists.mention_counts import answer_document_kind, answer_mentions
from sensegraph.engines.offline.answers.lists.option_counts import answer_option_count
from sensegraph.engines.offline.answers.lists.releases import answer_release
from sensegraph.engines.offline.answers.lists.set_lists import answer_set_list
from sensegraph.engines.offline.answers.offices.office_answers import answer_office
from sensegraph.engines.offline.answers.relating.asked_before import answer_as_asked
from sensegraph.engines.offline.answers.relating.authors import answer_author
from sensegraph.engines.offline.answers.relating.causes import answer_cause
from sensegraph.engines.offline.answers.relating.chains import answer_chain
from sensegraph.engines.offline.answers.relating.changes import answer_changes
from sensegraph.engines.offline.answers.relating.comparisons import answer_comparison
from sensegraph.engines.offline.answers.relating.parts import answer_parts
from sensegraph.engines.offline.answers.relating.relations import answer_relation
from sensegraph.engines.offline.answers.relating.successions import answer_succession

FORMS: tuple[Callable[[Asked], Written | None], ...] = (
    answer_identifier,
    answer_release,
    answer_author,
    answer_definition,
    answer_office,
    answer_succession,
    answer_comparison,
    answer_mentions,
    answer_document_kind,
    answer_list,
    answer_set_list,
    answer_count,
    answer_option_count,
    answer_parts,
    answer_cause,
    answer_changes,
    answer_as_asked,
    answer_relation,
    answer_chain,
    facts.answer_fact,
)
"""The forms of an answer about something, each of which takes the questions that are its own; facts take the rest."""
