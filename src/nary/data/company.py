"""A generated property graph of people, firms, cities and products, as a company may have it in a graph database.

People work in a department of a firm, mostly in their own city, and report to the head of that department. What a firm
supplies of one product goes to a few regular buyers. People buy what is usual in their industry, and know colleagues. A
fraction ``noise`` of the edges ignores all this. Names are not unique. Some edges are wrong on purpose, and the truth
is kept beside them.

Every random number is a hash of its purpose, as in :mod:`nary.data.synthetic`, so that equal settings give equal files
on every machine.
"""

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from nary.data.synthetic import Numbers, Words, hash_words, skewed, uniform
from nary.errors import OutputError, SettingError
from nary.files.writing import atomic_path

EDGES, MIN_EDGES = 11_000, 200
"""The default and the smallest number of edges."""


def _list(words: str) -> list[str]:
    return words.split()


_INDUSTRIES = _list("banking brewing chemistry energy farming glass logistics optics paper steel")
_DEPARTMENTS = _list("accounts design production sales")
_ROLES, _SALARIES = _list("clerk specialist engineer head"), np.array([30_000, 42_000, 55_000, 90_000])
_CHANNELS = _list("agent online shop")
_FIRST = _list(
    "Ada Ben Clara David Emma Felix Greta Hugo Ines Jonas Karla Leo Mona Nils Olga Paul Rosa Simon Tilda Vera"
)
_LAST = _list(
    "Adler Brook Carver Dale Elm Ford Grove Hill Jarvis Keel Lake Marsh North Oak Pike Reed Stone Thorn Vale Yew"
)
_PLACES = _list("Ash Birch Clear Deer East Fair Gold High Lang Mill New Red Stan West")
_ENDINGS = _list("field ford haven ton wick by ley")
_GOODS = _list("bolt bottle crate engine filter gauge lamp lens panel pump valve wire")

_FIRST_DAY, _DAYS = np.datetime64("2010-01-01"), 5500
_ASSORTMENT, _REGULARS, _FAVORITES = 4, 3, 4  # products of a supplier, their buyers, and products of a kind of customer
_COLUMNS = ("start", "end", "type", "date", "role", "department", "product", "amount", "channel")
_SPOILED = ("LIVES_IN", "LOCATED_IN", "REPORTS_TO", "SUPPLIES", "WORKS_AT")
"""The types of edges that may be wrong: what other edges tell about them."""
_OF_FILES = {".csv", ".json", ".jsonl", ".parquet", ".tsv", ".txt"}


@dataclass(frozen=True)
class PropertyGraph:
    """Nodes and edges as tables; ``errors`` lists what is wrong on purpose: id of the edge, column, planted, truth."""

    nodes: pl.DataFrame
    edges: pl.DataFrame
    errors: pl.DataFrame

    def write(self, folder: Path, *, neo4j: bool = False) -> None:
        """Write nodes.csv, edges.csv and errors.csv to a new folder; ``neo4j`` gives them the headers of Neo4j."""
        if folder.suffix in _OF_FILES:
            raise OutputError(f"{folder} has the name of a file, and a graph is a folder", f"Such as {folder.stem}.")
        nodes, edges = self.nodes, self.edges
        if neo4j:
            nodes = nodes.rename({"id": "id:ID", "label": ":LABEL", "founded": "founded:int"})
            headers = {"start": ":START_ID", "end": ":END_ID", "type": ":TYPE", "date": "date:date"}
            edges = edges.rename({**headers, "amount": "amount:int"})
        with atomic_path(folder) as temporary:
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise OutputError(f"{folder} exists and is not an empty folder", "Choose another name.")
            temporary.mkdir()
            for name, frame in (("nodes", nodes), ("edges", edges), ("errors", self.errors)):
                frame.write_csv(temporary / f"{name}.csv")


def generate_property_graph(
    edges: int = EDGES, error_fraction: float = 0.01, noise: float = 0.1, seed: int = 0
) -> PropertyGraph:
    """Generate a graph with that many edges, of which ``error_fraction`` are wrong on purpose."""
    if edges < MIN_EDGES:
        raise SettingError(f"the number of edges is {edges}", f"The minimum is {MIN_EDGES}.")
    for what, given in (("fraction of errors", error_fraction), ("noise", noise)):
        if not 0 <= given <= 0.5:
            raise SettingError(f"the {what} is {given}", "It is a fraction between 0 and 0.5.")
    if not 0 <= seed < 1 << 63:
        raise SettingError(f"the seed is {seed}", "A seed is 0 or greater, and less than 2 to the 63.")
    world = _World(edges, noise, seed)
    nodes = world.nodes()
    table, errors = _plant(world.edges(edges), nodes, round(edges * error_fraction), seed)
    return PropertyGraph(nodes, table, errors)


class _World:
    """Who lives and works where, and who buys what. Low numbers are frequent."""

    def __init__(self, edges: int, noise: float, seed: int) -> None:
        self.noise, self.seed = noise, seed
        self.people, self.firms = np.arange(2 * edges // 11), np.arange(max(len(_INDUSTRIES), edges // 44))
        self.cities, self.products = np.arange(max(3, min(98, len(self.firms) // 5))), np.arange(max(40, edges // 55))
        self.industry = self.firms % len(_INDUSTRIES)
        self.city_of_firm = self.skewed("city of firm", len(self.cities), self.firms)
        self.price = 20 * (1 + self.skewed("price", 400, self.products))
        self.firm = self.skewed("firm", len(self.firms), self.people)
        self.team = self.firm * len(_DEPARTMENTS) + self.any("department", len(_DEPARTMENTS), self.people)
        self.head = self._first_of_team()
        self.city = self.unless_noisy("city", self.people, self.city_of_firm[self.firm], len(self.cities))
        self.role = np.where(
            self.head == self.people, len(_ROLES) - 1, self.skewed("role", len(_ROLES) - 1, self.people)
        )

    def words(self, purpose: str, *parts: Numbers) -> Words:
        """Random words for a purpose, one for each of ``parts``."""
        return hash_words(self.seed, zlib.crc32(purpose.encode()), *parts)

    def any(self, purpose: str, size: int, *parts: Numbers) -> Numbers:
        """Random numbers below ``size``, all alike."""
        return (self.words(purpose, *parts) % np.uint64(size)).astype(np.int64)

    def skewed(self, purpose: str, size: int, *parts: Numbers) -> Numbers:
        """Random numbers below ``size``, low ones more often."""
        return skewed(self.words(purpose, *parts), size)

    def unless_noisy(self, purpose: str, rows: Numbers, usual: Numbers, size: int) -> Numbers:
        """Replace a few of the ``usual`` numbers by others below ``size``."""
        noisy = uniform(self.words(f"noise of {purpose}", rows)) < self.noise
        return np.where(noisy, self.any(f"other {purpose}", size, rows), usual)

    def nodes(self) -> pl.DataFrame:
        """Every node with its id, name, label (its type), industry and year of foundation."""
        first, last = self.any("first", len(_FIRST), self.people), self.any("last", len(_LAST), self.people)
        people = [f"{_FIRST[i]} {_LAST[j]}" for i, j in zip(first.tolist(), last.tolist(), strict=True)]
        owners = self.any("owner", len(_LAST), self.firms).tolist()
        industries = [_INDUSTRIES[i] for i in self.industry.tolist()]
        firms = [f"{_LAST[i]} {industry.title()}" for i, industry in zip(owners, industries, strict=True)]
        cities = [_PLACES[i % 14] + _ENDINGS[i // 14] for i in self.cities.tolist()]
        goods = [f"{_GOODS[i % 12]} {100 + i // 12}" for i in self.products.tolist()]
        founded = (1850 + self.any("founded", 160, self.firms)).tolist()
        columns = {
            "Person": (_ids("P", self.people), people, [None] * len(people), [None] * len(people)),
            "Firm": (_ids("F", self.firms), firms, industries, founded),
            "City": (_ids("C", self.cities), cities, [None] * len(cities), [None] * len(cities)),
            "Product": (
                _ids("G", self.products),
                goods,
                [_INDUSTRIES[i % len(_INDUSTRIES)] for i in self.products.tolist()],
                [None] * len(goods),
            ),
        }
        schema = {"id": pl.String, "name": pl.String, "industry": pl.String, "founded": pl.Int64}
        frames = [
            pl.DataFrame(dict(zip(schema, each, strict=True)), schema).with_columns(label=pl.lit(label))
            for label, each in columns.items()
        ]
        return pl.concat(frames).select("id", "name", "label", "industry", "founded")

    def edges(self, size: int) -> pl.DataFrame:
        """Draw the edges of every type, in random order, and number them."""
        staff = np.flatnonzero(self.head != self.people)
        staff = staff[: len(staff) * 9 // 10]
        rest = size - 2 * len(self.people) - len(self.firms) - len(staff)
        sold, known = rest * 2 // 5, rest // 4
        frames = [
            self._work(),
            _edge_frame("LIVES_IN", _ids("P", self.people), _ids("C", self.city)),
            _edge_frame("LOCATED_IN", _ids("F", self.firms), _ids("C", self.city_of_firm)),
            _edge_frame("REPORTS_TO", _ids("P", staff), _ids("P", self.head[staff])),
            self._supplies(np.arange(sold)),
            self._purchases(np.arange(rest - sold - known)),
            self._acquaintances(np.arange(known)),
        ]
        table = pl.concat(frames, how="diagonal")
        rows = np.arange(table.height)
        dates = pl.Series(_FIRST_DAY + self.any("date", _DAYS, rows).astype("timedelta64[D]"))
        table = table.with_columns(date=dates.dt.strftime("%Y-%m-%d"))[np.argsort(self.words("order", rows))]
        return table.select(pl.Series("id", _ids("E", rows)), *_COLUMNS)

    def _work(self) -> pl.DataFrame:
        factor = 90 + self.any("pay", 40, self.firm) + self.any("own pay", 10, self.people)
        return _edge_frame(
            "WORKS_AT",
            _ids("P", self.people),
            _ids("F", self.firm),
            role=[_ROLES[i] for i in self.role.tolist()],
            department=[_DEPARTMENTS[i % len(_DEPARTMENTS)] for i in self.team.tolist()],
            amount=_SALARIES[self.role] * factor // 100 // 100 * 100,
        )

    def _supplies(self, rows: Numbers) -> pl.DataFrame:
        """Each supplier sells a few products of its industry, each of them to a few regular buyers."""
        supplier = self.skewed("supplier", len(self.firms), rows)
        number = self.any("number of product", _ASSORTMENT, rows)
        product = self._of_industry("assortment", self.industry[supplier], supplier, number)
        rank = self.skewed("rank of buyer", _REGULARS, rows)
        usual = self.any("buyer", len(self.firms), supplier, product, rank)
        buyer = self.unless_noisy("buyer", rows, usual, len(self.firms))
        buyer = np.where(buyer == supplier, (buyer + 1) % len(self.firms), buyer)
        pieces = 10 * (1 + self.any("pieces", 5, supplier, buyer)) + self.any("more pieces", 6, rows)
        amount = self.price[product] * pieces
        return _edge_frame("SUPPLIES", _ids("F", supplier), _ids("F", buyer), product=_ids("G", product), amount=amount)

    def _purchases(self, rows: Numbers) -> pl.DataFrame:
        """What people buy depends on the industry they work in and on where they buy; that depends on their city."""
        customer = self.skewed("customer", len(self.people), rows)
        channel = self.unless_noisy(
            "channel", rows, self.any("channel", len(_CHANNELS), self.city[customer]), len(_CHANNELS)
        )
        industry = self.industry[self.firm[customer]]
        usual = self._of_industry("favorite", industry, channel, self.skewed("rank", _FAVORITES, rows))
        product = self.unless_noisy("product", rows, usual, len(self.products))
        amount = self.price[product] * (1 + self.skewed("few pieces", 3, rows))
        channels = [_CHANNELS[i] for i in channel.tolist()]
        return _edge_frame("BOUGHT", _ids("P", customer), _ids("G", product), amount=amount, channel=channels)

    def _acquaintances(self, rows: Numbers) -> pl.DataFrame:
        """People know colleagues; of three acquaintances two are mutual."""
        pair = np.where(rows % 3 == 2, rows - 1, rows)  # every third edge is the second one, reversed
        person = self.any("person", len(self.people), pair)
        by_firm = np.argsort(self.firm, kind="stable")
        size = np.bincount(self.firm, minlength=len(self.firms))[self.firm[person]]
        first = np.searchsorted(self.firm[by_firm], self.firm[person])
        colleague = by_firm[first + (self.words("colleague", pair) % size.astype(np.uint64)).astype(np.int64)]
        other = self.unless_noisy("acquaintance", pair, colleague, len(self.people))
        other = np.where(other == person, (other + 1) % len(self.people), other)
        reverse = rows % 3 == 2
        start, end = np.where(reverse, other, person), np.where(reverse, person, other)
        return _edge_frame("KNOWS", _ids("P", start), _ids("P", end))

    def _of_industry(self, purpose: str, industry: Numbers, *parts: Numbers) -> Numbers:
        """A product of the given industry."""
        place = self.any(purpose, len(self.products) // len(_INDUSTRIES), industry, *parts)
        return industry + len(_INDUSTRIES) * place

    def _first_of_team(self) -> Numbers:
        teams, first = np.unique(self.team, return_index=True)
        return np.asarray(first[np.searchsorted(teams, self.team)])


def _plant(edges: pl.DataFrame, nodes: pl.DataFrame, size: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make ``size`` edges wrong: mostly another end, of the same name if there is one, or another role or amount."""
    rows = np.flatnonzero(edges["type"].is_in(_SPOILED).to_numpy())
    rows = np.sort(rows[np.argsort(hash_words(seed, 1, rows))][:size])
    label = dict(zip(nodes["id"], nodes["label"], strict=True))
    name = dict(zip(nodes["id"], nodes["name"], strict=True))
    by_label = {key[0]: frame["id"].to_list() for key, frame in nodes.group_by("label", maintain_order=True)}
    by_name = {key[0]: frame["id"].to_list() for key, frame in nodes.group_by("name", maintain_order=True)}
    errors = []
    for row, word in zip(rows.tolist(), hash_words(seed, 2, rows).tolist(), strict=True):
        edge = edges.row(row, named=True)
        columns = ["end"] * 4 + [column for column in ("role", "product", "amount") if edge[column]]
        column = columns[word % len(columns)]
        truth = edge[column]
        if column == "amount":
            others = [truth * 100]
        elif column == "role":
            others = [role for role in _ROLES if role != truth]
        else:
            same_name = [other for other in by_name[name[truth]] if other != truth and label[truth] == "Person"]
            others = same_name or [other for other in by_label[label[truth]] if other != truth]
        errors.append((edge["id"], column, str(others[word // 10 % len(others)]), str(truth)))
    table = pl.DataFrame(errors, dict.fromkeys(("id", "column", "planted", "truth"), pl.String), orient="row")
    for column in ("end", "role", "product", "amount"):
        planted = table.filter(pl.col("column") == column).select("id", pl.col("planted").cast(edges[column].dtype))
        edges = edges.join(planted, "id", how="left", maintain_order="left")
        edges = edges.with_columns(pl.coalesce("planted", column).alias(column)).drop("planted")
    return edges, table


def _edge_frame(type: str, start: list[str], end: list[str], **columns: object) -> pl.DataFrame:
    return pl.DataFrame({"start": start, "end": end, **columns}).with_columns(type=pl.lit(type))


def _ids(letter: str, numbers: Numbers) -> list[str]:
    return [f"{letter}{i + 1}" for i in numbers.tolist()]
