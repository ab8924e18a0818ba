"""Attentive memory beside its rivals on change streams: the report's table, figure and sentences.

From what `train.change_benchmark measure` writes into assets/results: change_filters and change_ablations (a row a
model, kind of stream, filter and mean delay, with intervals over streams), change_home and change_groups (at the home
setting: all together, by corruption, by kind of severity), memory_surface and memory_learned (NLL over the knobs).
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from knob_core.rivals import RIVALS, WITH_COMMAND
from train.outside.contenders import DEFAULT, FITTED, OFF
from train.report.result_set import Results, markdown, number

FILE, HOME_FILE, SURFACE_FILE = "change_filters", "change_home", "memory_surface"
ABLATIONS_FILE, GROUPS_FILE, LEARNED_FILE, OUTSIDE_FILE = (
    "change_ablations", "change_groups", "memory_learned", "outside_models",
)  # fmt: skip
UNFITTED_FILE = "outside_default"
BARE, OURS_AT_HOME, SAME = "without Knob", "attentive memory at home", ", same delay"
OURS = {"attentive": "**attentive memory**", "attentive-single": "**attentive memory**"}
MODELS = {"knob-ode": "Knob-ODE's fused logits with u*", "static": "a single classifier (Static), no u*"}
KINDS = {"mixed": "a cut every 40 frames", "fast": "every 15", "slow": "every 120"}


def rows(results: Results, model: str, kind: str) -> Any:
    """Of one model's seeds and one kind of stream."""
    frame = results[FILE]
    return frame[frame["model"].str.startswith(f"{model}-s") & (frame["kind"] == kind)]


def over_seeds(frame: Any) -> Any:
    """Excess flips (filter x delay) and best NLL, means over seeds, strongest last."""
    flips = frame.pivot_table(index="filter", columns="delay", values="excess_flips")
    flips["nll"] = frame.groupby("filter")["best_nll"].mean()
    return flips.sort_values(flips.columns[2], ascending=False)


def table(results: Results, model: str, kind: str) -> str:
    """Excess flips per 100 frames at each mean delay, and the best setting's NLL; means over seeds."""
    return table_of(over_seeds(rows(results, model, kind)), "excess flips at a mean delay of")


def table_of(means: Any, corner: str) -> str:
    """A row a filter, in the order given."""
    delays = [column for column in means.columns if column != "nll"]
    lines = [
        [name_of(str(key)), *(number(row[delay]) for delay in delays), number(row["nll"], 3)]
        for key, row in means.iterrows()
    ]
    return markdown([corner, *(f"{delay:g}" for delay in delays), "best NLL"], lines)


def name_of(key: str) -> str:
    known = RIVALS | WITH_COMMAND
    return OURS.get(key) or (known[key].NAME if key in known else key)  # an ablation is its own name


def ablations(results: Results) -> str:
    """Ours with one part taken away and everything else tuned anew, means over seeds."""
    frame = results[ABLATIONS_FILE]
    means = over_seeds(frame)
    delays = [column for column in means.columns if column != "nll"]
    worse = frame.groupby(["filter", "delay"])[["ours_less", "ours_less_low", "ours_less_high"]].mean()
    lines = []
    for key, row in means.iterrows():
        cells = [f"{number(row[d])} ({number(-worse.loc[(key, d), 'ours_less'])})" for d in delays]
        lines.append([name_of(str(key)), *(cells if key not in OURS else [number(row[d]) for d in delays]),
                      number(row["nll"], 3)])  # fmt: skip
    return markdown(["excess flips at a mean delay of", *(f"{delay:g}" for delay in delays), "best NLL"], lines)


def groups(results: Results, model: str, by: str) -> str:
    """At home, one row a corruption or kind of severity: excess flips with their band, and what they cost."""
    frame = results[GROUPS_FILE]
    part = frame[frame["model"].str.startswith(f"{model}-s") & (frame["by"] == by)]
    means = part.groupby(["name", "setting"], sort=False).mean(numeric_only=True)
    lines = []
    for name in dict.fromkeys(part["name"]):
        bare, ours = means.loc[(name, BARE)], means.loc[(name, OURS_AT_HOME)]
        others = means.loc[name].drop([BARE, OURS_AT_HOME, "plain memory at home"], errors="ignore")
        best = others["excess_flips"].idxmin()
        lines.append([
            str(name).replace("_", " "), number(bare["excess_flips"]),
            f"{number(ours['excess_flips'])} [{number(ours['low'])}, {number(ours['high'])}]",
            f"{number(others.loc[best, 'excess_flips'])} ({str(best).removesuffix(SAME)})",
            f"{number(bare['delay_mean'])} / {number(ours['delay_mean'])} / {number(others.loc[best, 'delay_mean'])}",
            f"{number(100 * bare['accuracy'], 1)} / {number(100 * ours['accuracy'], 1)}",
            f"{number(bare['nll'], 3)} / {number(ours['nll'], 3)}",
            f"{number(bare['sure_wrong'])} / {number(ours['sure_wrong'])}",
        ])  # fmt: skip
    head = [by, "flips without Knob", "ours at home", "best rival of the same delay", "delay: without / ours / rival",
            "accuracy %", "NLL", "confident errors"]  # fmt: skip
    return markdown(head, lines)


def learned(results: Results) -> str:
    """The knobs that the likelihood asks for, model by model and mean gap by mean gap."""
    frame = results[LEARNED_FILE]
    kinds = [kind for kind in ("fast", "mixed", "slow") if kind in set(frame["kind"])]
    lines = []
    for name, part in frame.groupby("model"):
        by_kind = part.set_index("kind")
        lines.append([str(name), *(f"ζ {number(by_kind.loc[kind, 'zeta'])}, ω_n {number(by_kind.loc[kind, 'omega_n'])} "
                                   f"({number(by_kind.loc[kind, 'nll'], 3)})" for kind in kinds)])  # fmt: skip
    return markdown(["", *(f"{kind}, {KINDS[kind]}" for kind in kinds)], lines)


def surface(results: Results, kind: str = "mixed") -> str:
    """NLL over the knobs on validation streams: Knob-ODE, means over seeds."""
    frame = results[SURFACE_FILE]
    part = frame[frame["model"].str.startswith("knob-ode-s") & (frame["kind"] == kind)]
    table = part.pivot_table(index="zeta", columns="omega_n", values="nll")
    lines = [
        [f"ζ {zeta:.2g}", *(number(x, 3) for x in row)] for zeta, row in zip(table.index, table.values, strict=True)
    ]
    return markdown(["NLL", *(f"ω_n {omega:.2g}" for omega in table.columns)], lines)


def outside(results: Results) -> str:
    """Pretrained classifiers of others (`train.outside`): every contender on the half that nothing was fitted on."""
    lines = [
        [f"{row.model}: {row.contender}", number(row.nll, 4), number(100 * row.accuracy), number(row.excess_flips),
         number(row.delay), number(row.confident_errors)]
        for row in results[OUTSIDE_FILE].itertuples()
    ]  # fmt: skip
    return markdown(["", "NLL", "accuracy %", "excess flips", "delay", "confident errors"], lines)


def outside_verdict(results: Results) -> str:
    """Ours after `fit` less the best rival, for each of those models."""
    sentences = []
    for model, frame in results[OUTSIDE_FILE].groupby("model", sort=False):
        named = frame.set_index("contender")
        ours, rivals = named.loc[FITTED], named.drop([OFF, DEFAULT, FITTED])
        nll, accuracy = ours.nll - rivals.nll.min(), 100 * (ours.accuracy - rivals.accuracy.max())
        size = f"{ours.streams} streams of {ours.frames} frames to measure"
        sentences.append(f"{model}: NLL {nll:+.4f}, accuracy {accuracy:+.2f} points ({size})")
    return f"Attentive memory after `fit` less the best rival in each: {'; '.join(sentences)}."


def unfitted(results: Results) -> str:
    """The default weights on models that they were not fitted to (`train.outside.unfitted measure`)."""
    lines = [
        [f"{row.model}, {row.kind}", number(100 * row.accuracy_bare), number(100 * row.accuracy),
         number(row.flips_bare), number(row.flips), number(row.delay_bare), number(row.delay),
         number(row.nll_bare, 4), number(row.nll, 4)]
        for row in results[UNFITTED_FILE].itertuples()
    ]  # fmt: skip
    names = ("accuracy %", "excess flips", "delay", "NLL")
    return markdown(["", *(head for name in names for head in (f"{name}, bare", "default"))], lines)


def nearest_rivals(frame: Any) -> Any:
    """Of every model and delay the row of the rival with the fewest flips."""
    rivals = frame[~frame["filter"].isin(OURS)]
    return rivals.loc[rivals.groupby(["model", "delay"])["excess_flips"].idxmin()]


def verdict(results: Results, model: str, kind: str) -> str:
    """Seed by seed: at which delays ours is below every rival, and where the interval says so."""
    sentences = []
    for seed_name, frame in rows(results, model, kind).groupby("model"):
        best = nearest_rivals(frame)
        sure = [f"{row.delay:g}" for row in best.itertuples() if row.ours_less_high < 0]
        below = [f"{row.delay:g}" for row in best.itertuples() if row.ours_less < 0 <= row.ours_less_high]
        not_below = [f"{row.delay:g} ({row.filter})" for row in best.itertuples() if row.ours_less >= 0]
        parts = [f"below the best rival at {', '.join(sure)} frames (95 % interval excludes 0)"] if sure else []
        parts += [f"below it, within the noise, at {', '.join(below)}"] if below else []
        parts += [f"not below it at {', '.join(not_below)}"] if not_below else []
        sentences.append(f"- {seed_name}: " + "; ".join(parts) + ".")
    return "\n".join(sentences)


def likelihood(results: Results) -> str:
    """Where ours does not win, in words."""
    means = {model: over_seeds(rows(results, model, "mixed"))["nll"] for model in MODELS}
    words = []
    for model, nll in means.items():
        own = float(nll[[key for key in nll.index if key in OURS]].iloc[0])
        better = [name_of(str(key)) for key, value in nll.items() if value < own]
        said = f"lower for {_and(better)}" if better else "lowest"
        words.append(f"{MODELS[model]}: {own:.3f}, {said}")
    return "NLL of each filter's best setting. " + "; ".join(words) + "."


def home_table(results: Results) -> str:
    """What an operator gets without turning anything: means over seeds on the mixed test streams."""
    frame = results[HOME_FILE]
    lines = []
    for model, words in MODELS.items():
        part = frame[frame["model"].str.startswith(f"{model}-s")]
        for setting, row in part.groupby("setting", sort=False).mean(numeric_only=True).iterrows():
            lines.append(
                [f"{words}: {setting}", number(row["excess_flips"]), number(row["delay_mean"]),
                 number(row["delay_90"], 1), number(100 * row["missed"], 1), number(100 * row["accuracy"], 1),
                 number(row["nll"], 3), number(row["ece"], 3), number(row["sure_wrong"])]
            )  # fmt: skip
    head = [
        "",
        "excess flips",
        "delay",
        "slowest tenth",
        "missed %",
        "accuracy %",
        "NLL",
        "ECE_deb",
        "confident errors",
    ]
    return markdown(head, lines)


def trained(results: Results) -> str:
    """Where the likelihood over the knobs is lowest, model by model."""
    frame = results[SURFACE_FILE]
    best = frame.loc[frame.groupby("model")["nll"].idxmin()]
    where = "; ".join(
        f"{row.model} ζ {row.zeta:.2g}, ω_n {row.omega_n:.2g} (NLL {row.nll:.3f})" for row in best.itertuples()
    )
    return (
        "Lowest NLL over ζ in [0.2, 3] and ω_n in [0.05, 3] on the validation streams, weights fixed: "
        f"{where}. The likelihood prefers the alert and overdamped end, often the edge of the range; calm is bought "
        "beyond that optimum."
    )


def against_the_best(frame: Any) -> list[str]:
    """Sentences: at which delays ours is below the best rival in every seed, for sure or not, and where it is not."""
    sure, below, rest = [], [], []
    for delay, part in nearest_rivals(frame).groupby("delay"):
        if (part["ours_less_high"] < 0).all():
            sure.append(f"{delay:g}")
        elif (part["ours_less"] < 0).all():
            below.append(f"{delay:g}")
        else:
            seeds = [name.rpartition("-s")[2] for name in part.loc[part["ours_less"] >= 0, "model"]]
            rest.append(f"{delay:g} (seed {', '.join(seeds)})")
    said = []
    if sure:
        said.append("Attentive memory has fewer flips than the best rival in all seeds, by more than chance (95 % "
                    f"interval), at a delay of {_and(sure)} frames.")  # fmt: skip
    if below:
        said.append(f"At {_and(below)} it has fewer in all seeds, but not in each by more than chance.")
    if rest:
        said.append(f"It does not have fewer at {_and(rest)}.")
    return said


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def section(results: Results, figure: str) -> list[str]:
    """The report's parts on change streams; none where the file is missing."""
    if not _there(results, FILE):
        return []
    parts = [
        "## Change streams: attentive memory beside its rivals",
        "Content and severity change independently (300 frames, the fifteen unseen corruptions, test pictures "
        "2,000-9,999, streams that no choice has seen). Every filter was tuned on validation streams (held-out "
        "training pictures under pairs of training corruptions) with the same objective and number of evaluations. "
        "Of ours one set of weights is used and only ω_n is turned. The filters with u* get what ours gets: the "
        "network's own command. Lower is better; means over three seeds.",
    ]
    for model, words in MODELS.items():
        parts += [f"{words[0].upper()}{words[1:]}, {KINDS['mixed']}:", table(results, model, "mixed"),
                  verdict(results, model, "mixed")]  # fmt: skip
    parts += [likelihood(results), figure]
    if _there(results, HOME_FILE):
        parts += ["At the home setting (ζ 1, ω_n 0.4), the same test streams:", home_table(results)]
    if _there(results, LEARNED_FILE):
        parts += ["The knobs that the likelihood of the validation streams asks for, weights fixed, by mean gap "
                  "between cuts (NLL in brackets):", learned(results)]  # fmt: skip
        parts += ["NLL over the knobs, Knob-ODE, mixed validation streams, means over seeds:", surface(results)]
    elif _there(results, SURFACE_FILE):
        parts.append(trained(results))
    if _there(results, ABLATIONS_FILE):
        parts += ["Ablations, Knob-ODE: one part taken away, the rest tuned anew with the same effort (in brackets: "
                  "how many more flips than with it):", ablations(results)]  # fmt: skip
    if _there(results, GROUPS_FILE):
        for by, words in (("corruption", "corruption by corruption"), ("severity", "by kind of severity")):
            parts += [f"Knob-ODE at home, {words} (bands: 95 % over streams; means over seeds):",
                      groups(results, "knob-ode", by)]  # fmt: skip
    for kind in ("fast", "slow"):
        if len(rows(results, "knob-ode", kind)):
            parts += [f"Knob-ODE, {kind}: {KINDS[kind]} (60 streams a seed):", table(results, "knob-ode", kind)]
    if _there(results, OUTSIDE_FILE):
        parts += ["Pretrained classifiers of others, half of the streams to fit on and half to measure "
                  "(`python -m train.outside`):", outside(results), outside_verdict(results)]  # fmt: skip
    if _there(results, UNFITTED_FILE):
        parts += ["The same classifiers with the default weights at the home setting, fitted to none of them "
                  "(`python -m train.outside.unfitted`; mixed: a cut every 40 frames, fast: every 15):",
                  unfitted(results)]  # fmt: skip
    return parts


def _there(results: Results, name: str) -> bool:
    return (results.folder / f"{name}.csv").is_file()


def curves(results: Results, model: str = "knob-ode") -> pd.DataFrame:
    """Flips and NLL by filter and delay with their band, means over seeds: what the figure draws."""
    frame = rows(results, model, "mixed")
    wanted = ["excess_flips", "low", "high", "nll"]
    return frame.groupby(["filter", "delay"])[wanted].mean().reset_index()
