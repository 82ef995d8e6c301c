"""Write the measurements in ``benchmarks/results`` into ``docs/performance.md`` and plot how a training step scales.

python benchmarks/report.py
"""

from pathlib import Path
from typing import Any

import orjson

from nary.tables import Table, left

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "growth.svg"
BEGIN, END = "<!-- figures: python benchmarks/report.py -->\n", "<!-- end of figures -->\n"
AXES = ("entities", "arity", "layers", "batch")


def read(name: str) -> dict[str, Any]:
    """The measurements of one benchmark."""
    measurements: dict[str, Any] = orjson.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_bytes())
    return measurements


def on_all_machines(name: str) -> list[dict[str, Any]]:
    """The measurements of one benchmark on all machines: NAME.json, NAME-MACHINE.json."""
    files = sorted((ROOT / "benchmarks" / "results").glob(f"{name}*.json"), reverse=True)
    return [read(file.stem) for file in files]


def machine(one: dict[str, Any]) -> str:
    """The processor, without cores and threads."""
    return str(one["hardware"]).partition(",")[0]


def table(titles: list[str], rows: list[list[str]]) -> str:
    """A Markdown table and an empty line."""
    return Table(left(*titles), rows).markdown() + "\n\n"


def figures() -> str:
    """The generated part of the page."""
    trainings = [one for data in ("jf17k", "wikipeople-") for one in on_all_machines(f"training-{data}")]
    rows = [
        [
            f"training, {one['data']}, batch {one['batch']:,}, {one['precision']}",
            machine(one),
            f"{one['instances_per_second']:,.0f} instances/s",
            f"{one['plain_instances_per_second']:,.0f}",
            f"**{one['ratio']:.2f}**",
            f"{one['share_of_peak']:.0%} of {one['peak_flops'] / 1e9:,.0f} GFLOP/s",
            f"{one['peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in trainings
    ]
    rows += [
        [
            f"ranking, {one['data']} test, all positions",
            machine(one),
            f"{one['queries_per_second']:,.0f} queries/s",
            f"{one['plain_queries_per_second']:,.0f}",
            f"**{one['ratio']:.2f}**",
            f"{one['share_of_peak']:.0%} of {one['peak_flops'] / 1e9:,.0f} GFLOP/s",
            f"{one['peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in on_all_machines("ranking-jf17k")
    ]
    rows += [
        [
            f"one prediction, {one['data']}, {one['layers']} layers",
            machine(one),
            f"p50 {one['p50_ms']:.1f} ms, p95 {one['p95_ms']:.1f} ms",
            f"{one['plain_p50_ms']:.1f} ms",
            f"**{one['ratio']:.2f}**",
            "",
            f"{one['peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in on_all_machines("prediction-jf17k")
    ]
    growth = read("growth")
    text = "GRAN with 12 layers and hidden dimension 256, float32 unless stated otherwise, "
    text += (
        f"{trainings[0]['threads']} threads; each measurement alternates with the plain implementation in one run.\n\n"
    )
    text += table(["what", "processor", "Nary", "plain", "ratio", "useful share of the peak", "memory"], rows)
    serving = read("serving")
    text += "`nary serve` with the same model, measured over loopback:\n\n"
    text += table(
        [
            "one client, p50",
            "in process, p50",
            "ratio",
            "answers/s, 1 client",
            "32 clients",
            "ratio",
            "failed",
            "search, p50",
        ],
        [
            [
                f"{serving['http_p50_ms']:.1f} ms",
                f"{serving['in_process_p50_ms']:.1f} ms",
                f"{serving['latency_ratio']:.2f}",
                f"{serving['requests_per_second_1']:,.0f}",
                f"{serving['requests_per_second_32']:,.0f}",
                f"{serving['throughput_ratio']:.2f}",
                f"{serving['failures']} of {serving['requests']:,}",
                f"{serving['search_p50_ms']:.1f} ms",
            ]
        ],
    )
    text += contention()
    text += "Cost of a training step as one dimension grows and the others stay fixed:\n\n"
    for axis in AXES:
        points = growth[axis]
        text += table(
            [axis, *(f"{point[axis]:,}" for point in points)],
            [
                ["ms per instance", *(f"{point['milliseconds']:.2f}" for point in points)],
                ["GB", *(f"{point['bytes'] / 1e9:.2f}" for point in points)],
            ],
        )
    return text + models() + pairs() + stare()


def contention() -> str:
    """Training and serving beside busy processes."""
    measured = read("contention")
    rows = []
    for row in measured["rows"]:
        speeds, times = row["training"], row["serving_ms"]
        rows.append(
            [
                str(row["busy"]),
                *(f"{speeds[setting]:,.0f}" for setting in ("one", "default", "long")),
                f"**{speeds['default'] / speeds['one']:.2f}**",
                *(f"{times[setting]:.1f} ms" for setting in ("one", "default")),
            ]
        )
    text = f"Next to busy processes ({measured['cores']} cores, {measured['data']}): training in "
    text += (
        "instances/s with one thread, with the default, and with one thread per core that spins as the OpenMP library "
        "does "
    )
    text += "by default; *ratio* is the second to the first. Serving: the median latency for one client.\n\n"
    titles = ["busy processes", "one thread", "default", "long spin", "ratio", "served, one thread", "served, default"]
    return text + table(titles, rows)


def models() -> str:
    """All models side by side."""
    measured = read("models-jf17k")
    rows = [
        [
            one["model"],
            f"{one['instances_per_second']:,.0f}" if one["instances_per_second"] else "",
            f"{one['queries_per_second']:,.{0 if one['queries_per_second'] > 100 else 1}f}",
            f"{one['ratio']:,.2f}",
            f"{one['parameters'] / 1e6:.1f} million",
            f"{one['peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in measured["models"]
    ]
    text = f"All models but rules and blends on {measured['data']}, {measured['threads']} threads. "
    text += "*Ratio* is the time per query relative to the first row.\n\n"
    return text + table(["model", "training instances/s", "queries/s", "ratio", "parameters", "memory"], rows)


def pairs() -> str:
    """Models that score whole facts, against brute force."""
    measured = [read(f"pairs-{model}") for model in ("nalp", "neuinfer", "hinge")]
    rows = [
        [
            one["model"],
            f"{one['queries']:,}",
            f"{one['queries_per_second']:,.1f}",
            f"{one['plain_queries_per_second']:.2f}",
            f"**{one['ratio']:.1f}**",
            f"{one['peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in measured
    ]
    first = measured[0]
    text = f"Models that score whole facts rank elements of {first['data']} test, with the published sizes and "
    text += f"{first['threads']} threads, alternating with brute force: every candidate is put into the fact, "
    text += "and the network scores all these facts.\n\n"
    return text + table(["model", "queries", "queries/s", "brute force", "ratio", "memory"], rows)


def stare() -> str:
    """Training steps of STARE, against a plain implementation."""
    measured = [read(f"stare-{data}") for data in ("jf17k", "wd50k_100")]
    rows = [
        [
            f"{one['data']}, batch {one['batch']}",
            f"{one['seconds_per_step']:.2f} s",
            f"{one['plain_seconds_per_step']:.2f} s",
            f"**{one['ratio']:.1f}**",
            f"{one['peak_bytes'] / 1e9:.2f} GB, plain {one['plain_peak_bytes'] / 1e9:.2f} GB",
        ]
        for one in measured
    ]
    text = f"A training step of STARE as published, {measured[0]['precision']}, {measured[0]['threads']} threads, "
    text += "alternating with a plain implementation that runs the same encoder unfused.\n\n"
    return text + table(["what", "Nary", "plain", "ratio", "memory"], rows)


def draw() -> None:
    """Plot time and memory along each axis."""
    from nary.plotting import new_figure, save_figure

    growth = read("growth")
    figure = new_figure(PICTURE, 13, 3.6)
    for axes, axis in zip(figure.subplots(1, len(AXES)), AXES, strict=True):
        places = [point[axis] for point in growth[axis]]
        axes.plot(places, [point["milliseconds"] for point in growth[axis]], "o-", color="#2f6690")
        axes.set_xlabel(axis)
        axes.set_ylabel("milliseconds an instance", color="#2f6690")
        axes.set_xscale("log", base=2 if axis != "entities" else 10)
        axes.set_yscale("log")
        other = axes.twinx()
        other.plot(places, [point["bytes"] / 1e9 for point in growth[axis]], "s--", color="#b4532a")
        other.set_ylabel("GB", color="#b4532a")
        other.set_yscale("log")
    save_figure(figure, PICTURE)


def page() -> str:
    """The whole page with the current measurements."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}{figures()}{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
