"""Every model can be asked for everything: with the roles it predicts, facts of any arity it takes, and calibrated."""

import pytest
from runs.small import small_data

from nary.data.dataset import Dataset
from nary.errors import NaryError, SettingError
from nary.facts import GAP, Query, Role
from nary.inference.predictor import Predictor
from nary.models.base import DatasetInfo
from nary.models.registry import MODELS
from nary.recipe import choose_recipe


@pytest.fixture(scope="module")
def data() -> Dataset:
    return small_data(250)


@pytest.fixture(scope="module", params=sorted(MODELS))
def predictor(request: pytest.FixtureRequest, data: Dataset) -> Predictor:
    """With random weights, in the sizes of its recipe for small data."""
    recipe = choose_recipe("nobel", model=request.param)
    return Predictor(MODELS.get(request.param)(recipe.model, DatasetInfo.from_dataset(data)), data, data.valid)


def test_predict_score_suggest_and_explain(predictor: Predictor, data: Dataset) -> None:
    facts = list(data.test.facts(data.vocabulary))
    by_arity = {fact.arity: fact for fact in facts}
    assert len(by_arity) > 1
    roles = predictor.context.model.roles
    for fact in by_arity.values():
        for position, element in fact.elements().items():
            if position.role in roles:
                stored = predictor.predict(fact.query(position), 100, "only").answers
                assert element in {answer.name for answer in stored}
                assert predictor.explain(fact, position).known
        if Role.VALUE in roles:
            assert predictor.suggest(fact, k=3).suggestions
        else:
            with pytest.raises(SettingError, match="cannot predict the value"):
                predictor.suggest(fact)
    scored = predictor.score(facts)
    assert all(0 <= one.plausibility <= 1 and one.calibrated and one.known for one in scored)
    for one in scored:
        fits = [element.fit for element in one.elements]
        assert fits == sorted(fits)


def test_part_of_a_fact_is_answered_or_refused(predictor: Predictor, data: Dataset) -> None:
    fact = next(fact for fact in data.test.facts(data.vocabulary) if len(fact.qualifiers) == 2)
    part = Query(fact.subject, fact.relation, GAP)
    try:
        stored = predictor.predict(part, 100, "only")
    except NaryError:
        assert not predictor.context.takes_arity(part.arity)
    else:
        assert fact.object in {answer.name for answer in stored.answers}
