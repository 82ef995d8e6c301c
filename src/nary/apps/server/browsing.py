"""The endpoints for looking around: what is stored, missing or doubtful about an entity, and how relations are used."""

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from nary.apps.server.batching import Worker
from nary.apps.server.errors import ERROR_RESPONSES
from nary.apps.server.requests import Count, Name, Offset, RelationName, off_loop, turn
from nary.errors import SettingError
from nary.facts import Role
from nary.inference.entity_profile import facts_of_group
from nary.inference.explanation_results import RuleList
from nary.inference.lines import in_parts
from nary.inference.plausibility import doubtful
from nary.inference.profile_results import DoubtfulFacts, EntityProfile, MissingFacts, RelationCounts, RelationProfile
from nary.inference.results import StoredFacts
from nary.runs import TrainedModel

_Few = Annotated[int, Query(ge=1, le=50, description="How many facts or names to list in each group.")]
_Slots = Annotated[int, Query(ge=1, le=16, description="How many relations to return at most.")]
_Checked = Annotated[int, Query(ge=1, le=100, description="How many facts to score.")]
_Rules = Annotated[int, Query(ge=1, le=100, description="How many rules to return.")]
_Role = Annotated[
    Literal["subject", "object", "value"] | None,
    Query(description="Only facts in which the entity has this role; requires `relation`."),
]
_OfRelation = Annotated[
    str | None,
    Query(max_length=1000, description="The relation of these facts or, for a value, its attribute; requires `role`."),
]

_RuleRole = Annotated[Role | None, Query(description="What the rules conclude.")]
_OptionalRelation = Annotated[str | None, Query(min_length=1, max_length=1000, description="The relation.")]


def browsing_routes(model: TrainedModel, worker: Worker) -> APIRouter:
    """The endpoints under /api that describe entities and relations."""
    router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)
    predictor = model.predictor
    lookup = predictor.context.lookup

    @router.get("/entity", summary="Describe an entity")
    def entity(name: Name, limit: _Few = 5) -> EntityProfile:
        """Group the stored facts about an entity by where it stands in them, the largest groups first."""
        return predictor.entity(name, limit)

    @router.get("/facts", summary="List the facts about an entity")
    def facts_about(
        entity: Name, role: _Role = None, relation: _OfRelation = None, limit: Count = 20, offset: Offset = 0
    ) -> StoredFacts:
        """List the stored facts that mention an entity, or one group of them, page by page."""
        if role is not None and relation is not None:
            return facts_of_group(lookup, entity, role, relation, limit, offset)
        if role is not None or relation is not None:
            raise SettingError("role and relation belong together", "Give both, or neither for all facts.")
        return lookup.about(entity, limit, offset)

    @router.get("/missing", summary="Find what is missing about an entity")
    async def missing(request: Request, entity: Name, k: _Slots = 5) -> MissingFacts:
        """Find relations that similar entities have and this one lacks, with the most probable answers."""
        return await worker.run(lambda: predictor.missing(entity, k), turn(request))

    @router.get("/doubtful", summary="Find doubtful facts about an entity")
    async def doubtful_facts(request: Request, entity: Name, limit: _Checked = 20, offset: Offset = 0) -> DoubtfulFacts:
        """Score stored facts about an entity, page by page; the least plausible of the page come first."""
        facts = await off_loop(lambda: lookup.facts_about(entity, limit, offset))
        calls = (partial(predictor.score, part) for part in in_parts(facts))
        return doubtful(lookup, entity, await worker.run_parts(calls, turn(request)), offset)

    @router.get("/relations", summary="List the relations")
    def relations(limit: Count = 20, offset: Offset = 0) -> RelationCounts:
        """List the relations with the number of their facts, the most frequent first."""
        return predictor.relations.counts(limit, offset)

    @router.get("/relation", summary="Describe a relation")
    def relation(name: RelationName, limit: _Few = 10) -> RelationProfile:
        """Count the facts of a relation and what stands in them; with its metrics, if they were recorded."""
        return model.relation(name, limit)

    @router.get("/rules", summary="List rules")
    async def rules(
        request: Request, relation: _OptionalRelation = None, role: _RuleRole = None, limit: _Rules = 20
    ) -> RuleList:
        """List the most confident rules of the model, those that conclude one relation or are for one role."""
        name = None if role is None else role.value
        return await worker.run(lambda: predictor.rules(relation, role=name, limit=limit), turn(request))

    return router
