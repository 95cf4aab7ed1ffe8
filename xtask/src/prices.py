"""Prints the prices that the package `genai-prices` knows, as xtask/src/prices.rs describes them."""

import importlib
import os
import sys
import types

# Whoever asks for these alone needs no network library, which the package itself would load.
PACKAGE = types.ModuleType("genai_prices")
PACKAGE.__path__ = [os.path.join(sys.argv[1], "genai_prices")]
sys.modules["genai_prices"] = PACKAGE

PROVIDERS = [
    "anthropic", "openai", "google", "x-ai", "deepseek", "mistral", "moonshotai", "zai", "zhipuai",
    "minimax", "meta", "cohere", "groq", "cerebras", "fireworks", "together", "aws", "azure",
    "github-copilot", "cursor", "openrouter",
]
FIELDS = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok"]


def atoms(clause):
    """The clause as words, any of which fits; none if it cannot be said so."""
    kind = type(clause).__name__
    if kind == "ClauseOr":
        every = [atoms(part) for part in clause.or_]
        return [word for words in every if words for word in words]
    if kind == "ClauseAnd":
        every = [atoms(part) for part in clause.and_]
        return ["&".join(words[0] for words in every)] if all(len(w or []) == 1 for w in every) else None
    signs = {
        "ClauseEquals": ("=", "equals"),
        "ClauseStartsWith": ("^", "starts_with"),
        "ClauseEndsWith": ("$", "ends_with"),
        "ClauseContains": ("*", "contains"),
        "ClauseRegex": ("~", "regex"),
    }
    sign, field = signs[kind]
    word = getattr(clause, field)
    if word.startswith("^(?!.*") and word.endswith(")"):
        # Not every program that reads expressions can look ahead: what must not be there has its own sign.
        sign, word = "!", word[len("^(?!.*") : -1]
    if "(?!" in word or "(?=" in word or "(?<" in word:
        return None
    return None if any(c in word for c in " \t&") else [sign + word]


def amount(value):
    if value is None:
        return ""
    if type(value).__name__ != "TieredPrices":
        return f"{value.normalize():f}"
    tiers = "".join(f" >{tier.start}:{tier.price.normalize():f}" for tier in value.tiers)
    return f"{value.base.normalize():f}{tiers}"


def main():
    data = importlib.import_module("genai_prices.data")
    known = {provider.id: provider for provider in data.providers}
    for name in PROVIDERS:
        for model in known[name].models:
            words = atoms(model.match)
            if not words:
                continue
            prices = model.prices if isinstance(model.prices, list) else [model.prices]
            for one in prices:
                price = getattr(one, "prices", one)
                constraint = getattr(one, "constraint", None)
                # Prices by the hour of the day are those of the day.
                if type(constraint).__name__ == "TimeOfDateConstraint":
                    continue
                since = constraint.start_date.isoformat() if constraint else ""
                amounts = [amount(getattr(price, field, None)) for field in FIELDS]
                if any(amounts):
                    print("\t".join([name, " ".join(words), since, *amounts]))


main()
